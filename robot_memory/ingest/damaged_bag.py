"""Damaged recordings of ROS 1 (bag format 2.0), read record by record without their index."""

from __future__ import annotations

import mmap
import re
import struct
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import TypeAlias

from rosbags.rosbag1.reader import decompressors

from robot_memory.core.fields import NANOSECONDS
from robot_memory.ingest.decompression import unpack
from robot_memory.ingest.losses import Loss
from robot_memory.ingest.stored_messages import (
    Buffer,
    Channel,
    Damaged,
    Piece,
    RecordedMessage,
    describe_part,
)

_MESSAGE, _BAG_HEADER, _INDEX, _CHUNK, _CHUNK_INFO, _CONNECTION = 2, 3, 4, 5, 6, 7
_NEEDED = {
    _MESSAGE: {'conn': 4, 'time': 8},
    _BAG_HEADER: {'index_pos': 8},
    _INDEX: {'conn': 4, 'count': 4},
    _CHUNK: {'size': 4},
    _CHUNK_INFO: {'chunk_pos': 8, 'start_time': 8, 'end_time': 8},
    _CONNECTION: {'conn': 4},
}
"""The fields that a record of each kind has, and their sizes."""
_MAGIC = b'#ROSBAG V2.0\n'
_CANDIDATE = re.compile(rb'\x04\0\0\0op=[\x02-\x07]')
_REACH = 400
"""Bytes of a header that may lie before its field `op`."""
_LENGTH, _TIME = struct.Struct('<I'), struct.Struct('<II')

_Message: TypeAlias = tuple[int, int, bytes]
"""A message: time (ns), connection, content as in ROS 1."""


@dataclass(frozen=True)
class _Record:
    """Hold the kind and fields of a record, and where its data and itself end."""

    kind: int
    fields: dict[str, bytes]
    begin: int
    end: int


