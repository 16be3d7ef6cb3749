"""Ranking by distance: nearest first, what the query's words match before the rest."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from robot_memory.core.errors import InvalidArgument
from robot_memory.retrieval.near import NearSearch
from robot_memory.retrieval.plan import Near, RecallPlan
from robot_memory.search.query import Hit
from robot_memory.storage import Connection
from robot_memory.storage.indexes import fulltext, positions
from robot_memory.storage.indexes.filters import Where

_Pairs = list[tuple[int, float]]


def find_near(connection: Connection, plan: RecallPlan, near: Near) -> tuple[list[Hit], str]:
    """
    Return what passes and has a position, and what ran to find it.

    Raise InvalidArgument where the target has another length than the positions.
    """
    found, mode = _find(connection, plan, lambda where: _walk(connection, plan, where, near))
    if not found:
        _refuse_other_lengths(connection, plan, near)
    return found, mode


def find_around(
    connection: Connection, plan: RecallPlan, search: NearSearch
) -> tuple[list[Hit], str]:
    """Return what passes and lies near a place, whatever its frame, and what ran to find it."""
    return _find(connection, plan, lambda where: search.walk(connection, where))


def _find(
    connection: Connection, plan: RecallPlan, walk: Callable[[Where], Iterator[_Pairs]]
) -> tuple[list[Hit], str]:
    """Return what passes by distance, what the query's words match before the rest."""
    terms = [] if plan.terms is None else plan.terms.terms + plan.terms.fallback
    found: _Pairs = []
    if terms:
        matching = plan.where & fulltext.make_candidates(terms)

        def match(pairs: _Pairs) -> _Pairs:
            held = fulltext.select_matching(connection, terms, [pair[0] for pair in pairs])
            return [pair for pair in pairs if pair[0] in held]

        found = _take(walk(matching), match, plan.limit)
    known = {pair[0] for pair in found}
    if len(found) < plan.limit:

        def skip_known(pairs: _Pairs) -> _Pairs:
            return [pair for pair in pairs if pair[0] not in known]

        wanted = plan.limit - len(found)
        found += _take(walk(plan.where), skip_known, wanted)
    hits = [Hit(memory_id, 1 / (1 + distance), distance) for memory_id, distance in found]
    return hits[: plan.limit], 'bm25_only' if known else 'filter'


def _walk(connection: Connection, plan: RecallPlan, where: Where, near: Near) -> Iterator[_Pairs]:
    return positions.find_nearest(
        connection, where, plan.collection, near.path, near.target, near.max_distance
    )


def _take(walk: Iterator[_Pairs], keep: Callable[[_Pairs], _Pairs], limit: int) -> _Pairs:
    """Return what is kept of a walk outward, up to the batch that completes the limit."""
    found: _Pairs = []
    for pairs in walk:
        found += keep(pairs)
        if len(found) >= limit:
            break
    return found


def _refuse_other_lengths(connection: Connection, plan: RecallPlan, near: Near) -> None:
    others = positions.find_other_lengths(
        connection, plan.where, plan.collection, near.path, len(near.target)
    )
    if others:
        raise InvalidArgument(
            f'spatial_sort.target has {len(near.target)} numbers, but the positions at '
            f'{near.field} have {" or ".join(map(str, sorted(others)))}'
        )
