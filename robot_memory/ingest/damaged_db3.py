"""Damaged recordings in SQLite, read page by page (https://sqlite.org/fileformat.html)."""

from __future__ import annotations

import mmap
import struct
from array import array
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_memory.core.varints import read_varint
from robot_memory.ingest.losses import Loss
from robot_memory.ingest.stored_messages import Channel, Damaged, RecordedMessage
from robot_memory.storage.page_file import HEADER_BYTES, MAGIC, read_size

_SIZES = (4096, 1024, 2048, 8192, 16384, 32768, 65536, 512)
_INDEX_PAGE, _TABLE_PAGE, _INDEX_LEAF, _TABLE_LEAF = 2, 5, 10, 13
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_ZSTD_MAGIC = b'\x28\xb5\x2f\xfd'
_PAGE_HEADER = struct.Struct('>BHHHB')


@dataclass(frozen=True)
class _Cell:
    """Hold a row in its page: from `begin` to `end`, and the values of its record."""

    begin: int
    end: int
    row: int
    values: tuple[Any, ...]


class DamagedDb3:
    """Hold what can be read of a .db3 file; `channels` are its topics by number."""

    def __init__(self, path: Path, lose: Callable[[Loss], None]) -> None:
        """Go through the whole file; raise Damaged where there is nothing to read."""
        self.path = path
        self.channels: dict[int, Channel] = {}
        self.counts: Counter[int] = Counter()
        self._places = array('q')
        self._indexed = array('q')
        if not path.stat().st_size:
            raise Damaged('file is empty')
        self._file = path.open('rb')
        self._data = mmap.mmap(self._file.fileno(), 0, access=mmap.ACCESS_READ)
        try:
            self._scan(lose)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Close the file."""
        self._data.close()
        self._file.close()

    def _scan(self, lose: Callable[[Loss], None]) -> None:
        for size in self._list_page_sizes():
            self._size = size
            self._used = size - (self._data[20] if self._has_header else 0)
            self._pages = len(self._data) // size
            self._find_topics()
            if self.channels:
                break
        if not self.channels:
            raise Damaged('its table of topics cannot be read')
        self._find_rows()
        rows: NDArray[Any] = np.frombuffer(self._places, np.int64).reshape(-1, 3)
        _, first = np.unique(rows[:, 1], return_index=True)
        rows = rows[first]
        self._rows = rows[np.lexsort((rows[:, 1], rows[:, 0]))]
        self._report(lose)

    @property
    def _has_header(self) -> bool:
        return bool(self._data[:16] == MAGIC)

    def _list_page_sizes(self) -> list[int]:
        sizes = list(_SIZES)
        if self._has_header:
            size = int.from_bytes(self._data[16:18], 'big')
            size = 65536 if size == 1 else size
            if size in sizes:
                sizes.remove(size)
                sizes.insert(0, size)
        return [size for size in sizes if size <= len(self._data)] or [len(self._data)]

    @property
    def start_ns(self) -> int:
        """Return the time of the first message; the latest possible where there is none."""
        return int(self._rows[0, 0]) if len(self._rows) else 2**63 - 1

    def messages(self, is_wanted: Callable[[Channel], bool]) -> Iterator[RecordedMessage]:
        """Yield the messages of the wanted topics in the order of their times."""
        wanted = {number: one for number, one in self.channels.items() if is_wanted(one)}
        for time_ns, _, at in self._rows:
            _, topic, _, raw = self._read_cell(int(at) // self._size, int(at)).values
            if topic in wanted:
                yield RecordedMessage(int(time_ns), wanted[topic].topic, wanted[topic].type, raw)

    def _find_topics(self) -> None:
        for page in range(self._pages):
            for cell in self._list_cells(page)[0]:
                texts = cell.values[1:]
                if len(texts) < 3 or not all(isinstance(value, str) for value in texts):
                    continue
                name, kind, form = texts[:3]
                if name.startswith('/') and kind.count('/') == 2 and len(form) < 32:
                    self.channels[cell.row] = Channel(name, kind, form)

    def _find_rows(self) -> None:
        """Note the time, number and place of every row of the messages that is whole."""
        for page in range(self._pages):
            kind = self._data[page * self._size + (100 if page == 0 else 0)]
            if kind in (_INDEX_PAGE, _INDEX_LEAF):
                self._add_index(page, kind)
            if kind != _TABLE_LEAF:
                continue
            cells, is_tail_whole = self._list_cells(page)
            if cells and not is_tail_whole and page + 1 < self._pages:
                del cells[-1]
            for cell in cells:
                if self._is_message(cell):
                    self.counts[cell.values[1]] += 1
                    self._places.extend((cell.values[2], cell.row, cell.begin))

    def _is_message(self, cell: _Cell) -> bool:
        values = cell.values
        if len(values) != 4 or not isinstance(values[3], bytes):
            return False
        form = values[3][:4]
        is_cdr = form[:1] == b'\0' and form[2:3] == b'\0' and any(values[3])
        known = values[1] in self.channels and isinstance(values[2], int)
        return known and (is_cdr or form == _ZSTD_MAGIC)

    def _list_cells(self, page: int) -> tuple[list[_Cell], bool]:
        """
        Return the whole rows of a leaf page of a table, by their place.

        And whether the bytes after the page are sound, so that its last row is whole.
        """
        base = page * self._size
        head = base + (100 if page == 0 else 0)
        if base + self._size > len(self._data) or self._data[head] != _TABLE_LEAF:
            return [], True
        _, _, count, content, _ = _PAGE_HEADER.unpack_from(self._data, head)
        if head + 8 + 2 * count > base + self._size:
            return [], True
        pointers = struct.unpack_from(f'>{count}H', self._data, head + 8)
        found: list[_Cell] = []
        broken: list[int] = []
        for pointer in pointers:
            if not content <= pointer < self._used:
                broken.append(base + pointer)
                continue
            try:
                found.append(self._read_cell(page, base + pointer))
            except Exception:  # wrong bytes may lead to any
                broken.append(base + pointer)
        found.sort(key=lambda cell: cell.begin)
        kept = []
        for number, cell in enumerate(found):
            following = found[number + 1].begin if number + 1 < len(found) else base + self._used
            is_next_broken = any(cell.begin < at <= following for at in broken)
            if cell.end <= following and not is_next_broken:
                kept.append(cell)
        return kept, self._is_sound(page + 1)

    def _is_sound(self, page: int) -> bool:
        """Say whether a page is one of a B-tree, or looks like a page of an overflow chain."""
        at = page * self._size
        if at + self._size > len(self._data):
            return True
        if self._data[at] in (_INDEX_PAGE, _TABLE_PAGE, _INDEX_LEAF, _TABLE_LEAF):
            return True
        following = int.from_bytes(self._data[at : at + 4], 'big')
        return following <= self._pages

    def _read_cell(self, page: int, at: int) -> _Cell:
        """Return the row at a place of a leaf page of a table; raise Damaged if it is broken."""
        size, begin = self._read_varint(at)
        row, begin = self._read_varint(begin)
        end_of_page = page * self._size + self._used
        local = self._count_local(size, self._used - 35)
        if row <= 0 or begin + local + (0 if local == size else 4) > end_of_page:
            raise Damaged('row of a wrong length')
        record = self._data[begin : begin + local]
        end = begin + local
        if local < size:
            record += self._read_chain(end, size - local)
            end += 4
        return _Cell(at, end, row, _read_record(record))

    def _count_local(self, size: int, most: int) -> int:
        """Return how many bytes of a record of this size lie in its page."""
        if size <= most:
            return size
        least = (self._used - 12) * 32 // 255 - 23
        local = least + (size - least) % (self._used - 4)
        return local if local <= most else least

    def _read_chain(self, at: int, size: int) -> bytes:
        """Return the bytes in the overflow pages; raise Damaged where the chain is broken."""
        if size > len(self._data):
            raise Damaged('row of a wrong length')
        parts, missing = [], size
        page = int.from_bytes(self._data[at : at + 4], 'big')
        while missing > 0:
            begin = (page - 1) * self._size
            if not 0 < page <= self._pages:
                raise Damaged('broken chain')
            page = int.from_bytes(self._data[begin : begin + 4], 'big')
            parts.append(self._data[begin + 4 : begin + 4 + min(missing, self._used - 4)])
            missing -= self._used - 4
        if page:
            raise Damaged('broken chain')
        return b''.join(parts)

    def _read_varint(self, at: int) -> tuple[int, int]:
        return read_varint(self._data, at)

    def _add_index(self, page: int, kind: int) -> None:
        """Note time and number of the rows that a page of the index of times names."""
        base = page * self._size
        with suppress(Exception):  # of a broken page, what comes before the damage
            _, _, count, _, _ = _PAGE_HEADER.unpack_from(self._data, base)
            begin = base + (12 if kind == _INDEX_PAGE else 8)
            for pointer in struct.unpack_from(f'>{count}H', self._data, begin):
                at = base + pointer + (4 if kind == _INDEX_PAGE else 0)
                size, at = self._read_varint(at)
                if not 3 <= size <= 20 or pointer >= self._used:
                    continue
                values = _read_record(self._data[at : at + size])
                plausible = len(values) == 2 and all(isinstance(value, int) for value in values)
                if plausible and 0 < values[1] < len(self._data):
                    self._indexed.extend(values)

    def _report(self, lose: Callable[[Loss], None]) -> None:
        """Report the rows whose numbers are missing, by runs, and a missing end."""
        name, rows = self.path.name, self._rows
        order = rows[np.argsort(rows[:, 1])] if len(rows) else rows
        indexed = np.frombuffer(self._indexed, np.int64).reshape(-1, 2)
        known = order[:, 1]
        lost = indexed[~np.isin(indexed[:, 1], known)]
        last = max([0, *known[-1:].tolist(), *lost[:, 1].tolist()])
        both = [*known[:1].tolist(), *lost[:, 1].tolist()]
        before = min(both, default=1) - 1
        for place in range(len(order) + 1):
            number = int(known[place]) if place < len(order) else last + 1
            if number - before > 1:
                span = lost[(lost[:, 1] > before) & (lost[:, 1] < number), 0]
                begin = int(order[place - 1, 0]) if place else 0
                end = int(order[place, 0]) if place < len(order) else 0
                if len(span) == number - before - 1:
                    begin, end = int(span.min()), int(span.max())
                part = f'rows {before + 1:,} to {number - 1:,}'
                lose(Loss(name, part, 0, number - before - 1, begin, end))
            before = number
        missing = count_missing_bytes(self.path)
        if missing:
            end_ns = int(rows[-1, 0]) if len(rows) else 0
            lose(Loss(name, 'the missing end', missing, None, end_ns))


def count_missing_bytes(path: Path) -> int:
    """Return how many bytes a file in SQLite is shorter than its header says; 0 if unknown."""
    with path.open('rb') as file:
        header = file.read(HEADER_BYTES)
    if len(header) < HEADER_BYTES or header[:16] != MAGIC:
        return 0
    size, pages = read_size(header)
    return max(0, size * pages - path.stat().st_size)


def _read_record(record: bytes) -> tuple[Any, ...]:
    """Return the values of a record; raise Damaged where its length does not fit."""
    header, at = read_varint(record, 0)
    if not 0 < header <= len(record):
        raise Damaged('not a record')
    kinds = []
    while at < header:
        kind, at = read_varint(record, at)
        kinds.append(kind)
    values: list[Any] = []
    for kind in kinds:
        size = _INTEGERS.get(kind, 0) if kind < 12 else (kind - 12) // 2
        content = record[at : at + size]
        at += size
        if kind in _INTEGERS:
            values.append(int.from_bytes(content, 'big', signed=True))
        elif kind in (8, 9):
            values.append(kind - 8)
        elif kind >= 12:
            values.append(content if kind % 2 == 0 else content.decode())
        elif kind == 0:
            values.append(None)
        else:
            raise Damaged('not a value of a recording')
    if at != len(record):
        raise Damaged('record of a wrong length')
    return tuple(values)
