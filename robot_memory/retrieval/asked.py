"""What was found with the events that a query asks for: most ask for none, and are done here."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from robot_memory.core.zones import get_zone, to_local
from robot_memory.memory import Memory
from robot_memory.text.questions.question import prepare_question

if TYPE_CHECKING:
    from robot_memory.retrieval.asked_events import AskedEvents
    from robot_memory.retrieval.retriever import Found
    from robot_memory.text.questions.model import Reading

_SECOND = 1_000_000


class ReadQuery(NamedTuple):
    """Hold a query, what it says of events, and when it was asked, in the zone it was read in."""

    text: str
    reading: Reading
    now: datetime


def read_query(memory: Memory, query: str) -> ReadQuery | None:
    """Return what a query says of events; None where it says nothing of any."""
    question = prepare_question(query)
    if question is None:
        return None
    zone, asked_at = get_zone(memory.settings.time_zone), memory.clock()
    now = to_local(asked_at, zone)
    reading = question.read(now, zone)
    if not reading:  # it costs no look at the store
        return None
    with memory.db.read() as connection:
        right = memory.timekeeper.read_now(connection)
    if abs(right - asked_at) > _SECOND:
        now = to_local(right, zone)
        reading = question.read(now, zone)
    return ReadQuery(query, reading, now)


def add_asked_events(
    memory: Memory,
    found: Found,
    query: str,
    collection: str,
    session_id: str | None,
    limit: int,
) -> tuple[Found, AskedEvents | None]:
    """Return what was found with the events that a query asks for first, and what was read."""
    read = read_query(memory, query)
    if read is None:
        return found, None
    # Here: it is large, and the command line would wait for it.
    from robot_memory.retrieval.event_answers import add_events

    return add_events(memory, found, read, collection, session_id, limit)
