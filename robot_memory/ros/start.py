"""Starts the node, or says what is missing."""

import os
import queue
import signal
import sys


def main() -> None:
    """Run the node; without ROS 2, end with one line that says what to do."""
    # Read when numpy is imported: one recall is too small to share out, and the cores have work.
    os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
    # Before the imports, which take most of a start: an interrupt in the midst of them may be
    # swallowed. A SimpleQueue is what a handler may put into whatever it has interrupted.
    signals: queue.SimpleQueue[int] = queue.SimpleQueue()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda received, _: signals.put(received))
    try:
        import rclpy  # noqa: F401

        import robot_memory.msg  # noqa: F401
    except ImportError as missing:
        sys.exit(
            f'robot_memory: [unavailable] the node needs ROS 2 and this package built with it '
            f'({missing}): source both, or run make build; robot-memory works without'
        )
    from robot_memory.ros import node

    node.main(signals)
