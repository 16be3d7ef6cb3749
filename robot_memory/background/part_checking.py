"""Reading payload parts slowly, so that damage to their bytes is noticed before it is needed."""

from __future__ import annotations

import logging

from robot_memory.core.clock import SteadyClock
from robot_memory.storage import Database
from robot_memory.storage.tables import part_digests
from robot_memory.storage.tables.part_digests import CheckedPart

logger = logging.getLogger(__name__)

_PAUSE_SECONDS = 10.0
_BYTES = 2_000_000
"""Bytes of parts that are read after each pause, or one part that is longer."""
_PARTS = 200
_SHOWN = 5


class PartChecker:
    """
    Compare the bytes of payload parts with their digests, some after each pause, round and round.

    Parts of an earlier release, which have none, get theirs.
    """

    def __init__(self, db: Database, steady: SteadyClock) -> None:
        """Begin with the first part."""
        self._db = db
        self._steady = steady
        self._next_at = steady() + _PAUSE_SECONDS
        self._last = 0
        self._found: dict[int, CheckedPart] = {}
        self.rounds = 0
        self.damaged: dict[int, CheckedPart] = {}

    def run(self) -> None:
        """Check the next parts, if the pause is over; the worker's job."""
        if self._steady() < self._next_at:
            return
        self._next_at = self._steady() + _PAUSE_SECONDS
        checked = self._check_next()
        new = [one for one in checked if one.is_new]
        if new:
            with self._db.write() as connection:
                for one in new:
                    part_digests.add(connection, one)
        self._note({one.id: one for one in checked if one.damage})
        if checked:
            self._last = checked[-1].id
        else:
            self._last, self.rounds = 0, self.rounds + 1
            self.damaged, self._found = self._found, {}

    def _check_next(self) -> list[CheckedPart]:
        checked: list[CheckedPart] = []
        size = 0
        with self._db.read() as connection:
            for one in part_digests.check(connection, self._last, _PARTS):
                checked.append(one)
                size += one.size
                if size >= _BYTES:
                    break
        return checked

    def _note(self, damaged: dict[int, CheckedPart]) -> None:
        for part_id, one in damaged.items():
            if part_id not in self.damaged:
                logger.error('%s is damaged: %s', self._db.path, one)
        self._found.update(damaged)
        self.damaged = {**self.damaged, **damaged}

    def describe(self) -> str:
        """Return in words what is damaged, '' where nothing is known to be."""
        if not self.damaged:
            return ''
        shown = '; '.join(map(str, list(self.damaged.values())[:_SHOWN]))
        more = len(self.damaged) - _SHOWN
        return f'the store is damaged: {shown}' + (f' and {more} more' if more > 0 else '')
