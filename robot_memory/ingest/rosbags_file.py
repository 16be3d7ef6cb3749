"""Files in SQLite and of ROS 1: read by rosbags, or page by page where they are damaged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from rosbags.rosbag1 import Reader as Reader1
from rosbags.rosbag2 import Reader as Reader2

from robot_memory.ingest.damaged_bag import DamagedBag
from robot_memory.ingest.damaged_db3 import DamagedDb3, count_missing_bytes
from robot_memory.ingest.decompression import bound_reader
from robot_memory.ingest.losses import Loss
from robot_memory.ingest.stored_messages import Channel, Damaged, RecordedMessage

_BATCH_BYTES = 1 << 20
_OVERHEAD = 256
"""Bytes that a message is counted with beside its content."""


class RosbagsFile:
    """
    Read a .bag or .db3 file; what cannot be read is reported through `lose`.

    `counts` says how many messages each channel has. Damage may be noticed as late as when it is
    read: then the file goes on to be read by its pages, after the last whole message.
    """

    def __init__(self, path: Path, lose: Callable[[Loss], None]) -> None:
        """Read the index, or scan the file; raise Damaged where there is nothing to read."""
        self.path = path
        self._lose = lose
        self._damaged: DamagedBag | DamagedDb3 | None = None
        self.channels: dict[int, Channel] = {}
        self.counts: Counter[int] = Counter()
        try:
            if path.suffix == '.db3' and count_missing_bytes(path):
                raise Damaged('the end of the file is missing')
            with self._open() as reader:
                self.start_ns = reader.start_time
                for number, connection in enumerate(reader.connections):
                    self.channels[number] = _make_channel(connection)
                    self.counts[number] = connection.msgcount
                if reader.message_count != self.counts.total():
                    raise Damaged('messages without a topic')
        except Exception:  # wrong bytes may lead to any
            damaged = self._scan()
            self.channels, self.counts = damaged.channels, damaged.counts
            self.start_ns = damaged.start_ns

    def _open(self) -> Any:
        return Reader1(self.path) if self.path.suffix == '.bag' else Reader2(self.path)

    def _scan(self) -> DamagedBag | DamagedDb3:
        kind = DamagedBag if self.path.suffix == '.bag' else DamagedDb3
        self._damaged = kind(self.path, self._lose)
        return self._damaged

    def messages(self, is_wanted: Callable[[Channel], bool]) -> Iterator[list[RecordedMessage]]:
        """Yield the messages of the wanted channels in the order of their times, some at once."""
        batch: list[RecordedMessage] = []
        size = 0
        try:
            for message in self._list_messages(is_wanted):
                batch.append(message)
                size += len(message[3]) + _OVERHEAD
                if size >= _BATCH_BYTES:
                    yield batch
                    batch, size = [], 0
        except Exception:  # what was read before the damage counts
            yield batch
            raise
        yield batch

    def _list_messages(self, is_wanted: Callable[[Channel], bool]) -> Iterator[RecordedMessage]:
        at_ns, at_once = -1, list[RecordedMessage]()
        held: RecordedMessage | None = None
        if self._damaged is None:
            try:
                for message in self._read(is_wanted):
                    if held is not None:  # what lies before broken bytes may be broken itself
                        if held[0] != at_ns:
                            at_ns, at_once = held[0], []
                        at_once.append(held)
                        yield held
                    held = message
                if held is not None:
                    yield held
                return
            except Exception:  # wrong bytes may lead to any
                self._scan()
        assert self._damaged is not None
        for message in self._damaged.messages(is_wanted):
            if message[0] >= at_ns and message not in at_once:
                yield message

    def _read(self, is_wanted: Callable[[Channel], bool]) -> Iterator[RecordedMessage]:
        with self._open() as reader:
            if isinstance(reader, Reader1):
                bound_reader(reader)
            wanted = [one for one in reader.connections if is_wanted(_make_channel(one))]
            if not wanted:
                return
            for connection, time_ns, raw in reader.messages(wanted):
                yield RecordedMessage(time_ns, connection.topic, connection.msgtype, raw)


def _make_channel(connection: Any) -> Channel:
    form = getattr(connection.ext, 'serialization_format', 'ros1')
    return Channel(connection.topic, connection.msgtype, form)
