"""
Measure the node under the load of a robot, beside a bare rclpy node that does nothing.

JointState and WrenchStamped at 500 Hz and Image 640 x 480 at 30 Hz at once: messages received by
both, processor time of both, and the time of a recall through the service. Prints JSON.

`--viewers 2` does the same with so many pages of the viewer open, each told of news and renewed by
them as a browser does, once more without, and puts the times of recalls side by side.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import re
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import numpy as np

from robot_memory.core.progress import make_progress_bar

try:
    import rclpy
    from ament_index_python.packages import get_package_prefix
    from geometry_msgs.msg import WrenchStamped
    from rclpy.qos import QoSProfile
    from rclpy.serialization import serialize_message
    from sensor_msgs.msg import Image, JointState

    from robot_memory.srv import Learn, Recall
except ImportError as missing:
    sys.exit(f'no load to measure: {missing}')

TOPICS: dict[str, tuple[Any, float, int]] = {
    '/joint_states': (JointState, 500.0, 1000),
    '/wrench': (WrenchStamped, 500.0, 1000),
    '/camera/image_raw': (Image, 30.0, 30),
}
RECALLS_HZ = 2.0
CYCLE_S = 8.0
STAMP = struct.Struct('<iI')
DEADLINE = 30.0
SETTLE_S = 2.0
"""A listener that is discovered here has not yet discovered us."""


def make_joint_states(at: float) -> Any:
    """Return the joints of an arm that moves for two of every eight seconds."""
    share = min(max((at - 1.0) / 2.0, 0.0), 1.0)
    message = JointState()
    message.header.frame_id = 'base_link'
    message.name = [f'joint_{number}' for number in range(1, 7)]
    swing = 0.5 - 0.5 * math.cos(2 * math.pi * share)
    speed = 0.5 * math.pi * math.sin(2 * math.pi * share) if 0.0 < share < 1.0 else 0.0
    message.position = [swing * number / 6 for number in range(1, 7)]
    message.velocity = [speed * number / 6 for number in range(1, 7)]
    message.effort = [1.0] * 6
    return message


def make_wrench(at: float) -> Any:
    """Return the force at a wrist that is pushed once in eight seconds."""
    message = WrenchStamped()
    message.header.frame_id = 'tool0'
    pushed = 12.0 * math.sin(math.pi * (at - 4.0)) if 4.0 < at < 5.0 else 0.0
    message.wrench.force.z = -9.4 - pushed + 0.1 * math.sin(977.0 * at)
    return message


def make_image(at: float) -> Any:
    """Return a noisy table; a box stands on it in the second half of every eight seconds."""
    random = np.random.default_rng(int(at * 30))
    pixels = np.kron(np.random.default_rng(1).integers(60, 160, (24, 32, 3)), np.ones((20, 20, 1)))
    if at > CYCLE_S / 2:
        pixels[200:300, 240:340] = (200, 40, 40)
    pixels += random.normal(0, 3, pixels.shape)
    message = Image(encoding='rgb8', height=480, width=640, step=1920)
    message.header.frame_id = 'camera'
    message.data = np.clip(pixels, 0, 255).astype(np.uint8).tobytes()
    return message


MAKERS = {
    '/joint_states': make_joint_states,
    '/wrench': make_wrench,
    '/camera/image_raw': make_image,
}


def publish(seconds: float, wanted: int = 2) -> None:
    """Publish all topics to so many listeners, each message with the stamp of its moment."""
    rclpy.init()
    node = rclpy.create_node('load')
    cycles, publishers = {}, {}
    for topic, (kind, rate, depth) in TOPICS.items():
        every = [MAKERS[topic](number / rate) for number in range(int(CYCLE_S * rate))]
        cycles[topic] = [bytearray(serialize_message(message)) for message in every]
        publishers[topic] = node.create_publisher(kind, topic, QoSProfile(depth=depth))
    listeners = dict.fromkeys(TOPICS, 0)
    end = time.monotonic() + DEADLINE
    while min(listeners.values()) < wanted:
        if time.monotonic() > end:
            sys.exit(f'nobody listens: {listeners}')
        rclpy.spin_once(node, timeout_sec=0.1)
        listeners = {
            topic: len(
                [
                    info
                    for info in node.get_subscriptions_info_by_topic(topic)
                    if info.qos_profile.reliability == publishers[topic].qos_profile.reliability
                ]
            )
            for topic in TOPICS
        }
    time.sleep(SETTLE_S)
    print('begin', flush=True)
    sent: Counter[str] = Counter()
    start, start_ns = time.monotonic(), time.time_ns()
    while (now := time.monotonic() - start) < seconds:
        due = min((sent[topic] / rate, topic) for topic, (_, rate, _) in TOPICS.items())
        if due[0] > now:
            time.sleep(due[0] - now)
        topic = due[1]
        raw = cycles[topic][sent[topic] % len(cycles[topic])]
        STAMP.pack_into(raw, 4, *divmod(start_ns + int(due[0] * 1e9), 10**9))
        publishers[topic].publish(bytes(raw))
        sent[topic] += 1
    print(json.dumps(sent), flush=True)
    sys.stdin.readline()


def count_messages() -> None:
    """Subscribe to the same topics and do nothing but count, until terminated."""
    rclpy.init()
    node = rclpy.create_node('bare')
    counts: Counter[str] = Counter()
    for topic, (kind, _, depth) in TOPICS.items():
        node.create_subscription(
            kind,
            topic,
            lambda _, topic=topic: counts.update((topic,)),
            QoSProfile(depth=depth),
        )
    try:
        rclpy.spin(node)
    finally:
        # A signal ends a spin by one of several exceptions, as it comes: RCLError is one of them.
        print(json.dumps(counts), flush=True)
        os._exit(0)  # an interpreter with rclpy may wait for its threads for ever as it ends


def read_processor_seconds(pid: int) -> float:
    """Return the processor time that a process has used."""
    fields = Path(f'/proc/{pid}/stat').read_text().rpartition(')')[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


def start_role(name: str, *arguments: str, **variables: str) -> subprocess.Popen[str]:
    """Start this file in another process, as one of the other roles, with more variables."""
    command = [sys.executable, __file__, '--role', name, *arguments]
    return subprocess.Popen(
        command,
        env={**os.environ, **variables},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=sys.stderr,
        text=True,
    )


def open_page(url: str) -> None:
    """Be an open page until terminated: renew at news as viewer.js does, and count how often."""
    address = url.split('/')[2]
    renewed = 0
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(print(renewed, flush=True)))
    stream = HTTPConnection(address, timeout=DEADLINE)
    stream.request('GET', '/news', headers={'Accept': 'text/event-stream'})
    told = stream.getresponse()
    print('open', flush=True)
    while line := told.readline():
        if line.startswith(b'event: news'):
            page = HTTPConnection(address, timeout=DEADLINE)
            page.request('GET', '/', headers={'Accept': 'text/html'})
            page.getresponse().read()
            page.close()
            renewed += 1


@contextmanager
def open_pages(store: str, viewers: int) -> Iterator[list[int]]:
    """Have so many pages of a viewer of a store open; give how often each was renewed."""
    renewed: list[int] = []
    if not viewers:
        yield renewed
        return
    command = [sys.executable, '-m', 'robot_memory', 'view', '--view-port', '0', '--db', store]
    viewer = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    pages: list[subprocess.Popen[str]] = []
    try:
        assert viewer.stdout is not None
        url = viewer.stdout.readline().split()[1]
        pages += [start_role('page', '--url', url) for _ in range(viewers)]
        for page in pages:
            assert page.stdout is not None
            page.stdout.readline()
        yield renewed
        for page in pages:
            page.terminate()
            renewed.append(int(page.communicate(timeout=DEADLINE)[0]))
    finally:
        for process in (*pages, viewer):
            if process.poll() is None:
                process.kill()
            process.wait()


def compare(seconds: float, viewers: int) -> dict[str, Any]:
    """Return the figures with pages open and without: lost messages, times of recalls."""
    runs = {name: measure(seconds, number) for name, number in (('none', 0), ('open', viewers))}
    lost = {
        name: sum(one.get('lost', 0) for one in run['topics'].values())
        for name, run in runs.items()
    }
    return {
        'seconds': seconds,
        'viewers': viewers,
        'renewed': runs['open']['renewed'],
        'lost': lost['open'],
        'lost_without': lost['none'],
        'recall_p95_ms': runs['open']['recall_p95_ms'],
        'recall_p95_ms_without': runs['none']['recall_p95_ms'],
        'p95_ratio': round(runs['open']['recall_p95_ms'] / runs['none']['recall_p95_ms'], 2),
        'processor_s': runs['open']['this_processor_s'],
        'processor_s_without': runs['none']['this_processor_s'],
    }


def measure(seconds: float, viewers: int = 0) -> dict[str, Any]:
    """Run all of it, with so many pages of the viewer open, and return the figures."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / 'node.log'
        executable = Path(get_package_prefix('robot_memory')) / 'lib/robot_memory/memory_node'
        command = [str(executable), '--ros-args', '-p', f'db_path:={folder}/memory.db']
        command += ['-p', 'mcp_enabled:=false']
        with log.open('w') as output:
            memory = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT)
        bare, publisher = start_role('bare'), start_role('publisher', '--seconds', str(seconds))
        try:
            figures = _measure_under_load(
                memory.pid, bare.pid, publisher, seconds, f'{folder}/memory.db', viewers
            )
            for process in (bare, memory):
                process.send_signal(signal.SIGINT)
            counted = json.loads(bare.stdout.readline()) if bare.stdout else {}
            memory.wait(DEADLINE)
        finally:
            for process in (publisher, bare, memory):
                if process.poll() is None:
                    process.kill()
                process.wait()
        return {**figures, 'topics': compare_counts(counted, log.read_text())}


