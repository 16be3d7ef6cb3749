"""
Mending damaged inner pages of the index of vectors in place: all that they led to is whole.

An inner page of a table holds no row, only which pages follow and up to which row each goes. It
is made anew from pages that nothing else leads to, and written into the file while nobody writes:
the log has no page that would have to be followed, and who ends in between leaves what was there
or what is made. Format: sqlite.org/fileformat2.html, 1.6.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import pairwise

import apsw
import numpy as np
from numpy.typing import NDArray

from robot_memory.core.errors import Damaged, Unavailable
from robot_memory.core.varints import write_varint
from robot_memory.storage import damage
from robot_memory.storage.admin.page_substitution import TABLE_LEAF, substitute
from robot_memory.storage.admin.tree_mending import Leaf, make_inner, read_leaf
from robot_memory.storage.connection import Database
from robot_memory.storage.damage import DamagedPage
from robot_memory.storage.page_checks import seal
from robot_memory.storage.page_file import RESERVED, PageFile, open_pages, open_raw

TABLE = 'indexed'
_COLUMNS = 7
_INNER = 5
_INNER_KINDS = (2, 5)
_HEAD_BYTES = 12


@dataclass(frozen=True)
class _Branch:
    """Hold the first and last row below a page, its number, and whether it leads to others."""

    first: int
    last: int
    number: int
    is_inner: bool


def restore(db: Database, damaged: Collection[int]) -> set[int]:
    """
    Write inner pages of the index of vectors anew, of all `damaged` ones; return which were.

    Who writes waits for some hundredths of a second. None is where what such a page led to cannot
    be told for certain. Raise Unavailable, having changed nothing, where one was written since.
    """
    named = damage.name_pages(db.path, sorted(damaged), damage.read_roots(db.path))
    # Which of them lead to others is told by what nothing else leads to.
    found = [page for page in named if page.owner == TABLE]
    if not found:
        return set()
    with db.connect() as connection, suppress(apsw.Error):  # the file is then older, and whole
        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
    with open_pages(db.path) as file:
        orphans = _Orphans(file, damage.read_roots(db.path).values(), damaged)
        below = {page: orphans.choose(page) for page in found}
        made = {
            page.number: make_inner(file.page_size, [(one.number, one.last) for one in branches])
            for page, branches in below.items()
            if branches
        }
    if not made or not _leads_to_all(db, made, below):
        return set()
    _write(db, made, list(below.values()))
    return set(made)


class _Orphans:
    """Find the whole pages with rows, and those that lead to them, that nothing leads to."""

    def __init__(self, file: PageFile, roots: Collection[int], damaged: Collection[int]) -> None:
        self._file = file
        reached = np.zeros(file.count + 1, dtype=bool)
        reached[[0, 1, *(number for number in damaged if number <= file.count)]] = True
        unused = file.list_unused()
        reached[[number for number in unused if number <= file.count]] = True
        for root in (root for root in roots if root <= file.count):
            for level in _walk(file, root, set(damaged)):
                reached[level] = True
        self._leaves: dict[int, Leaf] = {}
        self._inner: dict[int, list[int]] = {}
        for number in np.flatnonzero(~reached).tolist():
            page = file.read(number)
            if page[0] == _INNER:
                self._inner[number] = _list_numbers(page).tolist()
            elif page[0] == TABLE_LEAF and (leaf := read_leaf(file, number)) is not None:
                self._leaves[number] = leaf

    def choose(self, page: DamagedPage) -> list[_Branch]:
        """Return what a damaged page led to, in order; nothing where that is not certain."""
        led_to = {number for numbers in self._inner.values() for number in numbers}
        found = []
        for number in (*self._leaves, *self._inner):
            branch = None if number in led_to else self._measure(number)
            if branch is not None and _is_within(branch, page):
                found.append(branch)
        found.sort(key=lambda one: one.first)
        is_even = len({one.is_inner for one in found}) == 1
        is_ordered = all(one.last < other.first for one, other in pairwise(found))
        # Of each but the last there is a place, the number of a page, and the id of a row.
        taken = sum(2 + 4 + len(write_varint(one.last)) for one in found[:-1])
        has_room = _HEAD_BYTES + taken <= self._file.page_size - RESERVED
        return found if is_even and is_ordered and has_room else []

    def _measure(self, number: int) -> _Branch | None:
        """Return the rows below a page; None where a page below it is not there."""
        ends = []
        for which in (0, -1):
            below = number
            for _ in range(len(self._inner) + 1):
                if below not in self._inner:
                    break
                below = self._inner[below][which]
            leaf = self._leaves.get(below)
            if leaf is None or leaf.columns > _COLUMNS:
                return None
            ends.append(leaf)
        return _Branch(ends[0].first, ends[1].last, number, number in self._inner)


def _walk(file: PageFile, root: int, damaged: set[int]) -> Iterator[NDArray[np.int64]]:
    """Yield the numbers of the pages of a b-tree level by level, as far as whole ones lead."""
    level = np.array([root])
    while len(level):
        yield level
        whole = [number for number in level.tolist() if number not in damaged]
        if not whole or _kind(file.read(whole[0]), whole[0]) not in _INNER_KINDS:
            return
        below = np.concatenate([_list_numbers(file.read(number), number) for number in whole])
        level = below[(below > 0) & (below <= file.count)]


def _kind(page: bytes, number: int) -> int:
    return page[100 if number == 1 else 0]


def _list_numbers(page: bytes, number: int = 0) -> NDArray[np.int64]:
    """Return the pages that an inner page leads to, in order."""
    at = 100 if number == 1 else 0
    count = min(int.from_bytes(page[at + 3 : at + 5], 'big'), (len(page) - at - 12) // 2)
    cells = np.frombuffer(page, '>u2', count, at + 12).astype(np.int64)
    places = np.append(np.minimum(cells, len(page) - 4), at + 8)
    values = np.frombuffer(page, np.uint8)[places[:, None] + np.arange(4)]
    numbers: NDArray[np.int64] = np.ascontiguousarray(values).view('>u4').ravel().astype(np.int64)
    return numbers


def _is_within(branch: _Branch, page: DamagedPage) -> bool:
    is_after = page.first is None or page.first <= branch.first
    return is_after and (page.last is None or branch.last <= page.last)


_DIFFERS = f"""
    SELECT EXISTS (
        SELECT 1 FROM {TABLE} AS i NOT INDEXED WHERE i.memory_id BETWEEN ?1 AND ?2
            AND (typeof(i.collection) <> 'text' OR typeof(i.terms) <> 'blob' OR NOT EXISTS
                (SELECT 1 FROM memories AS m WHERE m.id = i.memory_id AND m.status = 'active'))
    ) OR EXISTS (
        SELECT 1 FROM memories AS m NOT INDEXED WHERE m.id BETWEEN ?1 AND ?2
            AND m.status = 'active'
            AND NOT EXISTS (SELECT 1 FROM {TABLE} AS i WHERE i.memory_id = m.id)
    )
