"""The memory's own status on /diagnostics, its figures as a service, and its log as JSON."""

from __future__ import annotations

import contextlib
import gzip
import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus

FIXTURES = Path(__file__).resolve().parents[1] / 'fixtures/schema'
MOUNT = ['unshare', '--user', '--map-root-user', '--mount', '--', 'sh', '-ec']
SMALL_DISK = """
mount -t tmpfs -o size=4m tmpfs "$0"
cp "$1" "$0/memory.db"
shift
exec "$@"
"""
"""Executes a command with a disk of 4 MB at a folder, and with a store on it."""


def diagnosed(robot: Any, wanted: Any) -> Any:
    """Return the memory's status on /diagnostics once it fits."""
    heard: list[Any] = []
    subscription = robot.node.create_subscription(
        DiagnosticArray,
        '/diagnostics',
        lambda message: heard.extend(
            (status, {item.key: item.value for item in status.values})
            for status in message.status
            if status.name == 'robot_memory: memory'
        ),
        10,
    )
    found = robot.until(lambda: [each for each in heard if wanted(*each)], 'a status that fits')
    robot.node.destroy_subscription(subscription)
    return found[0]


def test_calls_and_errors_are_on_diagnostics(start: Callable[..., Any], robot: Any) -> None:
    start(taps='[""]')
    robot.call('learn', insight='the red cup is on the shelf')
    robot.call('recall', query='cup')
    assert not robot.call('forget', memory_id=99, reason='none').success
    status, values = diagnosed(robot, lambda _, values: values['calls'] == '3')
    assert status.level == DiagnosticStatus.OK
    assert values['errors'] == values['errors not_found'] == '1'
    assert float(values['p99 ms']) >= float(values['p50 ms']) > 0
    assert (values['model'], values['model breaker']) == ('off', 'closed')


def test_the_operators_figures_are_a_service(start: Callable[..., Any], robot: Any) -> None:
    start(taps='[""]')
    for number in range(3):
        robot.call('learn', insight=f'the cup {number} is red')
    found = robot.call('get_memory_stats')
    assert found.success
    assert (found.total, found.today, found.this_week, found.sessions) == (3, 3, 3, 0)
    assert found.size == f'{found.size_mb:.1f} MB'


def test_the_log_of_the_node_is_json_where_that_is_asked_for(
    start: Callable[..., Any], robot: Any
) -> None:
    node = start(log_format='json', taps='[""]')
    robot.call('learn', insight='the red cup', context='{"actor_id": "operator:anna"}')

    def logged() -> list[Any]:
        lines = [line[line.index('{"') :] for line in node.said().splitlines() if '{"' in line]
        return [found for found in map(json.loads, lines) if found['message'] == 'learn answered']

    (line,) = robot.until(logged, 'the line of the call')
    assert line['service'] == 'robot_memory'
    assert line['user_id'] == 'operator:anna'
    assert line['duration_ms'] > 0


def test_a_store_that_the_disk_has_no_room_to_upgrade_is_served_read_only_with_a_warning(
    start: Callable[..., Any], robot: Any, tmp_path: Path
) -> None:
    older, disk = tmp_path / 'older.db', tmp_path / 'disk'
    older.write_bytes(gzip.decompress((FIXTURES / 'v5.db.gz').read_bytes()))
    with contextlib.closing(apsw.Connection(str(older))) as connection:
        connection.pragma('journal_mode', 'wal')  # as in every store that was in use
    disk.mkdir()
    if subprocess.run([*MOUNT, 'mount -t tmpfs tmpfs "$0"', disk], capture_output=True).returncode:
        pytest.skip('this system lets no process mount a disk of its own')
    path = disk / 'memory.db'
    node = start(wrapper=[*MOUNT, SMALL_DISK, str(disk), str(older)], db_path=path, taps='[""]')
    found = robot.call('recall', query='red cup', n=5)
    assert found.success
    assert 'Grip force of 12.5 N holds the red cup' in [each.content for each in found.memories]
    command = f'`robot-memory upgrade --db {path}`'
    for service, request in (
        ('learn', {'insight': 'the lamp is green'}),
        ('forget', {'memory_id': 1, 'reason': 'wrong'}),
        ('start_session', {}),
    ):
        refused = robot.call(service, **request)
        assert (refused.success, refused.error_code) == (False, 'unavailable')
        assert 'read-only' in refused.message and command in refused.message
    # What a call refused counts as an error first; the reason stands once no error is new.
    status, values = diagnosed(robot, lambda status, _: 'read-only' in status.message)
    assert status.level == DiagnosticStatus.WARN
    assert command in status.message
    assert values['errors'] == values['errors unavailable'] == '3'
    seen = Path(f'/proc/{node.process.pid}/root{disk}')
    assert (seen / 'memory.db').read_bytes() == older.read_bytes()
    assert not (seen / 'memory.db.before-upgrade').exists()
    assert node.stop() == 0
    assert node.said().count('served read-only') == 1
    assert 'retried' not in node.said() and 'are lost' not in node.said()