class DamagedBag:
    """Hold what can be read of a .bag file; `channels` are its connections."""

    def __init__(self, path: Path, lose: Callable[[Loss], None]) -> None:
        """Go through the whole file; raise Damaged where there is nothing to read."""
        self.path = path
        self.channels: dict[int, Channel] = {}
        self.counts: Counter[int] = Counter()
        self._pieces: list[Piece] = []
        self._bad: list[Piece] = []
        self._infos: dict[int, tuple[int, int, int]] = {}
        self._is_after_bad = self._has_end = False
        self._chunks = self._expected = 0
        self._found: dict[int, int] = {}
        if not path.stat().st_size:
            raise Damaged('file is empty')
        with (
            path.open('rb') as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            self._scan(data)
        if not self.channels:
            raise Damaged('it has no connection that can be read')
        for loss in self._list_losses():
            lose(loss)
        self._pieces.sort(key=lambda piece: piece.begin_ns)

    @property
    def start_ns(self) -> int:
        """Return the time of the first message; the latest possible where there is none."""
        return min((piece.begin_ns for piece in self._pieces), default=2**63 - 1)

    def messages(self, is_wanted: Callable[[Channel], bool]) -> Iterator[RecordedMessage]:
        """Yield the messages of the wanted connections in the order of their times."""
        wanted = {number: one for number, one in self.channels.items() if is_wanted(one)}
        waiting: list[RecordedMessage] = []
        with self.path.open('rb') as file:
            for piece in self._pieces:
                ready = bisect_left(waiting, piece.begin_ns, key=itemgetter(0))
                yield from waiting[:ready]
                file.seek(piece.offset)
                content = _unpack(file.read(piece.length))
                found, _ = self._list_messages(content, piece.cut)
                waiting = waiting[ready:] + [
                    RecordedMessage(time_ns, wanted[number].topic, wanted[number].type, raw)
                    for time_ns, number, raw in found
                    if number in wanted
                ]
                waiting.sort(key=itemgetter(0))
        yield from waiting

    def _scan(self, data: mmap.mmap) -> None:
        at = len(_MAGIC) if data[: len(_MAGIC)] == _MAGIC else 0
        end = len(data)
        while at < end:
            record = _try_record(data, at, end)
            if record is not None:
                at = self._take(data, at, record)
                continue
            if self._take_cut_chunk(data[at:end], at):
                return
            after = _find_record(data, at + 1, end)
            self._bad.append(Piece(0, at, after - at, 0, 0))
            self._is_after_bad = True
            at = after

    def _take(self, data: mmap.mmap, at: int, record: _Record) -> int:
        """Take a record; return where the next one begins."""
        if record.kind == _CHUNK:
            return self._take_chunk(data, at, record)
        if record.kind == _INDEX and self._is_after_bad:
            last, count = self._bad[-1], _LENGTH.unpack(record.fields['count'])[0]
            self._bad[-1] = replace(last, messages=(last.messages or 0) + count)
            return record.end
        self._is_after_bad = False
        if record.kind == _BAG_HEADER:
            self._expected = int.from_bytes(record.fields.get('chunk_count', b''), 'little')
        elif record.kind == _CONNECTION:
            self._add_connection(data, record)
            self._has_end = True
        elif record.kind == _CHUNK_INFO:
            self._has_end = True
            fields = record.fields
            begin_ns, end_ns = _to_ns(fields['start_time']), _to_ns(fields['end_time'])
            counts = struct.iter_unpack('<II', data[record.begin : record.end])
            total = sum(count for _, count in counts)
            self._infos[int.from_bytes(fields['chunk_pos'], 'little')] = (begin_ns, end_ns, total)
        return record.end

    def _take_chunk(self, data: mmap.mmap, at: int, record: _Record) -> int:
        """Take a chunk; return where the next record begins."""
        self._chunks += 1
        piece = Piece(self._chunks, at, record.end - at, 0, 0)
        try:
            content = _unpack(data[at : record.end])
        except Exception:  # what the decompressors raise has no common base
            after = record.end
            if after < len(data) and _try_record(data, after, len(data)) is None:
                after = _find_record(data, record.begin, len(data))
            self._bad.append(replace(piece, length=after - at))
            self._is_after_bad = True
            return after
        self._add_content(piece, content)
        self._is_after_bad = False
        return record.end

    def _add_content(self, piece: Piece, content: bytes) -> None:
        """Note what a chunk holds, and what of it is damaged."""
        found, bad = self._list_messages(content)
        self.counts.update(one[1] for one in found)
        self._found[piece.offset] = len(found)
        times = [one[0] for one in found]
        if found:
            self._pieces.append(replace(piece, begin_ns=min(times), end_ns=max(times)))
        for begin, end, number in bad:
            before, after = found[:number][-1:], found[number:][:1]
            span = (before[0][0] if before else 0, after[0][0] if after else 0)
            self._bad.append(Piece(piece.number, piece.offset, end - begin, *span))

    def _take_cut_chunk(self, data: bytes, at: int) -> bool:
        """Take what there is of a chunk that the end of the file cuts off; False: it is none."""
        with suppress(Exception):
            record = _read_record(data, 0, None)
            if record.kind != _CHUNK:
                return False
            content = _unpack(data)
            self._chunks += 1
            found, _ = self._list_messages(content, True)
            self.counts.update(one[1] for one in found)
            times = [one[0] for one in found] or [0]
            piece = Piece(self._chunks, at, len(data), min(times), max(times), cut=True)
            if found:
                self._pieces.append(piece)
            missing = record.end - len(data)
            self._bad.append(replace(piece, length=missing, begin_ns=max(times), end_ns=0))
            return True
        return False

    def _list_messages(
        self, content: bytes, is_cut: bool = False
    ) -> tuple[list[_Message], list[tuple[int, int, int]]]:
        """
        Return the messages of a chunk, and its damaged parts.

        Of these: begin, end, and how many messages lie before.
        """
        found: list[_Message] = []
        bad: list[tuple[int, int, int]] = []
        at, end, last = 0, len(content), -1
        while at < end:
            record = _try_record(content, at, end)
            if record is None:
                after = _find_record(content, at + 1, end)
                if is_cut and after == end:
                    break
                if last >= 0:  # what lies before broken bytes may be broken itself
                    found.pop()
                    at, last = last, -1
                bad.append((at, after, len(found)))
                at = after
                continue
            last = -1
            if record.kind == _CONNECTION:
                self._add_connection(content, record)
            elif record.kind == _MESSAGE:
                number = int.from_bytes(record.fields['conn'], 'little')
                raw = content[record.begin : record.end]
                found.append((_to_ns(record.fields['time']), number, raw))
                last = at
            at = record.end
        return found, bad

    def _add_connection(self, data: Buffer, record: _Record) -> None:
        fields = _read_fields(data, record.begin, record.end)
        number = int.from_bytes(record.fields['conn'], 'little')
        topic, kind = record.fields.get('topic', b''), fields.get('type', b'')
        with suppress(UnicodeDecodeError):
            self.channels[number] = Channel(
                topic.decode(), kind.decode().replace('/', '/msg/'), 'ros1'
            )

    def _list_losses(self) -> Iterator[Loss]:
        name, good = self.path.name, {piece.offset for piece in self._pieces}
        whole = len(good) == (self._expected or len(self._infos)) > 0
        for piece in self._bad:
            if whole and not piece.number:
                continue  # nothing but the index is damaged
            infos = [
                info
                for offset, info in self._infos.items()
                if piece.offset <= offset < piece.offset + piece.length and offset not in good
            ]
            span, count = (piece.begin_ns, piece.end_ns), piece.messages
            if infos:
                span = (min(info[0] for info in infos), max(info[1] for info in infos))
                count = sum(info[2] for info in infos)
            elif span == (0, 0):
                before = [one.end_ns for one in self._pieces if one.offset < piece.offset]
                after = [one.begin_ns for one in self._pieces if one.offset > piece.offset]
                span = (max(before, default=0), min(after, default=0))
            of_same = [other for other in self._bad if other.offset == piece.offset]
            if piece.offset in good and piece.offset in self._infos and of_same == [piece]:
                count = self._infos[piece.offset][2] - self._found[piece.offset]
            yield Loss(name, describe_part(piece), piece.length, count, *span)
        if not self._has_end and not whole and not any(piece.cut for piece in self._bad):
            last_ns = max((piece.end_ns for piece in self._pieces), default=0)
            yield Loss(name, 'the missing end', 0, None, last_ns)


def _to_ns(value: bytes) -> int:
    seconds, nanoseconds = _TIME.unpack(value)
    return int(seconds * NANOSECONDS + nanoseconds)


def _read_fields(data: Buffer, at: int, end: int) -> dict[str, bytes]:
    """Return the fields of a header; raise Damaged where it is none."""
    fields = {}
    while at < end:
        if at + 4 > end:
            raise Damaged('header ends early')
        (size,) = _LENGTH.unpack_from(data, at)
        at += 4
        name, equals, value = data[at : at + min(size, end - at)].partition(b'=')
        if size > end - at or not equals:
            raise Damaged('not a field')
        fields[name.decode('latin-1')] = value
        at += size
    return fields


def _read_record(data: Buffer, at: int, end: int | None) -> _Record:
    """Return the record that begins there; without an `end` its data may go on beyond it."""
    there = len(data) if end is None else end
    if at + 8 > there:
        raise Damaged('record ends early')
    (size,) = _LENGTH.unpack_from(data, at)
    begin = at + 4 + size
    if begin + 4 > there:
        raise Damaged('record ends early')
    fields = _read_fields(data, at + 4, begin)
    kind = int.from_bytes(fields.get('op', b''), 'little')
    needed = _NEEDED.get(kind)
    if needed is None or any(len(fields.get(name, b'')) != n for name, n in needed.items()):
        raise Damaged('not a record')
    (length,) = _LENGTH.unpack_from(data, begin)
    begin += 4
    if end is not None and begin + length > end:
        raise Damaged('record ends early')
    if kind == _CHUNK and fields.get('compression', b'').decode('latin-1') not in decompressors:
        raise Damaged('not a chunk')
    return _Record(kind, fields, begin, begin + length)


def _try_record(data: Buffer, at: int, end: int) -> _Record | None:
    try:
        return _read_record(data, at, end)
    except Damaged:
        return None


def _find_record(data: Buffer, at: int, end: int) -> int:
    """Return where the next whole record begins, from `at` on; `end` where there is none."""
    for match in _CANDIDATE.finditer(data, at, end):
        for begin in range(match.start() - 4, max(at, match.start() - _REACH) - 1, -1):
            if _try_record(data, begin, end) is not None:
                return begin
    return end


def _unpack(data: bytes) -> bytes:
    """Return what a chunk record holds, of one that is cut off as far as it goes."""
    record = _read_record(data, 0, None)
    compression = record.fields['compression'].decode('latin-1')
    content = data[record.begin : record.end]
    if record.end <= len(data):
        (size,) = _LENGTH.unpack(record.fields['size'])
        if compression != 'none':
            return unpack(content, compression, size)
        if len(content) != size:
            raise Damaged('chunk of a wrong size')
        return content
    if compression == 'bz2':
        return unpack(content, compression, cut=True)
    return content if compression == 'none' else b''
