"""
B-trees of tables, written anew over the leaves that are whole.

A table is found by its inner pages: one of them that is damaged hides all rows below it, though
these are whole. In a copy of the file the inner pages are replaced by new ones, over all whole
leaves of the table in the order of their rows. Format: sqlite.org/fileformat2.html, 1.6.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO

from robot_memory.core.varints import read_id, read_varint, write_varint
from robot_memory.storage.admin.page_substitution import TABLE_LEAF, make_empty_leaf
from robot_memory.storage.admin.row_types import ColumnType, fit, read_records
from robot_memory.storage.damage import walk_levels
from robot_memory.storage.page_checks import seal
from robot_memory.storage.page_file import RESERVED, PageFile, open_pages

_INNER = 5
_CHILDREN = 250
"""Of a page; a cell has 4 bytes for its page and 9 for its row at most."""
_SAMPLES = 5
"""Rows of a page that are compared with the columns of a table."""


@dataclass(frozen=True, order=True)
class Leaf:
    """Hold a page with rows: the ids of its first and last one, and how many columns they have."""

    first: int
    last: int
    number: int
    columns: int


@dataclass(frozen=True)
class TableTree:
    """Hold where a table begins, and the types of its columns; older rows may lack the last."""

    root: int
    columns: tuple[ColumnType, ...]


def mend_trees(
    path: Path, damaged: Sequence[int], tables: Mapping[str, TableTree], others: Sequence[int]
) -> None:
    """
    Write the trees of tables anew in a copy of a store that nobody has open.

    `tables` are those with ids, `others` where all other trees begin.
    """
    bad = set(damaged)
    with open_pages(path) as file:
        owned: dict[str, set[int]] = {}
        hidden: list[str] = []
        taken = set(others) | file.list_unused()
        for name, tree in tables.items():
            owned[name], hides = _list_owned(file, tree.root, bad)
            taken |= owned[name]
            if hides:
                hidden.append(name)
        for root in others:
            taken |= _list_owned(file, root, bad)[0]
        hit = [name for name in tables if owned[name] & bad]
        leaves = {
            name: sorted(
                leaf
                for number in owned[name] - bad
                if (leaf := read_leaf(file, number)) is not None
            )
            for name in hit
        }
        if hidden:
            orphans = [*_find_orphans(file, taken | bad)]
            while orphans != (orphans := _place(file, orphans, hidden, tables, leaves)):
                pass
        size, count = file.page_size, file.count
    with path.open('r+b') as target:
        for name in hit:
            count = _write_tree(target, size, count, tables[name].root, sorted(leaves[name]))
        _write_count(target, size, count)


def _list_owned(file: PageFile, root: int, bad: set[int]) -> tuple[set[int], bool]:
    """Return the pages of a tree as far as they can be reached, and whether some cannot."""
    owned: set[int] = set()
    hides = root in bad
    for level, is_inner in walk_levels(file, root):
        numbers = {page.number for page in level}
        # Where no page of a level is whole, nothing says whether it is one of leaves.
        hides |= (is_inner and bool(numbers & bad)) or numbers <= bad
        owned |= numbers
    return owned, hides


def _find_orphans(file: PageFile, taken: set[int]) -> Iterator[Leaf]:
    """Yield the leaves of tables that no tree leads to."""
    for number in range(2, file.count + 1):
        if number not in taken:
            leaf = read_leaf(file, number)
            if leaf is not None:
                yield leaf


def read_leaf(file: PageFile, number: int) -> Leaf | None:
    """Return what a page with rows holds; None of another page, and of an empty one."""
    page = file.read(number)
    count = int.from_bytes(page[3:5], 'big')
    if page[0] != TABLE_LEAF or not 0 < count < file.page_size // 4:
        return None
    ends = []
    for place in (8, 8 + 2 * (count - 1)):
        cell = int.from_bytes(page[place : place + 2], 'big')
        _, at = read_varint(page, cell)
        row, at = read_id(page, at)
        ends.append(row)
    header, begin = read_varint(page, at)
    columns, at = 0, begin
    while at < begin + header - 1:
        _, at = read_varint(page, at)
        columns += 1
    return Leaf(ends[0], ends[1], number, columns)


def _place(
    file: PageFile,
    orphans: Sequence[Leaf],
    hidden: Sequence[str],
    tables: Mapping[str, TableTree],
    leaves: Mapping[str, list[Leaf]],
) -> list[Leaf]:
    """Give orphans to the tables that they belong to; return those where that is not certain."""
    left = []
    for leaf in orphans:
        owner = _choose(file, leaf, hidden, tables, leaves)
        if owner:
            leaves[owner].append(leaf)
        else:
            left.append(leaf)
    return left


def _choose(
    file: PageFile,
    leaf: Leaf,
    hidden: Sequence[str],
    tables: Mapping[str, TableTree],
    leaves: Mapping[str, Sequence[Leaf]],
) -> str:
    """Return the table that an orphan belongs to, '' where that is not certain."""
    records = islice(read_records(file.read(leaf.number), 0), _SAMPLES)
    rows = [[kind for kind, _ in record] for record in records]
    fitting = [
        name
        for name in hidden
        if all(fit(types, tables[name].columns[: len(types)]) for types in rows)
        and not any(one.first <= leaf.last and leaf.first <= one.last for one in leaves[name])
    ]
    exact = [
        name for name in fitting if all(len(types) == len(tables[name].columns) for types in rows)
    ]
    found = exact or fitting
    return found[0] if len(found) == 1 else ''


def _write_tree(target: BinaryIO, size: int, count: int, root: int, leaves: Sequence[Leaf]) -> int:
    """
    Write inner pages over leaves, new ones at the end of the file; return its pages.

    SQLite takes no inner page with one child: a single leaf is written in place of the root.
    """
    level = [(leaf.number, leaf.last) for leaf in leaves]
    while len(level) > _CHILDREN:
        above = []
        parts = -(-len(level) // _CHILDREN)
        for place in range(parts):
            part = level[place * len(level) // parts : (place + 1) * len(level) // parts]
            count += 1
            write_page(target, size, count, make_inner(size, part))
            above.append((count, part[-1][1]))
        level = above
    if len(level) == 1:
        target.seek((level[0][0] - 1) * size)
        page = target.read(size)
    else:
        page = make_inner(size, level) if level else make_empty_leaf(size, TABLE_LEAF)
    write_page(target, size, root, page)
    return count


def make_inner(size: int, children: Sequence[tuple[int, int]]) -> bytes:
    """Return a page that leads to others, by their numbers and the ids of their last rows."""
    page = bytearray(size)
    end = size - RESERVED
    for place, (number, last) in enumerate(children[:-1]):
        cell = number.to_bytes(4, 'big') + write_varint(last)
        end -= len(cell)
        page[end : end + len(cell)] = cell
        page[12 + 2 * place : 14 + 2 * place] = end.to_bytes(2, 'big')
    page[0] = _INNER
    page[3:5] = (len(children) - 1).to_bytes(2, 'big')
    page[5:7] = end.to_bytes(2, 'big')
    page[8:12] = children[-1][0].to_bytes(4, 'big')
    return bytes(page)


def write_page(target: BinaryIO, size: int, number: int, page: bytes) -> None:
    """Write a page with its checksum into a file that nobody has open."""
    target.seek((number - 1) * size)
    target.write(seal(page))


def _write_count(target: BinaryIO, size: int, count: int) -> None:
    target.seek(0)
    page = bytearray(target.read(size))
    page[28:32] = count.to_bytes(4, 'big')
    write_page(target, size, 1, bytes(page))