def _measure_under_load(
    memory: int,
    bare: int,
    publisher: subprocess.Popen[str],
    seconds: float,
    store: str,
    viewers: int,
) -> dict[str, Any]:
    rclpy.init()
    node = rclpy.create_node('caller')
    learn: Any = node.create_client(Learn, '/robot_memory/learn')
    recall: Any = node.create_client(Recall, '/robot_memory/recall')
    if not learn.wait_for_service(DEADLINE) or not recall.wait_for_service(DEADLINE):
        sys.exit('the node did not come up')
    for number in range(200):
        request = Learn.Request(insight=f'Shelf {number} holds the cups of line {number % 7}')
        rclpy.spin_until_future_complete(node, learn.call_async(request))
    assert publisher.stdout is not None and publisher.stdin is not None
    publisher.stdout.readline()
    before = {pid: read_processor_seconds(pid) for pid in (memory, bare)}
    times = []
    with open_pages(store, viewers) as renewed:
        for number in make_progress_bar(range(int(seconds * RECALLS_HZ)), 'load', unit='recall'):
            start = time.perf_counter()
            request = Recall.Request(query=f'hard push near shelf {number}', n=3)
            rclpy.spin_until_future_complete(node, recall.call_async(request))
            spent = time.perf_counter() - start
            times.append(spent * 1000)
            time.sleep(max(0.0, 1 / RECALLS_HZ - spent))
    sent = json.loads(publisher.stdout.readline())
    used = {pid: read_processor_seconds(pid) - before[pid] for pid in (memory, bare)}
    publisher.stdin.write('\n')
    publisher.stdin.flush()
    publisher.wait(DEADLINE)
    rclpy.shutdown()
    return {
        'seconds': seconds,
        'sent': sent,
        'this_processor_s': round(used[memory], 2),
        'bare_processor_s': round(used[bare], 2),
        'ratio': round(used[memory] / used[bare], 2),
        'renewed': renewed,
        'recalls': len(times),
        'recall_p50_ms': round(statistics.median(times), 2),
        'recall_p95_ms': round(statistics.quantiles(times, n=20)[-1], 2),
    }


