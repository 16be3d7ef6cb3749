"""What `sage_memory` and `sage_command` both do: a table of verbs over the tools."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from robot_memory.core.errors import Conflict, InvalidArgument, NotFound
from robot_memory.core.fields import to_plain
from robot_memory.core.json_text import format_value
from robot_memory.core.records import Record
from robot_memory.core.truncation import fit_members
from robot_memory.lifecycle import conversations
from robot_memory.lifecycle.sessions import save_session
from robot_memory.lifecycle.soft_delete import soft_delete_collection
from robot_memory.memory import Memory
from robot_memory.retrieval import history
from robot_memory.retrieval.plan import RecallPlan
from robot_memory.retrieval.retriever import Retriever
from robot_memory.sage.tools.sage_system_status import sage_system_status
from robot_memory.storage.tables import memories, sessions, turns
from robot_memory.text.quoting import format_label, quote
from robot_memory.tools.analyze import ANALYSES
from robot_memory.tools.analyze import analyze as analyze_tool
from robot_memory.tools.clear_session import clear_session
from robot_memory.tools.export import export as export_tool
from robot_memory.tools.forget import forget as forget_tool
from robot_memory.tools.get_memory_stats import get_memory_stats
from robot_memory.tools.search_memory import search_memory

_RECORD = re.compile(r'(?:mem_)?(\d{1,18})', re.IGNORECASE)
_FORMATS = ('json', 'markdown', 'text', 'jsonl')
_FOUND = 10
_SAID = 10
_LINE = 300
_ALL_SAID = 1000
"""Turns of a session that are shown where no count is given: the latest."""
_LONG = ('content', 'metadata')
_CANDIDATES = 5
_LIKE = 0.2
"""The score from which on a memory may be what was meant."""
_DEFAULT = 'default'
"""The collection that is meant where none is named."""


@dataclass(frozen=True)
class VerbResult:
    """Hold what a verb gave: plain JSON, and the same in words."""

    result: dict[str, Any]
    text: str


def save(memory: Memory, title: str, collection: str | None) -> VerbResult:
    """Give the open session a title."""
    session, said = save_session(memory, title, collection=collection)
    result = {'session_id': session.id, 'title': session.title, 'turns': said}
    name = f' as {format_value(session.title)}' if session.title else ''
    return VerbResult(result, f'Saved session {session.id}{name}: {said} turns.')


def search(
    memory: Memory, query: str, collection: str | None, limit: int | None = None
) -> VerbResult:
    """Search turns, facts and perceptions."""
    arguments = {
        'query': query,
        'n': limit or _FOUND,
        'threshold': 0.0,
        'collection': collection or _DEFAULT,
    }
    found = to_plain(search_memory.run(memory, arguments))['result']
    lines = [
        f'[mem_{item["metadata"]["memory_id"]}] {item["score"]:.2f} '
        f'{quote(item["content"], _LINE)}'
        for item in found
    ]
    return VerbResult({'results': found}, '\n'.join(lines) or 'No results.')


def forget(memory: Memory, what: str, collection: str | None) -> VerbResult:
    """
    Forget a session by its id, or a record by its number; nothing by words.

    Words are refused with what they may mean: a robot deletes nothing by resemblance.
    """
    record = _RECORD.fullmatch(what)
    if record:
        reason = f'soft-deleted by command as {what}'
        answer = forget_tool.run(memory, {'memory_id': int(record[1]), 'reason': reason})
        return VerbResult(
            to_plain(answer),
            f'Soft-deleted: [mem_{answer.memory_id}] {quote(answer.content, _LINE)}',
        )
    with memory.db.read() as connection:
        session_id = what if what and sessions.exists(connection, what) else ''
        if not what:
            session = sessions.find_open(connection, collection)
            if session is None:
                raise NotFound('no session is open; pass a session id')
            session_id = session.id
    if session_id:
        cleared = clear_session.run(memory, {'session_id': session_id})
        words = f'Soft-deleted: {cleared.count} memories of session {cleared.session_id}.'
        return VerbResult(to_plain(cleared), words)
    plan = RecallPlan.of(
        collection=collection or _DEFAULT, limit=_CANDIDATES, query=what, least=_LIKE
    )
    found = Retriever(memory).find(plan)
    listed = '; '.join(
        f'mem_{hit.id}: {quote(found.records[hit.id].content, 60)}' for hit in found.hits
    )
    raise NotFound(
        f'{format_value(what)} is neither a session nor a record; forget requires an id. '
        f'Candidates: {listed or "none"}'
    )


def forget_all(memory: Memory, collection: str | None) -> VerbResult:
    """Forget all of a collection softly, but for what is protected."""
    collection = collection or _DEFAULT
    if memory.caller.face.startswith('mcp-') and not memory.settings.allow_forget_all:
        raise Conflict(
            '/forget all over MCP requires the setting allow_forget_all; nothing was changed'
        )
    reason = f'all of collection {collection} soft-deleted by command'
    cleared = soft_delete_collection(memory, collection, reason)
    deleted, kept, higher = cleared.deleted, cleared.protected, cleared.higher
    result = {'collection': collection, 'count': deleted, 'protected': kept}
    return VerbResult(
        result,
        f'Soft-deleted: {deleted} memories of collection {collection}; kept: {kept} protected '
        'ones (constraints, gotchas, postmortems), which can be deleted by id'
        + (f', and {higher} that stand on a higher authority.' if higher else '.'),
    )


def recall(
    memory: Memory, session_id: str, collection: str | None, limit: int | None = None
) -> VerbResult:
    """Show what was said in a session, or lately in any, of a collection if one is named."""
    most = limit or (_ALL_SAID if session_id else _SAID)
    left = 0
    with memory.db.read() as connection:
        if session_id:
            session = sessions.get(connection, session_id)
            records = memories.list_turns(connection, session.id, most)
            left = 0 if limit else turns.count(connection, session.id) - len(records)
        else:
            records = memories.list_turns(connection, None, most, collection)
    messages = [
        fit_members(said, _LONG, len(records)) for said in history.format_messages(records)
    ]
    result: dict[str, Any] = {'session_id': session_id or None, 'messages': messages}
    if left:
        result['earlier'] = left
    return VerbResult(result, '\n'.join(_format_turns(records)) or 'No turns yet.')


def report_status(memory: Memory) -> VerbResult:
    """Say how much is remembered."""
    found = to_plain(get_memory_stats.run(memory, {}))
    return VerbResult(
        found,
        f'{found["total"]} memories ({found["today"]} today, {found["this_week"]} this week), '
        f'{found["sessions"]} sessions, {found["size"]}.',
    )


def report_system_status(memory: Memory) -> VerbResult:
    """Say how every part is."""
    found = to_plain(sage_system_status.run(memory, {}))
    return VerbResult(found, json.dumps(found, ensure_ascii=False, indent=2))


def analyze(
    memory: Memory, name: str, collection: str | None, days: int | None = None
) -> VerbResult:
    """Analyse what is remembered; the name may be a part of the analysis's."""
    wanted = name.strip().upper().replace('-', '_').replace(' ', '_') or 'TOPIC'
    meant = [known for known in ANALYSES if wanted in known]
    wanted = meant[0] if len(meant) == 1 else wanted
    arguments = {'analysis_type': wanted, 'collection': collection or _DEFAULT, 'days': days}
    answer = analyze_tool.run(memory, arguments)
    said = [*answer.insights, *answer.recommendations]
    return VerbResult(to_plain(answer), '\n'.join(said) or 'No notable results.')


