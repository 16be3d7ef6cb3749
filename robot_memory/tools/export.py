"""Export a session, or the whole store."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass

from robot_memory.archive.documents import export_values, render_markdown, render_text
from robot_memory.archive.writer import ExportScope, generate_lines, prepare_seals
from robot_memory.core.call_order import CallOrder
from robot_memory.core.errors import InvalidArgument, NotFound
from robot_memory.core.fields import arg, collection_arg
from robot_memory.memory import Memory, progress
from robot_memory.storage import Connection
from robot_memory.storage.tables import archive_rows, sessions
from robot_memory.text.controls import escape_controls
from robot_memory.tool import tool

ALL = 'all'
FORMATS = ('json', 'markdown', 'text', 'jsonl')
_MOST = 16_000_000
"""Bytes of an answer; a whole store is for the command line, which streams it."""
_EVERY = 100
"""Lines after which progress is told."""


@dataclass(frozen=True)
class ExportRequest:
    """Request of export."""

    session_id: str | None = arg(
        'Session id; empty: the newest open session; "all": the whole store.', default=None
    )
    format: str = arg(
        'json: session with messages and memories; markdown, text: for reading; jsonl: lossless, '
        'can be imported.',
        default='json',
        choices=FORMATS,
    )
    collection: str | None = collection_arg('Restrict to this collection.', default=None)


@dataclass(frozen=True)
class ExportResponse:
    """Response of export."""

    session_id: str = arg('Session id, or all.')
    format: str = arg('Format of the content.')
    content: str = arg('Exported text.')
    count: int = arg('Number of exported memories; jsonl includes soft-deleted ones.')


@tool(read_only=True, idempotent=True, long=True)
def export(memory: Memory, request: ExportRequest) -> ExportResponse:
    """
    Export a session or the whole store as json, markdown, text or lossless JSON Lines.

    `robot-memory export all --output store.jsonl.gz` streams a store of any size to a file;
    `robot-memory import store.jsonl.gz` imports it.
    """
    memory.accesses.flush()
    if request.format == 'jsonl':
        prepare_seals(memory)
    with memory.db.read() as connection:
        extent = extent_of(connection, request.session_id, request.collection)
        _refuse_large(archive_rows.size(connection, extent.where))
        content, count = text_of(connection, extent, request.format, memory.call_order)
    _refuse_large(len(content))  # sessions have no size before they are written
    return ExportResponse(name_of(extent), request.format, content, count)


def _refuse_large(size: int) -> None:
    if size > _MOST:
        raise InvalidArgument(
            f'the export has about {size / 1e6:.0f} MB, a response at most {_MOST / 1e6:.0f}; '
            'pass a session_id, or write a file with robot-memory export --output'
        )


def extent_of(
    connection: Connection, session_id: str | None, collection: str | None
) -> ExportScope:
    """Return what is asked for; raise NotFound where there is none of it."""
    if session_id == ALL:
        return ExportScope(None, collection)
    if session_id is not None:
        return ExportScope(sessions.get(connection, session_id), collection)
    found = sessions.find_open(connection, collection)
    if found is None:
        raise NotFound('no session is open; pass a session_id, or "all" for the whole store')
    return ExportScope(found, collection)


def name_of(extent: ExportScope) -> str:
    """Return what the answer calls it."""
    return ALL if extent.session is None else extent.session.id


def generate_export_lines(
    connection: Connection, extent: ExportScope, order: CallOrder
) -> Iterator[str]:
    """Yield the lines of an archive, and tell how many memories are written."""
    tell, count = progress.get(), extent.count(connection)
    for number, line in enumerate(order.share(generate_lines(connection, extent))):
        if number % _EVERY == 0:
            tell(min(number, count), count, 'memories')
        yield f'{line}\n'


def text_of(
    connection: Connection, extent: ExportScope, format: str, order: CallOrder
) -> tuple[str, int]:
    """Return an export as one text, and how many memories it tells of."""
    count = extent.count(connection)
    if format == 'jsonl':
        return ''.join(generate_export_lines(connection, extent, order)), count
    progress.get()(0, count, 'memories')
    values = export_values(connection, extent, order)
    listed = values.get('sessions', [values] if extent.session else [])
    count = sum(len(one['messages']) + len(one['memories']) for one in listed)
    count += len(values['memories']) if extent.session is None else 0
    progress.get()(count, count, 'text')
    if format == 'json':
        # Not dump_json: its limits are those of a memory's own JSON.
        text = json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(',', ':'))
        return escape_controls(text), count
    return (render_markdown if format == 'markdown' else render_text)(values), count
