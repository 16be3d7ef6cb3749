"""Locks of a store's writers within a process."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def released(lock: threading.RLock) -> Iterator[None]:
    """Release a lock at the end of the block, unless `stop_waiting` has released it."""
    try:
        yield
    finally:
        with suppress(RuntimeError):
            lock.release()