def export(memory: Memory, what: str) -> VerbResult:
    """Export a session; the format may follow its id."""
    session_id, _, form = what.strip().rpartition(' ')
    if form.lower() not in _FORMATS:
        with memory.db.read() as connection:
            if session_id and sessions.exists(connection, session_id.strip()):
                raise InvalidArgument(
                    f'the format must be one of {", ".join(_FORMATS)}, not {format_value(form)}'
                )
        session_id, form = what.strip(), 'json'
    answer = to_plain(export_tool.run(memory, {'session_id': session_id, 'format': form.lower()}))
    content = answer['content']
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return VerbResult(answer, text)


def switch_mode(memory: Memory, on: bool | None) -> VerbResult:
    """Switch the service of agents on or off, or say which it is."""
    if on is not None:
        conversations.set_auto_save(memory, on)
    with memory.db.read() as connection:
        is_on = conversations.is_auto_save_on(memory, connection)
    return VerbResult({'mode': 'on' if is_on else 'off'}, f'Mode is {"on" if is_on else "off"}.')


def parse_count(text: str) -> int | None:
    """Return the number that a text is; None where it is none. Refuse what is out of bounds."""
    if not re.fullmatch(r'\d{1,9}', text):
        return None
    if not 1 <= int(text) <= 1000:
        raise InvalidArgument(f'a count must be 1 to 1000, not {text}')
    return int(text)


def _format_turns(records: Iterable[Record]) -> list[str]:
    return [
        f'{record.created[:16]} {format_label(str(record.actor_id))}: '
        f'{quote(record.content, _LINE)}'
        for record in records
    ]
