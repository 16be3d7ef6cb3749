"""Looking for words in the bytes of files, in one pass however many words there are."""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from robot_memory.storage.tables.erased_texts import LEAST_BYTES, SAMPLE

_CHUNK = 1 << 24
_WINDOW = 8
_PREFIX = 3
Read = Callable[[int, int], bytes]
"""Returns so many bytes from a place on, fewer at the end."""


@contextmanager
def open_store(path: Path) -> Iterator[tuple[Read, int]]:
    """
    Open the bytes of a store's file, and give their number.

    By SQLite: a descriptor of our own would drop the locks of this process when it is closed.
    """
    flags = [apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_MAIN_DB, 0]
    file = apsw.VFSFile('', str(path), flags)
    try:
        size = file.xFileSize()
        yield lambda place, number: file.xRead(max(0, min(number, size - place)), place), size
    finally:
        file.xClose()


def search_store(path: Path, words: Sequence[str]) -> set[str]:
    """Return the words that are in the bytes of a store's file."""
    with open_store(path) as (read, size):
        return _search((read(at, _CHUNK) for at in range(0, size, _CHUNK)), words)


def search_file(path: Path, words: Sequence[str]) -> set[str]:
    """Return the words that are in a file, if there is one; it is decompressed if it is .gz."""
    try:
        with gzip.open(path) if path.suffix == '.gz' else open(path, 'rb') as file:
            return _search(iter(lambda: file.read(_CHUNK), b''), words)
    except FileNotFoundError:
        return set()


def _search(chunks: Iterable[bytes], words: Sequence[str]) -> set[str]:
    sought = {encoded: word for word in words if len(encoded := _encode(word)) >= LEAST_BYTES}
    longest = max(map(len, sought), default=0)
    starts = _Starts.of(sought)
    found: set[str] = set()
    tail = b''
    for chunk in chunks:
        if not sought:
            break
        data = tail + chunk
        there = starts.find(data)
        if there:  # what many rows have would be found again and again
            found.update(sought.pop(pattern) for pattern in there)
            starts = _Starts.of(sought)
        tail = data[-longest:] if len(data) > longest else data
    return found


def _encode(word: str) -> bytes:
    if word.startswith(SAMPLE):
        return bytes.fromhex(word[1:])
    return word.encode('utf-8', 'replace')


class _Starts(NamedTuple):
    """Hold patterns by their first bytes as a number, and the beginnings of these."""

    patterns: dict[int, list[bytes]]
    table: NDArray[np.bool_]
    numbers: NDArray[np.uint64]

    @classmethod
    def of(cls, patterns: Iterable[bytes]) -> _Starts:
        by_number: dict[int, list[bytes]] = defaultdict(list)
        for pattern in patterns:
            by_number[int.from_bytes(pattern[:LEAST_BYTES], 'little')].append(pattern)
        table = np.zeros(1 << 8 * _PREFIX, np.bool_)
        table[[number & len(table) - 1 for number in by_number]] = True
        return cls(dict(by_number), table, np.array(sorted(by_number), np.uint64))

    def find(self, data: bytes) -> set[bytes]:
        """Return the patterns that are in some bytes."""
        places, numbers = self._list_places(data)
        order = np.argsort(numbers, kind='stable')
        bounds = np.flatnonzero(np.diff(numbers[order])) + 1
        found: set[bytes] = set()
        for group in np.split(order, bounds) if len(order) else ():
            left = set(self.patterns[int(numbers[group[0]])])
            lengths = {len(pattern) for pattern in left}
            for place in places[group].tolist():
                there = left.intersection(data[place : place + length] for length in lengths)
                if there:
                    found |= there
                    left -= there
                    lengths = {len(pattern) for pattern in left}
        return found

    def _list_places(self, data: bytes) -> tuple[NDArray[np.intp], NDArray[np.uint64]]:
        """Return where patterns may begin, and the number that the first bytes there are."""
        padded = np.frombuffer(data + bytes(_WINDOW), np.uint8)
        first = padded[: len(data)].astype(np.uint32)
        first |= padded[1 : len(data) + 1].astype(np.uint32) << np.uint32(8)
        first |= padded[2 : len(data) + 2].astype(np.uint32) << np.uint32(16)
        near = np.flatnonzero(self.table[first])
        whole = np.zeros(len(near), np.uint64)
        for byte in range(LEAST_BYTES):
            whole |= padded[near + byte].astype(np.uint64) << np.uint64(8 * byte)
        fits = np.isin(whole, self.numbers)
        return near[fits], whole[fits]


def find_dirty_pages(path: Path) -> list[int]:
    """Return the free leaf pages of a store's file that are not all zero."""
    with open_store(path) as (read, size):
        if not size:
            return []
        header = read(0, 100)
        page_size = int.from_bytes(header[16:18], 'big')
        page_size = 65536 if page_size == 1 else page_size
        dirty: list[int] = []
        trunk = int.from_bytes(header[32:36], 'big')
        seen: set[int] = set()
        while trunk and trunk not in seen:
            seen.add(trunk)
            page = read((trunk - 1) * page_size, page_size)
            trunk = int.from_bytes(page[:4], 'big')
            number = int.from_bytes(page[4:8], 'big')
            for place in range(8, 8 + 4 * min(number, page_size // 4 - 2), 4):
                leaf = int.from_bytes(page[place : place + 4], 'big')
                if read((leaf - 1) * page_size, page_size).strip(b'\0'):
                    dirty.append(leaf)
        return dirty
