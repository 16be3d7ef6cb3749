"""Starts the node, or says what is missing."""

import os
import queue
import signal
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from robot_memory.core.heap import use_one_heap
from robot_memory.text.controls import escape_controls

_USAGE = (
    'usage: memory_node [--help] [--version] [--ros-args [-p NAME:=VALUE] [--params-file '
    'FILE]\n                   [-r __ns:=/NAMESPACE] [--log-level LEVEL] ...]\n\n'
    'Run the memory node (ROS 2 services, taps, MCP server) until Ctrl-C.\n\n'
    'options:\n  -h, --help   print this help and exit\n  --version    print the version and '
    'exit\n  --ros-args   arguments for ROS 2: parameters, names, log levels\n\n'
    'Parameters with descriptions and defaults, as a file for --params-file:\n\n'
)


def main() -> None:
    """Run the node; without ROS 2, end with one line that says what to do."""
    with _report_missing_package():
        _answer_options(_select_node_arguments(sys.argv[1:]))
    # Read when numpy is imported: one recall is too small to share out, and the cores have work.
    os.environ.setdefault('OPENBLAS_NUM_THREADS', '1')
    use_one_heap()  # some imports begin threads
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
            'robot_memory: [unavailable] the node requires ROS 2 and a build of this package '
            f'with it ({missing}): source both, or run make build; robot-memory works without ROS'
        )
    with _report_missing_package():
        from robot_memory.ros import process
    process.main(signals)


@contextmanager
def _report_missing_package() -> Iterator[None]:
    """End the process with one line where a package is not installed."""
    try:
        yield
    except ModuleNotFoundError as missing:
        from robot_memory.core.dependencies import describe_missing

        advice = describe_missing(missing)
        if not advice:
            raise
        sys.exit(f'robot_memory: [unavailable] {advice}')


def _select_node_arguments(arguments: Sequence[str]) -> list[str]:
    """Return the arguments that are not for ROS."""
    found, for_ros = [], False
    for argument in arguments:
        if argument == '--ros-args' or (for_ros and argument == '--'):
            for_ros = argument == '--ros-args'
        elif not for_ros:
            found.append(argument)
    return found


def _answer_options(arguments: Sequence[str]) -> None:
    """Answer the options that start no node, and refuse all others; end the process then."""
    if not arguments:
        return
    if set(arguments) <= {'-h', '--help', '--version'}:
        if arguments[0] == '--version':
            from robot_memory.core.version import get_version

            print(f'memory_node {get_version()}')
        else:
            from robot_memory.ros.interfaces import parameters

            print(_USAGE + parameters(), end='')
        sys.exit(0)
    print(
        f'memory_node: unknown argument {escape_controls(" ".join(arguments))}; accepted: --help, '
        '--version, and --ros-args with ROS 2 arguments, e.g. memory_node --ros-args -p '
        'db_path:=cell_1.db',
        file=sys.stderr,
    )
    sys.exit(2)
