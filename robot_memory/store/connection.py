"""Connections to the store: one writer, a few readers, and every failure in plain words."""

from __future__ import annotations

import math
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import apsw

from robot_memory.errors import Unavailable
from robot_memory.store.extension import load_vectors
from robot_memory.store.migrations import migrate

PATIENCE_SECONDS = 30.0
"""How long a write waits for another process's."""
HURRY_SECONDS = 0.5
"""How long it still waits once the memory is to be closed."""
IDLE_READERS = 8


class Database:
    """
    Open the store's file and hand out transactions.

    Writes of one process take turns at a lock, those of several processes at SQLite's own; reads
    go on meanwhile, each from one snapshot (WAL). `durability` 'full' makes a committed
    transaction survive a power cut, 'normal' the end of the process. Raise Unavailable where the
    file cannot be opened, read or written.
    """

    def __init__(self, path: Path, durability: str = 'full') -> None:
        self.path = path
        self._synchronous = {'full': 'FULL', 'normal': 'NORMAL'}[durability]
        self._lock = threading.Lock()
        self._readers: queue.LifoQueue[apsw.Connection] = queue.LifoQueue()
        self._closed = False
        self._deadline = math.inf
        with self._told():
            path.parent.mkdir(parents=True, exist_ok=True)
            new = not path.exists()
            self._writer = self._connect()
            if new:
                os.chmod(path, 0o600)
            migrate(self._writer)
            self._file = _identity(path)

    @contextmanager
    def write(self) -> Iterator[apsw.Connection]:
        """Run one write transaction: all of it is kept, or nothing where an error leaves it."""
        with self._told(), self._lock:
            self._refuse_closed()
            self.refuse_removed()
            self._writer.execute('BEGIN IMMEDIATE')
            try:
                yield self._writer
                self._writer.execute('COMMIT')
            except BaseException:
                if self._writer.in_transaction:
                    self._writer.execute('ROLLBACK')
                raise

    @contextmanager
    def read(self) -> Iterator[apsw.Connection]:
        """Run reads that all see the same state of the store; never wait for a write."""
        with self._told():
            self._refuse_closed()
            connection = self._borrow()
            try:
                connection.execute('BEGIN')
                yield connection
            finally:
                if connection.in_transaction:
                    connection.execute('ROLLBACK')
                if self._closed or self._readers.qsize() >= IDLE_READERS:
                    connection.close()
                else:
                    self._readers.put(connection)

    @contextmanager
    def apart(self, alone: bool = False) -> Iterator[apsw.Connection]:
        """
        Give a new connection without a transaction, for what cannot be done in one.

        While it works `alone`, this process's writes wait for it at the lock.
        """
        with self._told(), self._lock if alone else nullcontext():
            self._refuse_closed()
            connection = self._connect()
            try:
                yield connection
            finally:
                connection.close()

    def hurry(self) -> None:
        """Have writes that wait for another process give up soon: the memory is to be closed."""
        self._deadline = min(self._deadline, time.monotonic() + HURRY_SECONDS)

    def close(self) -> None:
        """Close the file; reads that are under way end first on their own connections."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            while True:
                try:
                    self._readers.get_nowait().close()
                except queue.Empty:
                    break
            self._writer.close()

    def refuse_removed(self) -> None:
        """Raise Unavailable where the file is gone: an open one could be written on, and lost."""
        if _identity(self.path) != self._file:
            raise Unavailable(
                f'the store {self.path} was removed or replaced; restart to go on with what is '
                'there now'
            )

    def _refuse_closed(self) -> None:
        if self._closed:
            raise Unavailable(f'the store {self.path} is closed; open it again')

    def _borrow(self) -> apsw.Connection:
        try:
            return self._readers.get_nowait()
        except queue.Empty:
            return self._connect()

    def _connect(self) -> apsw.Connection:
        connection = apsw.Connection(str(self.path))
        connection.set_busy_handler(self._waiter())
        load_vectors(connection)
        connection.execute('PRAGMA journal_mode = WAL')
        connection.execute(f'PRAGMA synchronous = {self._synchronous}')
        connection.execute('PRAGMA foreign_keys = ON')
        connection.execute('PRAGMA cache_size = -16384')
        connection.execute('PRAGMA mmap_size = 67108864')
        return connection

    def _waiter(self) -> Callable[[int], bool]:
        """Return a busy handler: wait a little, until patience ends or the memory closes."""
        until = 0.0

        def wait(attempts: int) -> bool:
            nonlocal until
            if attempts == 0:
                until = time.monotonic() + PATIENCE_SECONDS
            if time.monotonic() > min(until, self._deadline):
                return False
            time.sleep(min(0.001 * 2 ** min(attempts, 10), 0.02))
            return True

        return wait

    @contextmanager
    def _told(self) -> Iterator[None]:
        """Turn SQLite's errors into what the reader can do about them."""
        try:
            yield
        except apsw.BusyError:
            why = (
                'this memory is closing'
                if self._deadline < math.inf
                else f'it has done so for {PATIENCE_SECONDS:.0f} s; end that process'
            )
            raise Unavailable(
                f'another process is writing to {self.path} and {why}; '
                'nothing was changed, try again'
            ) from None
        except apsw.NotADBError:
            raise Unavailable(
                f'{self.path} is not a store of robot_memory; name another file in db_path'
            ) from None
        except (apsw.FullError, apsw.IOError, apsw.CorruptError) as error:
            raise Unavailable(
                f'the store {self.path} cannot be used: {error}; check the disk'
            ) from error
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError, OSError) as error:
            raise Unavailable(
                f'{self.path} cannot be opened for writing ({error}); '
                'name a file in a writable folder in db_path'
            ) from error


def _identity(path: Path) -> tuple[int, int] | None:
    """Return which file a path leads to, None where to none."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino
