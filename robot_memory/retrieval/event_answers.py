"""Answers with the events that a question asks for: first, and with what was read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from robot_memory.core.truncation import compute_field_limit
from robot_memory.memory import Memory
from robot_memory.retrieval.asked import ReadQuery
from robot_memory.retrieval.asked_events import AskedEvents, find_asked_events
from robot_memory.retrieval.event_views import view_event
from robot_memory.retrieval.events import choose_zone
from robot_memory.retrieval.linked_events import describe_linked
from robot_memory.retrieval.matching import has_word
from robot_memory.retrieval.payloads import load_digests
from robot_memory.retrieval.retriever import Found
from robot_memory.search.query import Hit
from robot_memory.storage.tables import memories
from robot_memory.text.questions.words import list_words

_TOP = 5
_MOST, _HALF = 0.6, 0.5
"""Shares of the words of a question from which on a statement answers it: where events would, and
where a statement is rather asked for."""
PASSING = 1.0
"""The score of an event that passes what was read: nothing is nearer to the question."""


def add_events(
    memory: Memory,
    found: Found,
    read: ReadQuery,
    collection: str,
    session_id: str | None,
    limit: int,
) -> tuple[Found, AskedEvents | None]:
    """Return what was found with the events that a question asks for first, and what was read."""
    asked = find_asked_events(memory, read, collection, session_id, limit)
    if asked is None:
        return found, None
    if asked.events or asked.no_match:
        asked = _settle(memory, found, asked, read.text)
    if asked.events:
        found = _put_first(memory, found, asked, read.text, limit)
    return found, asked


def add_faults(memory: Memory, found: Found, asked: AskedEvents, limit: int) -> Found:
    """Return what was found, and behind it the faults of a window in which nothing passes."""
    known = {hit.id for hit in found.hits}
    ids = [one.memory_id for one in asked.faults if one.memory_id is not None]
    ids = [one for one in ids if one not in known][:limit]
    if not ids:
        return found
    with memory.db.read() as connection:
        records = {**found.records, **memories.get(connection, ids)}
        payloads = load_digests(connection, ids)
    hits = (*found.hits[: limit - len(ids)], *(Hit(one, 0.0) for one in ids if one in records))
    return replace(found, hits=hits, records=records, payloads={**found.payloads, **payloads})


def describe_asked(memory: Memory, asked: AskedEvents) -> dict[str, Any]:
    """Return the fields of an answer that say what was read, and what passes."""
    zone, room = choose_zone(memory), compute_field_limit(len(asked.events))
    figure = asked.figure
    return {
        'read_as': asked.read_as,
        'no_match': asked.no_match or None,
        'events': tuple(view_event(one, zone, room) for one in asked.events) or None,
        'aggregate': None if figure is None else figure.view,
        'aggregate_ids': None if figure is None else figure.event_ids or None,
        **describe_linked(memory, asked.events),
    }


def _settle(memory: Memory, found: Found, asked: AskedEvents, query: str) -> AskedEvents:
    """
    Return what a reading brings, without its events where a statement answers the question.

    That is one of those found first that has most of the question's words, and of them such as
    neither the reading nor its events have: who may reset the robot after an emergency stop.
    """
    words = list_words(query)
    texts = [found.records[one.id] for one in found.hits[:_TOP]]
    statements = [
        f'{one.content} {(one.actor_id or "").rpartition(":")[2]}'  # who said it is asked for, too
        for one in texts
        if one.type != 'perception'
    ]
    needed = 0 if asked.statement else 2 if asked.dated else 1
    if not statements or len(words) < 2 or len(asked.unread) < needed:
        return asked
    with memory.db.read() as connection:
        for text in statements:
            share = sum(has_word(connection, text, one) for one in words) / len(words)
            gained = sum(has_word(connection, text, one) for one in asked.unread)
            if share >= (_HALF if asked.statement else _MOST) and gained >= needed:
                return AskedEvents(asked.read_as)
    return asked


def _put_first(memory: Memory, found: Found, asked: AskedEvents, query: str, limit: int) -> Found:
    """
    Return what was found with the events that a question asks for first, and no others.

    A memory whose text the query is comes before all, whatever is read in it.
    """
    exact = [hit for hit in found.hits if found.records[hit.id].content == query]
    ids = asked.memory_ids[:limit]
    with memory.db.read() as connection:
        records = {**found.records, **memories.get(connection, ids)}
        payloads = load_digests(connection, [one for one in ids if one not in found.payloads])
    leading = [Hit(memory_id, PASSING) for memory_id in ids if memory_id in records]
    others = [hit for hit in found.hits if found.records[hit.id].type != 'perception']
    hits: dict[int, Hit] = {}
    for hit in (*exact, *leading, *others):
        hits.setdefault(hit.id, hit)
    return replace(
        found,
        hits=tuple(hits.values())[:limit],
        records=records,
        payloads={**found.payloads, **payloads},
    )
