"""The process of the node: it runs until there is a signal."""

from __future__ import annotations

import functools
import queue
import signal
import sys
import threading

import rclpy
from rclpy.exceptions import NameValidationException, ParameterException
from rclpy.executors import Executor

from robot_memory.core import params_file
from robot_memory.core.errors import RobotMemoryError
from robot_memory.core.heap import freeze_objects
from robot_memory.core.starter import watch_starter
from robot_memory.ros import session
from robot_memory.ros.executor import DispatchOnceExecutor
from robot_memory.ros.leaving import leave_within
from robot_memory.ros.node import MemoryNode
from robot_memory.text.controls import escape_controls

_LEAVING_SECONDS = 10.0
_THREADS = 8
"""
One for what writes, one for a goal of an action, one for timers, one for transitions, and the rest
for recalls.
"""


def main(signals: queue.SimpleQueue[int]) -> None:
    """Run the node until there is a signal."""
    stop = threading.Event()
    node = None
    freeze_objects()
    try:
        watch_starter(functools.partial(signals.put, signal.SIGTERM))
        for path in params_file.find_params_files(sys.argv):
            params_file.read_keys(path)
        warning = session.initialise()
        node = MemoryNode()
        if node.autostart:
            node.start()
    except RobotMemoryError as error:
        _end(node)
        sys.exit(f'robot_memory: [{error.code}] {error}')
    except (ParameterException, NameValidationException) as error:
        sys.exit(escape_controls(f'robot_memory: [invalid_argument] {error}'))
    if warning:
        node.get_logger().warning(warning)
    executor = DispatchOnceExecutor(num_threads=_THREADS)
    executor.add_node(node)
    spinner = threading.Thread(target=_spin, args=(executor, node, stop), name='spinner')
    spinner.start()
    try:
        signals.get()
    finally:
        stop.set()
        node.stop_waiting()
        executor.shutdown(timeout_sec=1.0)
        spinner.join()
        _end(node)
    sys.exit(0)


def _end(node: MemoryNode | None) -> None:
    if node is not None:
        node.close()  # nothing is lost by how the process then leaves
        with leave_within(_LEAVING_SECONDS):
            node.destroy_node()
            rclpy.shutdown()


def _spin(executor: Executor, node: MemoryNode, stop: threading.Event) -> None:
    """Spin until the executor is shut down; an exception in a callback is logged."""
    while not stop.is_set():
        try:
            executor.spin()
        except Exception as error:
            node.get_logger().error(f'a callback failed, the node continues: {error!r}')
