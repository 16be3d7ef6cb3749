"""A clock that was set: what was done while it was ahead is taken back."""

from __future__ import annotations

import logging
from collections.abc import Callable

from robot_memory.background.accesses import AccessLog
from robot_memory.background.worker import BackgroundWorker
from robot_memory.core.authority import THE_STORE
from robot_memory.core.clock import STEP, Clock, is_plausible
from robot_memory.core.errors import RobotMemoryError
from robot_memory.core.settings import Settings
from robot_memory.storage import Database
from robot_memory.storage.tables import clock_log, decay, retirement
from robot_memory.text.categories import PROTECTED

logger = logging.getLogger(__name__)

_BATCH = 500
"""Memories that are reinstated in one transaction."""


class ClockMonitor:
    """
    Notice that the clock was set, and undo decay and retention of the time it was ahead.

    See `storage.tables.clock_log` for what is taken for the right time.
    """

    def __init__(
        self,
        db: Database,
        clock: Clock,
        settings: Callable[[], Settings],
        accesses: AccessLog,
        worker: BackgroundWorker,
    ) -> None:
        """Take the clock's present time as the first reading."""
        self._db = db
        self._clock = clock
        self._settings = settings
        self._accesses = accesses
        self._worker = worker
        self._last_reading = clock()
        self._jumps: tuple[int, ...] = ()

    def check(self) -> None:
        """
        Repair the store if the clock was set since the last check.

        It waits for no other write: what cannot be written now is left to the worker.
        """
        if not self._notice_jump():
            return
        try:
            self.repair(patient=False)
        except RobotMemoryError:
            self._worker.wake()

    def run(self) -> None:
        """Notice a jump and repair the store; the worker's job."""
        self._notice_jump()
        self.repair(patient=True)

    def _notice_jump(self) -> bool:
        """Note both readings where the clock was set since the last one; say whether it was."""
        before, self._last_reading = self._last_reading, self._clock()
        if abs(self._last_reading - before) < STEP:
            return False
        self._jumps += (before, self._last_reading)
        return True

    def repair(self, *, patient: bool) -> None:
        """
        Undo decay and retention that lie in the future.

        Unless it is patient, raise Unavailable rather than wait for another write.
        """
        if self._db.read_only_reason:
            return
        self._accesses.flush(patient=patient)  # accesses before the jump belong before it
        if self._jumps:
            with self._db.write(patient=patient) as connection:
                jumps, self._jumps = self._jumps, ()
                for instant in jumps:
                    clock_log.record(connection, instant, exactly=True)
        now = self._clock()
        if not is_plausible(now):
            return
        with self._db.read() as connection:
            decayed = decay.is_ahead(connection, now)
            retired = retirement.is_ahead(connection, now)
        while retired and not self._worker.is_stopping():
            with self._db.write(patient=patient) as connection:
                retirement.reinstate(connection, now, THE_STORE, _BATCH)
                retired = retirement.is_ahead(connection, now)
        if decayed:
            logger.warning('the clock was ahead when memories decayed: the decay is undone')
            rate = self._settings().decay_rate
            with self._db.write(patient=patient) as connection:
                decay.undo_ahead(connection, rate, now, sorted(PROTECTED))
