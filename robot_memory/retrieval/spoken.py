"""What people said, in a ranking: who spoke counts, and a statement and its turn stand once."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from robot_memory.search.query import Hit, sort_by_score
from robot_memory.storage import Connection
from robot_memory.storage.tables import turns as turn_rows
from robot_memory.text.rules.people import key_of

SPARE = 8
"""So many more are ranked, since a turn may stand for its statement."""
_SPOKEN = 1.2
"""The weight of what somebody said whom the question names."""


def weigh_speakers(
    connection: Connection, named: Collection[str], hits: Sequence[Hit]
) -> list[Hit]:
    """Return hits with a greater score where one who is named said it; best first."""
    if not hits:
        return []
    actors = turn_rows.find_actors(connection, [hit.id for hit in hits])
    keys = {actor: key_of(actor.rpartition(':')[2]) for actor in set(actors.values())}
    weighed = [
        hit.scale(min(_SPOKEN, 1 / hit.score) if hit.score else 1.0)
        if hit.id in actors and keys[actors[hit.id]] in named
        else hit
        for hit in hits
    ]
    return sort_by_score(weighed)


def drop_repeats(
    connection: Connection, facts: Sequence[Hit], turns: Sequence[Hit]
) -> tuple[list[Hit], list[Hit]]:
    """Return facts and turns without the lower one of a statement and its own turn."""
    if not facts or not turns:
        return list(facts), list(turns)
    scores = {hit.id: hit.score for hit in (*facts, *turns)}
    pairs = turn_rows.find_statements(
        connection, [hit.id for hit in turns], [hit.id for hit in facts]
    )
    dropped = {turn if scores[fact] >= scores[turn] else fact for turn, fact in pairs}
    return (
        [hit for hit in facts if hit.id not in dropped],
        [hit for hit in turns if hit.id not in dropped],
    )
