"""Records of MCAP (https://mcap.dev/spec): parsed, checked, and found again after damage."""

from __future__ import annotations

import re
import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from zlib import crc32

from robot_memory.ingest.decompression import unpack
from robot_memory.ingest.stored_messages import Buffer, Channel, Damaged, RecordedMessage

_LARGE = 1 << 14

MAGIC = b'\x89MCAP0\r\n'
FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, MESSAGE_INDEX, CHUNK_INDEX = 2, 3, 4, 5, 6, 7, 8
STATISTICS, DATA_END = 0x0B, 0x0F
HEADER = struct.Struct('<BQ')
_MESSAGE = struct.Struct('<BQHIQQ')
_CHUNK = struct.Struct('<QQQI')
_CHUNK_INDEX = struct.Struct('<QQQQ')
_LENGTH, _LENGTH64 = struct.Struct('<I'), struct.Struct('<Q')
_CANDIDATE = re.compile(rb'[\x03-\x08\x0b\x0f].{4}\0{4}', re.DOTALL)
_COMPRESSIONS = ('', 'lz4', 'zstd')
_MAX_NS = 2**63


@dataclass(frozen=True)
class ChunkHeader:
    """Hold the header of a chunk; its content lies from `begin` to `end` in the buffer."""

    begin_ns: int
    end_ns: int
    size: int
    crc: int
    compression: str
    begin: int
    end: int


@dataclass(frozen=True)
class ChunkIndex:
    """Say where a chunk lies in the file, of which time it is and how many messages it has."""

    offset: int
    length: int
    begin_ns: int
    end_ns: int
    messages: int | None


class ChannelTable:
    """Collect schemas and channels, which are repeated in several places of a file."""

    def __init__(self) -> None:
        """Begin with none."""
        self.channels: dict[int, Channel] = {}
        self._schemas: dict[int, str] = {}
        self._waiting: dict[int, tuple[int, str, str]] = {}

    def add_schema(self, data: Buffer, at: int, end: int) -> None:
        """Take a schema record's content; raise Damaged where it is none."""
        if end - at < 2:
            raise Damaged('short schema')
        (number,) = struct.unpack_from('<H', data, at)
        name, at = _read_text(data, at + 2, end)
        _, at = _read_text(data, at, end)
        if at + 4 + _LENGTH.unpack(_slice(data, at, 4, end))[0] != end:
            raise Damaged('schema of a wrong length')
        self._schemas[number] = name
        for channel, (schema, topic, form) in list(self._waiting.items()):
            if schema == number:
                self.channels[channel] = Channel(topic, name, form)
                del self._waiting[channel]

    def add_channel(self, data: Buffer, at: int, end: int) -> None:
        """Take a channel record's content; raise Damaged where it is none."""
        if end - at < 4:
            raise Damaged('short channel')
        number, schema = struct.unpack_from('<HH', data, at)
        topic, at = _read_text(data, at + 4, end)
        form, at = _read_text(data, at, end)
        if at + 4 + _LENGTH.unpack(_slice(data, at, 4, end))[0] != end:
            raise Damaged('channel of a wrong length')
        if schema in self._schemas:
            self.channels[number] = Channel(topic, self._schemas[schema], form)
        else:
            self._waiting[number] = (schema, topic, form)


def _slice(data: Buffer, at: int, size: int, end: int) -> bytes:
    if at + size > end:
        raise Damaged('record ends early')
    return data[at : at + size]


def _read_text(data: Buffer, at: int, end: int) -> tuple[str, int]:
    (size,) = _LENGTH.unpack(_slice(data, at, 4, end))
    try:
        return _slice(data, at + 4, size, end).decode(), at + 4 + size
    except UnicodeDecodeError:
        raise Damaged('text is not UTF-8') from None


