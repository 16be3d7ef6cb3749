"""`robot-memory call` asks a running node through ROS, from the command line."""

from __future__ import annotations

import json
import os
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import prepared
import pytest

from robot_memory.storage import checksums


def call(*arguments: Any, **environment: Any) -> Any:
    return prepared.run(
        [sys.executable, '-m', 'robot_memory', 'call', *arguments],
        # Python 3.10 knows no PYTHONSAFEPATH, and would find the package of the source tree.
        cwd=tempfile.gettempdir(),
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
    )


def answer(*arguments: Any) -> Any:
    """Return the reply of a call that is answered, as JSON."""
    ran = call(*arguments, '--json', '--timeout', '90')
    assert (ran.returncode, ran.stderr) == (0, '')
    return json.loads(ran.stdout)


def refusal(*arguments: Any, **environment: Any) -> Any:
    """Return the one line of a call that is not answered."""
    ran = call(*arguments, **environment)
    assert ran.returncode == 1 and ran.stdout == ''
    assert ran.stderr.startswith('robot-memory: [') and ran.stderr.count('\n') == 1
    return ran.stderr


def test_a_running_node_is_taught_and_asked_from_the_command_line(
    start: Callable[..., Any],
) -> None:
    start()
    taught = answer(
        'learn', "{insight: 'The red cup needs 12 N', context: {task: {success: true}}}"
    )
    assert taught['success'] and taught['memory_id'] == 1 and taught['error_code'] == ''
    found = answer('recall', '{"query": "red cup", "n": 3, "min_confidence": 0}')
    assert found['total'] == 1 and found['memories'][0]['task'] == {'success': True}
    lines = call('recall', "{query: 'red cup', context_filter: '{\"task.success\": true}'}").stdout
    assert re.search(r'^total +1$', lines, re.MULTILINE)
    felt = {
        'description': 'touched the table',
        'stamp': {'sec': 5, 'nanosec': 7},
        'data': {'a': 1},
    }
    kept = answer('save-perception', json.dumps(felt))
    shown = answer('show', f'{{memory_id: {kept["memory_id"]}}}')
    assert shown['memory']['stamp'] == felt['stamp'] and shown['data'] == {'a': 1}
    assert answer('start_session')['session_id']


def test_what_the_node_refuses_is_one_line_with_its_code(start: Callable[..., Any]) -> None:
    start()
    answer('get_memory_stats')
    assert '[not_found] no memory 99' in refusal('show', '{memory_id: 99}')
    assert '[invalid_argument] n must be 1 to 100, not 101' in refusal(
        'recall', '{query: cup, n: 101}'
    )


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        (('recal',), '[invalid_argument] service must be one of learn, recall, explain_recall'),
        (('recall', '{quer: x}'), "recall has no field 'quer'; accepted: query, collection, n,"),
        (('recall', '{n: three}'), "n must be an integer, not 'three'"),
        (('recall', '{query: 12}'), 'query must be a string, not 12'),
        (('show', '{memory_id: 2.5}'), 'memory_id must be an integer, not 2.5'),
        (('recall', '{query: ['), '[invalid_argument] the request is not valid YAML or JSON'),
        (('recall', '[' * 5000), '[invalid_argument] the request is not valid YAML or JSON'),
        (('recall', 'red cup'), "the request must be a mapping of fields, e.g. {insight: 'The"),
        (
            ('recall', '--node', '/a b'),
            "node must be a node name such as /cell_1/robot_memory, not '/a",
        ),
        (('recall', '--timeout', '0'), 'timeout must be 0.1 to 3600, not 0'),
    ],
)
def test_a_wrong_call_is_refused_before_any_node_is_asked(
    arguments: tuple[Any, ...], said: str
) -> None:
    assert said in refusal(*arguments)


def test_where_no_such_node_runs_those_that_run_are_named(
    start: Callable[..., Any], robot: Any
) -> None:
    missing = ('recall', '{query: cup}', '--timeout', '1')
    assert 'node /robot_memory was not found within 1 s' in refusal(*missing)
    start('-r', '__ns:=/cell_1')
    robot.client('recall', '/cell_1/robot_memory')
    found = answer('recall', '{query: cup}', '--node', 'cell_1/robot_memory')
    assert found['success']
    # A second is enough to hear of a node, not to be sure to: ask until it is named.
    robot.until(
        lambda: (
            'running memory nodes: /cell_1/robot_memory; select another with --node'
            in refusal(*missing)
        ),
        'the node to be named',
    )


def test_a_node_that_is_no_memory_is_told_apart(robot: Any) -> None:
    robot.until(
        lambda: (
            'node /tester has no service /tester/recall'
            in refusal('recall', '{query: cup}', '--node', '/tester', '--timeout', '1')
        ),
        'the node to be seen',
    )


def test_a_node_that_does_not_answer_in_time_is_told(
    start: Callable[..., Any], robot: Any
) -> None:
    node = start()
    robot.call('learn', insight='The lamp is on')
    other = checksums.connect(node.db)
    other.execute('BEGIN IMMEDIATE')  # until it ends, a learn waits
    late = ('learn', '{insight: The lamp is off}', '--timeout', '1')
    # Within a second the node may not even be found: ask until it is.
    robot.until(
        lambda: 'did not answer learn within 1 s and may still execute it' in refusal(*late),
        'a call to be too late',
    )
    other.execute('ROLLBACK')


@pytest.mark.parametrize('home', ['', '/proc/nowhere'])
def test_a_call_needs_no_home(start: Callable[..., Any], home: str, tmp_path: Path) -> None:
    start()
    ran = call('get_memory_stats', '--timeout', '90', HOME=home, ROS_LOG_DIR='', ROS_HOME='')
    assert ran.returncode == 0, ran.stderr
