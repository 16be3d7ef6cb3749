"""Real nodes in processes of their own, talked to over DDS on this machine only."""

from __future__ import annotations

import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import action_packages
import prepared
import pytest

rclpy = pytest.importorskip('rclpy', reason='no ROS 2 here: rclpy cannot be imported')
pytest.importorskip('robot_memory.msg', reason='the interfaces are not built: make build')

from ament_index_python.packages import get_package_prefix  # noqa: E402
from rclpy.executors import SingleThreadedExecutor  # noqa: E402
from rclpy.qos import QoSProfile, ReliabilityPolicy  # noqa: E402
from waiting import HANG_SECONDS, until  # noqa: E402

import robot_memory.srv  # noqa: E402

TICK_SECONDS = 0.02
POLL_SECONDS = 0.1


class Robot:
    """Hold a node of the test's own and what it calls and publishes with."""

    def __init__(self) -> None:
        self.context = rclpy.Context()
        rclpy.init(context=self.context)
        self.node = rclpy.create_node('tester', context=self.context)
        self.executor = SingleThreadedExecutor(context=self.context)
        self.executor.add_node(self.node)
        self.clients: dict[Any, Any] = {}

    def until(self, condition: Any, what: Any) -> Any:
        """Spin until a condition holds and return its value."""

        def spun() -> Any:
            value = condition()
            if value:
                return value
            self.executor.spin_once(timeout_sec=TICK_SECONDS)
            # A callback may have filled the very list that was empty: the condition decides anew.
            return None

        return until(spun, what)

    def poll(self, ask: Any, what: Any) -> Any:
        """Ask a node ten times a second until the answer is what is wanted, and return it."""
        asked = -POLL_SECONDS

        def answer() -> Any:
            nonlocal asked
            if time.monotonic() < asked + POLL_SECONDS:
                return None
            value = ask()
            asked = time.monotonic()
            return value

        return self.until(answer, what)

    def client(self, service: Any, name: str = '/robot_memory') -> Any:
        key = f'{name}/{service}'
        if key not in self.clients:
            kind = getattr(
                robot_memory.srv, ''.join(part.capitalize() for part in service.split('_'))
            )
            # Many calls at once bring many replies at once: the default depth keeps ten.
            self.clients[key] = self.node.create_client(
                kind, key, qos_profile=QoSProfile(depth=1000)
            )
        self.until(self.clients[key].service_is_ready, f'service {key}')
        return self.clients[key]

    def until_known(self, name: str = 'robot_memory', namespace: str = '/') -> None:
        """Wait until the graph has a node: its services may answer before."""
        ask = self.node.get_node_names_and_namespaces
        self.until(lambda: (name, namespace) in ask(), 'the node in the graph')

    def until_gone(self, service: Any, name: str = '/robot_memory') -> None:
        known = self.clients[f'{name}/{service}']
        self.until(lambda: not known.service_is_ready(), f'{name} to be gone')

    def send(self, service: Any, name: str = '/robot_memory', /, **request: Any) -> Any:
        client = self.client(service, name)
        return client.call_async(client.srv_type.Request(**request))

    def answer(self, future: Any, what: str = 'an answer') -> Any:
        self.until(future.done, what)
        return future.result()

    def call(self, service: Any, name: str = '/robot_memory', /, **request: Any) -> Any:
        return self.answer(self.send(service, name, **request), f'an answer of {service}')

    def publish(self, publisher: Any, messages: Any, period: float = 0.0) -> None:
        """Publish messages one after the other, as a driver does: at once where none is lost."""
        waiting = list(messages)
        profile = publisher.qos_profile
        is_reliable = profile.reliability == ReliabilityPolicy.RELIABLE
        if not period and is_reliable and len(waiting) <= profile.depth:
            for message in waiting:
                publisher.publish(message)
            return
        left = iter(waiting)
        done = []

        def next_one() -> None:
            message = next(left, None)
            if message is None:
                done.append(True)
            else:
                publisher.publish(message)

        timer = self.node.create_timer(period or 0.002, next_one)
        self.until(lambda: done, 'all messages to be published')
        self.node.destroy_timer(timer)

    def close(self) -> None:
        self.executor.shutdown()
        self.node.destroy_node()
        rclpy.shutdown(context=self.context)


class NodeProcess:
    """Hold a memory node in a process of its own."""

    def __init__(
        self, folder: Any, *arguments: Any, wrapper: Sequence[str] = (), **parameters: Any
    ) -> None:
        """Start the node; `wrapper` is a command that ends by executing its last arguments."""
        self.db = folder / 'memory.db'
        self.log = folder / 'node.log'
        given = {'db_path': self.db, 'model': 'none', 'mcp_enabled': 'false', **parameters}
        command = [
            Path(get_package_prefix('robot_memory')) / 'lib/robot_memory/memory_node',
            '--ros-args',
            *arguments,
            *(part for key, value in given.items() for part in ('-p', f'{key}:={value}')),
        ]
        start = subprocess.Popen if wrapper else prepared.Popen
        with open(self.log, 'w') as log:
            self.process = start(
                [*wrapper, *map(str, command)], stdout=log, stderr=subprocess.STDOUT
            )

    def stop(self, number: Any = signal.SIGINT) -> Any:
        if self.process.poll() is None:
            self.process.send_signal(number)
        return self.process.wait(timeout=HANG_SECONDS)

    def said(self) -> str:
        made: str = self.log.read_text()
        return made


@pytest.fixture
def robot() -> Iterator[Any]:
    tester = Robot()
    yield tester
    tester.close()


@pytest.fixture
def successor() -> Iterator[Any]:
    """A tester that begins only when it is asked for: it never meets who is gone by then."""
    testers = []

    def begin() -> Any:
        testers.append(Robot())
        return testers[-1]

    yield begin
    for tester in testers:
        tester.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Any]:
    """Start nodes, and stop by their ids those that still run."""
    started: list[Any] = []

    def launch(*arguments: Any, **parameters: Any) -> Any:
        folder = tmp_path / str(len(started))
        folder.mkdir()
        started.append(NodeProcess(folder, *arguments, **parameters))
        return started[-1]

    yield launch
    for node in started:
        if node.process.poll() is None:
            node.process.kill()
            node.process.wait()


@pytest.fixture(scope='session')
def action_package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build strike_interfaces, once, and load it into this process."""
    prefix = action_packages.build(tmp_path_factory.mktemp('strike_interfaces'))
    action_packages.load(prefix)
    return prefix


@pytest.fixture
def strike_type(action_package: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the action Strike; processes that a test starts find its package, too."""
    for name, value in action_packages.list_variables(action_package).items():
        monkeypatch.setenv(name, value)
    return import_module('strike_interfaces.action').Strike
