"""Searching: a copy in memory and the file alone give the same answer, whoever writes."""

from __future__ import annotations

import copy
import random
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from amounts import few_or_many
from hypothesis import given, settings
from hypothesis import strategies as st
from narrowing import require
from numpy.typing import NDArray
from robots import Robot, fill, sentence
from waiting import HANG_SECONDS

from robot_memory.embedding import BackgroundEmbedder, quantisation
from robot_memory.embedding.quantisation import split
from robot_memory.retrieval.relevance import open_partitions
from robot_memory.search import query as query_module
from robot_memory.search import resident
from robot_memory.search import shard as shard_module
from robot_memory.search.postings import Postings
from robot_memory.storage import Connection, Database
from robot_memory.storage.indexes import indexed, vectors
from robot_memory.storage.indexes.partitions import Partition
from robot_memory.text.tokenizer import parse_query

Embedders = dict[int, BackgroundEmbedder]
Open = Callable[..., Robot]


@given(st.lists(st.floats(-1, 1, width=32), min_size=2, max_size=40).filter(any))
def test_two_planes_hold_a_vector(values: list[float]) -> None:
    vector = np.array(values, np.float32)
    if (length := np.linalg.norm(vector)) < 1e-6:
        return
    vector /= length
    coarse, fine = quantisation.split(vector)
    greatest = np.abs(vector).max()
    joined = quantisation.join(coarse, fine)
    assert np.abs(joined - vector).max() <= 1e-3 * greatest + 1e-6
    assert (quantisation.unpack([(1, *quantisation.pack(vector))])[1] == joined).all()
    assert float(quantisation.join(coarse, np.zeros_like(fine)) @ vector) > 0.99


TERMS = st.lists(st.integers(0, 2**32 - 1) | st.integers(0, 5), max_size=8)


@settings(max_examples=60)
@given(st.lists(st.tuples(st.integers(0, 9), TERMS, st.sampled_from('-md')), max_size=25))
def test_postings_are_what_each_row_holds(steps: list[tuple[int, list[int], str]]) -> None:
    postings = Postings()
    truth: dict[int, Any] = {}
    for row, terms, after in steps:
        row = min(row, len(truth))
        snapshot, before = copy.copy(postings), {key: list(held) for key, held in truth.items()}
        hashes = np.unique(np.array(terms, np.uint32))
        if row in truth:
            postings.change(row, hashes, len(truth))
        else:
            postings.extend(hashes, np.full(len(hashes), row, np.int32))
        truth[row] = terms
        if after == 'd':
            truth[row] = []
        if after != '-':
            postings = postings.merge(np.array([bool(held) for held in truth.values()], np.bool_))
        assert_holds(snapshot, before)
        assert_holds(postings, truth)


def assert_holds(postings: Postings, truth: dict[int, list[int]]) -> None:
    for term in {0, *(term for terms in truth.values() for term in terms)}:
        found = np.concatenate([[], *postings.find_each([term])[term]]).astype(int).tolist()
        assert sorted(found) == [row for row, terms in truth.items() if term in terms]


@pytest.mark.parametrize('models', [1, 2])
def test_the_file_alone_and_the_copy_in_memory_answer_alike(
    open_robot: Open,
    tiny_embedders: Embedders,
    english_embedder: BackgroundEmbedder,
    models: int,
) -> None:
    second = english_embedder if models == 2 else None
    plain = open_robot(embedder=tiny_embedders[16], second=second, resident=False)
    copied = open_robot(embedder=tiny_embedders[16], second=second, resident=True)
    plain.embed_all()
    ids = fill(plain, few_or_many(150, 300))
    fill(plain, 30, 'lab')
    for memory_id in ids[::7]:
        plain.forget(memory_id, 'wrong')
    for memory_id in ids[1::50]:
        plain.update(memory_id, f'the {memory_id} door jams in the lab 红色的杯子')
    chance = random.Random(5)
    modes: Any = Counter()
    asked: Any = Counter()
    for question in [
        *(sentence(chance, 3) for _ in range(few_or_many(10, 20))),
        '红杯子',
        'zebra',
        '17',
    ]:
        for collection in ('default', 'lab', 'nowhere'):
            for filter_ in (None, {'memory_id': {'$lt': 50}}):
                one, other = (
                    robot.recall(question, n=20, collection=collection, context_filter=filter_)
                    for robot in (plain, copied)
                )
                modes[one.mode] += 1
                assert one.mode == other.mode
                assert one.models == other.models
                asked[len(one.models)] += 1
                assert [m._rrf_score for m in one.memories] == pytest.approx(
                    [m._rrf_score for m in other.memories], abs=2e-5
                )
                least = one.memories[-1]._rrf_score + 1e-4 if one.memories else 0
                sure = {m.id for m in one.memories if m._rrf_score > least}
                assert sure <= {m.id for m in other.memories}
    assert modes['hybrid'] and modes['vec_only']
    assert asked[models] and max(asked) == models