def read_chunk_header(data: Buffer, at: int, end: int) -> ChunkHeader:
    """Return the header of the chunk record with this content; raise Damaged if it is none."""
    begin_ns, end_ns, size, crc = _CHUNK.unpack(_slice(data, at, _CHUNK.size, end))
    compression, at = _read_text(data, at + _CHUNK.size, min(end, at + 64))
    (packed,) = _LENGTH64.unpack(_slice(data, at, 8, end))
    if compression not in _COMPRESSIONS or at + 8 + packed != end or end_ns >= _MAX_NS:
        raise Damaged('not a chunk')
    if begin_ns > end_ns or (not compression and size != packed):
        raise Damaged('not a chunk')
    return ChunkHeader(begin_ns, end_ns, size, crc, compression, at + 8, end)


def unpack_chunk(data: Buffer, header: ChunkHeader) -> bytes:
    """Return the records of a chunk; raise whatever wrong bytes lead the decompressor to."""
    # A file in memory cannot be closed while there are views of it.
    buffer: Any = memoryview(data) if isinstance(data, bytes) else data
    content = buffer[header.begin : header.end]
    if header.compression:
        found = unpack(content, header.compression, header.size)
    else:
        found = bytes(content)
    if header.crc and header.crc != crc32(found):
        raise Damaged('chunk of a wrong checksum')
    return found


def unpack_cut_chunk(data: bytes) -> tuple[int, int, bytes]:
    """
    Return the time of a chunk record that is cut off, and its records as far as they go.

    Raise Damaged where it is none, or whatever else wrong bytes lead to.
    """
    _, size = HEADER.unpack_from(data)
    begin_ns, end_ns, unpacked, _ = _CHUNK.unpack(_slice(data, 9, _CHUNK.size, len(data)))
    compression, at = _read_text(data, 9 + _CHUNK.size, len(data))
    (packed,) = _LENGTH64.unpack(_slice(data, at, 8, len(data)))
    if begin_ns > end_ns or end_ns >= _MAX_NS or at + 8 + packed != size + 9:
        raise Damaged('not a chunk')
    content = data[at + 8 :]
    if compression == 'zstd':
        return begin_ns, end_ns, unpack(content, 'zstd', cut=True)
    if compression == 'lz4':
        return begin_ns, end_ns, b''  # its blocks cannot be taken alone
    if compression or unpacked != packed:
        raise Damaged('not a chunk')
    return begin_ns, end_ns, content


def read_message_time(data: Buffer, at: int) -> tuple[int, int]:
    """Return channel and time (ns) of the message record that begins there."""
    _, _, channel, _, time_ns, _ = _MESSAGE.unpack_from(data, at)
    return channel, time_ns


def read_chunk_index(data: Buffer, at: int, end: int) -> ChunkIndex:
    """Return the chunk index record with this content; raise Damaged if it is none."""
    begin_ns, end_ns, offset, length = _CHUNK_INDEX.unpack(_slice(data, at, 32, end))
    (size,) = _LENGTH.unpack(_slice(data, at + 32, 4, end))
    (indexed,) = _LENGTH64.unpack(_slice(data, at + 36 + size, 8, end))
    channels = size // 10
    messages = (indexed - 15 * channels) // 16 if channels else None
    return ChunkIndex(offset, length, begin_ns, end_ns, messages)


def read_statistics(data: bytes, at: int, end: int) -> tuple[int, int, Counter[int]]:
    """Return the number of messages, of chunks, and of messages by channel."""
    messages, chunks = struct.unpack_from('<Q14xI', data, at)
    entries = struct.iter_unpack('<HQ', data[at + 46 : end])
    return messages, chunks, Counter(dict(entries))


def list_records(data: Buffer, at: int, end: int) -> Iterator[tuple[int, int, int]]:
    """Yield opcode, begin and end of each record's content; raise Damaged at a broken one."""
    while at < end:
        if at + 9 > end:
            raise Damaged('record ends early')
        opcode, size = HEADER.unpack_from(data, at)
        at += 9
        if not opcode or size > end - at:
            raise Damaged('record ends early')
        yield opcode, at, at + size
        at += size


