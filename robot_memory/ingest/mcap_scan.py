"""A scan of an MCAP file whose index is missing or damaged: what is good in it, what is not."""

from __future__ import annotations

import mmap
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from robot_memory.ingest import mcap_records as records
from robot_memory.ingest.losses import Loss
from robot_memory.ingest.mcap_records import MAGIC, ChunkIndex
from robot_memory.ingest.stored_messages import Buffer, Damaged, Piece, describe_part

_SEGMENT = 1 << 20
"""Bytes of messages outside of chunks that are read at once."""


class McapScan:
    """Hold the readable `pieces` of a file, and how many messages each channel has in them."""

    def __init__(self, data: mmap.mmap, channels: records.ChannelTable) -> None:
        """Go through the file from its begin to its end; add to `channels` what is found."""
        self._data = data
        self._channels = channels
        self.pieces: list[Piece] = []
        self.counts: Counter[int] = Counter()
        self._bad: list[Piece] = []
        self._is_after_bad = False
        self._index: dict[int, ChunkIndex] = {}
        self._chunks = self._last_message = 0
        self._has_end = self._is_cut = False
        self._total: int | None = None
        self._run()

    def _run(self) -> None:
        data = self._data
        end = len(data) - 8 if data[-8:] == MAGIC else len(data)
        self._has_end = end < len(data)
        at = 8 if data[:8] == MAGIC else 0
        while at < end:
            if records.is_record(data, at, end, self._channels):
                at = self._take(at, end)
                continue
            if data[at] == records.CHUNK and self._take_cut_chunk(at, end):
                return
            after = records.find_record(data, at + 1, end, self._channels)
            if after == end and self._take_cut_message(at, end):
                return
            at = self._drop_last_message(at)
            self._add_bad(Piece(0, at, after - at, 0, 0))
            at = after

    def _take(self, at: int, end: int) -> int:
        """Take a record; return where the next one begins."""
        data = self._data
        opcode, size = records.HEADER.unpack_from(data, at)
        begin, after = at + 9, at + 9 + size
        if opcode == records.MESSAGE_INDEX:
            if self._is_after_bad:
                self._count_lost((size - 6) // 16)
            return int(after)
        if opcode == records.CHUNK:
            return self._take_chunk(at, after, end)
        if opcode == records.MESSAGE:
            self._take_message(at, after)
        elif opcode == records.CHUNK_INDEX:
            index = records.read_chunk_index(data, begin, after)
            self._index[index.offset] = index
        elif opcode == records.STATISTICS:
            self._total = int.from_bytes(data[begin : begin + 8], 'little')
        elif opcode == records.DATA_END:
            self._has_end = True
        else:
            self._add_to_table(data, opcode, begin, after)
        self._is_after_bad = False
        return int(after)

    def _add_to_table(self, data: Buffer, opcode: int, begin: int, end: int) -> None:
        if opcode == records.SCHEMA:
            self._channels.add_schema(data, begin, end)
        elif opcode == records.CHANNEL:
            self._channels.add_channel(data, begin, end)

    def _take_message(self, at: int, after: int) -> None:
        """Put a message outside of a chunk into the piece before it, or begin one."""
        channel, time_ns = records.read_message_time(self._data, at)
        self.counts[channel] += 1
        self._last_message = at
        last = self.pieces[-1] if self.pieces else None
        if last and last.plain and last.offset + last.length == at and last.length < _SEGMENT:
            begin_ns, end_ns = min(last.begin_ns, time_ns), max(last.end_ns, time_ns)
            length = after - last.offset
            last = replace(last, length=length, begin_ns=begin_ns, end_ns=end_ns)
            self.pieces[-1] = last
        else:
            self.pieces.append(Piece(0, at, after - at, time_ns, time_ns, plain=True))

    def _take_chunk(self, at: int, after: int, end: int) -> int:
        """Take a chunk whose header is good; return where the next record begins."""
        self._chunks += 1
        header = records.read_chunk_header(self._data, at + 9, after)
        piece = Piece(self._chunks, at, after - at, header.begin_ns, header.end_ns)
        try:
            content = records.unpack_chunk(self._data, header)
        except Exception:  # what the decompressors raise has no common base
            if after < end and not records.is_record(self._data, after, end, self._channels):
                after = records.find_record(self._data, at + 9, end, self._channels)
            self._add_bad(replace(piece, length=after - at))
            return after
        self._count_content(content)
        self.pieces.append(piece)
        self._is_after_bad = False
        return after

    def _take_cut_message(self, at: int, end: int) -> bool:
        """Note a message, or less, that the end of the file cuts off; False: it is none."""
        if self._has_end or end - at < 31:
            return not self._has_end
        data = self._data[at : at + 31]  # not to the end: that may be all of a large file
        opcode, size = records.HEADER.unpack_from(data)
        channel, time_ns = records.read_message_time(data, 0)
        if opcode != records.MESSAGE or channel not in self._channels.channels or size >> 32:
            return False
        self._is_cut = True
        self._bad.append(Piece(0, at, end - at, time_ns, 0, cut=True))
        return True

    def _take_cut_chunk(self, at: int, end: int) -> bool:
        """Take what there is of a chunk that the end of the file cuts off; False: it is none."""
        data = self._data[at:end]
        try:
            begin_ns, end_ns, content = records.unpack_cut_chunk(data)
        except Exception:  # what the decompressors raise has no common base
            return False
        _, size = records.HEADER.unpack_from(data)
        self._chunks += 1
        self._is_cut = True
        piece = Piece(self._chunks, at, len(data), begin_ns, end_ns, cut=True)
        last_ns = self._count_content(content)
        if last_ns:
            self.pieces.append(piece)
        missing = 9 + size - len(data)
        lost = replace(piece, length=missing, begin_ns=last_ns or begin_ns, end_ns=0)
        self._bad.append(lost)
        return True

    def _count_content(self, content: bytes) -> int:
        """Note channels and counts of a chunk; return the time of its last message."""
        last_ns = 0
        with suppress(Damaged):
            for opcode, begin, end in records.list_records(content, 0, len(content)):
                self._add_to_table(content, opcode, begin, end)
                if opcode == records.MESSAGE:
                    channel, last_ns = records.read_message_time(content, begin - 9)
                    self.counts[channel] += 1
        return last_ns

    def _drop_last_message(self, at: int) -> int:
        """Drop the message before damage, whose own end may be damaged; return where it began."""
        last = self.pieces[-1] if self.pieces else None
        if last is None or not last.plain or last.offset + last.length != at:
            return at
        channel, _ = records.read_message_time(self._data, self._last_message)
        self.counts[channel] -= 1
        at = self._last_message
        if at == last.offset:
            self.pieces.pop()
        else:
            self.pieces[-1] = replace(last, length=at - last.offset)
        return at

    def _add_bad(self, piece: Piece) -> None:
        if not self._has_end or self._data[-8:] == MAGIC:
            self._bad.append(piece)
            self._is_after_bad = True

    def _count_lost(self, number: int) -> None:
        """Add what a message index says of the damaged chunk before it."""
        last = self._bad[-1]
        self._bad[-1] = replace(last, messages=(last.messages or 0) + number)

    def list_losses(self, file: str) -> Iterator[Loss]:
        """Yield what was lost; nothing where all messages of the statistics were found."""
        missing = None if self._total is None else self._total - self.counts.total()
        if missing == 0:
            return
        bad = [self._look_up(piece) for piece in self._bad]
        unknown = [piece for piece in bad if piece.messages is None]
        left = missing
        for piece in bad:
            if left is not None and piece.messages is not None:
                piece = replace(piece, messages=min(piece.messages, left))
                left -= piece.messages or 0
            elif left is not None and unknown == [piece] and piece is bad[-1]:
                piece = replace(piece, messages=left)
            yield self._describe(file, piece)
        is_end_bad = bool(bad) and bad[-1].offset + bad[-1].length == len(self._data)
        if not self._has_end and not self._is_cut and not is_end_bad:
            last_ns = max((piece.end_ns for piece in self.pieces), default=0)
            yield Loss(file, 'the missing end', 0, None, last_ns)

    def _look_up(self, piece: Piece) -> Piece:
        """Return a damaged piece with what the chunk index says of it."""
        good = {other.offset for other in self.pieces}
        found = [
            index
            for index in self._index.values()
            if piece.offset <= index.offset < piece.offset + piece.length
            and index.offset not in good
        ]
        if not found:
            return piece
        counts = [index.messages for index in found if index.messages is not None]
        return replace(
            piece,
            begin_ns=min(index.begin_ns for index in found),
            end_ns=max(index.end_ns for index in found),
            messages=sum(counts) if len(counts) == len(found) else None,
        )

    def _describe(self, file: str, piece: Piece) -> Loss:
        begin_ns, end_ns = piece.begin_ns, piece.end_ns
        if not begin_ns and not end_ns:
            before = [p.end_ns for p in self.pieces if p.offset < piece.offset]
            after = [p.begin_ns for p in self.pieces if p.offset > piece.offset]
            begin_ns, end_ns = max(before, default=0), min(after, default=0)
        part = describe_part(piece)
        return Loss(file, part, piece.length, piece.messages, begin_ns, end_ns)
