"""Making the backups of a store that its settings want, as long as a process runs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

from robot_memory.core.clock import Clock, SteadyClock
from robot_memory.core.settings import Settings
from robot_memory.storage import Database
from robot_memory.storage.admin.backup import Age, back_up, plan_of
from robot_memory.storage.upgrade import remove_expired_copy

logger = logging.getLogger(__name__)

_INTERVAL_SECONDS = 600.0
"""How often it is checked whether a backup is due."""


class Backups:
    """Make the backups of a store that its settings want, as long as a process runs."""

    def __init__(
        self,
        db: Database,
        settings: Settings,
        clock: Clock,
        steady: SteadyClock,
        is_stopping: Callable[[], bool],
        began: float,
    ) -> None:
        """Begin with no backup made by this process, which began at a time of `steady`."""
        self._db = db
        self._settings = settings
        self._clock = clock
        self._steady = steady
        self._is_stopping = is_stopping
        self._began = began
        self._made: float | None = None
        self._last_run: float | None = None

    def make_due(self) -> Path | None:
        """Make a backup if one is due; return its file."""
        plan = plan_of(self._settings)
        if plan is None:
            return None
        now = self._steady()
        age = Age(None if self._made is None else now - self._made, now - self._began)
        made = back_up(self._db, plan, self._clock(), self._is_stopping, age)
        if made is not None:
            self._made = now
        return made

    def run(self) -> None:
        """
        Make a backup if one is due, and remove an expired copy of before an upgrade.

        The worker's job; it looks every ten minutes only.
        """
        now = self._steady()
        if self._last_run is not None and now - self._last_run < _INTERVAL_SECONDS:
            return
        self._last_run = now
        remove_expired_copy(self._db.path, self._clock())
        made = self.make_due()
        if made is not None:
            logger.info('created backup %s', made)
