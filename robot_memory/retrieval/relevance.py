"""Ranking by relevance: facts and perceptions, and turns beside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from robot_memory.embedding.vectorizer import QueryVector
from robot_memory.memory import Memory
from robot_memory.retrieval.plan import RecallPlan
from robot_memory.retrieval.spoken import SPARE, drop_repeats, weigh_speakers
from robot_memory.search.file_search import FileSearch
from robot_memory.search.query import Hit, Query, Search, hash_terms
from robot_memory.search.resident import WORTH_WAITING, ResidentSearch
from robot_memory.storage import Connection
from robot_memory.storage.indexes import indexed, vectors
from robot_memory.text.tokenizer import TermQuery

_GOOD = 0.5


def open_partitions(
    memory: Memory,
    connection: Connection,
    names: Sequence[str],
    words: TermQuery,
    vector: QueryVector | None,
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
    query = Query(hash_terms(connection, words), vector)
    model = None if vector is None else vector.model
    weight = memory.settings.real_weight if real_weight is None else real_weight
    words_only = replace(query, vector=None)
    resident_index = None if is_past else memory.resident_index
    known = None if resident_index is None else resident_index.snapshot(connection, names)
    if known is not None:
        asked = query if known.model == model else words_only
        filled = [
            shard
            for place, shard in enumerate(known.shards)
            if not place or shard.count > shard.dead
        ]
        return [ResidentSearch(connection, shard, asked, weight) for shard in filled]
    sizes = indexed.sizes(connection)
    stored = vectors.model_of(connection)
    asked = query if stored is not None and stored[0] == model else words_only
    is_loading = resident_index is not None
    return [
        FileSearch(
            connection,
            partition,
            words_only if is_loading and sizes.get(partition, 0) > WORTH_WAITING else asked,
            weight,
        )
        for place, partition in enumerate(names)
        if not place or partition in sizes
    ]


def find_relevant(
    memory: Memory,
    connection: Connection,
    plan: RecallPlan,
    words: TermQuery,
    vector: QueryVector | None,
) -> tuple[list[Hit], str]:
    """Return the best that pass, facts and turns, best first, and what ran to find them."""
    searches = open_partitions(
        memory,
        connection,
        plan.partitions,
        words,
        vector,
        plan.real_weight,
        is_past=plan.as_of is not None,
    )
    # A narrow answer is filled up with all that passes: there a turn stands beside its statement.
    may_drop = not (plan.fills and plan.narrow)
    facts, *rest = (
        search.select_best(plan.where, plan.limit + SPARE, narrow=plan.narrow)
        for search in searches
    )
    turns = [replace(hit, score=plan.turn_weight * hit.score) for hits in rest for hit in hits]
    facts, turns = (weigh_speakers(connection, plan.query, hits) for hits in (facts, turns))
    if may_drop:
        facts, turns = drop_repeats(connection, facts, turns)
    facts, turns = facts[: plan.limit], turns[: plan.limit]
    mode = searches[-1].mode if turns and not facts else searches[0].mode
    if plan.least:
        facts, turns = (
            [hit for hit in hits if hit.score >= plan.least] for hits in (facts, turns)
        )
    if not turns:
        return facts, mode
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
