"""
The list of tables (sqlite_schema) of a damaged store, written anew in a copy of it.

What is in the list is known from the schema version. Where a table begins stands in the pages of
the list that are whole; of the others the pages are searched for what no page leads to, whose rows
have the columns of the table. Format: sqlite.org/fileformat2.html.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from robot_memory.storage import checksums, damage, schema_runner
from robot_memory.storage.admin.page_substitution import (
    INDEX_LEAF,
    TABLE_LEAF,
    make_empty_leaf,
)
from robot_memory.storage.admin.row_types import (
    ColumnType,
    fit,
    is_text,
    list_column_types,
    read_records,
)
from robot_memory.storage.admin.tree_mending import write_page
from robot_memory.storage.page_file import (
    HEADER_BYTES,
    MAGIC,
    RESERVED,
    SPOILED,
    PageFile,
    open_pages,
)
from robot_memory.storage.store_files import hold_scratch

_KINDS = {2: INDEX_LEAF, 5: TABLE_LEAF, INDEX_LEAF: INDEX_LEAF, TABLE_LEAF: TABLE_LEAF}
"""The kinds of pages of trees, with that of the leaves of their trees."""
_ENTRIES = (b'table', b'index', b'view', b'trigger')
_SAMPLES = 5
Lose = Callable[[str, str], None]
"""Is told a table, and what of it is lost."""


@dataclass(frozen=True)
class _Entry:
    """Hold a line of the list; `leaf` is the kind of its tree's leaves, None where it has none."""

    type: str
    name: str
    table: str
    sql: str | None
    leaf: int | None
    columns: tuple[ColumnType, ...] = ()


def mend_header(path: Path) -> bool:
    """
    Give a copy that nobody has open the header that a new store has, where its own is none.

    Return whether that was so; its first page then is damaged in any case.
    """
    with path.open('r+b') as file:
        header = file.read(HEADER_BYTES)
        size = int.from_bytes(header[16:18], 'big')
        if header.startswith(MAGIC) and (size == 1 or 512 <= size == size & -size):
            return False
        new, _ = _make_reference(path, len(schema_runner.STEPS))
        pages = file.seek(0, 2) // int.from_bytes(new[16:18], 'big')
        file.seek(0)
        file.write(new[:28] + pages.to_bytes(4, 'big') + bytes(8) + new[40:])
    return True


def is_hit(path: Path, damaged: Sequence[int]) -> bool:
    """Say whether a damaged page is one of the list of tables."""
    pages = damage.name_pages(path, damaged, {'sqlite_schema': 1})
    return any(page.owner == 'sqlite_schema' for page in pages)


def recover(path: Path, bad: set[int], lose: Lose) -> None:
    """
    Write the list of tables of a copy anew that nobody has open; note what cannot be found.

    `bad` are the pages that are damaged. Where rows of a table may be there, but nothing tells
    where it begins, it begins with a damaged page, to be mended over these rows.
    """
    with open_pages(path) as file:
        header = file.read(1)[:100]
        version = int.from_bytes(header[60:64], 'big')
        known = _describe_schema(version)
        scan = _Scan(file, bad)
        _, places = _make_reference(path, version)
        roots = scan.find_roots(known, places)
        missing = [e for e in known if e.type == 'table' and e.leaf and e.name not in roots]
        hidden = {e.name for e in missing if any(scan.fits(root, e) for root in scan.left)}
        for entry in missing:
            if entry.name in hidden and entry.leaf == INDEX_LEAF:
                lose(entry.name, 'rows, as where the table begins is not known')
        size, count, old = file.page_size, file.count, scan.pages
    with path.open('r+b') as target:
        for entry in known:
            if entry.leaf and entry.name not in roots:
                count += 1
                roots[entry.name] = count
                if entry.name in hidden and entry.leaf == TABLE_LEAF:
                    target.seek((count - 1) * size)
                    target.write(SPOILED * size)
                else:
                    write_page(target, size, count, make_empty_leaf(size, entry.leaf))
        for number in old:
            write_page(target, size, number, bytes(size))
        write_page(target, size, 1, _make_first(header, size, count))
    _insert(path, known, roots)


