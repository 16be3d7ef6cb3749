"""End with the process that started this one, where that says so in the environment."""

from __future__ import annotations

import os
import select
import threading
import time
from collections.abc import Callable

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value

VARIABLE = 'ROBOT_MEMORY_ENDS_WITH'
_HIGHEST = 2**31 - 1
_POLL_SECONDS = 1.0


def watch_starter(end: Callable[[], object]) -> None:
    """
    Call `end`, in a thread, once the process is gone whose id ROBOT_MEMORY_ENDS_WITH is.

    `ros2 launch` ends none of its processes where SIGTERM or SIGKILL ends it, so a launch file
    names its own process there. Not set or empty: nothing is watched. Raise InvalidArgument for
    what is no id.
    """
    text = os.environ.get(VARIABLE, '')
    if not text:
        return
    if not (text.isascii() and text.isdigit() and 0 < int(text) <= _HIGHEST):
        raise InvalidArgument(
            f'{VARIABLE} must be the id of a process, 1 to {_HIGHEST}, not {format_value(text)}'
        )
    thread = threading.Thread(target=_wait, args=(int(text), end), name='starter', daemon=True)
    thread.start()


def _wait(pid: int, end: Callable[[], object]) -> None:
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        pass
    except OSError:  # a kernel before 5.3, or a container that forbids it
        while _is_there(pid):
            time.sleep(_POLL_SECONDS)
    else:
        select.select([handle], [], [])
        os.close(handle)
    end()


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
