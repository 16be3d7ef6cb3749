"""Turns of the processes that write to a store, so that none is passed again and again."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import apsw

STANDSTILL_SECONDS = 1.0
"""How long whoever is next is waited for: a process that was stopped keeps nobody from writing."""
_FLAGS = os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC


class WriteTurns:
    """
    Let the process that waits for the store's lock have it before one that just had it.

    SQLite gives its lock to whoever asks at the right moment. A process that writes all the time
    leaves gaps of microseconds, which one that looks every 20 ms hardly ever meets. So the one
    that waits holds a second lock, on a file beside the store, and others wait for that first. The
    file is made when a process first has to wait, or compacts the store; where it cannot be made
    or locked, there are no turns. Not safe for several threads: the caller has a lock of its own.
    """

    def __init__(self, path: Path) -> None:
        """Begin without the file."""
        self._path = path.with_name(f'.{path.name}.writing')
        self._descriptor: int | None = None
        self._stands_still = False

    def begin(self, connection: apsw.Connection, wait: Callable[[int], bool]) -> None:
        """
        Begin a transaction that writes; `wait` says whether to go on after so many attempts.

        Raise apsw.BusyError where it does not. The connection's own busy handler must not wait.
        """
        attempts = 0
        if self._open(0):
            attempts = self._take(wait, attempts)
        try:
            while True:
                try:
                    connection.execute('BEGIN IMMEDIATE')
                    return
                except apsw.BusyError:
                    if not wait(attempts):
                        raise
                if attempts == 0 and self._open(os.O_CREAT):
                    self._try()
                attempts += 1
        finally:
            self._release()

    @contextmanager
    def hold(self, wait: Callable[[int], bool]) -> Iterator[None]:
        """Be next in the block, but for what another process is at as it begins."""
        try:
            if self._open(os.O_CREAT):
                self._take(wait, 0)
            yield
        finally:
            self._release()

    def _release(self) -> None:
        if self._descriptor is not None:
            with suppress(OSError):
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def _open(self, flags: int) -> bool:
        """Say whether the file is open; with O_CREAT it is made where it is not there."""
        if self._descriptor is None:
            with suppress(OSError):
                self._descriptor = os.open(self._path, _FLAGS | flags, 0o600)
        return self._descriptor is not None

    def _take(self, wait: Callable[[int], bool], attempts: int) -> int:
        """Wait until it is this process's turn, or whoever is next stands still."""
        until = None
        while not self._try():
            now = time.monotonic()
            until = now + STANDSTILL_SECONDS if until is None else until
            if self._stands_still or now > until:
                self._stands_still = True  # and does so until the file can be locked again
                break
            if not wait(attempts):
                raise apsw.BusyError('BusyError: another process is next to write')
            attempts += 1
        else:
            self._stands_still = False
        return attempts

    def _try(self) -> bool:
        """Say whether it is this process's turn, as it is where a file cannot be locked."""
        try:
            fcntl.flock(self._descriptor or 0, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:
            return True
        return True


@contextmanager
def released(lock: threading.RLock) -> Iterator[None]:
    """Release a lock at the end of the block, unless `stop_waiting` has released it."""
    try:
        yield
    finally:
        with suppress(RuntimeError):
            lock.release()
