"""Export a session, or the whole store."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from robot_memory.archive.documents import generate_document
from robot_memory.archive.writer import ExportScope, generate_lines, prepare_seals
from robot_memory.core.call_order import CallOrder
from robot_memory.core.errors import InvalidArgument, NotFound
from robot_memory.core.fields import arg, collection_arg
from robot_memory.memory import Memory, progress
from robot_memory.storage import Connection
from robot_memory.storage.tables import archive_rows, sessions
from robot_memory.tool import tool

ALL = 'all'
FORMATS = ('json', 'markdown', 'text', 'jsonl')
_MOST = 16_000_000
"""Bytes of an answer; a whole store is for the command line, which streams it."""
_EVERY = 100
"""Lines after which progress is told."""
_OF_MEMORY = '{"kind":"memory",'
"""How the line of a memory begins."""


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
        size = count = 0
        parts = []
        for text, number in generate_text(connection, extent, request.format, memory.call_order):
            size += len(text)
            _refuse_large(size)  # sessions have no size before they are written
            count += number
            parts.append(text)
    return ExportResponse(name_of(extent), request.format, ''.join(parts), count)


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


def generate_text(
    connection: Connection, extent: ExportScope, format: str, order: CallOrder
) -> Iterator[tuple[str, int]]:
    """
    Give the parts of an export, and how many memories each tells of.

    It tells how many of how many memories are written.
    """
    tell, total = progress.get(), extent.count(connection)
    done = 0
    tell(done, total, 'memories')
    found: Iterator[tuple[str, int]]
    if format == 'jsonl':
        lines = order.share(generate_lines(connection, extent))
        found = ((f'{line}\n', int(line.startswith(_OF_MEMORY))) for line in lines)
    else:
        found = generate_document(connection, extent, format, order)
    for place, (text, number) in enumerate(found, 1):
        yield text, number
        done += number
        if place % _EVERY == 0:
            tell(min(done, total), total, 'memories')
