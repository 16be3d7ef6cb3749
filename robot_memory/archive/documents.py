"""Sessions for people and for other programs: json, markdown and text."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from robot_memory.archive.writer import ExportScope
from robot_memory.core.call_order import CallOrder
from robot_memory.core.clock import format_instant
from robot_memory.core.records import Record, Session
from robot_memory.retrieval import history
from robot_memory.storage import Connection
from robot_memory.storage.indexes.filters import ACTIVE, equal, in_session
from robot_memory.storage.tables import memories
from robot_memory.text.controls import escape_controls
from robot_memory.text.quoting import quote

_PAGE = 20
_LONGEST = 1_000_000
"""Characters of a text that is quoted."""


def generate_document(
    connection: Connection, extent: ExportScope, format: str, order: CallOrder
) -> Iterator[tuple[str, int]]:
    """
    Give the parts of a text, and how many memories each tells of.

    `format` is json, markdown or text. Joined they are a session in the Sage document's shape
    beside its other memories, or all sessions and the memories of none.
    """
    if extent.session is not None:
        values = _describe_session(connection, extent, extent.session, order)
        yield _RENDER[format](values), _count(values)
    elif format == 'json':
        yield from _generate_json(connection, extent, order)
    else:
        yield from _generate_text(connection, extent, format, order)


def _generate_json(
    connection: Connection, extent: ExportScope, order: CallOrder
) -> Iterator[tuple[str, int]]:
    """Give the parts of an object of the memories of no session, and of all sessions."""
    yield '{"memories":[', 0
    comma = ''
    for record in _read_records(connection, extent, None, order):
        yield comma + _dump(_describe_memory(record)), 1
        comma = ','
    yield '],"sessions":[', 0
    comma = ''
    for session in order.share(extent.read_sessions(connection)):
        values = _describe_session(connection, extent, session, order)
        yield comma + _dump(values), _count(values)
        comma = ','
    yield ']}', 0


def _generate_text(
    connection: Connection, extent: ExportScope, format: str, order: CallOrder
) -> Iterator[tuple[str, int]]:
    """Give each session as a text, then the memories of none, as far as there are any."""
    between = ''
    for session in order.share(extent.read_sessions(connection)):
        values = _describe_session(connection, extent, session, order)
        yield between + _RENDER[format](values), _count(values)
        between = '\n'
    head, render, nothing = _WITHOUT_SESSION[format]
    records = _read_records(connection, extent, None, order)
    while page := [_describe_memory(record) for record in islice(records, _PAGE)]:
        yield between + head + render(page), len(page)
        between = head = nothing = ''
    if not between:
        yield nothing, 0


def _dump(values: Any) -> str:
    # Not dump_json: its limits are those of a memory's own JSON.
    text = json.dumps(values, ensure_ascii=False, sort_keys=True, separators=(',', ':'))
    return escape_controls(text)


def _count(values: dict[str, Any]) -> int:
    return len(values['messages']) + len(values['memories'])


def _describe_session(
    connection: Connection, extent: ExportScope, session: Session, order: CallOrder
) -> dict[str, Any]:
    records = list(_read_records(connection, extent, session, order))
    said = sorted(
        (record for record in records if record.type == 'turn'), key=lambda turn: turn.turn_id or 0
    )
    return {
        'session_id': session.id,
        'title': session.title,
        'created_at': format_instant(session.created_at),
        'updated_at': format_instant(session.updated_at),
        'messages': history.format_messages(said),
        'tags': list(session.tags),
        'metadata': {
            **session.metadata,
            'collection': session.collection,
            'context': session.context,
            'status': session.status,
            'outcome_score': session.outcome_score,
        },
        'memories': [_describe_memory(record) for record in records if record.type != 'turn'],
    }


def _describe_memory(record: Record) -> dict[str, Any]:
    return {
        'record_id': f'mem_{record.id}',
        'kind': record.type,
        'category': record.category,
        'content': record.content,
        'confidence': round(record.confidence, 6),
        'timestamp': record.created,
        'collection': record.collection,
        'tags': list(record.tags),
        'context': record.context,
    }


def _read_records(
    connection: Connection, extent: ExportScope, session: Session | None, order: CallOrder
) -> Iterator[Record]:
    """Give the active memories of a session, or of none, the oldest first."""
    where = ACTIVE & in_session(None if session is None else session.id)
    if extent.collection is not None:
        where &= equal('collection', extent.collection)
    ids = memories.read_ids(connection, where)
    while page := list(islice(ids, _PAGE)):
        records = memories.get(connection, page)
        yield from (records[memory_id] for memory_id in page)
        order.give_way()


def _render_markdown(values: dict[str, Any]) -> str:
    """Return a session as Markdown; what was said stands in quotes."""
    facts = _describe_context(values)
    lines = [f'# {_join_lines(values["title"]) or "Session"}', '']
    lines += [f'- {name}: {text}' for name, text in facts.items()]
    if values['messages']:
        lines += ['', '## Conversation']
    for message in values['messages']:
        about = message['metadata']
        lines += [
            '',
            f'**{message["role"]}** ({_join_lines(about["actor_id"])}, {message["timestamp"]}, '
            f'mem_{about["memory_id"]})',
            '',
            *(f'> {escape_controls(line)}'.rstrip() for line in message['content'].splitlines()),
        ]
    if values['memories']:
        lines += ['', '## Memories', '', _render_bullets(values['memories'])]
    return '\n'.join(lines).rstrip() + '\n'


def _render_bullets(found: Iterable[dict[str, Any]]) -> str:
    lines = (
        f'- {quote(one["content"], _LONGEST)} ({one["record_id"]}, {one["category"]}, '
        f'confidence {one["confidence"]:.2f}, {one["timestamp"]})'
        for one in found
    )
    return '\n'.join(lines) + '\n'


def _render_text(values: dict[str, Any]) -> str:
    """Return a session as plain lines, one a message and one a memory."""
    head = ', '.join(f'{name} {text}' for name, text in _describe_context(values).items())
    lines = [_join_lines(values['title']) or 'Session', head]
    for message in values['messages']:
        who = f'{message["role"]} ({_join_lines(message["metadata"]["actor_id"])})'
        lines.append(f'{message["timestamp"]} {who}: {quote(message["content"], _LONGEST)}')
    return '\n'.join(lines) + '\n' + _render_lines(values['memories'])


def _render_lines(found: Sequence[dict[str, Any]]) -> str:
    return ''.join(
        f'{one["timestamp"]} {one["record_id"]} [{one["category"]}] '
        f'{quote(one["content"], _LONGEST)}\n'
        for one in found
    )


def _describe_context(values: dict[str, Any]) -> dict[str, str]:
    metadata = values['metadata']
    found = {
        'session': _join_lines(values['session_id']),
        'collection': _join_lines(metadata['collection']),
        'begun': values['created_at'],
        'status': metadata['status'],
        'tags': ' '.join(map(_join_lines, values['tags'])),
    }
    if metadata['outcome_score'] is not None:
        found['outcome'] = f'{metadata["outcome_score"]:.2f}'
    return {name: text for name, text in found.items() if text}


def _join_lines(text: Any) -> str:
    """Return a text on one line."""
    return ' '.join(escape_controls(str(text or '')).split())


_RENDER: Mapping[str, Callable[[dict[str, Any]], str]] = {
    'json': _dump,
    'markdown': _render_markdown,
    'text': _render_text,
}
"""By format, what makes a text of a session."""
_WITHOUT_SESSION: Mapping[str, tuple[str, Callable[[Sequence[dict[str, Any]]], str], str]] = {
    'markdown': ('# Memories of no session\n\n', _render_bullets, ''),
    'text': ('', _render_lines, '\n'),
}
"""By format, what stands above the memories of no session, makes lines of them, or is all."""
