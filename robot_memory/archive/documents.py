"""Sessions for people and for other programs: json, markdown and text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
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

_EVERYTHING = 1_000_000
_PAGE = 20
_LONGEST = 1_000_000
"""Characters of a text that is quoted."""


def export_values(connection: Connection, extent: ExportScope, order: CallOrder) -> dict[str, Any]:
    """Return a session in the Sage document's shape beside its other memories, or all of them."""
    if extent.session is not None:
        return _describe_session(connection, extent, extent.session, order)
    return {
        'sessions': [
            _describe_session(connection, extent, one, order)
            for one in order.share(extent.list_sessions(connection))
        ],
        'memories': [
            _describe_memory(record) for record in _list_records(connection, extent, None, order)
        ],
    }


def _describe_session(
    connection: Connection, extent: ExportScope, session: Session, order: CallOrder
) -> dict[str, Any]:
    records = _list_records(connection, extent, session, order)
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


def _list_records(
    connection: Connection, extent: ExportScope, session: Session | None, order: CallOrder
) -> list[Record]:
    """Return the active memories of a session, or of none, the oldest first."""
    where = ACTIVE & in_session(None if session is None else session.id)
    if extent.collection is not None:
        where &= equal('collection', extent.collection)
    ids = memories.list_newest_ids(connection, where, _EVERYTHING)[::-1]
    pages = (ids[at : at + _PAGE] for at in range(0, len(ids), _PAGE))
    records: dict[int, Record] = {}
    for page in order.share(pages, 1):
        records |= memories.get(connection, page)
    return [records[memory_id] for memory_id in ids]


def render_markdown(values: dict[str, Any]) -> str:
    """Return what `as_values` returned as Markdown; what was said stands in quotes."""
    if 'sessions' in values:
        parts = [render_markdown(one) for one in values['sessions']]
        if values['memories']:
            parts.append('# Memories of no session\n\n' + _render_bullets(values['memories']))
        return '\n'.join(parts)
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


def render_text(values: dict[str, Any]) -> str:
    """Return what `as_values` returned as plain lines, one a message and one a memory."""
    if 'sessions' in values:
        parts = [render_text(one) for one in values['sessions']]
        return '\n'.join([*parts, _render_lines(values['memories'])]).strip() + '\n'
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
