"""
Damaged pages of a store: which they are, by their checksums, and what they held, by the b-trees.

The file is read as it is, without SQLite, so that what SQLite refuses is named all the same. What
the log has is not looked at. Format: sqlite.org/fileformat2.html; checksum: cksumvfs.c.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from robot_memory.core.varints import read_id
from robot_memory.storage.page_checks import (
    compute_checksums,
    find_lasting,
    keep_lasting,
    list_logged,
    list_unmatched,
    list_zeros,
    read_blocks,
)
from robot_memory.storage.page_file import PageFile, open_pages

_INTERIOR = {2: 'index', 5: 'table'}
_KINDS = frozenset((*_INTERIOR, 10, 13))
_TRIED = 3
"""Pages of a level, of any kind, that are asked whether it is one of leaves."""
_BY_MEMORY = frozenset(('memories', 'payloads', 'indexed'))
"""Tables whose rows have the id of their memory."""
_OF_BYTES = frozenset(('parts',))
"""Tables whose long values may end in zeros."""
_SHOWN = 5
_EXAMINED = 64
"""Pages that are examined for one flipped bit."""


@dataclass(frozen=True)
class DamagedPage:
    """
    Name a page by its number, from 1, and what it held: a table or index, '' where unknown.

    Of a table, its rows lie from id `first` to `last`, None where there is no bound. An
    `inner` page has no rows, but leads to pages that have.
    """

    number: int
    owner: str = ''
    first: int | None = None
    last: int | None = None
    inner: bool = False

    def __str__(self) -> str:
        """Return it in words."""
        if not self.owner:
            return f'page {self.number} (of a long value, or of no known table)'
        return f'page {self.number} ({self.owner}{self._describe_rows()})'

    def _describe_rows(self) -> str:
        if self.first is self.last is None:
            return ''
        rows = ', memories' if self.owner in _BY_MEMORY else ', rows'
        since = '' if self.first is None else f' from {self.first}'
        return f'{rows}{since}' + ('' if self.last is None else f' to {self.last}')


def find_damaged(path: Path) -> list[int]:
    """
    Return the pages in use that are damaged; none of a file without checksums.

    Their checksums do not match, or they are blank (`find_blank`).
    """
    found: list[int] = []
    zeros: list[int] = []
    with open_pages(path) as file:
        for start, data in read_blocks(file, 1, file.count + 1 if file.has_checksums else 1):
            found += list_unmatched(data, file.page_size, start)
            zeros += list_zeros(data, file.page_size, start)
        damaged = keep_lasting(path, file, found, list_unmatched)
        unread = keep_lasting(path, file, zeros, list_zeros)
    return sorted({*damaged, *_choose_blank(path, unread)})


def find_damaged_among(path: Path, first: int, count: int | None) -> tuple[list[int], int]:
    """Return those from one page on, of so many (None: all), and how many pages the file has."""
    with open_pages(path) as file:
        end = file.count + 1 if count is None else min(first + count, file.count + 1)
        if not file.has_checksums:
            return [], file.count
        return sorted(find_lasting(path, file, first, end, list_unmatched)), file.count


def find_blank(path: Path) -> list[int]:
    """
    Return the pages in use that are all zeros and cannot be; none of a file without checksums.

    The checksum of zeros is zeros, and so matches: a disk that lost a page often tells zeros. Only
    the last page of a part of a payload may be such, as of a signal that ends in zeros.
    """
    return _choose_blank(path, find_zeros(path))


def _choose_blank(path: Path, zeros: set[int]) -> list[int]:
    """Return those of pages that are all zeros which cannot be such."""
    if not zeros:
        return []
    in_trees = {page.number for page in _name(path, sorted(zeros)) if page.owner}
    long_values = _find_of_long_values(path, zeros - in_trees)
    return sorted(in_trees | {number for number, owner in long_values if owner not in _OF_BYTES})


def find_zeros(path: Path) -> set[int]:
    """Return the pages in use that are all zeros; none of a file without checksums."""
    with open_pages(path) as file:
        end = file.count + 1 if file.has_checksums else 1
        return find_lasting(path, file, 1, end, list_zeros)


def list_blank(path: Path, damaged: Iterable[int]) -> list[int]:
    """Return those of some damaged pages that are all zeros; their checksums match."""
    with open_pages(path) as file:
        inside = [number for number in damaged if number <= file.count]
        return [one for one in inside if list_zeros(file.read(one), file.page_size, one)]


def find_damaged_of(path: Path, numbers: Iterable[int]) -> set[int]:
    """Return those of some pages whose checksums do not match, and which the log has not."""
    with open_pages(path) as file:
        found = {
            number
            for number in numbers
            if number <= file.count and list_unmatched(file.read(number), file.page_size, number)
        }
        return found - list_logged(path, file.page_size)


def find_flipped(path: Path, damaged: Sequence[int]) -> list[int]:
    """
    Return those of some damaged pages whose checksum matches once one bit is turned back.

    So they are damaged for certain: a page that was written without a checksum is none of them.
    """
    found = []
    with open_pages(path) as file:
        effects = _list_effects(file.page_size)
        for number in damaged[:_EXAMINED]:
            words = np.frombuffer(file.read(number), '<u4').reshape(1, -1)
            if len(effects) == words.size:
                wrong = compute_checksums(words) - words[:, -2:]
                if _is_one_bit(wrong, effects):
                    found.append(number)
    return found


@lru_cache(maxsize=1)
def _list_effects(page_size: int) -> NDArray[np.uint32]:
    """Return by how much each word of a page, put one higher, turns its checksum from its end."""
    effects = compute_checksums(np.eye(page_size // 4, dtype=np.uint32))
    effects[-2:] = -np.eye(2, dtype=np.int32)
    return effects


def _is_one_bit(wrong: NDArray[np.uint32], effects: NDArray[np.uint32]) -> bool:
    for bit in range(32):
        turned = effects << np.uint32(bit)
        if ((turned == wrong) | (turned == -wrong)).all(axis=1).any():
            return True
    return False


def name_pages(path: Path, damaged: Sequence[int], roots: Mapping[str, int]) -> list[DamagedPage]:
    """Name what some pages held; `roots` are the first pages of tables and indexes."""
    left = set(damaged)
    found: dict[int, DamagedPage] = {}
    with open_pages(path) as file:
        for owner, root in roots.items():
            if left:
                for page in _walk(file, owner, root, left):
                    found[page.number] = page
                    left.discard(page.number)
    return [found.get(number, DamagedPage(number)) for number in damaged]


class Child(NamedTuple):
    """A page below another one; of a table, the ids of its rows are over `low`, at most `high`."""

    number: int
    low: int | None = None
    high: int | None = None


def _walk(file: PageFile, owner: str, root: int, damaged: set[int]) -> Iterator[DamagedPage]:
    """Yield the damaged pages of a b-tree; a damaged inner page is followed as far as it leads."""
    for level, is_inner in walk_levels(file, root):
        for page in level:
            if page.number in damaged:
                first = None if page.low is None else page.low + 1
                yield DamagedPage(page.number, owner, first, page.high, is_inner)


def walk_levels(file: PageFile, root: int) -> Iterator[tuple[list[Child], bool]]:
    """Yield the pages of a b-tree level by level, and whether they lead to further ones."""
    level, is_inner = [Child(root)], True
    seen: set[int] = set()
    while level and is_inner:
        seen.update(page.number for page in level)
        kinds = (file.read(page.number)[100 if page.number == 1 else 0] for page in level)
        tried = islice((kind for kind in kinds if kind in _KINDS), _TRIED)
        is_inner = any(kind in _INTERIOR for kind in tried)
        yield level, is_inner
        level = [
            child
            for page in level
            for child in list_children(file.read(page.number), page)
            if 1 < child.number <= file.count and child.number not in seen
        ]


def list_children(page: bytes, parent: Child) -> list[Child]:
    """Return the children of an interior page; none of a leaf."""
    at = 100 if parent.number == 1 else 0
    kind = _INTERIOR.get(page[at])
    if kind is None:
        return []
    count = min(int.from_bytes(page[at + 3 : at + 5], 'big'), (len(page) - at - 12) // 2)
    children, low = [], parent.low
    for place in range(at + 12, at + 12 + 2 * count, 2):
        cell = min(int.from_bytes(page[place : place + 2], 'big'), len(page) - 13)
        number = int.from_bytes(page[cell : cell + 4], 'big')
        if kind == 'table':
            key, _ = read_id(page, cell + 4)
            children.append(Child(number, low, key))
            low = key
        else:
            children.append(Child(number))
    last = int.from_bytes(page[at + 8 : at + 12], 'big')
    children.append(Child(last, low, parent.high) if kind == 'table' else Child(last))
    return children


def describe(path: Path, damaged: Sequence[int] | None = None) -> str:
    """
    Return in words which pages of a store are damaged, and what they held.

    Without those that were `damaged` just now the file is read for them, unless it was before.
    """
    try:
        known = _find_named(path, *_stamp(path)) if damaged is None else _name(path, damaged)
    except (apsw.Error, OSError, ValueError, IndexError):
        return 'the pages cannot be named'
    if not known:
        return 'the damaged page was written since'
    shown = ', '.join(map(str, known[:_SHOWN]))
    return shown + (f' and {len(known) - _SHOWN} more' if len(known) > _SHOWN else '')


def _stamp(path: Path) -> tuple[int, int]:
    stat = path.stat()
    return stat.st_mtime_ns, stat.st_size


@lru_cache(maxsize=4)
def _find_named(path: Path, mtime_ns: int, size: int) -> list[DamagedPage]:
    """Return the damaged pages with names; each call would read the whole file again."""
    return _name(path, find_damaged(path))


def _name(path: Path, damaged: Sequence[int]) -> list[DamagedPage]:
    return name_pages(path, damaged, read_roots(path)) if damaged else []


def find_owners(path: Path, damaged: Sequence[int]) -> dict[int, str]:
    """
    Return the table or index of each of some pages, '' where it is not known.

    Where the b-trees do not lead to one, as to pages of long values, the whole file is searched.
    """
    owners = {page.number: page.owner for page in _name(path, damaged)}
    owners.update(_find_of_long_values(path, [one for one in damaged if not owners[one]]))
    return owners


def _find_of_long_values(path: Path, numbers: Collection[int]) -> list[tuple[int, str]]:
    """Return those of some pages that SQLite finds, each with its table or index."""
    found: list[tuple[int, str]] = []
    if numbers:
        connection = _connect_unchecked(path)
        try:
            for number, owner in connection.execute('SELECT pageno, name FROM dbstat'):
                if number in numbers:
                    found.append((number, owner))
        except apsw.Error:
            pass  # what was found until then holds
        finally:
            connection.close()
    return found


def list_owners(path: Path) -> frozenset[str]:
    """Return the tables and indexes of the damaged pages, '' of one that is not known."""
    try:
        return _list_owners(path, *_stamp(path))
    except (apsw.Error, OSError, ValueError, IndexError):
        return frozenset()


@lru_cache(maxsize=4)
def _list_owners(path: Path, mtime_ns: int, size: int) -> frozenset[str]:
    damaged = [page.number for page in _find_named(path, mtime_ns, size)]
    return frozenset(find_owners(path, damaged).values()) if damaged else frozenset()


def _connect_unchecked(path: Path) -> apsw.Connection:
    """Open a file without checksums, so that what is damaged is read as far as it goes."""
    return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)


def read_roots(path: Path) -> dict[str, int]:
    """Return the first pages of the tables and indexes of a store, as far as they can be read."""
    connection = _connect_unchecked(path)
    try:
        rows = connection.execute('SELECT name, rootpage FROM sqlite_schema WHERE rootpage > 0')
        return {'sqlite_schema': 1, **dict(rows)}
    except apsw.Error:
        return {'sqlite_schema': 1}
    finally:
        connection.close()
