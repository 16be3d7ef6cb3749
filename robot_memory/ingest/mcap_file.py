"""MCAP files: read chunk by chunk, by their index or, where that is damaged, by a scan."""

from __future__ import annotations

import mmap
from bisect import bisect_left
from collections import Counter, deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from operator import itemgetter
from pathlib import Path
from typing import BinaryIO, TypeAlias
from zlib import crc32

from robot_memory.ingest import mcap_records as records
from robot_memory.ingest.losses import Loss
from robot_memory.ingest.mcap_records import MAGIC
from robot_memory.ingest.mcap_scan import McapScan
from robot_memory.ingest.stored_messages import (
    Channel,
    Damaged,
    Piece,
    RecordedMessage,
    describe_part,
)

_FOOTER_LENGTH = 37
_AHEAD_BYTES, _MOST_AHEAD = 10 << 20, 8
"""Pieces of about so many bytes, one at least, are unpacked while those before are looked at."""
_TIME = itemgetter(0)
_Listed: TypeAlias = 'tuple[list[RecordedMessage], bytes | None, int]'
"""The messages of a piece, its records where these are broken before its end, and its bytes."""


class McapFile:
    """
    Read an MCAP file; what cannot be read is reported through `lose`, as soon as it is known.

    `counts` says how many messages each channel has.
    """

    def __init__(self, path: Path, lose: Callable[[Loss], None]) -> None:
        """Read the index, or scan the file; raise Damaged where there is nothing to read."""
        self.path = path
        self._lose = lose
        self._table = records.ChannelTable()
        self._pieces: list[Piece] = []
        self.counts: Counter[int] = Counter()
        try:
            self._read_index()
        except Exception:  # wrong bytes may lead to any; the scan does without the index
            self._table, self._pieces = records.ChannelTable(), []
            self._scan()
        self._pieces.sort(key=lambda piece: piece.begin_ns)

    @property
    def channels(self) -> dict[int, Channel]:
        """Return the channels by their number."""
        return self._table.channels

    @property
    def start_ns(self) -> int:
        """Return the time of the first message; the latest possible where there is none."""
        return min((piece.begin_ns for piece in self._pieces), default=2**63 - 1)

    def _read_index(self) -> None:
        """Take channels, counts and chunks from the summary; raise Damaged if it is not whole."""
        summary, summary_at = self._read_summary()
        total = chunks = -1
        for opcode, at, end in records.list_records(summary, 0, len(summary)):
            if opcode == records.SCHEMA:
                self._table.add_schema(summary, at, end)
            elif opcode == records.CHANNEL:
                self._table.add_channel(summary, at, end)
            elif opcode == records.CHUNK_INDEX:
                self._add_chunk(records.read_chunk_index(summary, at, end))
            elif opcode == records.STATISTICS:
                total, chunks, self.counts = records.read_statistics(summary, at, end)
        within = all(piece.offset + piece.length <= summary_at for piece in self._pieces)
        known = self.counts.total() == total and self.counts.keys() <= self.channels.keys()
        if not within or not known or chunks != len(self._pieces) or (total and not chunks):
            raise Damaged('the summary is not complete')

    def _read_summary(self) -> tuple[bytes, int]:
        """Return the summary and where it begins; raise Damaged where it is missing or wrong."""
        with self.path.open('rb') as file:
            if file.read(8) != MAGIC:
                raise Damaged('no magic')
            footer_at = file.seek(-_FOOTER_LENGTH, 2)
            footer = file.read()
            if not footer.endswith(MAGIC) or records.HEADER.unpack_from(footer) != (2, 20):
                raise Damaged('no footer')
            begin = int.from_bytes(footer[9:17], 'little')
            if not 8 <= begin <= footer_at:
                raise Damaged('no summary')
            file.seek(begin)
            summary = file.read(footer_at - begin)
        crc = int.from_bytes(footer[25:29], 'little')
        if crc and crc32(footer[:25], crc32(summary)) != crc:
            raise Damaged('wrong checksum of the summary')
        return summary, begin

    def _add_chunk(self, index: records.ChunkIndex) -> None:
        times = (index.begin_ns, index.end_ns, index.messages)
        self._pieces.append(Piece(len(self._pieces) + 1, index.offset, index.length, *times))

    def _scan(self) -> None:
        """Go through the whole file and note what can be read of it."""
        if not self.path.stat().st_size:
            raise Damaged('file is empty')
        with (
            self.path.open('rb') as file,
            mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data,
        ):
            scan = McapScan(data, self._table)
            if not scan.pieces and not self.channels:
                raise Damaged('it has no record of MCAP that can be read')
            self._pieces, self.counts = scan.pieces, scan.counts
            for loss in scan.list_losses(self.path.name):
                self._lose(loss)

    def messages(self, is_wanted: Callable[[Channel], bool]) -> Iterator[list[RecordedMessage]]:
        """Yield the messages of the wanted channels in the order of their times, by chunks."""
        channels = {
            number: (channel.topic, channel.type)
            for number, channel in self.channels.items()
            if is_wanted(channel)
        }
        waiting: list[RecordedMessage] = []
        for piece, listed in self._list_ahead(channels):
            ready = bisect_left(waiting, piece.begin_ns, key=_TIME)
            yield waiting[:ready]
            waiting = waiting[ready:] + self._read_piece(piece, listed, channels)
            waiting.sort(key=_TIME)
        yield waiting

    def _list_ahead(
        self, channels: dict[int, tuple[str, str]]
    ) -> Iterator[tuple[Piece, Future[_Listed]]]:
        """Yield each piece, and its messages as soon as they are unpacked."""
        ahead: deque[tuple[Piece, Future[_Listed]]] = deque()
        with self.path.open('rb') as file, ThreadPoolExecutor(1, 'unpack') as pool:
            for piece in self._pieces:
                ahead.append((piece, pool.submit(_list, file, piece, channels)))
                if len(ahead) > self._choose_ahead(ahead[0][1]):
                    yield ahead.popleft()
            while ahead:
                yield ahead.popleft()

    @staticmethod
    def _choose_ahead(first: Future[_Listed]) -> int:
        """Return how many pieces may be ahead of one: as many as are about as large fit."""
        try:
            size = first.result()[2]
        except Exception:  # it is told where its messages are taken
            return 1
        return max(1, min(_MOST_AHEAD, _AHEAD_BYTES // max(1, size)))

    def _read_piece(
        self, piece: Piece, listed: Future[_Listed], channels: dict[int, tuple[str, str]]
    ) -> list[RecordedMessage]:
        """Return the messages of a piece, as far as they can be read."""
        try:
            found, content, _ = listed.result()
        except Exception:  # what the decompressors raise has no common base
            self._lose_piece(piece)
            return []
        if content is None or piece.cut:
            return found
        good, bad = records.find_messages(content, self._table)
        every = dict.fromkeys(range(1 << 16), ('', ''))
        parts = [content[begin:stop] for begin, stop in good]
        times = [[one[0] for one in records.list_messages(part, every)[0]] for part in parts]
        missing = piece.messages and piece.messages - sum(map(len, times))
        span = (max(times[0], default=0), min(times[-1] if len(times) > 1 else [], default=0))
        lost = replace(piece, messages=missing, begin_ns=span[0], end_ns=span[1])
        self._lose_piece(replace(lost, length=sum(stop - begin for begin, stop in bad)))
        return [one for part in parts for one in records.list_messages(part, channels)[0]]

    def _lose_piece(self, piece: Piece) -> None:
        part = describe_part(replace(piece, cut=False))
        name, span = self.path.name, (piece.begin_ns, piece.end_ns)
        self._lose(Loss(name, part, piece.length, piece.messages, *span))


def _list(file: BinaryIO, piece: Piece, channels: dict[int, tuple[str, str]]) -> _Listed:
    """Return the messages of a piece; raise whatever wrong bytes lead the decompressor to."""
    content = _unpack(file, piece)
    found, end = records.list_messages(content, channels)
    return found, None if end == len(content) else content, len(content)


def _unpack(file: BinaryIO, piece: Piece) -> bytes:
    """Return the records of a piece; raise whatever wrong bytes lead the decompressor to."""
    file.seek(piece.offset)
    data = file.read(piece.length)
    if piece.plain:
        return data
    if piece.cut:
        return records.unpack_cut_chunk(data)[2]
    opcode, size = records.HEADER.unpack_from(data)
    if opcode != records.CHUNK or size + 9 != piece.length:
        raise Damaged('not a chunk')
    return records.unpack_chunk(data, records.read_chunk_header(data, 9, len(data)))
