"""
Measure the node under a robot's load in alternation with a bare rclpy node, and its end.

Each pair runs the bare node alone, then the memory alone, with JointState and WrenchStamped at
500 Hz and Image 640 x 480 at 30 Hz: messages lost, processor time, resident memory after a minute
and at the end. Then the node is ended under load (SIGINT) some times. Prints JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from robot_memory.core.progress import make_progress_bar

sys.path.insert(0, str(Path(__file__).resolve().parent))

from load import DEADLINE, TOPICS, compare_counts, read_processor_seconds, start_role
from measured_process import read_megabytes

try:
    from ament_index_python.packages import get_package_prefix
except ImportError as missing:
    sys.exit(f'no load to measure: {missing}')

MINUTE_S = 60.0
ARRIVAL_S = 4.0
"""A writer of Fast DDS tells every 3 s what it sent: only then is the last known as missing."""
PROFILE_OF = ('FASTDDS_DEFAULT_PROFILES_FILE', 'FASTRTPS_DEFAULT_PROFILES_FILE')
"""What names a profile to Fast DDS 3, and to the versions before it."""
AGAIN_S = 1.0
"""A spin of rclpy may miss a signal that comes just before it waits: after this, once more."""
ENDING_S = 5.0
"""How long there is load before the node is told to end."""


@contextmanager
def run_memory(folder: Path) -> Iterator[subprocess.Popen[Any]]:
    """Run the node with its model and default taps; its log is beside its store."""
    executable = Path(get_package_prefix('robot_memory')) / 'lib/robot_memory/memory_node'
    command = [str(executable), '--ros-args', '-p', f'db_path:={folder}/memory.db']
    command += ['-p', 'mcp_enabled:=false']
    with (folder / 'node.log').open('w') as log:
        process = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT)
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


@contextmanager
def run_publisher(seconds: float, profile: str) -> Iterator[subprocess.Popen[str]]:
    """Run the publisher of all topics, with a profile of Fast DDS; it has begun to publish."""
    variables = dict.fromkeys(PROFILE_OF, profile) if profile else {}
    publisher = start_role('publisher', '--seconds', f'{seconds}', '--listeners', '1', **variables)
    try:
        assert publisher.stdout is not None
        publisher.stdout.readline()
        yield publisher
    finally:
        publisher.kill()
        publisher.wait()


def load(process: int, seconds: float, profile: str) -> dict[str, Any]:
    """Let a process hear all topics so long; return what it used, and what was sent."""
    with run_publisher(seconds, profile) as publisher:
        before, rss_mb = read_processor_seconds(process), []
        for _ in make_progress_bar(range(round(seconds)), 'load', unit='s'):
            time.sleep(1.0)
            rss_mb.append(read_megabytes('VmRSS', process))
        assert publisher.stdout is not None
        sent = json.loads(publisher.stdout.readline())
        used = read_processor_seconds(process) - before
        time.sleep(ARRIVAL_S)
        publisher.communicate('\n', DEADLINE)  # a killed one leaves its segment in /dev/shm
    minute = rss_mb[min(len(rss_mb), round(MINUTE_S)) - 1]
    found = {'sent': sent, 'processor_s': round(used, 2)}
    return {**found, 'rss_minute_mb': minute, 'rss_end_mb': rss_mb[-1], 'rss_most_mb': max(rss_mb)}


def measure_bare(seconds: float, profile: str) -> dict[str, Any]:
    """Measure the node that only counts."""
    bare = start_role('bare')
    try:
        found = load(bare.pid, seconds, profile)
        assert bare.stdout is not None
        while not select.select([bare.stdout], [], [], AGAIN_S)[0]:
            bare.send_signal(signal.SIGINT)
        counted = json.loads(bare.stdout.readline())
    finally:
        bare.kill()
        bare.wait()
    lost = {topic: found['sent'][topic] - counted.get(topic, 0) for topic in TOPICS}
    return {**found, 'lost': lost}


def measure_memory(seconds: float, profile: str) -> dict[str, Any]:
    """Measure the memory."""
    with tempfile.TemporaryDirectory() as name, run_memory(Path(name)) as memory:
        found = load(memory.pid, seconds, profile)
        memory.send_signal(signal.SIGINT)
        memory.wait(DEADLINE)
        topics = compare_counts({}, (Path(name) / 'node.log').read_text())
    lost = {topic: found['sent'][topic] - topics[topic].get('received', 0) for topic in TOPICS}
    kept = sum(topics[topic].get('events', 0) for topic in TOPICS)
    return {**found, 'lost': lost, 'events': kept}


def measure_end(profile: str) -> float:
    """Return how long the node takes to end under load, in seconds."""
    with (
        tempfile.TemporaryDirectory() as name,
        run_memory(Path(name)) as memory,
        run_publisher(10 * ENDING_S, profile),
    ):
        time.sleep(ENDING_S)
        start = time.perf_counter()
        memory.send_signal(signal.SIGINT)
        memory.wait(DEADLINE)
        return round(time.perf_counter() - start, 3)


def main() -> None:
    """Measure pairs and ends."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seconds', type=float, default=600.0)
    parser.add_argument('--pairs', type=int, default=5)
    parser.add_argument('--ends', type=int, default=5)
    parser.add_argument(
        '--profile',
        type=Path,
        help='a profile of Fast DDS for the publisher, as config/fastdds_pictures.xml',
    )
    options = parser.parse_args()
    profile = str(options.profile.resolve(strict=True)) if options.profile else ''
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    os.environ['ROS_DOMAIN_ID'] = str(1 + os.getpid() % 100)
    ends = [measure_end(profile) for _ in range(options.ends)]
    print(f'end under load: {ends} s', file=sys.stderr, flush=True)
    pairs = []
    for _ in range(options.pairs):
        pair = {
            'bare': measure_bare(options.seconds, profile),
            'this': measure_memory(options.seconds, profile),
        }
        pairs.append(pair)
        print(json.dumps(pair), file=sys.stderr, flush=True)
    ratios = [pair['this']['processor_s'] / pair['bare']['processor_s'] for pair in pairs]
    growths = [pair['this']['rss_end_mb'] / pair['this']['rss_minute_mb'] for pair in pairs]
    print(
        json.dumps(
            {
                'seconds': options.seconds,
                'profile': Path(profile).name,
                'ratio': round(statistics.median(ratios), 3) if ratios else None,
                'rss_growth': round(statistics.median(growths), 3) if growths else None,
                'end_s': round(statistics.median(ends), 3) if ends else None,
                'end_most_s': max(ends, default=None),
                'pairs': pairs,
            }
        )
    )


if __name__ == '__main__':
    main()
