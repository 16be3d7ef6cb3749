"""Reading the whole file slowly, so that damage is noticed before what it hit is needed."""

from __future__ import annotations

import logging

from robot_memory.core.clock import SteadyClock
from robot_memory.storage import Database

logger = logging.getLogger(__name__)

_PAUSE_SECONDS = 10.0
_PAGES = 512
"""Pages that are checked after each pause: 2 MB; a store of a million memories takes hours."""


class Scrubber:
    """Compare the checksums of a store's pages, some after each pause, round and round."""

    def __init__(self, db: Database, steady: SteadyClock) -> None:
        """Begin with the first page."""
        self._db = db
        self._steady = steady
        self._next_at = steady() + _PAUSE_SECONDS
        self._first = 1
        self._found: set[int] = set()
        self.rounds = 0
        self.damaged: tuple[int, ...] = ()
        self._words = ''

    def run(self) -> None:
        """Check the next pages, if the pause is over; the worker's job."""
        if self._steady() < self._next_at:
            return
        from robot_memory.storage import damage

        self._next_at = self._steady() + _PAUSE_SECONDS
        found, count = damage.find_damaged_among(self._db.path, self._first, _PAGES)
        self._found.update(found)
        if set(found) - set(self.damaged):
            self._note({*self.damaged, *found})
            logger.error(
                '%s is damaged: %s; `robot-memory verify` checks all of it',
                self._db.path,
                self._words,
            )
        self._first += _PAGES
        if self._first > count:
            self._first, self.rounds = 1, self.rounds + 1
            self._note(self._found)
            self._found = set()

    def forget(self, mended: set[int]) -> None:
        """Count pages as whole again."""
        self._found -= mended
        self._note(set(self.damaged) - mended)

    def _note(self, damaged: set[int]) -> None:
        from robot_memory.storage import damage

        if damaged != set(self.damaged):
            self.damaged = tuple(sorted(damaged))
            self._words = damage.describe(self._db.path, self.damaged)

    def describe(self) -> str:
        """Return in words what is damaged, '' where nothing is known to be."""
        return f'the store is damaged: {self._words}' if self.damaged else ''
