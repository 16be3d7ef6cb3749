"""Sessions found by words, days, topics, meaning, or because they are the latest."""

from __future__ import annotations

import re
from collections.abc import Callable
from enum import Enum
from typing import Any

from robot_memory.core.clock import DAY, format_instant, parse_instant
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value
from robot_memory.core.records import Session
from robot_memory.memory import Memory
from robot_memory.retrieval.history import describe_session, format_messages
from robot_memory.retrieval.sessions import (
    find_sessions_by_keywords,
    find_sessions_by_meaning,
    select_turns,
)
from robot_memory.storage import Connection
from robot_memory.storage.tables import sessions, turns
from robot_memory.text import token_sets

_LIMIT = 10
_MOST = 1000
_MESSAGES = 5
"""Messages that are shown of a session that was found."""
_DAY = r'\d{4}-\d{2}-\d{2}'
_SPAN = re.compile(rf'({_DAY})(?:\s*(?:\.\.|…|~)\s*({_DAY}))?')


class SessionSearchType(str, Enum):
    """
    How sessions are searched.

    KEYWORD: all words of the query were said in it. DATE_RANGE: it was under way on a day,
    2026-03-09, or between two, 2026-03-01..2026-03-09 (UTC, both included). TOPIC: its title, its
    tags or a topic in its metadata name what the query does. RECENT: the latest, the query says
    how many. SIMILARITY: what is remembered of it means the same as the query.
    """

    KEYWORD = 'keyword'
    DATE_RANGE = 'date_range'
    TOPIC = 'topic'
    RECENT = 'recent'
    SIMILARITY = 'similarity'


def search_sessions(
    memory: Memory,
    search_type: SessionSearchType | str,
    query: str = '',
    limit: int = _LIMIT,
) -> list[dict[str, Any]]:
    """
    Return the sessions that are found, in the document's shape, with message_count and score.

    Of the messages they have at most five: those that say what was asked for, else the latest.
    `score` is None but for SIMILARITY, which orders by it; the others are the latest first. Raise
    InvalidArgument for a query that is none.
    """
    kind = parse_search_type(search_type)
    if kind is SessionSearchType.SIMILARITY:
        return _search_meaning(memory, _require_query(kind, query), limit)
    with memory.db.read() as connection:
        return _FIND[kind](memory, connection, query.strip(), limit)


def parse_search_type(given: SessionSearchType | str) -> SessionSearchType:
    """Return a search type by its name, in any case."""
    if isinstance(given, SessionSearchType):
        return given
    try:
        return SessionSearchType[str(given).upper()]
    except KeyError:
        known = ', '.join(kind.name for kind in SessionSearchType)
        raise InvalidArgument(
            f'search_type must be one of {known}, not {format_value(given)}'
        ) from None


def _require_query(kind: SessionSearchType, query: str) -> str:
    if not query.strip():
        raise InvalidArgument(f'query is empty; search type {kind.name} requires one')
    return query


def _search_recent(
    memory: Memory, connection: Connection, query: str, limit: int
) -> list[dict[str, Any]]:
    if query:
        if not re.fullmatch(r'\d{1,9}', query) or not 1 <= int(query) <= _MOST:
            raise InvalidArgument(
                f'query must be the number of latest sessions, 1 to {_MOST}, or empty, not '
                f'{format_value(query)}'
            )
        limit = int(query)
    return [
        _describe_session(connection, session)
        for session in sessions.list_recent(connection, limit)
    ]


def _search_dates(
    memory: Memory, connection: Connection, query: str, limit: int
) -> list[dict[str, Any]]:
    match = _SPAN.fullmatch(query)
    wrong = InvalidArgument(
        'query must be a date or a range, e.g. 2026-03-09 or 2026-03-01..2026-03-09, not '
        f'{format_value(query)}'
    )
    if match is None:
        raise wrong
    try:
        start = parse_instant(match[1])
        end = parse_instant(match[2] or match[1]) + DAY - 1
    except (ValueError, OverflowError):
        raise wrong from None
    if start > end:
        raise InvalidArgument(
            f'the range ends at {format_instant(end)}, before its start at {format_instant(start)}'
        )
    found = sessions.list_active(connection, start, end, limit)
    return [_describe_session(connection, session) for session in found]


def _search_topic(
    memory: Memory, connection: Connection, query: str, limit: int
) -> list[dict[str, Any]]:
    asked = token_sets.make_token_set(_require_query(SessionSearchType.TOPIC, query))
    said = {
        session_id
        for session_id, topic in turns.list_topics(connection)
        if asked <= token_sets.make_token_set(str(topic))
    }
    named = {
        session.id
        for session in sessions.list_named(connection)
        if any(asked <= token_sets.make_token_set(topic) for topic in _list_topics(session))
    }
    return _select_latest(connection, said | named, limit)


def _list_topics(session: Session) -> list[str]:
    """Return what names the topic of a session: its title, its tags, metadata.topic."""
    return [session.title, *session.tags, str(session.metadata.get('topic') or '')]


def _search_keyword(
    memory: Memory, connection: Connection, query: str, limit: int
) -> list[dict[str, Any]]:
    found = find_sessions_by_keywords(connection, _require_query(SessionSearchType.KEYWORD, query))
    result = _select_latest(connection, found, limit)
    for one in result:
        said = select_turns(connection, one['session_id'], query)
        one['messages'] = format_messages(said[:_MESSAGES])
    return result


def _search_meaning(memory: Memory, query: str, limit: int) -> list[dict[str, Any]]:
    """Return the sessions whose memories as a whole mean what the query does."""
    hits = find_sessions_by_meaning(memory, query, limit)
    result = []
    with memory.db.read() as connection:
        for hit in hits:
            one = _describe_session(connection, sessions.get(connection, hit.id), hit.score)
            said = [record for record in hit.records if record.type == 'turn']
            one['messages'] = format_messages(said[:_MESSAGES]) or one['messages']
            result.append(one)
    return result


def _select_latest(connection: Connection, ids: set[str], limit: int) -> list[dict[str, Any]]:
    """Return the latest of some sessions."""
    found = [sessions.get(connection, session_id) for session_id in ids]
    found.sort(key=lambda session: (-session.updated_at, session.id))
    return [_describe_session(connection, session) for session in found[:limit]]


def _describe_session(
    connection: Connection, session: Session, score: float | None = None
) -> dict[str, Any]:
    return {
        **describe_session(connection, session, _MESSAGES),
        'message_count': turns.count(connection, session.id),
        'score': score,
    }


_FIND: dict[SessionSearchType, Callable[..., list[dict[str, Any]]]] = {
    SessionSearchType.KEYWORD: _search_keyword,
    SessionSearchType.DATE_RANGE: _search_dates,
    SessionSearchType.TOPIC: _search_topic,
    SessionSearchType.RECENT: _search_recent,
}
