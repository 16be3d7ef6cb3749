"""
Pages of a file that are wrong by themselves: by their checksums, or as they are all zeros.

They are read without SQLite, while others may write. Format: sqlite.org/fileformat2.html; the
checksum: cksumvfs.c.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_memory.storage.page_file import RESERVED, PageFile
from robot_memory.storage.store_files import LOG, name_file

_BLOCK = 4096
"""Pages that are read at once."""
FindWrong = Callable[[bytes, int, int], list[int]]
"""Gives the wrong ones of pages, of a size, by the number of the first one."""


def read_blocks(file: PageFile, first: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Give pages in blocks, each with the number of its first one."""
    for start in range(first, end, _BLOCK):
        yield start, file.read(start, min(_BLOCK, end - start))


def list_unmatched(data: bytes, page_size: int, first: int) -> list[int]:
    """Return the numbers of the pages whose last 8 bytes are not the checksum of the others."""
    words: NDArray[np.uint32] = np.frombuffer(data, '<u4').reshape(-1, page_size // 4)
    wrong = (compute_checksums(words) != words[:, -2:]).any(axis=1)
    numbers: list[int] = (np.flatnonzero(wrong) + first).tolist()
    return numbers


def list_zeros(data: bytes, page_size: int, first: int) -> list[int]:
    """Return the numbers of the pages that are all zeros."""
    words: NDArray[np.uint32] = np.frombuffer(data, '<u4').reshape(-1, page_size // 4)
    numbers: list[int] = (np.flatnonzero(~words.any(axis=1)) + first).tolist()
    return numbers


def find_lasting(
    path: Path, file: PageFile, first: int, end: int, find_wrong: FindWrong
) -> set[int]:
    """Return the pages from one on to before another that `keep_lasting` keeps."""
    found = [
        number
        for start, data in read_blocks(file, first, end)
        for number in find_wrong(data, file.page_size, start)
    ]
    return keep_lasting(path, file, found, find_wrong)


def keep_lasting(
    path: Path, file: PageFile, numbers: Iterable[int], find_wrong: FindWrong
) -> set[int]:
    """
    Return those of pages that are wrong, in use, and not being written.

    While a page is written from the log, the log has it: what it has not is wrong for good if it
    is the same before a look into the log and after.
    """
    lasting: set[int] = set()
    left = set(numbers)
    while left:
        before = {number: file.read(number) for number in left}
        wrong = {one for one in left if find_wrong(before[one], file.page_size, one)}
        wrong -= file.list_unused() | list_logged(path, file.page_size) if wrong else set()
        left = {one for one in wrong if file.read(one) != before[one]}
        lasting |= wrong - left
    return lasting


def list_logged(path: Path, page_size: int) -> set[int]:
    """Return the pages that are read from the log; a crash may leave these half written."""
    try:
        log = name_file(path, LOG).read_bytes()
    except OSError:
        return set()
    frames = range(32, len(log) - page_size - 23, page_size + 24)
    return {int.from_bytes(log[at : at + 4], 'big') for at in frames}


def compute_checksums(words: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Return the checksums of pages (pages, words a page), shape (pages, 2)."""
    columns = np.ascontiguousarray(words.T)
    one = np.zeros(len(words), np.uint32)
    other = np.zeros(len(words), np.uint32)
    for place in range(0, len(columns) - RESERVED // 4, 2):
        one += columns[place] + other
        other += columns[place + 1] + one
    return np.stack([one, other], axis=1)


def seal(page: bytes) -> bytes:
    """Return a page with its checksum."""
    words = np.frombuffer(page, '<u4').reshape(1, -1)
    return page[:-RESERVED] + compute_checksums(words).astype('<u4').tobytes()