"""


def _leads_to_all(
    db: Database,
    made: Mapping[int, bytes],
    below: Mapping[DamagedPage, Sequence[_Branch]],
) -> bool:
    """Say whether pages lead to a row of each active memory there, and to no other row."""
    try:
        with substitute(made) as vfs, db.connect(vfs=vfs) as connection:
            for page, branches in below.items():
                if branches:
                    low = -(2**63) if page.first is None else page.first
                    high = 2**63 - 1 if page.last is None else page.last
                    ((differs,),) = connection.execute(_DIFFERS, (low, high))
                    if differs:
                        return False
    except Damaged:
        return False
    return True


def _write(db: Database, made: Mapping[int, bytes], below: Sequence[Sequence[_Branch]]) -> None:
    """Write pages into the file beside the log, while nobody writes to that."""
    with db.connect(alone=True) as connection:
        connection.execute('BEGIN IMMEDIATE')
        if damage.find_damaged_of(db.path, made) != made.keys() or _has_between(connection, below):
            raise Unavailable('the damaged pages were written meanwhile; nothing was changed')
        with open_raw(db.path, is_written=True) as file:
            for number, page in made.items():
                file.xWrite(seal(page), (number - 1) * len(page))
            file.xSync(apsw.SQLITE_SYNC_FULL)
        connection.execute('ROLLBACK')


def _has_between(connection: apsw.Connection, below: Sequence[Sequence[_Branch]]) -> bool:
    """Say whether there are memories by now between the rows that pages lead to."""
    ends = [(one.last, other.first) for part in below for one, other in pairwise(part)]
    sql = (
        "SELECT 1 FROM memories NOT INDEXED WHERE id > ? AND id < ? AND status = 'active' LIMIT 1"
    )
    return any(connection.execute(sql, end).fetchone() for end in ends)
