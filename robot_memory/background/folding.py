"""Folding the oldest and commonest perceptions once they take more than their limit."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable, Iterator, Sequence

from robot_memory.background.digests import DigestKey, make_digest, make_key
from robot_memory.core.authority import THE_STORE
from robot_memory.core.settings import Settings
from robot_memory.core.zones import get_zone
from robot_memory.storage import Connection, Database
from robot_memory.storage.events.fields import Fields
from robot_memory.storage.events.pages import read_events
from robot_memory.storage.tables import folding, memories, retirement, sizes
from robot_memory.storage.tables.folding import Candidate, Sort
from robot_memory.text.categories import PROTECTED

logger = logging.getLogger(__name__)

RARE = 100
"""Events of a kind and label up to which each stays whole."""
_SHARE = 0.25
"""The share of the store's limit that perceptions have without a limit of their own."""
_HEADROOM = 0.95
"""Perceptions are folded to this share of their limit, so that not every one has to."""
_BATCH = 500
"""Perceptions that one transaction folds, so that nobody waits for long."""
_CHECKED = 250
"""
Perceptions after whose storing a memory without a worker looks at the limit, and memories after
which they are added up.
"""
_GROWTH, _WARNED_GROWTH = 1.01, 1.1
"""By how much perceptions grow before they are looked at again, and warned of again, where none
may be folded."""


def compute_limit(settings: Settings) -> float:
    """Return how many bytes perceptions may take, 0 for any number."""
    return 1e6 * (settings.perception_limit_mb or _SHARE * settings.store_limit_mb)


class Folder:
    """
    Fold perceptions: their events stay with all figures, a digest an hour says what they were.

    The commonest kind and label gives its oldest ones first, until others are as common. Up to
    `RARE` of each stay, and so do faults, events whose end was not seen, demonstrations, protected
    categories, and what was changed or is referred to.
    """

    def __init__(
        self,
        db: Database,
        clock: Callable[[], int],
        settings: Callable[[], Settings],
        is_stopping: Callable[[], bool],
        *,
        has_worker: bool,
    ) -> None:
        """Begin with nothing folded."""
        self._db = db
        self._clock = clock
        self._settings = settings
        self._is_stopping = is_stopping
        self._has_worker = has_worker
        self._stored = 0
        self._full_at = self._warned_at = 0

    def note_stored(self, number: int = 1) -> None:
        """Look at the limit now and then where no worker does, as so many more are stored."""
        before, self._stored = self._stored, self._stored + number
        if not self._has_worker and self._stored // _CHECKED > before // _CHECKED:
            self.run()

    def recount(self) -> None:
        """Add up anew what payloads and perceptions take."""
        self._full_at = 0
        with self._db.write() as connection:
            sizes.recount(connection)

    def run(self) -> int:
        """Fold until perceptions are within their limit; return how many were folded."""
        limit = compute_limit(self._settings())
        if not limit:
            return 0
        with self._db.read() as connection:
            used, waiting = sizes.measure_perceptions(connection)
        if used > limit:
            return self._fold(limit) if used > _GROWTH * self._full_at else 0
        self._full_at = 0
        if waiting >= _CHECKED:
            with self._db.write() as connection:
                sizes.advance_perceptions(connection)
        return 0

    def _fold(self, limit: float) -> int:
        with self._db.write() as connection:
            used = sizes.advance_perceptions(connection)
            sorts = folding.list_sorts(connection)
        whole = sum(sort.whole for sort in sorts)
        if used <= limit or not whole:
            return 0
        wanted = math.ceil((used - limit * _HEADROOM) * whole / used)
        folded = sum(self._fold_sort(sort, number) for sort, number in share_out(sorts, wanted))
        self._full_at = 0 if folded else used
        if folded:
            logger.info('%d perceptions were folded: they exceeded %.1f MB', folded, limit / 1e6)
        elif used > _WARNED_GROWTH * self._warned_at:
            self._warned_at = used
            logger.warning(
                'perceptions take %.1f MB, their limit is %.1f MB, and none may be folded: each '
                'is rare, protected, referred to or a fault',
                used / 1e6,
                limit / 1e6,
            )
        return folded

    def _fold_sort(self, sort: Sort, number: int) -> int:
        """Fold about so many of the oldest of a sort, by whole hours; return how many were."""
        folded = 0
        while folded < number and not self._is_stopping():
            most = min(_BATCH, sort.whole - folded - RARE)
            with self._db.write() as connection:
                sizes.advance_perceptions(connection)  # what is folded must be in the sum
                oldest = folding.find_oldest(connection, sort, sorted(PROTECTED), most)
                groups = group_whole_hours(oldest)
                self._fold_groups(connection, groups)
            if not groups:
                break
            folded += sum(len(members) for _, members in groups)
        return folded

    def _fold_groups(
        self, connection: Connection, groups: Sequence[tuple[DigestKey, list[Candidate]]]
    ) -> None:
        """Fold groups of perceptions into a digest each."""
        if not groups:
            return
        now, settings, fields = self._clock(), self._settings(), Fields.read(connection)
        zone = get_zone(settings.time_zone)
        digests, size = [], 0
        for key, members in groups:
            ids = [one.id for one in members]
            record = make_digest(key, members, read_events(connection, fields, ids), zone, now)
            digest = memories.insert(connection, record, None, {'folded': len(ids)})
            size += sum(folding.fold(connection, memory_id, digest) for memory_id in ids)
            if key.retired is not None:
                # Where the clock proves to have been ahead, it comes back with its events.
                retirement.retire(connection, digest, THE_STORE, now, key.retired or None)
            digests.append(digest)
        folded = [one.id for _, members in groups for one in members]
        reason = f'perceptions reached their limit of {compute_limit(settings) / 1e6:g} MB'
        folding.note(connection, folded, size, digests, reason, now)


def share_out(sorts: Sequence[Sort], wanted: int) -> Iterator[tuple[Sort, int]]:
    """
    Give the sorts that fold, and how many of each, to come to a wanted number.

    `sorts` are in order, the commonest first. What is left of each is as common as the next, and
    no less than `RARE`.
    """
    level, left = RARE, wanted
    for number, sort in enumerate(sorts, 1):
        following = sorts[number].whole if number < len(sorts) else RARE
        spare = number * (sort.whole - max(following, RARE))
        if sort.whole <= RARE:
            break
        if spare >= left:
            level = sort.whole - math.ceil(left / number)
            break
        left -= spare
    for sort in sorts:
        if sort.whole > max(level, RARE):
            yield sort, sort.whole - max(level, RARE)


def group_whole_hours(
    candidates: Sequence[Candidate],
) -> list[tuple[DigestKey, list[Candidate]]]:
    """
    Return candidates by the digest that they belong to.

    The last of several hours is left for the next time: there may be more of it.
    """
    found: dict[DigestKey, list[Candidate]] = {}
    for one in sorted(candidates, key=lambda one: (one.onset, one.id)):
        found.setdefault(make_key(one), []).append(one)
    last = max((key.hour for key in found), default=0)
    if any(key.hour < last for key in found):
        found = {key: members for key, members in found.items() if key.hour < last}
    return list(found.items())
