"""
Demonstrate the package: a node, a recording played as live topics, ROS services, an MCP client.

`make demo`, or `make demo BAG=<rosbag2>` with a recording of your own.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import os
import queue
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import rclpy
from ament_index_python.packages import get_package_prefix
from mcp import Client
from rclpy.node import Node
from rclpy.qos import QoSProfile
from rosbags.highlevel import AnyReader, AnyReaderError
from rosbags.typesys import Stores, get_typestore

import robot_memory.srv
from robot_memory.client.loopback import exempt_loopback
from robot_memory.core.version import get_version
from robot_memory.ingest.messages import TYPES

sys.path.insert(0, str(Path(__file__).resolve().parent))
import make_recording

LONGEST = 20.0
"""Seconds that a replay takes at most: a longer recording is played faster."""
DEADLINE = 300.0
"""Seconds after which it gives up: a busy machine takes a while to start a node."""


def print_text(text: str = '', mark: str = '  ') -> None:
    """Print a paragraph of the transcript."""
    print(textwrap.fill(text, 96, initial_indent=mark, subsequent_indent='    '), flush=True)


def print_heading(text: str) -> None:
    """Print a heading of the transcript."""
    print(f'\n\033[1m{text}\033[0m' if sys.stdout.isatty() else f'\n{text}', flush=True)


class Recording:
    """Read a rosbag2 and say which of its topics the node can listen to."""

    def __init__(self, path: Path) -> None:
        """Open a recording."""
        try:
            # Recordings before Iron do not carry their types; the reader knows the common ones.
            types = get_typestore(Stores.LATEST)
            self.reader = AnyReader([path], default_typestore=types)
            self.reader.open()
        except (AnyReaderError, OSError) as error:
            sys.exit(f'cannot read {path} as a rosbag2: {error}')
        self.connections: list[Any] = []
        self.parameters: dict[str, str] = {}
        for connection in self.reader.connections:
            if connection.msgtype not in TYPES or not connection.msgcount:
                why = 'has no subscriber' if connection.msgcount else 'is empty'
                print_text(f'{connection.topic} ({connection.msgtype}) {why}', '  - ')
                continue
            name = f'tap_{len(self.connections) + 1}'
            self.parameters[f'{name}.topic'] = connection.topic
            self.parameters[f'{name}.type'] = connection.msgtype
            self.connections.append(connection)
        if not self.connections:
            sys.exit(f'{path} has no topic of a type in {", ".join(TYPES)}')
        names = (f'tap_{number + 1}' for number in range(len(self.connections)))
        self.parameters['taps'] = f'[{", ".join(names)}]'
        seconds = (self.reader.end_time - self.reader.start_time) / 1e9
        self.rate = max(4.0, seconds / LONGEST)
        print_text(
            f'{path.name}: {seconds:.0f} s, '
            + ', '.join(f'{c.topic} ({c.msgcount})' for c in self.connections)
            + f', played at {self.rate:.0f} times the recorded speed'
        )

    def read_messages(self) -> Iterator[tuple[float, str, bytes]]:
        """Yield (seconds from the start of the replay, topic, serialized message)."""
        for connection, stamp, data in self.reader.messages(self.connections):
            yield (stamp - self.reader.start_time) / 1e9 / self.rate, connection.topic, data


class MemoryProcess:
    """Run the memory node in a process of its own and read its log."""

    def __init__(self, folder: Path, parameters: dict[str, str]) -> None:
        """Start it on a store of its own."""
        executable = Path(get_package_prefix('robot_memory')) / 'lib/robot_memory/memory_node'
        given = {'db_path': str(folder / 'memory.db'), 'mcp_port': '0', **parameters}
        self.process = subprocess.Popen(
            [
                str(executable),
                '--ros-args',
                *(part for key, value in given.items() for part in ('-p', f'{key}:={value}')),
            ],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines: queue.Queue[str] = queue.Queue()
        self._listener = threading.Thread(target=self._read_output)
        self._listener.start()

    def _read_output(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            text = line.partition(']: ')[2].strip() or line.strip()
            if text.startswith('event: '):
                print_text(text.removeprefix('event: '), '  * ')
            elif text.startswith('tap_'):
                print_text(text, '  - ')
            self.lines.put(text)

    def wait_for_mcp(self) -> str:
        """Wait until the node serves, and return where MCP is."""
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            text = self.lines.get(timeout=DEADLINE)
            if 'MCP: ' in text:
                return text.partition('MCP: ')[2]
            if self.process.poll() is not None:
                break
        sys.exit(f'the node did not start: {text}')

    def wait_until_quiet(self) -> None:
        """Wait until it has logged nothing for a second."""
        with contextlib.suppress(queue.Empty):
            while True:
                self.lines.get(timeout=1.0)

    def stop(self) -> int:
        """End it as Ctrl-C does and return its exit code."""
        self.process.terminate()
        self._listener.join()
        return self.process.wait(timeout=DEADLINE)


class Operator(Node):
    """Publish the recording and call the services."""

    def __init__(self) -> None:
        """Be a node like any other."""
        super().__init__('operator')

    def until(self, condition: Any, what: str) -> Any:
        """Spin until a condition holds and return its value."""
        end = time.monotonic() + DEADLINE
        while not (value := condition()):
            if time.monotonic() > end:
                sys.exit(f'waited {DEADLINE:.0f} s for {what}')
            rclpy.spin_once(self, timeout_sec=0.02)
        return value

    def ask(self, service: str, **request: Any) -> Any:
        """Call a service of the memory and return its reply."""
        kind = getattr(robot_memory.srv, ''.join(word.capitalize() for word in service.split('_')))
        client: Any = self.create_client(kind, f'/robot_memory/{service}')
        self.until(client.service_is_ready, service)
        future = client.call_async(kind.Request(**request))
        self.until(future.done, f'the reply of {service}')
        self.destroy_client(client)
        return future.result()

    def replay(self, recording: Recording) -> None:
        """Publish a recording at its pace."""
        publishers = {}
        for connection in recording.connections:
            package, _, name = connection.msgtype.split('/')
            module = __import__(f'{package}.msg', fromlist=[name])
            publishers[connection.topic] = self.create_publisher(
                getattr(module, name), connection.topic, QoSProfile(depth=2000)
            )
        for publisher in publishers.values():
            self.until(
                lambda publisher=publisher: [
                    info
                    for info in self.get_subscriptions_info_by_topic(publisher.topic_name)
                    if info.qos_profile.reliability == publisher.qos_profile.reliability
                ],
                f'a subscription to {publisher.topic_name}',
            )
        start = time.monotonic()
        for due, topic, data in recording.read_messages():
            while (left := start + due - time.monotonic()) > 0:
                rclpy.spin_once(self, timeout_sec=min(left, 0.02))
            publishers[topic].publish(data)


def print_memories(memories: Any) -> None:
    """Print recalled memories."""
    for item in memories:
        item = (
            item
            if isinstance(item, dict)
            else {
                'content': item.content,
                '_rrf_score': item.rrf_score,
                'id': item.id,
            }
        )
        print_text(f'{item["_rrf_score"]:.2f}  {item["content"]}  (memory {item["id"]})', '    > ')


def teach(operator: Operator, session: str) -> None:
    """Teach the robot through ROS services."""
    print_heading('The operator teaches (ROS services)')
    real = json.dumps({'task': {'success': True}, 'env': {'sim_or_real': 'real'}})
    for insight in (
        'Must never exceed 15 N of grip force on the glass beaker',
        'Found that the table is 4 mm lower at the left edge, so placing needs a softer touch',
        '优先从左侧接近红色杯子',
        'Found that the table is 4 mm lower at the left edge, so placing needs a softer touch',
    ):
        reply = operator.ask('learn', insight=insight, context=real, session_id=session)
        if reply.status == 'duplicate':
            print_text(f'"{insight}" is a duplicate ({reply.method}, memory {reply.existing_id})')
        else:
            print_text(
                f'"{insight}" is stored as {reply.auto_inferred.category}, {reply.memory_id}'
            )
    reply = operator.ask('learn', insight='', session_id=session)
    print_text(f'an empty one is rejected: [{reply.error_code}] {reply.message}')


def ask_service(operator: Operator, query: str) -> None:
    """Ask through the ROS service."""
    reply = operator.ask('recall', query=query, n=2)
    print_text(f'"{query}" ({reply.mode}, {reply.query_ms:.1f} ms)')
    print_memories(reply.memories)


async def run_planner(url: str) -> bool:
    """Recall and learn as a planner does, through a real MCP client; return whether it worked."""
    async with Client(url) as connected:
        client: Any = connected
        tools = await client.list_tools()
        print_text(f'{url} offers {", ".join(tool.name for tool in tools.tools)}')
        query = 'how carefully must I put something down?'
        found = (await client.call_tool('recall', {'query': query, 'n': 2})).structured_content
        print_text(f'"{query}" ({found["mode"]}, {found["query_ms"]:.1f} ms)')
        print_memories(found['memories'])
        felt = {'query': 'contact', 'n': 1, 'context_filter': {'task.success': {'$exists': 1}}}
        refused = await client.call_tool('recall', felt)
        print_text(f'an invalid request is rejected: {refused.content[0].text}')
        learned = await client.call_tool(
            'learn', {'insight': 'Lesson: slow to 20 mm/s within 5 cm of the table'}
        )
        print_text(f'a lesson is stored: {json.dumps(learned.structured_content)}')
        return bool(found['memories']) and refused.is_error and not learned.is_error


def main() -> int:
    """Run the demonstration; 0 when everything worked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--version', action='version', version=f'%(prog)s {get_version()}')
    parser.add_argument('--bag', type=Path, help='rosbag2 to replay instead of the generated one')
    options = parser.parse_args()
    exempt_loopback(os.environ)
    os.environ.setdefault('ROS_DOMAIN_ID', str(1 + os.getpid() % 100))
    with tempfile.TemporaryDirectory(prefix='robot_memory_demo_') as name:
        folder = Path(name)
        print_heading('A recording')
        recording = Recording(options.bag or make_recording.record(folder / 'ur5e'))
        print_heading('A memory node')
        memory = MemoryProcess(folder, recording.parameters)
        try:
            url = memory.wait_for_mcp()
            print_text(f'serves ROS services under /robot_memory, and MCP at {url}')
            rclpy.init()
            good = run_demo(Operator(), memory, recording, url, options.bag is None)
            rclpy.shutdown()
        finally:
            print_heading('Message counts')
            code = memory.stop()
    print_text(f'The node ended with exit code {code}.', '\n')
    return 0 if good and code == 0 else 1


