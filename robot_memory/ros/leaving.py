"""Leaving the graph of ROS, in which a process must not stay for good."""

from __future__ import annotations

import faulthandler
import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def leave_within(seconds: float) -> Iterator[None]:
    """
    End the process with status 1, and say where it was, if it is not out of a block in time.

    Fast DDS 3.2 may wait for good while it takes a participant away: in `set_listener`, for a
    listener that waits for it in turn. It holds the interpreter's lock, so that no thread of
    Python could end the process, nor a signal handler of it.
    """
    faulthandler.dump_traceback_later(seconds, exit=True, file=sys.__stderr__ or 2)
    try:
        yield
    finally:
        faulthandler.cancel_dump_traceback_later()
