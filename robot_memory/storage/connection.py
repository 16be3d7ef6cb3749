"""Connections to the store: one writer, a few readers, and every failure in plain words."""

from __future__ import annotations

import itertools
import json
import logging
import math
import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path

import apsw

from robot_memory.core.errors import Damaged, Unavailable
from robot_memory.storage import checksums, schema_runner, shunned
from robot_memory.storage import upgrade as upgrading
from robot_memory.storage.error_messages import (
    describe_error,
    describe_overwritten,
    describe_unopened,
)
from robot_memory.storage.file_watch import identify, make_watch
from robot_memory.storage.indexes import set_aside
from robot_memory.storage.read_only import (
    ReadOnlyStore,
    load_upgraded_copy,
    open_unwritable,
    refuse_outdated,
)
from robot_memory.storage.replacement import complete_replacement
from robot_memory.storage.source import Source
from robot_memory.storage.tables import mending
from robot_memory.storage.tables.meta import get_store_id
from robot_memory.storage.upgrade import NoRoom
from robot_memory.storage.write_turns import WriteTurns, released

logger = logging.getLogger(__name__)

PATIENCE_SECONDS = 30.0
"""How long a write waits for another process's."""
STOPPING_SECONDS = 0.5
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

    def __init__(
        self,
        path: Path,
        durability: str = 'full',
        upgrade: bool = False,
        progress: upgrading.Progress = lambda done, total: None,
        *,
        read_only_fallback: bool = False,
    ) -> None:
        """
        Open the store, and make it where there is none.

        A store of an earlier release is refused, or upgraded where `upgrade` says so;
        `upgraded_from` then is its schema version of before. With `read_only_fallback`, one that
        cannot be upgraded for want of disk space is served read-only, as is any that this process
        may not write to, or on a full disk; `read_only_reason` then says why. `on_write` is called
        first in every write transaction, `on_damage` with the tables and indexes found damaged.
        """
        self.path = path
        self.on_write: Callable[[apsw.Connection], None] = lambda connection: None
        self.on_damage: Callable[[frozenset[str]], None] = lambda owners: None
        self.upgraded_from: int | None = None
        self.shunned = shunned.Shunned()
        self.source = Source(str(path))
        self.read_only_reason = ''
        self._synchronous = {'full': 'FULL', 'normal': 'NORMAL'}[durability]
        self._lock = threading.RLock()
        self._turns = WriteTurns(path)
        self._readers: queue.LifoQueue[apsw.Connection] = queue.LifoQueue()
        self._closed = False
        self._deadline = math.inf
        with self._translate_errors():
            try:
                path.parent.mkdir(parents=True, exist_ok=True)
                complete_replacement(path)
                opened = identify(path)
            except OSError as error:
                raise describe_unopened(path, error) from error
            self._writer = self._connect_first()
            try:
                if opened is None:
                    os.chmod(path, 0o600)
                try:
                    self._prepare(upgrade, progress, read_only_fallback)
                except apsw.Error as error:
                    self._serve(open_unwritable(path, error))
                if self.read_only_reason:
                    refuse_outdated(self._writer, path, self.read_only_reason)
                self._mode = self._writer.pragma('journal_mode')
                self._store_id = get_store_id(self._writer)
                if opened not in (None, identify(path)):
                    self._writer.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
                    raise describe_overwritten(path, 'it was replaced while it was being opened')
            except BaseException:
                self._writer.close()
                self.source.remove_copy()
                raise
            self._watch = make_watch(path, self.source.name, is_frozen=self.source.is_frozen)

    @property
    def files(self) -> tuple[Path, ...]:
        """Return the names of the files that SQLite keeps for the store, there or not."""
        return self._watch.names

    @contextmanager
    def write(self, *, patient: bool = True) -> Iterator[apsw.Connection]:
        """
        Run one write transaction: all of it is kept, or nothing where an error leaves it.

        Unless it is patient, raise Unavailable rather than wait for another write.
        """
        if self.read_only_reason:
            raise ReadOnlyStore(self.read_only_reason)
        if not self._lock.acquire(blocking=patient):
            raise Unavailable(f'another thread is writing to {self.path}; try again')
        with self._translate_errors(), released(self._lock):
            self._refuse_closed()
            self._check_files()
            self._begin(patient)
            try:
                self.on_write(self._writer)
                marks = self._writer.execute(mending.FIND).fetchone()
                with set_aside.avoid(json.loads(marks[0])) if marks else nullcontext():
                    yield self._writer
                self._writer.execute('COMMIT')
                # What was committed to a file that nobody will open is not acknowledged.
                self._check_files()
            except BaseException:
                self._roll_back()
                raise

    @contextmanager
    def read(self) -> Iterator[apsw.Connection]:
        """Run reads that all see the same state of the store; never wait for a write."""
        with self._translate_errors():
            self._refuse_closed()
            connection = self._take_reader()
            try:
                if self._watch.is_cut():
                    self.refuse_removed()
                connection.execute('BEGIN')
                marks = None
                with suppress(apsw.CorruptError, apsw.IOError):  # it tells of itself where needed
                    marks = connection.execute(mending.FIND).fetchone()
                with set_aside.avoid(json.loads(marks[0])) if marks else nullcontext():
                    yield self.shunned.prepare(connection) if self.shunned.tables else connection
            finally:
                if connection.in_transaction:
                    connection.execute('ROLLBACK')
                if self._closed or self._readers.qsize() >= IDLE_READERS:
                    self._close_connection(connection)
                else:
                    self._readers.put(connection)

    @contextmanager
    def connect(self, alone: bool = False, vfs: str = checksums.VFS) -> Iterator[apsw.Connection]:
        """
        Give a new connection without a transaction, for what cannot be done in one.

        While it works `alone`, this process's writes wait for it at the lock, and it is the next
        to write. `vfs` is that of checksums, or one over it.
        """
        with self._translate_errors(), self._lock if alone else nullcontext():
            self._refuse_closed()
            with self._turns.hold(self._make_busy_handler()) if alone else nullcontext():
                connection = self._open_reader(vfs)
                try:
                    yield connection
                finally:
                    self._close_connection(connection)

    @contextmanager
    def connect_scratch(
        self, create: Callable[[apsw.Connection], None]
    ) -> Iterator[apsw.Connection]:
        """
        Give a temporary database that `create` made the tables of, with the store as `now`.

        The store is read-only there; the database is gone at the end of the block.
        """
        with self._translate_errors():
            self._refuse_closed()
            self.refuse_removed()
            flags = apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE | apsw.SQLITE_OPEN_URI
            connection = apsw.Connection('', flags=flags)
            try:
                create(connection)
                connection.execute('PRAGMA cache_size = -65536')
                connection.set_busy_handler(self._make_busy_handler())
                connection.execute('ATTACH ? AS now', (self.source.read_only_uri,))
                ((store_id,),) = connection.execute(
                    "SELECT value FROM now.meta WHERE key = 'store_id'"
                )
                if store_id != self._store_id:
                    raise describe_overwritten(self.path, 'its identity changed')
                self.refuse_removed()
                yield connection
            finally:
                self._close_connection(connection)

    def stop_waiting(self) -> None:
        """
        Have writes that wait for another process give up soon: the memory is to be closed.

        A write of this thread that an interrupt left without its end is rolled back.
        """
        self._deadline = min(self._deadline, time.monotonic() + STOPPING_SECONDS)
        if self._lock.acquire(blocking=False):  # nobody writes, or this thread was interrupted
            self._roll_back()
            with suppress(RuntimeError):  # raised when this thread holds it no more
                while True:
                    self._lock.release()

    def close(self) -> None:
        """Close the file; reads that are under way end first on their own connections."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            self._turns.close()
            with suppress(queue.Empty):
                while True:
                    self._close_connection(self._readers.get_nowait())
            self._close_connection(self._writer)
            self.source.remove_copy()

    def refuse_removed(self) -> None:
        """Raise Unavailable where a file of the store is gone: what is written would be lost."""
        name = self._watch.changed()
        if name:
            raise Unavailable(
                f'{name} was removed, replaced or truncated while the store was open; further '
                'writes are rejected and recent ones may be lost. Restart to continue with the '
                'present file'
            )

    def _check_files(self) -> None:
        """
        Raise Unavailable where a file of the store is gone, having rescued what is in the log.

        A log that was removed holds what was acknowledged before, and is brought into the file;
        not where other files stand at the names, which another process writes to.
        """
        if not self._watch.changed():
            return
        if not self._watch.is_replaced():
            with suppress(apsw.Error):
                self._writer.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
        self.refuse_removed()

    def _close_connection(self, connection: apsw.Connection) -> None:
        """
        Close a connection.

        The last one brings the log into the file and removes it, by its name: not where other
        files stand at the names, which are another process's.
        """
        if self._watch.is_replaced():
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.close()

    def _begin(self, patient: bool) -> None:
        wait = self._make_busy_handler()
        self._writer.set_busy_handler(None)  # SQLite is to say at once that another one writes
        try:
            self._turns.begin(self._writer, wait if patient else lambda _: False)
        finally:
            self._writer.set_busy_handler(wait)

    def _roll_back(self) -> None:
        if not self._closed and self._writer.in_transaction:
            self._writer.execute('ROLLBACK')

    def _refuse_closed(self) -> None:
        if self._closed:
            raise Unavailable(f'the store {self.path} is closed; reopen it')

    def _take_reader(self) -> apsw.Connection:
        try:
            return self._readers.get_nowait()
        except queue.Empty:
            return self._open_reader()

    def _open_reader(self, vfs: str = checksums.VFS) -> apsw.Connection:
        """Return one more connection to the files that are open already, and to no others."""
        self.refuse_removed()
        connection = self._connect(vfs=vfs)
        try:
            mode = connection.pragma('journal_mode')
            if (mode, get_store_id(connection)) != (self._mode, self._store_id):
                raise describe_overwritten(self.path, 'its identity changed')
            self.refuse_removed()
        except BaseException:
            self._close_connection(connection)
            raise
        return connection

    def _switch_to_wal(self) -> None:
        """Switch the file to WAL; wait while another connection does the same."""
        wait = self._make_busy_handler()
        # Of two that switch at once SQLite refuses one without a call of its busy handler.
        for attempts in itertools.count():
            try:
                self._writer.pragma('journal_mode', 'wal')
                return
            except apsw.BusyError:
                if not wait(attempts):
                    raise

    def _connect_first(self) -> apsw.Connection:
        try:
            return self._connect(apsw.SQLITE_OPEN_CREATE)
        except apsw.Error as error:
            self._read_from(open_unwritable(self.path, error))
            return self._connect()

    def _read_from(self, source: Source) -> None:
        self.source, self.read_only_reason = source, source.reason
        logger.warning('%s', source.reason)

    def _prepare(
        self, upgrade: bool, progress: upgrading.Progress, read_only_fallback: bool
    ) -> None:
        """Make the file a store of this release, or serve what stands for it."""
        if self.read_only_reason:
            return
        checksums.reserve_if_empty(self._writer)
        schema_runner.refuse_foreign(self._writer)
        self._switch_to_wal()
        if self._writer.readonly('main'):
            raise apsw.ReadOnlyError('no permission to write to it')
        try:
            self.upgraded_from = upgrading.prepare(self._writer, self.path, upgrade, progress)
        except NoRoom as error:
            if not read_only_fallback:
                raise
            copy, source = load_upgraded_copy(self.path, error, progress)
            self._serve(source, copy)

    def _serve(self, source: Source, connection: apsw.Connection | None = None) -> None:
        """Go on with what is read in place of the file; its writer is never written to."""
        self._writer.close()
        self._read_from(source)
        self._writer = connection or self._connect()

    def _connect(self, how: int = 0, vfs: str = checksums.VFS) -> apsw.Connection:
        return self.source.connect(self._synchronous, self._make_busy_handler(), how, vfs)

    def _make_busy_handler(self) -> Callable[[int], bool]:
        """Return a busy handler: wait a little, until patience ends or the memory closes."""
        until = math.inf

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
    def _translate_errors(self) -> Iterator[None]:
        """Raise a RobotMemoryError for any error of SQLite, memory or stored JSON in the block."""
        try:
            yield
        except (apsw.Error, MemoryError, ValueError) as error:
            described = describe_error(self.path, error, self._describe_wait())
            if described is None:
                raise
            if isinstance(described, Damaged):
                self.on_damage(described.owners)
            raise described from error

    def _describe_wait(self) -> str:
        if self._deadline < math.inf:
            return 'this memory is shutting down'
        return f'it has been for {PATIENCE_SECONDS:.0f} s; end that process'