def compare_counts(bare: dict[str, int], log: str) -> dict[str, dict[str, int]]:
    """Return for each topic what both received, and what this one says became of it."""
    found = {}
    for topic in TOPICS:
        line = re.search(rf'\({topic}\): (received .*)', log)  # not a warning of it
        counts = line[1].split(', ') if line else []
        split = (count.rpartition(' ') for count in counts)
        found[topic] = {
            'bare': bare.get(topic, 0),
            **{name: int(number) for name, _, number in split if number.isdigit()},
        }
    return found


def main() -> None:
    """Measure, or play one of the roles."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=float, default=60.0)
    parser.add_argument('--listeners', type=int, default=2)
    parser.add_argument(
        '--role', choices=('measure', 'bare', 'publisher', 'page'), default='measure'
    )
    parser.add_argument('--viewers', type=int, default=0)
    parser.add_argument('--url', default='')
    options = parser.parse_args()
    if options.role == 'bare':
        count_messages()
    elif options.role == 'page':
        open_page(options.url)
    elif options.role == 'publisher':
        publish(options.seconds, options.listeners)
    else:
        os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
        os.environ['ROS_DOMAIN_ID'] = str(1 + os.getpid() % 100)
        print(
            json.dumps(
                compare(options.seconds, options.viewers)
                if options.viewers
                else measure(options.seconds)
            )
        )


if __name__ == '__main__':
    main()
