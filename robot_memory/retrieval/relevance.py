"""Ranking by relevance: facts and perceptions, and turns beside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from robot_memory.memory import Memory
from robot_memory.retrieval.plan import RecallPlan
from robot_memory.retrieval.spoken import SPARE, drop_repeats, weigh_speakers
from robot_memory.retrieval.turns import POOL, rank_in_sessions
from robot_memory.search.file_search import FileSearch, count_partitions
from robot_memory.search.query import (
    WORTH_WAITING,
    Hit,
    Query,
    QueryTerms,
    Search,
    hash_terms,
    sort_by_score,
)
from robot_memory.storage import Connection
from robot_memory.storage.indexes import fulltext, indexed, other_vectors, vectors
from robot_memory.storage.indexes.other_vectors import SecondModel
from robot_memory.storage.indexes.partitions import Partition
from robot_memory.storage.indexes.set_aside import (
    AVOIDED,
    VECTORS,
    WORDS,
    is_avoided,
)
from robot_memory.text.tokenizer import TermQuery

if TYPE_CHECKING:
    from robot_memory.embedding.vectorizer import QueryVector
    from robot_memory.search.resident import ResidentIndex

_GOOD = 0.5


def open_partitions(
    memory: Memory,
    connection: Connection,
    asked: Sequence[Partition],
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
    terms = hash_terms(connection, words)
    weight = memory.settings.real_weight if real_weight is None else real_weight
    resident_index = None if is_past else memory.resident_index
    if AVOIDED.get() and not is_past:
        if memory.resident_index is not None:
            memory.resident_index.forget_masks()
        resident_index = _find_copy(memory, connection)
    known = None
    if resident_index is not None:
        known = resident_index.snapshot(connection, [name for name, _ in asked])
    if known is not None:
        from robot_memory.search.resident_search import ResidentSearch

        query = _ask_models(terms, vector, known.model, known.second)
        return [
            ResidentSearch(
                connection,
                shard,
                query,
                weight,
                trusts_words=is_of_turns,
                is_exact=memory.settings.exact_search,
            )
            for place, ((_, is_of_turns), shard) in enumerate(
                zip(asked, known.shards, strict=True)
            )
            if not place or shard.count > shard.dead
        ]
    sizes = count_partitions(connection)
    stored = vectors.model_of(connection)
    second = other_vectors.find_second(connection)
    query = _ask_models(terms, vector, None if stored is None else stored[0], second)
    words_only = Query(terms)
    is_loading = resident_index is not None
    return [
        FileSearch(
            connection,
            name,
            words_only if is_loading and sizes.get(name, 0) > WORTH_WAITING else query,
            weight,
            trusts_words=is_of_turns,
        )
        for place, (name, is_of_turns) in enumerate(asked)
        if not place or name in sizes
    ]


def _find_copy(memory: Memory, connection: Connection) -> ResidentIndex | None:
    """Return the copy in memory; one for this call alone where the full-text index is damaged."""
    if is_avoided(VECTORS):
        return None
    if memory.resident_index is not None or not is_avoided(WORDS):
        return memory.resident_index
    if sum(indexed.sizes(connection).values()) > WORTH_WAITING:
        return None
    from robot_memory.search.resident import ResidentIndex

    copy = ResidentIndex()
    copy.load(connection, lambda: False)
    return copy


def _ask_models(
    terms: QueryTerms, vector: QueryVector | None, first: str | None, second: SecondModel | None
) -> Query:
    """Return what of a question can be asked of vectors of these models."""
    if vector is None or vector.model != first:
        return Query(terms)
    if vector.second is None or second is None or vector.second.model != second.name:
        return Query(terms, vector)
    return Query(terms, vector, vector.second, second)


def find_relevant(
    memory: Memory,
    connection: Connection,
    plan: RecallPlan,
    words: TermQuery,
    vector: QueryVector | None,
) -> tuple[list[Hit], str, tuple[str, ...]]:
    """
    Return the best that pass, facts and turns, best first, and what ran to find them.

    That is the mode, and the names of the models that were asked.
    """
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
    first, *rest = searches
    most = plan.limit + (SPARE if rest else 0)
    facts = first.select_best(plan.where, most, narrow=plan.narrow)
    turns: list[Hit] = []
    for search in rest:
        found = search.select_best(plan.where, max(most, POOL), narrow=plan.narrow)
        said = rank_in_sessions(connection, search, plan.where, found)[:most]
        turns += [hit.scale(plan.turn_weight) for hit in said]
    if plan.named:
        facts, turns = (weigh_speakers(connection, plan.named, hits) for hits in (facts, turns))
    if may_drop and turns:
        facts, turns = drop_repeats(connection, facts, turns)
    facts, turns = facts[: plan.limit], turns[: plan.limit]
    mode = searches[-1].mode if turns and not facts else first.mode
    models = max((search.models for search in searches), key=len)
    if plan.least:
        facts, turns = (
            [hit for hit in hits if hit.score >= plan.least] for hits in (facts, turns)
        )
    if not turns:
        return facts, mode, models
    if plan.turn_weight == 1:
        return sort_by_score([*facts, *turns])[: plan.limit], mode, models
    return join_turns(facts, turns, plan.limit), mode, models


def find_matched(
    connection: Connection, plan: RecallPlan, ids: Sequence[int]
) -> dict[int, tuple[str, ...]]:
    """Return by memory the terms of a plan's query that it holds, in the query's order."""
    if plan.terms is None:
        return {}
    terms = hash_terms(connection, plan.terms)
    asked = {**terms.terms, **terms.kinds, **terms.fallback}
    found = {}
    for row in indexed.fetch(connection, ids):
        held = fulltext.unpack(row.terms)
        found[row.memory_id] = tuple(
            dict.fromkeys(term for key, term in asked.items() if key in held)
        )
    return found


def join_turns(facts: Sequence[Hit], turns: Sequence[Hit], n: int) -> list[Hit]:
    """
    Return the best n of facts (and perceptions) and of turns, best first.

    As long as facts are left that are half as good as the best turn, turns take half of the
    places at most, however many they are.
    """
    good = [hit for hit in facts if not turns or hit.score >= turns[0].score * _GOOD]
    room = max(n // 2, n - len(good))
    return sort_by_score([*facts, *turns[:room]])[:n]
