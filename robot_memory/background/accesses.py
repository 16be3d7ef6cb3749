"""Accesses to memories: recorded at once, written later, so that a recall never writes."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable

from robot_memory.core.clock import Clocks
from robot_memory.core.errors import Unavailable
from robot_memory.storage import Database, epochs
from robot_memory.storage.tables import accesses


class AccessLog:
    """
    Gather accesses in memory and write them in one transaction.

    `on_record` is called after each record. Of a read-only store nothing is recorded.
    """

    def __init__(self, db: Database, clocks: Clocks, on_record: Callable[[], None]) -> None:
        """Begin with no accesses."""
        self._db = db
        self._clocks = clocks
        self._on_record = on_record
        self._pending: dict[int, tuple[int, int]] = {}
        self._lock = threading.Lock()
        self._flushing = threading.Lock()

    @property
    def pending(self) -> int:
        """Return of how many memories accesses wait to be written."""
        return len(self._pending)

    def record(self, ids: Iterable[int]) -> None:
        """Record that memories were recalled; does not wait for the write."""
        if self._db.read_only_reason:
            return
        now = round(self._clocks.steady() * 1e6)
        with self._lock:
            for memory_id in ids:
                times, _ = self._pending.get(memory_id, (0, 0))
                self._pending[memory_id] = (times + 1, now)
        self._on_record()

    def flush(self, *, patient: bool = True) -> None:
        """
        Write the recorded accesses, those that another thread is about to write included.

        Unless it is patient, raise Unavailable rather than wait for another write.
        """
        if not self._flushing.acquire(blocking=patient):
            raise Unavailable('accesses are being written; try again')
        try:
            self._flush(patient)
        finally:
            self._flushing.release()

    def _flush(self, patient: bool) -> None:
        with self._lock:
            pending, self._pending = self._pending, {}
        if not pending:
            return
        try:
            with self._db.write(patient=patient) as connection:
                # CLOCK_BOOTTIME tells when each was, also where the wall clock was set since.
                lead = self._clocks.read().lead
                timed = {each: (times, at + lead) for each, (times, at) in pending.items()}
                newest = epochs.get_newest(connection)
                trusted = newest is not None and newest.judgement.trusted
                accesses.record(connection, timed, trusted=trusted)
        except BaseException:
            with self._lock:
                for memory_id, (times, at) in pending.items():
                    newer, later = self._pending.get(memory_id, (0, at))
                    self._pending[memory_id] = (times + newer, later)
            raise