def run_demo(
    operator: Operator,
    memory: MemoryProcess,
    recording: Recording,
    url: str,
    expects_events: bool,
) -> bool:
    """Run all parts; return whether each of them worked."""
    session = operator.ask(
        'start_session', context=json.dumps({'robot': {'type': 'UR5e'}, 'task': {'name': 'demo'}})
    ).session_id
    print_heading('Events detected on live topics')
    operator.replay(recording)
    memory.wait_until_quiet()

    where = json.dumps({'kind': 'perception'})
    noticed = operator.ask('query_records', where=where, limit=1000).total_count
    print_text(f'Perceptions stored, each with its own stamp and frame: {noticed}.')
    teach(operator, session)
    print_heading('The operator asks (ROS service)')
    for query in ('hard contact with the table', 'how hard may I grip glass?', 'red cup'):
        ask_service(operator, query)
    print_heading('The planner asks (MCP)')
    good = asyncio.run(run_planner(url))
    print_heading('The session ends')
    ended = operator.ask('end_session', session_id=session, outcome_score=0.9)
    print_text(
        f'{ended.summary.memory_count} memories in the session {ended.summary.by_category}, '
        f'{ended.consolidated.superseded_count} merged, {ended.decayed_count} decayed'
    )
    operator.destroy_node()
    return good and ended.success and (noticed > 0 or not expects_events)


if __name__ == '__main__':
    sys.exit(main())
