"""Ranking by relevance: facts and perceptions, and turns beside them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from robot_memory.memory import Memory
from robot_memory.retrieval.plan import RecallPlan
from robot_memory.search.file_search import FileSearch
from robot_memory.search.query import Hit, Query, Search
from robot_memory.search.resident import MARGIN, WORTH_WAITING, ResidentSearch
from robot_memory.storage import Connection
from robot_memory.storage.indexes import fulltext, indexed, vectors
from robot_memory.storage.indexes.filters import Where, find_few
from robot_memory.storage.tables import memories

_FEW = 6.0
"""Times the root of the collection's size: so many that pass are ranked alone, in the time that
walking the ranking takes for more."""
_SPARE = 8
"""So many more than n must pass, for close neighbours may be mixed in the ranking."""
_GOOD = 0.5
_FAR = 20_000
"""How far the ranking is walked; then all that pass are looked for."""


def open_partitions(
    memory: Memory,
    connection: Connection,
    names: Sequence[str],
    query: Query,
    real_weight: float | None = None,
    *,
    is_past: bool = False,
) -> list[Search]:
    """
    Open a search of each of some partitions, but of none that is empty save the first.

    The copy of the indexes in memory is searched where there is one, else the file. Where the
    file has vectors of another model than the query's, and while a large copy is being loaded,
    keyword search answers. `real_weight` None is that of the settings. The copy in memory is of
    no past state.
    """
    embedder = None if query.vector is None else memory.embedder.get_if_loaded()
    name, scale = (None, None) if embedder is None else (embedder.name, embedder.calibration)
    weight = memory.settings.real_weight if real_weight is None else real_weight
    words_only = replace(query, vector=None)
    resident_index = None if is_past else memory.resident_index
    known = None if resident_index is None else resident_index.snapshot(connection, names)
    if known is not None:
        asked = query if known.model == name else words_only
        filled = [
            shard
            for place, shard in enumerate(known.shards)
            if not place or shard.count > shard.dead
        ]
        return [ResidentSearch(connection, shard, asked, scale, weight) for shard in filled]
    sizes = indexed.sizes(connection)
    model = vectors.model_of(connection)
    asked = query if model is not None and model[0] == name else words_only
    is_loading = resident_index is not None
    return [
        FileSearch(
            connection,
            partition,
            words_only if is_loading and sizes.get(partition, 0) > WORTH_WAITING else asked,
            scale,
            weight,
        )
        for place, partition in enumerate(names)
        if not place or partition in sizes
    ]


def find_relevant(
    memory: Memory, connection: Connection, plan: RecallPlan, query: Query
) -> tuple[list[Hit], str]:
    """Return the best that pass, facts and turns, best first, and what ran to find them."""
    searches = open_partitions(
        memory,
        connection,
        plan.partitions,
        query,
        plan.real_weight,
        is_past=plan.as_of is not None,
    )
    facts, *rest = (
        select_best(connection, search, plan.where, plan.limit, narrow=plan.narrow)
        for search in searches
    )
    turns = [replace(hit, score=plan.turn_weight * hit.score) for hits in rest for hit in hits]
    mode = searches[-1].mode if turns and not facts else searches[0].mode
    if plan.least:
        facts, turns = (
            [hit for hit in hits if hit.score >= plan.least] for hits in (facts, turns)
        )
    if plan.turn_weight == 1:
        return sort_by_score([*facts, *turns])[: plan.limit], mode
    return join_turns(facts, turns, plan.limit), mode


def join_turns(facts: Sequence[Hit], turns: Sequence[Hit], n: int) -> list[Hit]:
    """
    Return the best n of facts (and perceptions) and of turns, best first.

    As long as facts are left that are half as good as the best turn, turns take half of the
    places at most, however many they are.
    """
    good = [hit for hit in facts if not turns or hit.score >= turns[0].score * _GOOD]
    room = max(n // 2, n - len(good))
    return sort_by_score([*facts, *turns[:room]])[:n]


def sort_by_score(hits: Sequence[Hit]) -> list[Hit]:
    """Return hits by their scores, the newer of equals first."""
    return sorted(hits, key=lambda hit: (-hit.score, -hit.id))


def select_best(
    connection: Connection, search: Search, where: Where, n: int, *, narrow: bool
) -> list[Hit]:
    """
    Return the best n that pass, best first; if fewer pass, all of those that were found.

    Where a restriction is `narrow`, the ids that pass are found first if they are few. Else the
    ranking is walked from its top until enough of it passes.
    """
    if narrow:
        passing = find_few(connection, where, int(_FEW * math.sqrt(search.size)))
        if passing is not None:
            return search.score(passing, n)
    asked = n + MARGIN
    while True:
        found = search.rank(asked)
        passed = fulltext.select_passing(connection, found, where)
        if len(passed) >= n + _SPARE or len(found) < asked:
            return search.score([one for one in found if one in passed], n)
        if asked > _FAR:
            return search.score(memories.find_ids(connection, where), n)
        asked *= 4