def test_what_other_collections_hold_changes_no_score(robot: Robot) -> None:
    fill(robot, 50)
    before = robot.recall('red cup door', n=20).memories
    fill(robot, 100, 'elsewhere', seed=7)
    after = robot.recall('red cup door', n=20).memories
    assert [(m.id, m._rrf_score) for m in before] == [(m.id, m._rrf_score) for m in after]


def test_the_copy_follows_what_other_processes_write(
    open_robot: Open, tiny_embedders: Embedders
) -> None:
    writer = open_robot(embedder=tiny_embedders[8], resident=False)
    writer.embed_all()
    reader = open_robot(embedder=tiny_embedders[8], resident=True)
    (first,) = fill(writer, 1)

    def known() -> set[int]:
        vector = reader.memory.embed_query('red cup')
        with reader.memory.db.read() as connection:
            words = parse_query('')
            (search,) = open_partitions(
                reader.memory, connection, [Partition('default')], words, vector
            )
            return set(search.rank(1000))

    assert known() == {first}
    more = fill(writer, few_or_many(200, 600), seed=1)
    assert known() == {first, *more}
    writer.forget(first, 'wrong')
    for memory_id in more[: len(more) // 2]:
        writer.update(memory_id, f'the door jams for the {memory_id}th time')
    assert known() == set(more)
    assert reader.recall('door jams', n=100).total == 100


def test_a_copy_that_comes_too_late_reads_everything_anew(open_robot: Open) -> None:
    writer, reader = open_robot(resident=False), open_robot(resident=True)
    kept = fill(writer, 20)
    assert len(reader.contents(query='cup door gripper', n=100, min_confidence=0)) > 0
    writer.forget(kept[0], 'wrong')
    writer.learn('an okapi stands in the door')
    with writer.memory.db.write() as connection:
        connection.execute('DELETE FROM changes WHERE seq < (SELECT max(seq) FROM changes)')
    assert reader.contents(query='okapi') == ['an okapi stands in the door']
    assert kept[0] not in {m.id for m in reader.recall('cup door gripper', n=100).memories}


def test_a_state_from_before_the_latest_change_tells_of_no_change(robot: Robot) -> None:
    (first,) = fill(robot, 1)
    with robot.memory.db.read() as before:
        before.execute('SELECT 1 FROM changes')  # the snapshot begins
        (second,) = fill(robot, 1, seed=1)
        with robot.memory.db.read() as after:
            _, last, changed = require(indexed.read_changes(after, 1))
        assert (last, changed) == (2, {second: 'default'})
        assert require(indexed.read_changes(before, 0))[1:] == (1, {first: 'default'})
        assert require(indexed.read_changes(before, last))[1:] == (last, {})


def test_the_log_of_changes_does_not_grow_without_end(
    robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(indexed, 'KEPT_CHANGES', 50)
    monkeypatch.setattr(indexed, '_PRUNE_EVERY', 10)
    fill(robot, 100)
    ((kept,),) = robot.rows('SELECT count(*) FROM changes')
    assert 50 <= kept <= 60
    assert len(robot.recall('red cup door', n=100).memories) > 10


def test_the_copy_is_made_anew_for_another_model(tmp_path: Path) -> None:
    database = Database(tmp_path / 'x.db', 'normal')
    copy = resident.ResidentIndex()
    with database.write() as connection:
        indexed.put(connection, 1, 'c', False, b'', None)
    for dimension in (4, 6, 4):
        vector = np.full(dimension, dimension**-0.5, np.float32)
        with database.write() as connection:
            vectors.use_model(connection, f'model of {dimension}', dimension)
            vectors.put(connection, 1, vector)
        with database.read() as connection:
            shard = copy.shard(connection, 'c')
            assert require(shard).cosines(split(vector)[0]) == pytest.approx([1.0])
    database.close()


def test_a_large_store_answers_by_words_until_it_is_loaded(
    open_robot: Open, tiny_embedders: Embedders, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = open_robot(embedder=tiny_embedders[8], resident=False)
    writer.embed_all()
    fill(writer, 60)
    monkeypatch.setattr(resident, 'AT_ONCE', 10)
    monkeypatch.setattr(resident, 'WORTH_WAITING', 20)
    copy = resident.ResidentIndex()
    with writer.memory.db.read() as connection:
        assert copy.shard(connection, 'default') is None
        assert not copy.load(connection, lambda: True)
        assert copy.shard(connection, 'default') is None
        assert copy.load(connection, lambda: False)
        shard = copy.shard(connection, 'default')
    assert (require(shard).count, require(shard).has_vectors) == (60, True)


def test_after_one_answer_from_the_file_calls_wait_for_the_copy(
    open_robot: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No answer from the file competes with the loading: recall's 95th percentile was 28 times."""
    robot = open_robot(resident=False)
    fill(robot, 60)
    monkeypatch.setattr(resident, 'AT_ONCE', 10)
    copy = resident.ResidentIndex()
    reading, go_on, scans = threading.Event(), threading.Event(), []
    everything = indexed.read_all

    def read_slowly(connection: Connection, batch: int) -> Iterator[list[indexed.PlainRow]]:
        scans.append(threading.current_thread().name)
        reading.set()
        assert go_on.wait(HANG_SECONDS)
        yield from everything(connection, batch)

    monkeypatch.setattr(indexed, 'read_all', read_slowly)

    def ask() -> int | None:
        with robot.memory.db.read() as connection:
            shard = copy.shard(connection, 'default')
        return None if shard is None else shard.count

    def load() -> bool:
        with robot.memory.db.read() as connection:
            return copy.load(connection, lambda: False)

    with ThreadPoolExecutor() as threads:
        loaded = threads.submit(load)
        assert reading.wait(HANG_SECONDS)
        assert ask() is None
        waiting = [threads.submit(ask) for _ in range(3)]
        go_on.set()
        assert loaded.result(HANG_SECONDS)
        assert [one.result(HANG_SECONDS) for one in waiting] == [60, 60, 60]
    assert len(scans) == 1


def test_a_copy_that_nobody_loads_is_loaded_by_the_second_call(
    open_robot: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    robot = open_robot(resident=False)
    fill(robot, 60)
    monkeypatch.setattr(resident, 'AT_ONCE', 10)
    copy = resident.ResidentIndex()
    with robot.memory.db.read() as connection:
        assert copy.shard(connection, 'default') is None
        shard = copy.shard(connection, 'default')
    assert shard is not None
    assert shard.count == 60


def test_a_snapshot_stays_as_it_was(open_robot: Open) -> None:
    robot = open_robot(resident=False)
    fill(robot, 30)
    copy = resident.ResidentIndex()
    with robot.memory.db.read() as connection:
        shard = copy.shard(connection, 'default')
        term = int(require(shard)._postings._segments[0].terms[0])
        before = list_rows(require(shard), term)
    fill(robot, 200, seed=3)
    with robot.memory.db.read() as connection:
        assert require(copy.shard(connection, 'default')).count == 230
    assert require(shard).count == 30
    assert list_rows(require(shard), term) == before
    assert before


def list_rows(shard: shard_module.Shard, term: int) -> list[list[int]]:
    return [rows.tolist() for rows in shard.find_holding([term])[term]]


def unit(vectors: NDArray[Any]) -> NDArray[Any]:
    made: NDArray[Any] = vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)
    return made


def row(memory_id: int, vector: NDArray[Any]) -> indexed.Row:
    coarse, _ = quantisation.split(vector.astype(np.float32))
    return indexed.Row(memory_id, 'c', False, b'', coarse.tobytes())


Merged = tuple[shard_module.Shard, NDArray[Any], np.random.Generator]


@pytest.fixture
def merged(monkeypatch: pytest.MonkeyPatch) -> Merged:
    """A shard in cells, what is asked near each row, and chance; it changed while it merged."""
    monkeypatch.setattr(shard_module, 'LARGE', 1000)
    monkeypatch.setattr(shard_module, '_OUTSIDE', 50)
    chance = np.random.default_rng(2)
    topics = unit(chance.normal(size=(40, 64)))
    kept = unit(topics[chance.integers(0, 40, 6000)] + chance.normal(size=(6000, 64)) / 9)
    noise = unit(chance.normal(size=(6000, 64)))
    asked = unit(kept + noise / 3).astype(np.float32)
    shard = shard_module.Shard()
    shard.extend([row(i + 1, vector) for i, vector in enumerate(kept)])
    assert shard.needs_merge
    snapshot = shard.snapshot()
    shard.put(row(6001, asked[0]))
    shard.put(row(7, asked[1]))
    shard.drop(3)
    shard.adopt(snapshot, snapshot.merge())
    assert not shard.needs_merge
    return shard, asked, chance


def find_near(shard: shard_module.Shard, query: NDArray[np.float32]) -> NDArray[np.int64]:
    return shard.compare_near(query).find_above(0.9)[0]


def test_cells_find_what_is_very_near(merged: Merged) -> None:
    shard, asked, _ = merged
    found = [i in find_near(shard, query) for i, query in enumerate(asked) if i not in (2, 6)]
    assert np.mean(found) > 0.99
    assert all(shard.cosines(split(asked[9])[0], find_near(shard, asked[9])) > 0.9)


def test_what_changed_while_a_shard_merged_is_found_as_it_is_now(merged: Merged) -> None:
    shard, asked, _ = merged
    assert {0, 6000} <= set(find_near(shard, asked[0]).tolist())
    assert {1, 6} <= set(find_near(shard, asked[1]).tolist())
    assert 2 not in find_near(shard, asked[2])


def test_a_further_merge_covers_all_rows_with_the_cells_there_are(merged: Merged) -> None:
    shard, asked, chance = merged
    before = require(shard.snapshot().merge()._cells)
    for i in range(6002, 6200):
        shard.put(row(i, unit(chance.normal(size=64))))
    assert shard.needs_merge
    again = shard.snapshot().merge()
    cells = require(again._cells)
    assert (cells.trained_on, cells.covered) == (before.trained_on, shard._first.used)
    assert cells.trained_on < shard.count < cells.covered
    assert {0, 6000} <= set(find_near(again, asked[0]).tolist())


def test_an_id_that_is_not_there_gives_no_other_row() -> None:
    shard = shard_module.Shard()
    shard.extend([row(i, np.ones(4)) for i in (2, 4, 6, 8)])
    shard.drop(6)
    assert shard.ids[shard.rows_of([1, 2, 3, 4, 5, 6, 9, 8])].tolist() == [2, 4, 8]


def test_a_copy_with_many_dead_rows_answers_while_it_is_made_anew(open_robot: Open) -> None:
    robot = open_robot(resident=False)
    kept = fill(robot, 40)
    copy = resident.ResidentIndex()
    with robot.memory.db.read() as connection:
        assert require(copy.shard(connection, 'default')).count == 40
    for memory_id in kept[:30]:
        robot.forget(memory_id, 'wrong')
    copy._is_wasteful = True
    with robot.memory.db.read() as connection:
        shard = copy.shard(connection, 'default')
        assert (require(shard).count, require(shard).dead) == (40, 30)
        assert copy.load(connection, lambda: False)
        shard = copy.shard(connection, 'default')
        assert (require(shard).count, require(shard).dead) == (10, 0)


def test_a_row_that_returns_holds_its_terms_though_they_were_sorted_out() -> None:
    shard = shard_module.Shard()
    rows = [indexed.Row(i, 'a', False, np.array([7, i], '<u4').tobytes(), None) for i in (8, 9)]
    shard.extend(rows)
    shard.drop(8)
    shard.sort_terms()
    assert list_rows(shard, 7) == [[1]]
    shard.put(rows[0])
    assert sorted(np.concatenate(shard.find_holding([7])[7]).tolist()) == [0, 1]
    assert list_rows(shard, 8) == [[0]]


def test_where_few_are_sure_enough_they_are_found_before_any_ranking(
    robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance, ids = random.Random(8), fill(robot, 120)
    with robot.memory.db.write() as connection:
        for memory_id in ids:
            level = chance.choice((0.31, 0.31, 0.31, 0.5, 0.97))
            connection.execute(
                'UPDATE memories SET confidence = ? WHERE id = ?', (level, memory_id)
            )

    def recall(least: float) -> list[str]:
        return robot.contents(query='the red cup slips', n=5, min_confidence=least)

    levels = (0.0, 0.3, 0.4, 0.5, 0.9, 0.97, 0.98)
    walked = [recall(least) for least in levels]
    monkeypatch.setattr(query_module, '_LARGE', 0)
    for scant in (0, 10, 1000):
        monkeypatch.setattr(query_module, '_SCANT', scant)
        assert [recall(least) for least in levels] == walked
    assert walked[0] and walked[-2] and not walked[-1]
