"""A store's file as pages, read without SQLite's pager. Format: sqlite.org/fileformat2.html."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

MAGIC, HEADER_BYTES = b'SQLite format 3\0', 100
"""What a file of SQLite begins with, and the length of its header."""
RESERVED = 8
"""Bytes at the end of each page that hold its checksum."""
SPOILED = b'\xff'
"""A page of it is of no kind, and no checksum matches."""
_LOCK_BYTE = 1 << 30


def read_size(header: bytes) -> tuple[int, int]:
    """Return how many bytes a page has, and how many pages there are, by the header of a file."""
    size = int.from_bytes(header[16:18], 'big')
    return 65536 if size == 1 else size, int.from_bytes(header[28:32], 'big')


@contextmanager
def open_raw(path: Path, *, is_written: bool = False) -> Iterator[apsw.VFSFile]:
    """
    Open the bytes of a file that SQLite may have open as well.

    By SQLite: a descriptor of our own would drop the locks of this process when it is closed.
    """
    how = apsw.SQLITE_OPEN_READWRITE if is_written else apsw.SQLITE_OPEN_READONLY
    file = apsw.VFSFile('', str(path), [how | apsw.SQLITE_OPEN_MAIN_DB, 0])
    try:
        yield file
    finally:
        file.xClose()


class PageFile:
    """Read pages of a file whose size and header are known; an empty one has none."""

    def __init__(self, file: apsw.VFSFile) -> None:
        """Read the header."""
        self._file = file
        header = file.xRead(HEADER_BYTES, 0)
        # By the header: a file whose end is cut off has fewer pages than it says.
        self.page_size, self.said_count = read_size(header)
        self.has_checksums = header[20:21] == bytes([RESERVED]) and self.page_size >= 512
        self.count = file.xFileSize() // self.page_size if self.page_size else 0
        self._first_free = int.from_bytes(header[32:36], 'big')

    def read(self, number: int, count: int = 1) -> bytes:
        """Return pages from one on, fewer at the end."""
        count = min(count, self.count - number + 1)
        return self._file.xRead(count * self.page_size, (number - 1) * self.page_size)

    def list_free(self) -> tuple[set[int], set[int]]:
        """Return the free pages: those that list others, and the leaves that they list."""
        trunks, leaves = set[int](), set[int]()
        trunk = self._first_free
        while 0 < trunk <= self.count and trunk not in trunks:
            trunks.add(trunk)
            page = self.read(trunk)
            trunk, count = (int.from_bytes(page[at : at + 4], 'big') for at in (0, 4))
            listed = struct.unpack_from(f'>{min(count, self.page_size // 4 - 2)}I', page, 8)
            leaves.update(leaf for leaf in listed if leaf <= self.count)
        return trunks, leaves

    def list_unused(self) -> set[int]:
        """Return the pages whose content does not count: free ones, and that of SQLite's locks."""
        trunks, leaves = self.list_free()
        return trunks | leaves | {_LOCK_BYTE // self.page_size + 1}


@contextmanager
def open_pages(path: Path) -> Iterator[PageFile]:
    """Open the pages of a file that SQLite may have open as well."""
    with open_raw(path) as file:
        yield PageFile(file)


def spoil_pages(path: Path, numbers: Iterable[int]) -> None:
    """Overwrite pages of a copy that nobody has open, so that their checksums do not match."""
    with open_pages(path) as pages:
        size = pages.page_size
    with path.open('r+b') as file:
        for number in numbers:
            file.seek((number - 1) * size)
            file.write(SPOILED * size)
