"""
Connections that read other pages in place of damaged ones, so that a tree can be emptied.

SQLite empties a tree by walking it, which a damaged page ends. Through a VFS of its own, over that
of checksums, one connection reads an empty page there; what it writes goes into the log and the
file as ever, so that others, in this process or not, see each transaction whole.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import apsw

from robot_memory.core.varints import write_varint
from robot_memory.storage import checksums
from robot_memory.storage.page_file import RESERVED

TABLE_LEAF, INDEX_LEAF = 13, 10
_NOTHING = b'\x02\x00'
"""A row of one column, which is NULL: a header of two bytes."""
_numbers = itertools.count()


class _Substituted(apsw.VFSFile):
    """Read a file but for some pages."""

    def __init__(
        self, name: str | apsw.URIFilename | None, flags: list[int], pages: Mapping[int, bytes]
    ) -> None:
        super().__init__(checksums.VFS, name, flags)
        self._pages = pages

    def xRead(self, amount: int, offset: int) -> bytes:  # noqa: N802
        page = self._pages.get(offset // amount + 1)
        if page is None or len(page) != amount or offset % amount:
            return super().xRead(amount, offset)
        return page


class _SubstitutingVFS(apsw.VFS):
    def __init__(self, name: str, pages: Mapping[int, bytes]) -> None:
        super().__init__(name, checksums.VFS)
        self._pages = pages

    def xOpen(  # noqa: N802
        self, name: str | apsw.URIFilename | None, flags: list[int]
    ) -> apsw.VFSFile:
        if flags[0] & apsw.SQLITE_OPEN_MAIN_DB:
            return _Substituted(name, flags, self._pages)
        return super().xOpen(name, flags)


@contextmanager
def substitute(pages: Mapping[int, bytes]) -> Iterator[str]:
    """Give the name of a VFS whose main files have other pages, for a while."""
    checksums.load()
    name = f'substituting-{next(_numbers)}'
    vfs = _SubstitutingVFS(name, pages)
    try:
        yield name
    finally:
        vfs.unregister()


def make_empty_leaf(size: int, kind: int) -> bytes:
    """Return a page of a tree without any row."""
    page = bytearray(size)
    page[0] = kind
    page[5:7] = (size - RESERVED).to_bytes(2, 'big')
    return bytes(page)


def make_row_leaf(size: int, number: int) -> bytes:
    """Return a page of a table with one row, which has an id and no value."""
    return _put_cell(size, TABLE_LEAF, b'\x02' + write_varint(number) + _NOTHING)


def make_version_leaf(size: int) -> bytes:
    """Return a page of the settings of FTS5 that tells the version of its format alone."""
    record = b'\x03\x1b\x01' + b'version' + b'\x04'  # a text of 7 bytes, an integer of one
    return _put_cell(size, INDEX_LEAF, write_varint(len(record)) + record)


def make_chain(
    size: int, kind: int, numbers: Sequence[int], row_id: int = 1
) -> tuple[bytes, dict[int, bytes]]:
    """
    Return a page whose only row is so long that it lies on all of some other pages, and these.

    What nothing leads to any more is freed with that row.
    """
    usable = size - RESERVED
    local = (usable - 12) * 32 // 255 - 23
    length = local + len(numbers) * (usable - 4)
    row = write_varint(row_id) if kind == TABLE_LEAF else b''
    cell = write_varint(length) + row + _NOTHING + bytes(local - 2) + numbers[0].to_bytes(4, 'big')
    following = (*numbers[1:], 0)
    return _put_cell(size, kind, cell), {
        number: after.to_bytes(4, 'big') + bytes(size - 4)
        for number, after in zip(numbers, following, strict=True)
    }


def _put_cell(size: int, kind: int, cell: bytes) -> bytes:
    """Return a page whose only cell is this one."""
    page = bytearray(make_empty_leaf(size, kind))
    end = size - RESERVED
    start = end - max(len(cell), 4)
    page[start : start + len(cell)] = cell
    page[3:5] = (1).to_bytes(2, 'big')
    page[5:7] = start.to_bytes(2, 'big')
    page[8:10] = start.to_bytes(2, 'big')
    return bytes(page)
