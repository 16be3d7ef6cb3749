"""The clock epochs of the store: entered by every write, and settled where one is judged anew."""

from __future__ import annotations

import logging
from collections.abc import Callable

from robot_memory.background.accesses import AccessLog
from robot_memory.background.worker import BackgroundWorker
from robot_memory.core.authority import THE_STORE, Writer
from robot_memory.core.clock import ClockReading
from robot_memory.core.epochs import Judgement
from robot_memory.core.errors import RobotMemoryError
from robot_memory.storage import Connection, Database, epochs
from robot_memory.storage.tables import accesses, audit, decay

logger = logging.getLogger(__name__)

_BATCH = 500
"""Memories that are reinstated in one transaction."""


class Timekeeper:
    """
    Know what the clock is worth, and have decay and retention follow what is known of it.

    `clocks` reads the machine's clocks, `max_gap` returns how long after the last trusted time a
    clock is still believed, in microseconds.
    """

    def __init__(
        self,
        db: Database,
        clocks: Callable[[], ClockReading],
        max_gap: Callable[[], int],
        access_log: AccessLog,
        worker: BackgroundWorker,
    ) -> None:
        """Enter the present epoch with every write from now on."""
        self._db = db
        self._clocks = clocks
        self._max_gap = max_gap
        self._access_log = access_log
        self._worker = worker
        self._known = ''
        self._last: ClockReading | None = None
        db.on_write = self._enter

    def judge_now(self, connection: Connection) -> Judgement:
        """Return what is known of the clock at this moment."""
        return epochs.judge_now(connection, self._clocks(), self._max_gap())

    def read_now(self, connection: Connection) -> int:
        """Return the present instant, corrected, in microseconds since 1970 UTC."""
        reading = self._clocks()
        known = epochs.judge_now(connection, reading, self._max_gap())
        return reading.wall + known.offset

    def describe_suspicion(self) -> str:
        """Return why the clock is suspect and what to do, '' where it is trusted."""
        try:
            with self._db.read() as connection:
                known = self.judge_now(connection)
        except RobotMemoryError:
            return ''
        return '' if known.trusted else _describe_suspicion(known)

    def check(self) -> None:
        """
        Have the store follow where the clock was set since its last write.

        It waits for no other write: what cannot be written now is left to the worker.
        """
        reading = self._clocks()
        last, self._last = self._last, reading
        if last is not None and reading.continues(last):
            return
        try:
            self.settle(patient=False)
        except RobotMemoryError:
            self._worker.wake()

    def run(self) -> None:
        """Have the store follow where the clock was set; the worker's job."""
        self.settle(patient=True)

    def trust(self, operator: Writer) -> epochs.EpochRow:
        """Take an operator's word that the present clock is right; raise Conflict for others."""
        operator.require_operator('clock trust')
        with self._db.write() as connection:
            newest = epochs.trust_newest(connection, self._max_gap())
            detail, now = {'epoch': newest.id}, self._clocks().wall
            audit.record(connection, None, 'clock_trusted', operator, '', detail, now)
        self.settle(patient=True)
        return newest

    def note_rates(self, before: float, after: float) -> None:
        """Note that the rate of decay changes at this moment."""
        if self._db.read_only_reason:
            return
        with self._db.write() as connection:
            decay.note_rate(connection, before, 0)
            decay.note_rate(connection, after, self._clocks().wall)

    def settle(self, *, patient: bool) -> None:
        """
        Have accesses, decay and retention follow what epochs were judged to be.

        Unless it is patient, raise Unavailable rather than wait for another write.
        """
        if self._db.read_only_reason:
            return
        with self._db.read() as connection:
            newest = epochs.get_newest(connection)
            unsettled = epochs.list_unsettled(connection) or accesses.list_waiting(connection)
        if newest is None or (newest.epoch.covers(self._clocks()) and not unsettled):
            return
        from robot_memory.storage.tables import retirement
        from robot_memory.text.categories import PROTECTED

        self._access_log.flush(patient=patient)  # those before the step belong before it
        while not self._worker.is_stopping():
            with self._db.write(patient=patient) as connection:
                if retirement.reinstate(connection, self._clocks().wall, THE_STORE, _BATCH):
                    continue
                changed = epochs.list_unsettled(connection)
                waiting = accesses.list_waiting(connection)
                if not changed and not waiting:
                    return
                protected = sorted(PROTECTED)
                accesses.replay(connection, sorted({*changed, *waiting}), protected)
                for collection in decay.list_decayed(connection):
                    decay.recompute(connection, collection, protected, falls_only=False)
                epochs.mark_settled(connection, changed)

    def _enter(self, connection: Connection) -> None:
        """Enter the present epoch; a write transaction begins with it."""
        row = epochs.enter(connection, self._clocks(), self._max_gap())
        if row.judgement.reason != self._known:
            self._known = row.judgement.reason
            if not row.judgement.trusted:
                logger.warning('%s', _describe_suspicion(row.judgement))


def _describe_suspicion(judgement: Judgement) -> str:
    return (
        f'the clock is suspect: {judgement.reason}; decay and retention wait until it is '
        'synchronised, or confirmed with `robot-memory clock trust`'
    )