def list_messages(
    data: bytes, channels: dict[int, tuple[str, str]]
) -> tuple[list[RecordedMessage], int]:
    """
    Return time (ns), topic, type and content of the messages of some channels, in a chunk.

    And where the records end: before the end of the data where they are broken.
    """
    found: list[RecordedMessage] = []
    at, end, unpack = 0, len(data) - 9, HEADER.unpack_from
    unpack_message, get = _MESSAGE.unpack_from, channels.get
    size_of_data, view = len(data), memoryview(data)
    last_message, make, append = size_of_data - _MESSAGE.size, tuple.__new__, found.append
    number = time_ns = 0
    while at <= end:
        if at <= last_message:
            opcode, size, number, _, time_ns, _ = unpack_message(data, at)
        else:
            opcode, size = unpack(data, at)
        after = at + 9 + size
        if after > size_of_data or not opcode:
            break
        if opcode == MESSAGE:
            if size < 22:
                break
            channel = get(number)
            if channel is not None:
                content = view[at + 31 : after] if size > _LARGE else data[at + 31 : after]
                append(make(RecordedMessage, (time_ns, *channel, content)))  # half its own time
        at = after
    return found, at


def find_messages(
    data: bytes, known: ChannelTable
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """
    Return from where to where the messages of a damaged chunk reach, and its damaged parts.

    What lies before broken bytes may be broken itself and is left out.
    """
    good: list[tuple[int, int]] = []
    bad: list[tuple[int, int]] = []
    begin, end = 0, len(data)
    while begin < end:
        at = last = begin
        while at + 9 <= end:
            opcode, size = HEADER.unpack_from(data, at)
            if not 1 <= opcode <= DATA_END or at + 9 + size > end:
                break
            at, last = at + 9 + size, at
        if at == end:
            good.append((begin, end))
            break
        good.append((begin, last))
        begin = find_record(data, at + 1, end, known)
        bad.append((last, begin))
    return good, bad


def find_record(data: Buffer, at: int, end: int, known: ChannelTable) -> int:
    """Return where the next whole record begins, from `at` on; `end` where there is none."""
    for match in _CANDIDATE.finditer(data, at, end):
        if is_record(data, match.start(), end, known):
            return match.start()
    return end


def is_record(data: Buffer, at: int, end: int, known: ChannelTable) -> bool:
    """Say whether a whole record with a content that fits its kind begins there."""
    if at + 9 > end:
        return False
    opcode, size = HEADER.unpack_from(data, at)
    begin, after = at + 9, at + 9 + size
    if after > end or not 1 <= opcode <= DATA_END:
        return False
    try:
        if opcode == SCHEMA:
            ChannelTable().add_schema(data, begin, after)
        elif opcode == CHANNEL:
            ChannelTable().add_channel(data, begin, after)
        elif opcode == CHUNK:
            read_chunk_header(data, begin, after)
        elif opcode == MESSAGE_INDEX:
            return bool(size >= 6 and _LENGTH.unpack_from(data, begin + 2)[0] == size - 6)
        elif opcode == CHUNK_INDEX:
            return read_chunk_index(data, begin, after).offset < end
        elif opcode == DATA_END:
            return bool(size == 4)
        elif opcode == MESSAGE:
            return size >= 22 and _is_message(data, at, end, known)
    except (Damaged, struct.error):
        return False
    return True


def _is_message(data: Buffer, at: int, end: int, known: ChannelTable) -> bool:
    """Say whether a message of a known channel begins there, and a record after it."""
    _, size, channel, _, time_ns, _ = _MESSAGE.unpack_from(data, at)
    after = at + 9 + size
    if channel not in known.channels or time_ns >= _MAX_NS:
        return False
    if after + 9 > end:
        return bool(after == end)
    opcode, following = HEADER.unpack_from(data, after)
    return bool(1 <= opcode <= DATA_END and after + 9 + following <= end)
