"""Writing an archive: JSON Lines, one for the store, for each session and for each memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from robot_memory.archive.lines import FORMAT, MANY, VERSION
from robot_memory.core.errors import Unavailable
from robot_memory.core.records import Session
from robot_memory.memory import Memory
from robot_memory.storage import Connection
from robot_memory.storage.indexes.filters import Where, equal
from robot_memory.storage.tables import (
    archive_rows,
    archived_places,
    folded_rows,
    memories,
    provenance,
    sessions,
)
from robot_memory.text.controls import escape_controls

_LONG = 16_000_000
"""Characters of a line that holds all of a memory."""


@dataclass(frozen=True)
class ExportScope:
    """Say what of a store is meant: one session, or all; of one collection, or of all."""

    session: Session | None = None
    collection: str | None = None

    @property
    def where(self) -> Where:
        """Return the condition of its memories, whatever their status."""
        where = Where()
        if self.session is not None:
            where &= equal('session_id', self.session.id)
        if self.collection is not None:
            where &= equal('collection', self.collection)
        return where

    def read_sessions(self, connection: Connection) -> Iterator[Session]:
        """Give its sessions: of a collection, those that any of its memories is of, too."""
        if self.session is not None:
            return iter([self.session])
        return sessions.read_all(connection, self.collection)

    def count_sessions(self, connection: Connection) -> int:
        """Return how many sessions it has."""
        return 1 if self.session is not None else sessions.count(connection, self.collection)

    def count(self, connection: Connection) -> int:
        """Return how many memories it has."""
        return memories.count(connection, self.where)


def prepare_seals(memory: Memory) -> None:
    """Give the store a key of seals, where it has none and can be written."""
    with memory.db.read() as connection:
        known = provenance.get_key(connection)
    if known is None:
        with suppress(Unavailable), memory.db.write() as connection:
            provenance.make_key(connection)


def generate_lines(connection: Connection, extent: ExportScope) -> Iterator[str]:
    """
    Give the lines of an archive, without their ends.

    Nothing in them depends on when or where they are written: an archive that was imported into
    an empty store is exported as the same text, but for the provenance: only the store that sealed
    it gives one.
    """
    named = None if extent.session is None else extent.session.id, extent.collection
    folded = folded_rows.count(connection, *named)
    # They are of the whole store, and of no session or collection.
    places = [] if any(named) else list(archived_places.rows(connection))
    yield _format_line(
        'store',
        format=FORMAT,
        version=VERSION if places else 2 if folded else 1,
        sessions=extent.count_sessions(connection),
        memories=extent.count(connection),
        **({'events': folded} if folded else {}),
        **({'places': len(places)} if places else {}),
    )
    for kind, row in places:
        yield _format_line(kind, **row)
    for session in extent.read_sessions(connection):
        yield _format_line('session', **asdict(session))
    for row in archive_rows.rows(connection, extent.where):
        yield from _format_memory(row)
    for row in folded_rows.rows(connection, *named):
        yield _format_line('event', **row)


def _format_memory(row: archive_rows.Row) -> Iterator[str]:
    """Give a memory as one line, or as several where one would be too long to be read."""
    text = _format_line('memory', **row)
    if len(text) <= _LONG:
        yield text
        return
    rest = {name: row.pop(name, ()) for name in MANY}
    yield _format_line('memory', **row)
    for name, given in rest.items():
        for one in given:
            yield _format_line('more', memory=row['id'], **{name: [one]})


def _format_line(kind: str, **values: Any) -> str:
    # Not dump_json: its limits are those of a memory's own JSON, and parts are longer.
    return escape_controls(
        json.dumps(
            {'kind': kind, **values}, ensure_ascii=False, allow_nan=False, separators=(',', ':')
        )
    )
