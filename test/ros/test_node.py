"""A node reads its parameters, and goes through the states of a managed node."""

from __future__ import annotations

import http.client
import json
import re
import signal
import socket
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from amounts import LONG, few_or_many
from diagnostic_msgs.msg import DiagnosticArray
from geometry_msgs.msg import WrenchStamped
from http_requests import JSON, LIST
from managers import (
    ACTIVATE,
    ACTIVE,
    CLEANUP,
    CONFIGURE,
    DEACTIVATE,
    FINALIZED,
    INACTIVE,
    SHUTDOWN,
    UNCONFIGURED,
    Manager,
)
from rclpy.task import Future
from sensor_msgs.msg import JointState
from waiting import HANG_SECONDS

from robot_memory.api import RobotMemory


def test_a_parameter_wins_over_the_environment_and_that_over_the_file(
    start: Callable[..., Any], robot: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / '.sage'
    folder.mkdir()
    content = {
        'retrieval': {'max_results': 3, 'enable_llm_summary': True},
        'cache': {'ttl_seconds': 70},
    }
    (folder / 'config.json').write_text(json.dumps(content))
    monkeypatch.setenv('HOME', str(tmp_path))
    monkeypatch.setenv('SAGE_MAX_RESULTS', '1')
    monkeypatch.setenv('SAGE_CACHE_TTL', 'soon')
    node = start()
    for number in range(5):
        robot.call('learn', insight=f'The red cup {number} is in the kitchen')
    found = robot.call('get_context', query='red cup kitchen', strategy='AGGRESSIVE')
    assert found.success and found.num_results == 1
    robot.until(lambda: 'not available: retrieval.enable_llm_summary' in node.said(), 'a warning')
    assert "ignoring SAGE_CACHE_TTL='soon'" in node.said()
    assert node.stop() == 0
    robot.until_gone('learn')
    start(default_results=2)
    robot.call('learn', insight='The red cup 1 is in the kitchen')
    robot.call('learn', insight='The red cup 2 is in the kitchen')
    robot.call('learn', insight='The red cup 3 is in the kitchen')
    found = robot.call('get_context', query='red cup kitchen', strategy='AGGRESSIVE')
    assert found.num_results == 2


def test_a_node_that_is_sent_to_a_database_server_says_what_to_do(
    start: Callable[..., Any], robot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv('DATABASE_URL', 'postgresql://mem:secret@localhost/mem')
    monkeypatch.delenv('ROBOT_MEMORY_DB', raising=False)
    node = start(db_path="''")
    assert node.process.wait(HANG_SECONDS) == 1
    assert '[invalid_argument] DATABASE_URL' in node.said() and 'secret' not in node.said()


def post(port: int) -> tuple[int, str]:
    """Ask MCP for its tools; return the status and the body."""
    connection = http.client.HTTPConnection('127.0.0.1', port, timeout=HANG_SECONDS)
    connection.request('POST', '/mcp', json.dumps(LIST), JSON)
    response = connection.getresponse()
    try:
        return response.status, response.read().decode()
    finally:
        connection.close()


def find_free_port() -> int:
    with socket.socket() as taken:
        taken.bind(('127.0.0.1', 0))
        return int(taken.getsockname()[1])


def test_a_node_goes_through_its_states_as_a_lifecycle_manager_asks(
    start: Callable[..., Any], robot: Any
) -> None:
    port = find_free_port()
    node = start(autostart='false', taps='[""]', mcp_enabled='true', mcp_port=port)
    manager = Manager(robot)
    assert manager.state == UNCONFIGURED and not node.db.exists()
    assert manager.change(CONFIGURE) == [True] and manager.state == INACTIVE
    refused = robot.call('learn', insight='The lamp is on')
    assert (refused.success, refused.error_code) == (False, 'unavailable')
    assert 'ros2 lifecycle set /robot_memory activate' in refused.message
    status, body = post(port)
    assert status == 503 and 'ros2 lifecycle set /robot_memory activate' in body
    assert manager.change(ACTIVATE) == [True] and manager.state == ACTIVE
    assert robot.call('learn', insight='The lamp is on').success
    assert post(port)[0] == 200
    assert manager.change(DEACTIVATE) == [True] and manager.state == INACTIVE
    assert robot.call('recall', query='lamp').error_code == 'unavailable'
    assert manager.change(CLEANUP) == [True] and manager.state == UNCONFIGURED
    robot.until_gone('learn')
    with pytest.raises(ConnectionRefusedError):
        post(port)
    assert manager.change(CONFIGURE, ACTIVATE) == [True, True]
    assert robot.call('recall', query='lamp', n=1).memories[0].content == 'The lamp is on'
    assert manager.change(DEACTIVATE, SHUTDOWN) == [True, True] and manager.state == FINALIZED
    assert node.stop() == 0


def test_a_configure_that_fails_leaves_the_node_unconfigured_and_says_why(
    start: Callable[..., Any], robot: Any, tmp_path: Path
) -> None:
    folder = tmp_path / 'memory.db'
    folder.mkdir()
    node = start(autostart='false', taps='[""]', db_path=folder)
    manager = Manager(robot)
    heard: list[Any] = []
    robot.node.create_subscription(
        DiagnosticArray, '/diagnostics', lambda message: heard.extend(message.status), 10
    )
    assert manager.change(CONFIGURE) == [False] and manager.state == UNCONFIGURED
    robot.until(lambda: f'configure failed: {folder} is a folder' in node.said(), node.said)
    robot.until(
        lambda: any('configure failed' in one.message and one.level == b'\2' for one in heard),
        'the reason on /diagnostics',
    )
    folder.rmdir()
    assert manager.change(CONFIGURE, ACTIVATE) == [True, True] and manager.state == ACTIVE
    assert robot.call('learn', insight='The lamp is on').success
    assert node.stop() == 0


def test_an_activate_that_fails_leaves_the_node_inactive_without_subscriptions(
    start: Callable[..., Any], robot: Any
) -> None:
    node = start(
        '-p', 'wrench.session:=gone', autostart='false', taps='["wrench", "joint_states"]'
    )
    manager = Manager(robot)
    assert manager.change(CONFIGURE, ACTIVATE) == [True, False] and manager.state == INACTIVE
    robot.until(lambda: 'activate failed' in node.said() and 'gone' in node.said(), node.said)
    assert robot.node.count_subscribers('/wrench') == 0
    assert manager.change(CLEANUP) == [True]
    assert node.stop() == 0


def test_a_node_ends_with_the_process_that_started_it(
    start: Callable[..., Any], robot: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with subprocess.Popen(['sleep', 'infinity']) as starter:
        monkeypatch.setenv('ROBOT_MEMORY_ENDS_WITH', str(starter.pid))
        node = start()
        assert robot.call('learn', insight='The lamp is on').success
        starter.terminate()
        assert node.process.wait(timeout=HANG_SECONDS) == 0


def test_an_end_under_load_loses_nothing_that_was_acknowledged(
    start: Callable[..., Any], robot: Any
) -> None:
    node = start(taps='["joint_states", "wrench"]')
    learn = robot.client('learn')
    sent: Counter[str] = Counter()
    told: list[Any] = []

    def publish_at_500_hz(kind: Any, topic: str, **values: Any) -> Any:
        publisher = robot.node.create_publisher(kind, topic, 1000)

        def publish() -> None:
            message = kind(**values)
            message.header.stamp = robot.node.get_clock().now().to_msg()
            publisher.publish(message)
            sent[topic] += 1

        robot.until(publisher.get_subscription_count, f'a subscription of {topic}')
        return robot.node.create_timer(0.002, publish)

    def tell() -> None:
        if learn.service_is_ready():
            text = f'Cup {len(told)} weighs {len(told) + 3} g'
            told.append(learn.call_async(learn.srv_type.Request(insight=text)))

    timers = [
        publish_at_500_hz(JointState, '/joint_states', name=['a'], position=[0.0], velocity=[0.0]),
        publish_at_500_hz(WrenchStamped, '/wrench'),
        robot.node.create_timer(0.02, tell),
    ]
    robot.until(
        lambda: sum(map(Future.done, told)) > 20 and min(sent.values()) > few_or_many(200, 500),
        'the load',
    )
    before = dict(sent)
    node.process.send_signal(signal.SIGINT)
    robot.until(lambda: node.process.poll() is not None, 'the end')
    assert node.process.returncode == 0
    assert all(sent[topic] > before[topic] for topic in before), 'the load went on'
    for timer in timers:
        robot.node.destroy_timer(timer)
    robot.executor.spin_once(timeout_sec=0)
    answers = [one.result() for one in told if one.done()]
    acknowledged = {answer.memory_id for answer in answers if answer.success}
    assert {answer.error_code for answer in answers} <= {'', 'unavailable'}
    with RobotMemory(str(node.db), model='none') as memory:
        kept = {record.memory_id for record in memory.query_records(limit=1000).records}
    assert acknowledged and acknowledged <= kept
    received = re.findall(r'\(/(?:wrench|joint_states)\): received (\d+)', node.said())
    assert len(received) == 2 and min(map(int, received)) > 0


def measure(node: Any) -> tuple[int, int]:
    """Return how many threads and files a node's process has."""
    folder = Path('/proc', str(node.process.pid))
    return len(list((folder / 'task').iterdir())), len(list((folder / 'fd').iterdir()))


def read_rss_mb(node: Any) -> float:
    """Return how much of a node's process is in memory."""
    status = Path('/proc', str(node.process.pid), 'status').read_text()
    return int(status.partition('VmRSS:')[2].split()[0]) / 1024


def count_endpoints(robot: Any) -> Counter[str]:
    """Return what the memory subscribes to and serves, as another node sees it."""
    robot.until_known()
    subscribed = robot.node.get_subscriber_names_and_types_by_node('robot_memory', '/')
    served = robot.node.get_service_names_and_types_by_node('robot_memory', '/')
    return Counter(name for name, types in (*subscribed, *served) for _ in types)


def cycle(robot: Any, manager: Manager, number: int) -> int:
    """Activate and deactivate while many facts are told; return how many were acknowledged."""
    assert manager.change(CONFIGURE, ACTIVATE) == [True, True]
    told = [
        robot.send('learn', insight=f'Cup {number} of shelf {place} weighs {place + 3} N')
        for place in range(4)
    ]
    ended = manager.send(DEACTIVATE)
    answers = [robot.answer(one) for one in told]
    assert robot.answer(ended, 'deactivate').success
    assert {answer.error_code for answer in answers} <= {'', 'unavailable'}
    assert manager.change(CLEANUP) == [True]
    return sum(answer.success for answer in answers)


@pytest.mark.parametrize(
    ('model', 'cycles'), [('none', 1000 if LONG else 30), *([('', 20)] if LONG else [])]
)
def test_cycles_of_states_leak_nothing_and_lose_no_write(
    start: Callable[..., Any], robot: Any, model: str, cycles: int
) -> None:
    node = start(autostart='false', taps='["wrench", "camera"]', model=model or "''")
    manager = Manager(robot)
    acknowledged = sum(cycle(robot, manager, number) for number in range(5))
    before, rss_mb = measure(node), [read_rss_mb(node)]
    for number in range(5, cycles):
        acknowledged += cycle(robot, manager, number)
        rss_mb.append(read_rss_mb(node))
    grown = [now - then for now, then in zip(measure(node), before, strict=True)]
    assert max(grown) < 8, grown  # the pool of the executor grows to its seven threads
    half = len(rss_mb) // 2
    assert max(rss_mb[half:]) < 1.1 * max(rss_mb[:half]), rss_mb
    assert manager.change(CONFIGURE, ACTIVATE) == [True, True]
    assert robot.call('get_memory_stats').total == acknowledged > 0
    robot.until(lambda: '/wrench' in count_endpoints(robot), 'the subscription')
    assert robot.node.count_subscribers('/wrench') == 1
    assert set(count_endpoints(robot).values()) == {1}
    assert node.stop() == 0