class _Scan:
    """Know of all whole pages of a file what leads where."""

    def __init__(self, file: PageFile, bad: set[int]) -> None:
        self._file = file
        self._bad = bad
        self.pages: set[int] = set()
        """Pages of the list."""
        self._listed: dict[str, int] = {}
        unused = file.list_unused()
        inner: set[int] = set()
        tops: dict[int, int] = {}
        for number in range(1, file.count + 1):
            if number in bad or number in unused:
                continue
            page = file.read(number)
            kind = page[100 if number == 1 else 0]
            if kind not in _KINDS:
                continue
            if kind == TABLE_LEAF and self._take_entries(page, 100 if number == 1 else 0):
                self.pages |= {number} - {1}
            elif number > 1:
                tops[number] = _KINDS[kind]
            inner.update(
                child.number for child in damage.list_children(page, damage.Child(number))
            )
        self.left = {number: leaf for number, leaf in tops.items() if number not in inner}
        """Pages that no page leads to, with the kind of their leaves."""

    def _take_entries(self, page: bytes, at: int) -> bool:
        """Take where tables begin from a page, if it is one of the list."""
        for number, values in enumerate(read_records(page, at)):
            if len(values) != 5 or values[0][1] not in _ENTRIES or not is_text(values[1][0]):
                return number > 0
            name, root = values[1][1].decode(), int.from_bytes(values[3][1], 'big')
            if root:
                self._listed[name] = root
        return bool(self._listed) and int.from_bytes(page[at + 3 : at + 5], 'big') > 0

    def find_roots(
        self, known: Sequence[_Entry], places: Sequence[Mapping[str, int]]
    ) -> dict[str, int]:
        """
        Return where tables and indexes begin, as far as it is certain.

        `places` are where they begin in empty stores; where all that is known is there, so is
        the rest.
        """
        roots = {e.name: self._listed[e.name] for e in known if e.name in self._listed}
        for root in self._listed.values():
            self.left.pop(root, None)
        missing = {e.name: e for e in known if e.type == 'table' and e.leaf}
        for name in roots:
            missing.pop(name, None)
        for layout in places:
            common = roots.keys() & layout.keys()
            if common and all(roots[name] == layout[name] for name in common):
                for name, entry in list(missing.items()):
                    root = layout.get(name, 0)
                    if root in self._bad or self.left.get(root) == entry.leaf:
                        roots[name] = root
                        self.left.pop(root, None)
                        del missing[name]
                break
        changed = True
        while changed:
            changed = False
            for name, entry in list(missing.items()):
                fitting = [root for root in self.left if self.fits(root, entry)]
                rivals = [
                    other
                    for other in missing.values()
                    if other is not entry and fitting and self.fits(fitting[0], other)
                ]
                if len(fitting) == 1 and not rivals:
                    roots[name] = fitting[0]
                    del self.left[fitting[0]], missing[name]
                    changed = True
        return roots

    def fits(self, root: int, entry: _Entry) -> bool:
        """Say whether the first rows below a page are such of a table."""
        if self.left[root] != entry.leaf:
            return False
        rows = self._sample(root)
        return bool(rows) and all(fit(types, entry.columns) for types in rows)

    def _sample(self, root: int) -> list[list[int]]:
        """Return the types of the values of the first rows below a page."""
        number = root
        for _ in range(20):
            page = self._file.read(number)
            children = damage.list_children(page, damage.Child(number))
            if not children:
                break
            number = children[0].number
        if page[0] not in (TABLE_LEAF, INDEX_LEAF):
            return []
        found = []
        for place, values in enumerate(read_records(page, 0)):
            if place < _SAMPLES:
                found.append([kind for kind, _ in values])
        return found


def _describe_schema(version: int) -> list[_Entry]:
    """Return the list of tables of a schema version, that of this release where it is unknown."""
    steps = schema_runner.STEPS
    connection = apsw.Connection(':memory:')
    try:
        for step in steps[: version if 0 < version <= len(steps) else len(steps)]:
            step(connection)
        rows: list[Any] = connection.execute(
            'SELECT s.type, s.name, s.tbl_name, s.sql, s.rootpage, l.wr FROM sqlite_schema AS s'
            " LEFT JOIN pragma_table_list AS l ON l.schema = 'main' AND l.name = s.name"
            ' ORDER BY s.rowid'
        ).fetchall()
        return [
            _Entry(
                type,
                name,
                table,
                sql,
                (INDEX_LEAF if wr or type == 'index' else TABLE_LEAF) if root else None,
                list_column_types(connection, name, wr) if type == 'table' else (),
            )
            for type, name, table, sql, root, wr in rows
        ]
    finally:
        connection.close()


def _make_reference(path: Path, version: int) -> tuple[bytes, list[dict[str, int]]]:
    """Return header of an empty store, and where its tables begin when made, when written anew."""
    places: list[dict[str, int]] = []
    with hold_scratch(path.with_name(f'{path.name}.empty')) as empty:
        connection = checksums.connect(empty)
        checksums.reserve_if_empty(connection)
        if 0 < version < len(schema_runner.STEPS):
            for step in schema_runner.STEPS[:version]:
                step(connection)
        else:
            schema_runner.create(connection)
        for _ in range(2):
            rows: list[Any] = connection.execute(
                'SELECT name, rootpage FROM sqlite_schema WHERE rootpage'
            ).fetchall()
            places.append(dict(rows))
            connection.execute('VACUUM')
        connection.close()
        return empty.read_bytes()[:100], places


def _make_first(header: bytes, size: int, count: int) -> bytes:
    """Return the first page of a file: an empty list of tables, and no free page."""
    page = bytearray(size)
    page[:100] = header
    page[28:32] = count.to_bytes(4, 'big')
    page[32:40] = bytes(8)
    page[92:96] = page[24:28]  # the size counts where these two are equal
    page[100] = TABLE_LEAF
    page[105:107] = (size - RESERVED).to_bytes(2, 'big')
    return bytes(page)


def _insert(path: Path, known: Sequence[_Entry], roots: Mapping[str, int]) -> None:
    connection = checksums.connect(path)
    try:
        connection.pragma('writable_schema', True)
        connection.execute('BEGIN')
        connection.executemany(
            'INSERT INTO sqlite_schema (type, name, tbl_name, rootpage, sql)'
            ' VALUES (?, ?, ?, ?, ?)',
            [(e.type, e.name, e.table, roots.get(e.name, 0), e.sql) for e in known],
        )
        connection.execute('COMMIT')
    finally:
        connection.close()
