"""Writing memories into an MCAP file, which Foxglove opens."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import IO, TYPE_CHECKING

from robot_memory.archive.foxglove import SCHEMAS, Message, make_messages
from robot_memory.archive.writer import ExportScope
from robot_memory.core.dependencies import describe_missing
from robot_memory.core.errors import Unavailable
from robot_memory.core.version import get_version
from robot_memory.memory import progress
from robot_memory.storage import Connection
from robot_memory.storage.events.pages import find_newest_each
from robot_memory.storage.indexes.filters import equal
from robot_memory.storage.tables import event_keys, memories, parts

if TYPE_CHECKING:
    from mcap.writer import Writer

_BATCH = 100


def write_mcap(connection: Connection, extent: ExportScope, file: IO[bytes]) -> int:
    """
    Write the active memories of a scope into a file, and return how many there are.

    Raise Unavailable, with the command that installs it, where the package mcap is missing.
    """
    try:
        from mcap.writer import Writer
    except ModuleNotFoundError as error:
        raise Unavailable(
            f'format mcap requires a package of its own: {describe_missing(error)}'
        ) from None
    where = extent.where & equal('status', 'active')
    ids = memories.find_ids(connection, where)
    writer = Writer(file)
    writer.start(library=f'robot_memory {get_version()}')
    channels = _Channels(writer)
    tell = progress.get()
    for start in range(0, len(ids), _BATCH):
        tell(start, len(ids), 'memories')
        batch = ids[start : start + _BATCH]
        records = memories.get(connection, batch)
        events = find_newest_each(connection, batch)
        for memory_id in batch:
            record = records[memory_id]
            key = event_keys.get(connection, memory_id)
            # Parts have the stamps as they were told, before the clock was known to be wrong.
            shift = record.stamp - key.onset if key and record.stamp is not None else 0
            kept = parts.of(connection, [memory_id], with_content=True).get(memory_id, [])
            channels.write(make_messages(record, events.get(memory_id), kept, shift))
    writer.finish()  # type: ignore[no-untyped-call]
    tell(len(ids), len(ids), 'memories')
    return len(ids)


class _Channels:
    """Write messages, each into the channel of its topic and schema."""

    def __init__(self, writer: Writer) -> None:
        self._writer = writer
        self._schemas: dict[str, int] = {}
        self._channels: dict[tuple[str, str], int] = {}

    def write(self, messages: Iterable[Message]) -> None:
        for one in messages:
            data = json.dumps(one.value, separators=(',', ':'), allow_nan=False).encode()
            self._writer.add_message(self._find(one), one.at_ns, data, one.at_ns)

    def _find(self, message: Message) -> int:
        named = message.topic, message.schema
        if named not in self._channels:
            if message.schema not in self._schemas:
                text = json.dumps(SCHEMAS[message.schema]).encode()
                self._schemas[message.schema] = self._writer.register_schema(
                    message.schema, 'jsonschema', text
                )
            self._channels[named] = self._writer.register_channel(
                message.topic, 'json', self._schemas[message.schema]
            )
        return self._channels[named]
