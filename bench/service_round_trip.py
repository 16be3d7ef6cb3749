"""Print the median time of a recall through the node's service and of the same in process."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from robot_memory.core.progress import make_progress_bar

CALLS = 500

try:
    import rclpy
    from ament_index_python.packages import get_package_prefix

    from robot_memory.api import RobotMemory
    from robot_memory.srv import Recall
except ImportError as missing:
    sys.exit(f'no service to measure: {missing}')


def measure_median_ms(title: str, call: Callable[[], object]) -> float:
    """Return the median time of a call, in milliseconds."""
    times = []
    for _ in make_progress_bar(range(CALLS), title, unit='call'):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1000)
    return round(statistics.median(times), 3)


def main() -> None:
    """Start a node, measure, and end it."""
    os.environ['ROS_AUTOMATIC_DISCOVERY_RANGE'] = 'LOCALHOST'
    os.environ['ROS_DOMAIN_ID'] = str(1 + os.getpid() % 100)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / 'memory.db'
        memory = RobotMemory(str(path), model='none')
        for i in range(1000):
            memory.learn(f'Shelf {i} holds the red cups of line {i % 7}')
        in_process = measure_median_ms('in process', lambda: memory.recall('red cup on shelf 9'))
        executable = Path(get_package_prefix('robot_memory')) / 'lib/robot_memory/memory_node'
        parameters = {'db_path': path, 'model': 'none', 'mcp_enabled': 'false'}
        given = [part for key, value in parameters.items() for part in ('-p', f'{key}:={value}')]
        node = subprocess.Popen(
            [str(executable), '--ros-args', '--log-level', 'warn', *given], stdout=sys.stderr
        )
        try:
            rclpy.init()
            tester = rclpy.create_node('round_trip')
            client: Any = tester.create_client(Recall, '/robot_memory/recall')
            if not client.wait_for_service(20):
                sys.exit('the node did not come up')
            request = Recall.Request(query='red cup on shelf 9')

            def call() -> None:
                rclpy.spin_until_future_complete(tester, client.call_async(request))

            call()
            over_dds = measure_median_ms('service', call)
            tester.destroy_node()
            rclpy.shutdown()
        finally:
            node.terminate()
            node.wait()
            memory.close()
    print(json.dumps({'in_process_p50_ms': in_process, 'service_p50_ms': over_dds}))


if __name__ == '__main__':
    main()
