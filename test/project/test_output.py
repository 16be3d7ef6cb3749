"""Whatever is stored or given, no command prints what drives a terminal or turns a text."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import prepared

from robot_memory.api import RobotMemory

OBEYED = set('\x07\x1b\x7f\x9b\u200f\u202c\u202e\u2066\u2069')
CONTROLS = (
    'cup \x1b[31mred\x1b[0m \x9b2J \u202eback\u202c \u2066iso\u2069 \u200fmark \x07 \x7f end'
)


def test_no_output_obeys_what_stands_in_a_memory(tmp_path: Path) -> None:
    store = tmp_path / 'memory.db'
    robot = RobotMemory(store, model='none', python_role='operator')
    session = robot.start_session(context={'robot': {'type': CONTROLS}}).session_id
    robot.learn(f'Never exceed 15 N with the {CONTROLS}', session_id=session)
    robot.save_perception(CONTROLS, metadata={'note': CONTROLS}, session_id=session)
    robot.save_conversation(
        f'I prefer {CONTROLS}', CONTROLS, actor_id=f'human:{CONTROLS}', session_id=session
    )
    robot.record_outcome('strike', CONTROLS, results={'slide': '1 m'}, success='true')
    robot.close()
    commands = [
        ['recall', CONTROLS],
        ['recall', 'nothing', '--context_filter', json.dumps({CONTROLS: 1})],
        ['get_context', 'red cup'],
        ['show', '1'],
        ['show', '2'],
        ['query_records'],
        ['query_records', '--json'],
        ['query_events'],
        ['query_events', '--csv'],
        ['query_events', '--where', json.dumps({CONTROLS: 1})],
        ['history', '1'],
        ['skill_report', 'strike'],
        ['export', 'all', '--format', 'text'],
        ['export', 'all', '--format', 'markdown'],
        ['export', 'all', '--format', 'json'],
        ['export', 'all'],
        ['export', CONTROLS],
        ['end_session', session],
        [CONTROLS],
    ]
    for command in commands:
        words = [sys.executable, '-m', 'robot_memory', '--db', str(store), '--model', 'none']
        ran = prepared.run([*words, *command], capture_output=True, text=True)
        printed = ran.stdout + ran.stderr
        assert printed and not OBEYED & set(printed), command
