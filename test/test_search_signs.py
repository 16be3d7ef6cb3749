"""A first look at signs: what it finds, and that ranking without it is exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from robot_memory.embedding import Calibration, quantisation
from robot_memory.embedding.calibration import Cosines, compute_relevance
from robot_memory.embedding.vectorizer import QueryVector
from robot_memory.search import matrix as matrix_module
from robot_memory.search import ranking, resident_search, scoring
from robot_memory.search.query import Query, QueryTerms
from robot_memory.search.resident_search import ResidentSearch
from robot_memory.search.shard import Shard
from robot_memory.search.signs import CAN_COUNT, Signs
from robot_memory.storage.indexes.indexed import Row

SCALE = Calibration(unrelated=0.0, paraphrase=1.0)
TERMS = range(1, 6)
counts_bits = pytest.mark.skipif(not CAN_COUNT, reason='numpy before 2 does not count bits')


def unit(vectors: NDArray[Any]) -> NDArray[np.float32]:
    made: NDArray[np.float32] = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return made.astype(np.float32)


def make_row(memory_id: int, vector: NDArray[Any] | None, real: bool, terms: list[int]) -> Row:
    coarse = None if vector is None else quantisation.split(vector)[0].tobytes()
    return Row(memory_id, 'c', real, np.array(sorted(terms), '<u4').tobytes(), coarse)


def ask(shard: Shard, vector: NDArray[np.float32] | None, *, is_exact: bool) -> ResidentSearch:
    terms = {term: f'term{term}' for term in TERMS}
    query_terms = QueryTerms(terms, {}, {}, {}, {}, [], frozenset(TERMS))
    asked = None
    if vector is not None:
        asked = QueryVector(vector, quantisation.split(vector)[0], 'model', SCALE)
    query = Query(query_terms, asked)
    connection: Any = None  # ranking by the coarse planes reads no file
    return ResidentSearch(connection, shard, query, 1.5, is_exact=is_exact)


def rank_all(shard: Shard, vector: NDArray[np.float32] | None, limit: int) -> list[int]:
    """Rank by the score of every row, none left out."""
    terms = {term: f'term{term}' for term in TERMS}
    query_terms = QueryTerms(terms, {}, {}, {}, {}, [], frozenset(TERMS))
    holding = shard.find_holding(TERMS)
    counts = {term: sum(map(len, parts)) for term, parts in holding.items()}
    worth = scoring.weigh(query_terms, shard.count - shard.dead, counts)
    sums = ranking.cover(holding, worth, shard.count)
    covered = ranking.cover_each(sums, worth.asked)
    trust, relevance, known = 1.0, None, sums > 0
    if vector is not None:
        cosines = Cosines(shard.cosines(quantisation.split(vector)[0]))
        relevance = compute_relevance(cosines, SCALE, None)
        trust = scoring.trust_words(float(covered.max(initial=0)))
        known |= cosines.first > -2
    scores = ranking.Scorer(1.5, trust).score(covered, relevance, shard.real[: shard.count])
    rows = np.flatnonzero(known)
    ids = shard.ids[rows]
    best: list[int] = ids[np.lexsort((-ids, -scores[rows]))[:limit]].tolist()
    return best


@settings(max_examples=60)
@given(
    st.integers(0, 10_000),
    st.integers(1, 400),
    st.integers(1, 40),
    st.sampled_from((0.0, 0.3, 1.0)),
    st.booleans(),
)
def test_what_pruning_leaves_out_is_not_among_the_best(
    seed: int, size: int, limit: int, real: float, by_meaning: bool
) -> None:
    chance = np.random.default_rng(seed)
    vectors = unit(chance.normal(size=(size, 16)) + chance.normal(size=16))
    shard = Shard()
    shard.extend(
        [
            make_row(
                i + 1,
                vectors[i] if chance.random() < 0.9 else None,
                bool(chance.random() < real),
                [term for term in TERMS if chance.random() < 0.4 / term],
            )
            for i in range(size)
        ]
    )
    for gone in chance.integers(1, size + 1, size // 10).tolist():
        shard.drop(gone)
    asked = unit(chance.normal(size=16)) if by_meaning else None
    found = ask(shard.snapshot(), asked, is_exact=True).rank(limit)
    if by_meaning and limit >= shard.count - shard.dead:  # all that is found, in any order
        assert set(found) == set(rank_all(shard, asked, size))
    else:
        assert found == rank_all(shard, asked, limit)


@given(st.lists(st.sampled_from((0.0, 0.5, 0.75, 1.0)), max_size=2000), st.integers(1, 30))
def test_the_newest_of_equals_are_selected(values: list[float], limit: int) -> None:
    places = ranking.select_newest(np.array(values, np.float32), limit).tolist()
    best = sorted(range(len(values)), key=lambda i: (-values[i], -i))[:limit]
    assert places == sorted(i for i in best if values[i] > 0)


@counts_bits
def test_signs_find_what_is_near_also_where_it_came_later() -> None:
    chance = np.random.default_rng(5)
    vectors = unit(chance.normal(size=(4000, 100)))
    planes, _ = quantisation.split(vectors)
    signs = Signs(planes[:3000])
    signs.put(np.arange(3000, 4000), planes[3000:], 4096)
    near = unit(vectors + unit(chance.normal(size=vectors.shape)) / 2)
    for i in range(0, 4000, 37):
        found = signs.find_likely(quantisation.split(near[i])[0], 4000, 100)
        assert i in found
        assert len(found) < 400


@counts_bits
def test_a_search_by_signs_finds_the_best_and_can_be_switched_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(matrix_module, 'ENOUGH', 1000)
    monkeypatch.setattr(resident_search, '_LEAST', 1000)
    chance = np.random.default_rng(7)
    topics = unit(chance.normal(size=(60, 128)))
    vectors = unit(topics[chance.integers(0, 60, 20_000)] + chance.normal(size=(20_000, 128)) / 9)
    shard = Shard()
    for start in range(0, 20_000, 5000):
        shard.extend(
            [
                make_row(i + 1, vectors[i], False, [1] if i % 9 == 0 else [])
                for i in range(start, start + 5000)
            ]
        )
        shard.take_signs()
    hits = 0
    for i in range(0, 2000, 40):
        asked = unit(vectors[i] + unit(chance.normal(size=128)) / 2)
        best = rank_all(shard, asked, 10)
        assert ask(shard.snapshot(), asked, is_exact=True).rank(10) == best
        hits += len({*best} & {*ask(shard.snapshot(), asked, is_exact=False).rank(42)[:10]})
    assert hits >= 0.97 * 500
    replaced = unit(-vectors[5])
    shard.put(make_row(6, replaced, False, []))
    shard.put(make_row(20_001, replaced, False, []))
    assert ask(shard.snapshot(), replaced, is_exact=False).rank(2) == [20_001, 6]
