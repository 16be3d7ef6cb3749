"""The same call has the same answer through Python, the command line, MCP and ROS."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import prepared
import pytest
from anyio.from_thread import start_blocking_portal
from mcp import Client
from narrowing import require
from typed_answers import list_disagreements

from robot_memory.api import RobotMemory
from robot_memory.catalog import list_tools
from robot_memory.core.errors import RobotMemoryError
from robot_memory.core.fields import get_fields, to_plain
from robot_memory.core.settings import Settings
from robot_memory.mcp_server import HttpBridge
from robot_memory.memory import Memory
from robot_memory.ros import convert

BY_NAME = {tool.name: tool for tool in list_tools()}
CUP = {
    'insight': 'grip_force=12.5N optimal for cylindrical objects',
    'context': {
        'params': {'grip_force': {'value': 12.5}},
        'spatial': {'object_position': [1.3, 0.7, 0.42]},
        'task': {'success': True},
    },
}
TOUCH = {
    'description': 'Touched the table 杯子',
    'perception_type': 'tactile',
    'data': {'force': [0.0, 6.5]},
    'metadata': {'units': 'N'},
    'stamp': {'sec': 1700000000, 'nanosec': 7},
    'frame_id': 'tool0',
    'pose': {'position': [0.1, 0.2, 0.3]},
}
TALK = {
    'user_prompt': 'I prefer tea over coffee. 请不要碰红色杯子。',
    'assistant_response': 'Noted',
    'metadata': {'topic': 'drinks'},
    'actor_id': 'operator:anna',
}
TRIAL = {
    'skill': 'strike',
    'situation': 'disc on ice',
    'numbers': {'distance': '0.4 m'},
    'params': {'speed': '1 m/s', 'gripper': 'soft'},
    'results': {'slide': '41 cm'},
    'success': 'true',
    'stamp': {'sec': 1700000000, 'nanosec': 7},
}
WANT = {'result': 'slide', 'value': '0.4 m', 'tolerance': '8 cm'}
SESSION = {'context': {'robot': {'type': 'UR5e'}}}
STORIES: dict[str, list[Any]] = {
    'learn': [('learn', CUP), ('learn', CUP), ('learn', {'insight': 'word ' * 80})],
    'recall': [
        ('learn', CUP),
        ('save_perception', TOUCH),
        ('recall', {'query': 'table 杯子'}),
        ('recall', {'context_filter': {'task.success': True}, 'n': 2, 'min_confidence': 0.0}),
        (
            'recall',
            {
                'query': 'grip',
                'spatial_sort': {'field': 'spatial.object_position', 'target': [1, 1, 1]},
            },
        ),
    ],
    'explain_recall': [
        ('learn', CUP),
        ('save_perception', TOUCH),
        ('explain_recall', {'query': 'table 杯子'}),
        ('explain_recall', {'query': 'grip', 'n': 1, 'context_filter': {'task.success': True}}),
        ('explain_recall', {'query': 'zebra'}),
        ('explain_recall', {'query': 'grip', 'context_filter': {'a': {'$like': 1}}}),
    ],
    'list_timeline': [
        ('learn', CUP),
        ('save_perception', TOUCH),
        ('list_timeline', {'buckets': 4, 'since': '2020-01-01', 'until': '2024-01-01'}),
        ('list_timeline', {'limit': 2, 'descending': False}),
        ('list_timeline', {'where': {'kind': 'perception'}, 'time_zone': 'Asia/Shanghai'}),
        ('list_timeline', {'cursor': 'none'}),
    ],
    'save_perception': [('save_perception', TOUCH), ('save_perception', TOUCH)],
    'forget': [
        ('learn', CUP),
        ('forget', {'memory_id': 1, 'reason': 'Sensor calibration error'}),
        ('forget', {'memory_id': 1, 'reason': 'again'}),
    ],
    'erase': [
        ('learn', CUP),
        ('erase', {'memory_ids': [7], 'reason': 'asked for'}),
        ('erase', {'reason': 'asked for'}),
        ('erase', {'erasure': 3}),
    ],
    'update': [
        ('learn', CUP),
        ('update', {'memory_id': 1, 'new_content': 'Pitfall: the gripper slips'}),
        ('update', {'memory_id': 5, 'new_content': 'nothing there'}),
    ],
    'start_session': [('start_session', SESSION), ('start_session', {'collection': 'cell'})],
    'end_session': [
        ('start_session', SESSION),
        ('learn', {**CUP, 'session_id': '$session'}),
        ('save_perception', {**TOUCH, 'session_id': '$session'}),
        ('end_session', {'session_id': '$session', 'outcome_score': 0.9}),
        ('end_session', {'session_id': '$session'}),
    ],
    'query_records': [
        ('learn', CUP),
        ('save_perception', TOUCH),
        ('query_records', {'where': {'task.success': True}}),
        ('query_records', {'where': {'created_at': 'yesterday'}}),
        ('query_records', {'limit': 1, 'offset': 1}),
    ],
    'query_events': [
        ('save_perception', TOUCH),
        ('query_events', {}),
        ('query_events', {'where': {'duration': {'$lt': '2 s'}}, 'time_zone': 'Asia/Tokyo'}),
        ('query_events', {'aggregate': ['count', 'mean'], 'figure': 'duration'}),
        ('query_events', {'where': {'unknown': 1}}),
        ('recall', {'query': 'How many contacts were there today?'}),
    ],
    'record_outcome': [
        ('learn', CUP),
        ('record_outcome', {**TRIAL, 'memory_ids': [1], 'key': 'a'}),
        ('record_outcome', {**TRIAL, 'memory_ids': [1], 'key': 'a'}),
        ('record_outcome', {**TRIAL, 'key': 'a'}),
        ('record_outcome', {**TRIAL, 'params': {'speed': '3 N'}}),
        ('show', {'memory_id': 1}),
        ('query_events', {'where': {'kind': 'trial'}}),
    ],
    'suggest': [
        ('record_outcome', TRIAL),
        ('record_outcome', {**TRIAL, 'params': {'speed': '1.5 m/s', 'gripper': 'hard'}}),
        ('suggest', {'skill': 'strike', 'situation': 'disc on ice'}),
        ('learn', {'insight': 'Never strike faster than 1.2 m/s'}),
        ('suggest', {'skill': 'strike', 'situation': 'disc on ice', 'want': WANT}),
        ('suggest', {'skill': 'pour', 'default': {'angle': '30 deg'}}),
        ('suggest', {'skill': 'strike', 'want': {'maximise': 'force'}}),
    ],
    'skill_report': [
        ('record_outcome', TRIAL),
        ('record_outcome', {**TRIAL, 'success': 'false', 'world': 'sim'}),
        ('skill_report', {'skill': 'strike'}),
        ('skill_report', {'skill': 'pour'}),
        ('get_context', {'query': 'strike the disc'}),
    ],
    'show': [
        ('save_perception', TOUCH),
        ('save_perception', {**TOUCH, 'data': [[0.5] * 20] * 100}),
        ('show', {'memory_id': 1}),
        ('show', {'memory_id': 2}),
        ('show', {'memory_id': 9}),
    ],
    'history': [
        ('learn', CUP),
        ('update', {'memory_id': 1, 'new_content': 'Pitfall: the gripper slips'}),
        ('undo', {'memory_id': 1}),
        ('history', {'memory_id': 1}),
        ('history', {'memory_id': 9}),
        ('recall', {'query': 'gripper', 'as_of': '#2'}),
        ('query_records', {'as_of': '#1'}),
        ('recall', {'query': 'gripper', 'as_of': '#9'}),
    ],
    'undo': [
        ('learn', CUP),
        ('forget', {'memory_id': 1, 'reason': 'Sensor calibration error'}),
        ('undo', {'memory_id': 1, 'reason': 'it was right', 'line': 2}),
        ('undo', {'memory_id': 1}),
        ('undo', {'memory_id': 7}),
    ],
    'save_conversation': [
        ('save_conversation', TALK),
        ('save_conversation', {'user_prompt': ' ', 'assistant_response': 'x'}),
    ],
    'get_context': [
        ('get_context', {'query': 'tea'}),
        ('save_conversation', TALK),
        ('learn', CUP),
        ('get_context', {'query': 'tea or coffee', 'max_results': 3, 'strategy': 'AGGRESSIVE'}),
        ('get_context', {'query': 'tea', 'strategy': 'BEST'}),
    ],
    'search_memory': [
        ('save_conversation', TALK),
        ('search_memory', {'query': 'tea', 'threshold': 0.2}),
        ('search_memory', {'query': 'x', 'threshold': 2.0}),
    ],
    'get_memory_stats': [('save_conversation', TALK), ('get_memory_stats', {})],
    'clear_session': [
        ('clear_session', {}),
        ('save_conversation', TALK),
        ('clear_session', {'reason': 'wrong person'}),
    ],
    'analyze': [
        ('learn', CUP),
        ('save_perception', TOUCH),
        ('analyze', {'analysis_type': 'sentiment_analysis', 'days': 3, 'limit': 5}),
        ('analyze', {'analysis_type': 'KNOWLEDGE_GRAPH'}),
        ('analyze', {'analysis_type': 'MOOD'}),
        ('analyze', {'analysis_type': 'TEMPORAL_PATTERNS', 'start': 'long ago'}),
    ],
    'export': [
        ('export', {}),
        ('start_session', SESSION),
        ('learn', {**CUP, 'session_id': '$session'}),
        ('export', {'format': 'json'}),
        ('export', {'session_id': '$session', 'format': 'markdown'}),
        ('export', {'session_id': 'all', 'format': 'jsonl'}),
        ('export', {'session_id': 'none', 'format': 'text'}),
        ('export', {'format': 'pdf'}),
    ],
    'maintain': [('learn', CUP), ('maintain', {}), ('maintain', {'keep_free_room': True})],
    'set_map': [
        ('set_map', {'name': 'kitchen'}),
        ('set_map', {'name': 'kitchen', 'transform': {'position': [1, 0, 0]}, 'residual': 0.1}),
        ('set_map', {'name': 'kitchen', 'revision': 2, 'mapping': True}),
        ('set_map', {'name': 'kitchen', 'landmarks': [{'from': [0, 0], 'to': [1, 0]}]}),
        ('set_map', {'name': ' '}),
    ],
    'set_region': [
        ('set_region', {'name': 'bin', 'frame': 'map', 'box': [[0, 0, 0], [1, 1, 1]]}),
        ('set_region', {'name': 'tray', 'frame': 'map', 'polygon': [[0, 0], [1, 0], [0, 1]]}),
        ('set_region', {}),
        ('set_region', {'name': 'bin', 'remove': True}),
        ('set_region', {'name': 'bin', 'remove': True}),
        ('set_region', {'name': 'line', 'frame': 'map', 'polygon': [[0, 0], [1, 0]]}),
    ],
    'sage_memory': [
        ('sage_memory', {'action': 'save'}),
        ('save_conversation', TALK),
        ('sage_memory', {'action': 'save', 'title': 'Tea'}),
        ('sage_memory', {'action': 'search', 'query': 'tea', 'limit': 1}),
        ('sage_memory', {'action': 'forget', 'query': 'tea'}),
    ],
    'sage_command': [
        ('save_conversation', TALK),
        ('sage_command', {'command': '/recall 2'}),
        ('sage_command', {'command': '/forget'}),
        ('sage_command', {'command': '/fly'}),
    ],
    'review': [
        ('learn', {'insight': 'Never exceed 15N with the cup'}),
        ('review', {}),
        ('review', {'accept': 7}),
        ('review', {'confirm': 1}),
        ('review', {'accept': 1, 'reject': 1}),
    ],
    'trust': [
        ('learn', {'insight': 'The dock is in hall 2'}),
        ('trust', {'action': 'review'}),
        ('trust', {'action': 'review', 'confirm': 'all'}),
        ('trust', {'action': 'review', 'confirm': '1'}),
        ('trust', {'action': 'review', 'confirm': 'none'}),
        ('trust', {'action': 'dismiss'}),
    ],
    'sage_auto': [
        ('save_conversation', TALK),
        ('sage_auto', {'action': 'check_save'}),
        ('sage_auto', {'action': 'inject_context', 'user_input': 'tea'}),
        ('sage_auto', {'action': 'inject_context'}),
    ],
    'sage_smart_prompt': [
        ('learn', {'insight': 'Never exceed 15N with the cup'}),
        ('sage_smart_prompt', {'user_input': 'How hard may I grip the cup?'}),
        ('sage_smart_prompt', {'user_input': ''}),
    ],
    'sage_system_status': [
        ('sage_system_status', {'include_performance': False, 'include_optimization': False}),
    ],
}
TALKATIVE = ('get_memory_stats', 'maintain', 'sage_system_status')
"""Tools whose answers tell sizes, times, and how the process is."""


class Python:
    def __init__(self, db: Any, start: Callable[..., Any], robot: Any) -> None:
        self.memory = RobotMemory(str(db), model='none', python_role='operator')
        self.close = self.memory.close

    def call(self, tool: Any, arguments: Any) -> Any:
        try:
            return to_plain(getattr(self.memory, tool.name)(**arguments))
        except RobotMemoryError as error:
            return {'error_code': error.code, 'message': str(error)}


def name_lists(tool: Any) -> set[str]:
    """Return the arguments of a tool that are lists, of texts or numbers, in every face."""
    return {field.name for field in get_fields(tool.request) if field.kind in ('texts', 'numbers')}


class CommandLine:
    def __init__(self, db: Any, start: Callable[..., Any], robot: Any) -> None:
        self.db = db
        RobotMemory(str(db), model='none').close()  # what only reads makes no store of a name

    def close(self) -> None:
        """Nothing stays open between two commands."""

    def call(self, tool: Any, arguments: Any) -> Any:
        words = [sys.executable, '-m', 'robot_memory', '--db', str(self.db), '--model', 'none']
        words += ['--json', tool.name]
        names = [
            field.name
            for field in get_fields(tool.request)
            if field.required or field.name in ('query', 'memory_id')
        ]
        for name, value in arguments.items():
            if isinstance(value, bool):
                words += [f'--{name}' if value else f'--no-{name}']
            elif name in name_lists(tool):
                words += [f'--{name}', *map(str, value)]
            elif name not in names:
                words += [f'--{name}', value if isinstance(value, str) else json.dumps(value)]
        words += [str(arguments[name]) for name in names if name in arguments]
        ran = prepared.run(words, capture_output=True, text=True)
        if ran.returncode == 0:
            return json.loads(ran.stdout)
        assert ran.returncode == 1, ran.stderr
        code, message = require(
            re.fullmatch(r'robot-memory: \[(\w+)\] (.*)\n', ran.stderr)
        ).groups()
        return {'error_code': code, 'message': message}


class Mcp:
    def __init__(self, db: Any, start: Callable[..., Any], robot: Any) -> None:
        self.memory = Memory(Settings(db_path=str(db), model='none', http_role='operator'))
        self.bridge = HttpBridge(self.memory, port=0)
        self.bridge.start()
        self.opened = ExitStack()
        self.portal = self.opened.enter_context(start_blocking_portal())
        client = self.portal.wrap_async_context_manager(Client(self.bridge.url))
        self.client = self.opened.enter_context(client)

    def close(self) -> None:
        self.opened.close()
        self.bridge.stop()
        self.memory.close()

    def call(self, tool: Any, arguments: Any) -> Any:
        result = self.portal.call(self.client.call_tool, tool.name, arguments)
        found = result.structured_content
        if not result.is_error:
            return found
        return {name: found['error'][name] for name in ('error_code', 'message')}


class Ros:
    def __init__(self, db: Any, start: Callable[..., Any], robot: Any) -> None:
        self.node = start(db_path=db, ros_role='operator')
        self.robot = robot

    def close(self) -> None:
        assert self.node.stop() == 0

    def call(self, tool: Any, arguments: Any) -> Any:
        request = {}
        for name, value in arguments.items():
            field = tool.declared[name]
            if field.kind == 'json' and isinstance(value, (dict, list)):
                request[field.ros_name] = json.dumps(value)
            elif field.kind != 'stamp':
                request[field.ros_name] = value
        client = self.robot.client(tool.name)
        message = client.srv_type.Request(**request)
        if 'stamp' in arguments:
            message.stamp.sec = arguments['stamp']['sec']
            message.stamp.nanosec = arguments['stamp']['nanosec']
        reply = self.robot.answer(client.call_async(message))
        if not reply.success:
            return {'error_code': reply.error_code, 'message': reply.message}
        assert list_disagreements(reply) == []
        return convert.to_plain(reply, tool.response)


def same(value: Any) -> Any:
    """Put a mark in place of what differs: ids, instants, durations, callers."""
    text = json.dumps(value, ensure_ascii=False, sort_keys=True)
    text = re.sub(r'[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}', '<session>', text)
    text = re.sub(r'\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d\.\d{6})?', '<instant>', text)
    text = re.sub(r'event-[0-9a-f]+', '<event>', text)
    text = re.sub(r'robot-mem-[0-9a-f]+', '<store>', text)
    text = re.sub(r'\b\d{16}\b', '<microseconds>', text)
    text = re.sub(r'"(ms|file_bytes|freed_bytes)": [0-9.e-]+', r'"\1": 0', text)
    text = re.sub(r'"(detail|actor)": "[^"]*"', r'"\1": ""', text)
    # Each face is a writer of its own, and each store seals its lines with a key of its own.
    text = re.sub(r'\\"provenance\\":\{[^{}]*\{[^{}]*\}[^{}]*\}', '<provenance>', text)
    return json.loads(re.sub(r'"query_ms": [0-9.e-]+', '"query_ms": 0', text))


def tell(face: Any, story: Any) -> Any:
    """Make the calls of a story through a face; return the answers."""
    answers, session = [], None
    for name, arguments in story:
        given = {
            key: session if value == '$session' else value for key, value in arguments.items()
        }
        answer = face.call(BY_NAME[name], given)
        session = answer.get('session_id', session)
        answers.append(same(answer))
    return answers


@pytest.mark.parametrize('tool', list_tools(), ids=lambda tool: tool.name)
def test_a_tool_answers_the_same_through_every_face(
    tool: Any, tmp_path: Path, start: Callable[..., Any], robot: Any
) -> None:
    answers: dict[str, Any] = {}
    for kind in (Python, CommandLine, Mcp, Ros) if tool.ros else (Python, CommandLine, Mcp):
        face = kind(tmp_path / f'{kind.__name__}.db', start, robot)
        try:
            answers[kind.__name__] = tell(face, STORIES[tool.name])
        finally:
            face.close()
    expected = answers.pop('Python')
    assert len(expected) == len(STORIES[tool.name])
    for name, answer in answers.items():
        if tool.name in TALKATIVE:
            assert [found.keys() for found in answer] == [found.keys() for found in expected]
        else:
            assert answer == expected, name
