"""Making damaged indexes anew in the background, while reads do without them."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from robot_memory.background.scrubbing import Scrubber
from robot_memory.core.authority import THE_STORE
from robot_memory.core.errors import RobotMemoryError
from robot_memory.storage import Database
from robot_memory.storage.indexes.set_aside import GROUP_OF
from robot_memory.storage.shunned import find_tables
from robot_memory.storage.tables import audit, mending

if TYPE_CHECKING:
    from robot_memory.storage.admin.index_mending import Plan

logger = logging.getLogger(__name__)

REBUILT = 'index_rebuilt'
_STEPS = 40
"""Batches that are filled before the worker does its other jobs."""


class IndexMender:
    """
    Make indexes anew that are found to be damaged, each once while the process runs.

    It does so only where no row is damaged: `avoided` are the groups of indexes that reads do
    without until then, `found` these and the tables whose indexes they avoid. `made` counts what
    was made anew. What is filled in batches goes on where any process left it.
    """

    def __init__(
        self,
        db: Database,
        scrubber: Scrubber,
        clock: Callable[[], int],
        wake: Callable[[], None],
        is_stopping: Callable[[], bool] = lambda: False,
    ) -> None:
        """Learn of damage from failed calls, and from the scrubber."""
        self._is_stopping = is_stopping
        self._marks: dict[str, int] = {}
        self._db = db
        self._scrubber = scrubber
        self._clock = clock
        self._wake = wake
        self._lock = threading.Lock()
        self._is_notified = self._is_asking = False
        self._seen: tuple[int, ...] = ()
        self._tried: set[str] = set()
        self._left: frozenset[str] | None = None
        self.avoided: frozenset[str] = frozenset()
        self.found: frozenset[str] = frozenset()
        self.made = 0
        db.on_damage = self._take_note

    def _take_note(self, owners: frozenset[str]) -> None:
        """Have reads do without what is damaged, and the worker look at it."""
        found = {GROUP_OF[owner] for owner in owners if owner in GROUP_OF}
        tables = self._find_tables(owners)
        if (found | tables) - self.found:
            self._avoid(self.avoided | found, self._db.shunned.tables | tables)
            logger.error('%s: recall goes on without: %s', self._db.path, self._name_found())
        # A look reads the whole file: once is enough for what each call meets again.
        if self._left is None or not owners <= self._left:
            self._is_notified = True
            self._wake()

    def _find_tables(self, owners: frozenset[str]) -> frozenset[str]:
        """Return the tables that reads can go through without a damaged index."""
        if self._is_asking or not owners - GROUP_OF.keys() - {''} | owners & {'event_hours'}:
            return frozenset()
        self._is_asking = True  # the list of tables may be what is damaged
        try:
            with self._db.connect() as connection:
                return find_tables(connection, owners)
        except RobotMemoryError:
            return frozenset()
        finally:
            self._is_asking = False

    def _name_found(self) -> str:
        tables = (f'indexes of {table}' for table in sorted(self._db.shunned.tables))
        return ', '.join((*sorted(self.avoided), *tables))

    def _avoid(self, groups: frozenset[str], tables: frozenset[str]) -> None:
        """Have reads do without groups of indexes, and without the indexes of tables."""
        self.avoided, self._db.shunned.tables = groups, tables
        self.found = groups | tables

    def look(self) -> int:
        """
        Make anew at once what is damaged, if it can be; return how many indexes were.

        Who asks has what was made anew before tried once more.
        """
        before = self.made
        with self._lock:
            self._is_notified = True
            self._tried.clear()
            self._run()
            while self._fill():
                pass
        return self.made - before

    def run(self) -> None:
        """Make anew what is known to be damaged, a part in each turn; the worker's job."""
        with self._lock:
            self._run()
            if self._fill():
                self._wake()

    def _fill(self) -> bool:
        """Go on to fill what was emptied; say whether something is left."""
        from robot_memory.storage.admin import index_filling

        for _ in range(_STEPS):
            self._note_marks(index_filling.list_left(self._db))
            if not self._marks or self._is_stopping():
                break
            for group in index_filling.fill(self._db):
                self._tell_made([group], 'it was damaged')
        return bool(self._marks) and not self._is_stopping()

    def _note_marks(self, marks: dict[str, int]) -> None:
        """Have reads do without what is being filled, whoever emptied it."""
        if marks.keys() != self._marks.keys():
            groups = (self.avoided - self._marks.keys()) | marks.keys()
            self._avoid(groups, self._db.shunned.tables)
        self._marks = marks

    def _run(self) -> None:
        from robot_memory.storage import damage
        from robot_memory.storage.admin import index_mending

        if not self._is_notified and self._scrubber.damaged == self._seen:
            return
        self._is_notified, self._seen = False, self._scrubber.damaged
        damaged = damage.find_damaged(self._db.path)
        owners = damage.find_owners(self._db.path, damaged)
        plan = index_mending.make_plan(self._db, owners)
        if not damaged:
            self._avoid(frozenset(), frozenset())
        if plan is None or self._tried & set(plan.names):
            self._left = frozenset(owners.values()) if damaged else None
            if self._left:
                named = ', '.join(sorted(self._left))
                logger.error('%s: damaged, and left as it is: %s', self._db.path, named)
            return
        self._left = None
        self._tried.update(plan.names)
        try:
            self._mend(plan, damaged)
        except RobotMemoryError:
            self._is_notified = True  # another process may have done it
            raise

    def _mend(self, plan: Plan, damaged: Sequence[int]) -> None:
        from robot_memory.storage.admin import index_mending

        named = ', '.join(plan.names)
        logger.warning('%s: making damaged indexes anew: %s', self._db.path, named)
        marks = index_mending.mend(self._db, plan)
        self._avoid(frozenset(marks), frozenset())
        self._marks = marks
        self._scrubber.forget(set(damaged))
        self._seen = self._scrubber.damaged
        made = [name for name in plan.names if name not in marks]
        if made:
            self._tell_made(made, f'{len(damaged)} pages were damaged')

    def _tell_made(self, names: Sequence[str], reason: str) -> None:
        with self._db.write() as connection:
            detail = {'indexes': names}
            audit.record(connection, None, REBUILT, THE_STORE, reason, detail, self._clock())
        logger.warning('%s: made anew from the rows: %s', self._db.path, ', '.join(names))
        self.made += len(names)  # last: who waits for the count finds the line and the audit

    def describe(self) -> str:
        """Return in words what reads do without, '' where nothing."""
        if not self.found:
            return ''
        damage = f'indexes of the store are damaged ({self._name_found()}): recall goes on without'
        filled = mending.describe(self._marks)
        return f'{damage}; being made anew: {filled}' if filled else damage
