"""Ranking turns: what was said around a turn says what it is about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from robot_memory.search.query import Hit, Search, sort_by_score
from robot_memory.storage import Connection
from robot_memory.storage.indexes import fulltext
from robot_memory.storage.indexes.filters import Where
from robot_memory.storage.tables import turns
from robot_memory.storage.tables.turns import Place

POOL = 100
"""Turns that are looked at with what was said around them, at least."""
NEIGHBOUR_SHARE = 0.1
"""What the score of the turn before and of the turn after counts."""
SESSION_SHARE = 0.6
"""What the mean score of the best turns of its session counts."""
_BEST = 3


def rank_in_sessions(
    connection: Connection, search: Search, where: Where, hits: Sequence[Hit]
) -> list[Hit]:
    """
    Return the turns among hits, and turns beside them that pass, in order.

    An answer often does not repeat what was asked, and a session is about few things: the scores
    of its neighbours and of the best of its session are added to that of a turn. The best keeps
    the best score there was, and the others are scaled with it.
    """
    places = turns.find_places(connection, [hit.id for hit in hits])
    beside = turns.find_beside(connection, places.values())
    passing = fulltext.select_passing(connection, sorted(beside), where)
    more = search.score(sorted(passing), len(passing)) if passing else []
    places |= {one.id: beside[one.id] for one in more}
    known = {hit.id: hit for hit in (*hits, *more)}
    scores = {hit.id: hit.score for hit in known.values()}
    by_place = {place: scores[memory_id] for memory_id, place in places.items()}
    sessions: dict[str, list[float]] = defaultdict(list)
    for (session, _), score in by_place.items():
        sessions[session].append(score)
    means = {name: sum(sorted(found)[-_BEST:]) / _BEST for name, found in sessions.items()}
    joined = [
        hit.add(_measure_around(places.get(memory_id), by_place, means))
        for memory_id, hit in known.items()
    ]
    highest = max((hit.score for hit in joined), default=0.0)
    factor = max(scores.values()) / highest if highest else 0.0
    return sort_by_score(hit.scale(factor) for hit in joined)


def _measure_around(
    place: Place | None, scores: Mapping[Place, float], means: Mapping[str, float]
) -> float:
    """Return what the surroundings of a turn add to its score."""
    if place is None:
        return 0.0
    session, number = place
    beside = sum(scores.get((session, number + step), 0.0) for step in (-1, 1))
    return NEIGHBOUR_SHARE * beside + SESSION_SHARE * means[session]
