"""Each call is one line of the log, as JSON or as text, and stays on one line."""

from __future__ import annotations

import io
import json
import logging
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import prepared
import pytest
from narrowing import require
from robots import Robot
from waiting import HANG_SECONDS

from robot_memory.core.errors import NotFound
from robot_memory.memory import trace
from robot_memory.status import logs

KEYS = 'timestamp level service trace_id message user_id session_id duration_ms'.split()


@pytest.fixture
def lines() -> Iterator[Any]:
    """What is logged as JSON, line by line."""
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logs.JsonLines())
    core = logging.getLogger('robot_memory')
    level = core.level
    core.addHandler(handler)
    core.setLevel(logging.INFO)
    yield lambda: [json.loads(line) for line in written.getvalue().splitlines()]
    core.removeHandler(handler)
    core.setLevel(level)


@pytest.fixture
def logged(open_robot: Callable[..., Robot], lines: Any) -> list[dict[str, Any]]:
    """The lines of three calls: an exchange in a session, an insight, and a recall."""
    robot = open_robot(log_format='json')
    robot.save_conversation('I like tea', 'noted', actor_id='operator:anna')
    robot.learn('the red cup', context={'actor_id': 'planner'})
    robot.recall('cup')
    logged: list[dict[str, Any]] = lines()
    return logged


CONTROLS = 'red \x1b[31m \x9b2J \u202ecup\u202c \u2028 end'


def test_no_line_drives_a_terminal_or_turns_a_text() -> None:
    record = logging.makeLogRecord({'msg': 'no tool %s\nhere', 'args': (CONTROLS,)})
    text = logs.TextLines('%(message)s').format(record)
    assert text == r'no tool red \u001b[31m \u009b2J \u202ecup\u202c \u2028 end' + '\nhere'
    line = logs.JsonLines().format(record)
    assert not set('\x1b\x9b\u202e\u202c\u2028\n') & set(line)
    assert json.loads(line)['message'] == f'no tool {CONTROLS}\nhere'


def test_every_call_logs_one_line_of_json(logged: list[dict[str, Any]]) -> None:
    assert len(logged) == 3
    for line in logged:
        assert list(line) == KEYS
        assert line['service'] == 'robot_memory'
        assert line['level'] == 'INFO'
        assert re.fullmatch(r'\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z', line['timestamp'])
        assert line['duration_ms'] > 0
    assert logged[0]['message'] == 'save_conversation answered'


def test_a_line_names_who_spoke_or_acted(logged: list[dict[str, Any]]) -> None:
    assert [line['user_id'] for line in logged] == ['operator:anna', 'planner', 'anonymous']


def test_a_line_names_the_session_of_its_call(
    logged: list[dict[str, Any]], open_robot: Callable[..., Robot]
) -> None:
    ((session,),) = open_robot().rows('SELECT id FROM sessions')
    assert [logged[0]['session_id'], logged[2]['session_id']] == [session, None]


def test_each_call_has_a_trace_of_its_own(logged: list[dict[str, Any]]) -> None:
    traces = {line['trace_id'] for line in logged}
    assert len(traces) == 3
    assert all(re.fullmatch('[0-9a-f]{32}', trace_id) for trace_id in traces)


def test_a_refused_call_logs_its_code_and_stays_on_one_line(
    open_robot: Callable[..., Robot], lines: Any
) -> None:
    robot = open_robot(log_format='json')
    with pytest.raises(NotFound):
        robot.learn('x', session_id='no\nsuch "session"')
    (line,) = lines()
    assert line['message'].startswith('learn rejected: [not_found] ')
    assert line['session_id'] == 'no\nsuch "session"'


def test_calls_of_a_trace_log_that_trace(open_robot: Callable[..., Robot], lines: Any) -> None:
    robot = open_robot(log_format='json')
    token = trace.set('4bf92f3577b34da6a3ce929d0e0e4736')
    robot.recall('cup')
    trace.reset(token)
    (line,) = lines()
    assert line['trace_id'] == '4bf92f3577b34da6a3ce929d0e0e4736'
    assert trace.get('') == ''


def test_in_text_a_call_is_logged_for_who_debugs_only(
    open_robot: Callable[..., Robot], caplog: pytest.LogCaptureFixture
) -> None:
    robot = open_robot()
    with caplog.at_level(logging.INFO, 'robot_memory'):
        robot.recall('cup')
    assert not caplog.records
    with caplog.at_level(logging.DEBUG, 'robot_memory'):
        robot.recall('cup')
    assert [record.getMessage() for record in caplog.records] == ['recall answered']


def test_a_traceback_and_odd_letters_stay_in_one_line(lines: Any) -> None:
    try:
        raise KeyError('x')
    except KeyError:
        logging.getLogger('robot_memory').exception('failed: %s', 'half of a pair \ud800\n')
    (line,) = lines()
    assert line['level'] == 'ERROR'
    assert 'KeyError' in line['exception']
    assert line['user_id'] == 'anonymous'
    assert line['trace_id'] is None


def call(number: Any, method: Any, **params: Any) -> dict[str, Any]:
    return {'jsonrpc': '2.0', 'id': number, 'method': method, 'params': params}


def test_the_server_on_stdio_logs_json_to_stderr_and_nothing_else(tmp_path: Path) -> None:
    """Standard output is the protocol's alone."""
    hello = call(
        0,
        'initialize',
        protocolVersion='2025-11-25',
        capabilities={},
        clientInfo={'name': 'pipe', 'version': '1'},
    )
    learn = call(1, 'tools/call', name='learn', arguments={'insight': 'the red cup'})
    wrong = call(2, 'tools/call', name='learn', arguments={'insight': ''})
    command = 'mcp --log-format json --model none --db'.split()
    source = Path(logs.__file__).parents[2]
    with (
        open(tmp_path / 'errors', 'w+') as errors,
        prepared.Popen(
            [sys.executable, '-m', 'robot_memory', *command, tmp_path / 'cell.db'],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env={**os.environ, 'PYTHONPATH': str(source)},
        ) as process,
    ):
        answers = []
        for message in (hello, learn, wrong):
            require(process.stdin).write(json.dumps(message) + '\n')
            require(process.stdin).flush()
            answers.append(json.loads(require(process.stdout).readline()))
        rest, _ = process.communicate(timeout=HANG_SECONDS)
        errors.seek(0)
        logged = [json.loads(line) for line in errors]
    assert [answer['id'] for answer in answers] == [0, 1, 2]
    assert rest == ''
    assert all(list(line)[:8] == KEYS for line in logged)
    told = [line['message'] for line in logged if line['message'].startswith('learn ')]
    assert told[0] == 'learn answered'
    assert told[1].startswith('learn rejected: [invalid_argument]')
