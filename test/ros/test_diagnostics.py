"""The memory's own status on /diagnostics, its figures as a service, and its log as JSON."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus


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
