"""Looking for words in the bytes of files, in one pass however many words there are."""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from robot_memory.storage.page_file import open_pages, open_raw
from robot_memory.storage.tables.erased_texts import LEAST_BYTES, SAMPLE

_CHUNK = 1 << 24
_WINDOW = 8
_PREFIX = 3


def search_store(path: Path, words: Sequence[str]) -> set[str]:
    """Return the words that are in the bytes of a store's file."""
    with open_raw(path) as file:
        size = file.xFileSize()
        places = range(0, size, _CHUNK)
        return _search((file.xRead(min(_CHUNK, size - at), at) for at in places), words)


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
    starts: _Starts | None = None
    found: set[str] = set()
    tail = b''
    for chunk in chunks:
        if not sought:
            break
        data = tail + chunk
        starts = starts or _Starts.of(sought)
        there = starts.find(data)
        if there:  # what many rows have would be found again and again
            found.update(sought.pop(pattern) for pattern in there)
            starts = None
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
    with open_pages(path) as file:
        _, leaves = file.list_free()
        return sorted(leaf for leaf in leaves if file.read(leaf).strip(b'\0'))
