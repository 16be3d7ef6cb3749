"""The beginning of rclpy in a process: a folder for its logs, and its refusals in words."""

from __future__ import annotations

import logging
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

import rclpy
from rclpy.exceptions import ROSInterruptException
from rclpy.signals import SignalHandlerOptions

from robot_memory.core.errors import InvalidArgument

logger = logging.getLogger(__name__)


def initialise(
    arguments: Sequence[str] | None = None, context: rclpy.Context | None = None
) -> str:
    """
    Initialize rclpy without signal handlers; return a warning, empty: none.

    Raise InvalidArgument for --ros-args that it does not take.
    """
    warning = find_log_folder()
    try:
        given = None if arguments is None else list(arguments)
        rclpy.init(args=given, context=context, signal_handler_options=SignalHandlerOptions.NO)
    except ROSInterruptException:
        raise
    except Exception as error:  # rclpy's own errors have no common class
        words = ' '.join(str(error).split())
        raise InvalidArgument(
            f'ROS 2 rejects the arguments or the environment (ROS_*): {words}'
        ) from error
    return warning


def find_log_folder() -> str:
    """
    Name another folder for the logs of ROS where its own cannot be written.

    Return what was wrong, and which folder it is now; empty: nothing was. rclpy does not start
    without one.
    """
    home = os.environ.get('ROS_HOME') or str(Path(os.environ.get('HOME', ''), '.ros'))
    folder = Path(os.environ.get('ROS_LOG_DIR') or Path(home, 'log')).expanduser()
    if not (os.environ.get('ROS_LOG_DIR') or os.environ.get('ROS_HOME') or _is_home_set()):
        reason = 'HOME is not set, so ROS has no log folder'
    else:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if os.access(folder, os.W_OK | os.X_OK):
                return ''
            reason = f'ROS cannot write logs to {folder}'
        except OSError as error:
            reason = f'ROS cannot write logs to {folder}: {error.strerror}'
    own = _make_folder()
    os.environ['ROS_LOG_DIR'] = str(own)
    return f'{reason}; using {own}, set ROS_LOG_DIR to change it'


def _is_home_set() -> bool:
    return bool(os.environ.get('HOME'))


def _make_folder() -> Path:
    """Return a folder for temporary files that nobody else can have put there."""
    folder = Path(tempfile.gettempdir(), f'robot_memory_ros_log_{os.getuid()}')
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        if not folder.is_symlink() and folder.stat().st_uid == os.getuid():
            return folder
    except OSError:
        pass
    return Path(tempfile.mkdtemp(prefix='robot_memory_ros_log_'))
