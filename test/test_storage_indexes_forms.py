"""Vectors of forms: one for all events of which a detector says the same but for figures."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from narrowing import require
from numpy.typing import NDArray
from old_stores import fixture, opened
from robots import Robot, check_file, fill, run_maintenance, sentence

from robot_memory.embedding import BackgroundEmbedder, quantisation
from robot_memory.lifecycle.perceptions import Perception, store_perception
from robot_memory.search import shard as shard_module
from robot_memory.storage import checksums
from robot_memory.storage.indexes import forms, indexed, vectors
from robot_memory.storage.tables.event_keys import Identity

Embedders = dict[int, BackgroundEmbedder]
Open = Callable[..., Robot]
SECOND = 10**9
COUNTS = 'SELECT count(*), count(coarse) FROM form_vectors'


def detect(robot: Robot, text: str, number: int, collection: str = 'default') -> int:
    """Store what a detector says of an event, each at a time of its own."""
    at = 1_772_000_000 * SECOND + number * 60 * SECOND
    found = Perception(
        text,
        'tactile',
        collection,
        stamp=at,
        context={'sense': {'detector': 'contact', 'topic': '/wrench', 'source': 'arm'}},
        identity=Identity('arm', '/wrench', 'contact', at, at, at + SECOND),
    )
    return store_perception(robot.memory, found).memory_id


@pytest.fixture
def pair(
    open_robot: Open, tiny_embedders: Embedders, english_embedder: BackgroundEmbedder
) -> Robot:
    """A store with two models, without a copy in memory."""
    robot = open_robot(embedder=tiny_embedders[8], second=english_embedder, resident=False)
    robot.embed_all()
    return robot


def test_events_that_differ_in_figures_share_one_vector_of_each_model(pair: Robot) -> None:
    ids = [detect(pair, f'the gripper jams on the left shelf for {i}.5 s', i) for i in range(6)]
    other = detect(pair, 'the red cup slips for 3 s', 9)
    assert pair.rows('SELECT count(*) FROM forms') == [(2,)]
    assert pair.rows(COUNTS) == [(4, 4)]
    assert pair.rows('SELECT count(coarse) FROM indexed') == [(0,)]
    assert pair.rows('SELECT count(*) FROM other_vectors') == [(0,)]
    found = pair.recall('where does the gripper jam', n=10)
    assert [memory.id for memory in found.memories] == [*reversed(ids), other]
    assert len(found.models) == 2
    check_file(pair.memory.db.path)


def test_what_a_caller_describes_or_rewrites_has_a_vector_of_its_own(pair: Robot) -> None:
    first, second = (detect(pair, f'the gripper jams for {i} s', i) for i in range(2))
    pair.save_perception('the gripper jams for 7 s', 'tactile')
    pair.update(first, 'the gripper jams in the dark for 7 s')
    assert pair.rows('SELECT memory_id FROM indexed WHERE form IS NOT NULL') == [(second,)]
    assert pair.rows('SELECT count(coarse) FROM indexed') == [(2,)]
    check_file(pair.memory.db.path)


def test_the_last_memory_of_a_form_takes_its_vectors_along(pair: Robot) -> None:
    ids = [detect(pair, f'the gripper jams for {i} s', i) for i in range(3)]
    for memory_id in ids[:2]:
        pair.forget(memory_id, 'wrong')
    assert pair.rows(COUNTS) == [(2, 2)]
    pair.forget(ids[2], 'wrong')
    assert pair.rows(COUNTS) == [(0, 0)]
    pair.undo(ids[2], 'it was right')
    check_file(pair.memory.db.path)
    pair.embed_all()
    assert pair.contents(query='gripper') == ['the gripper jams for 2 s']
    check_file(pair.memory.db.path)


def test_forms_that_were_stored_without_a_model_wait_for_one_vector_each(
    open_robot: Open, tiny_embedders: Embedders, english_embedder: BackgroundEmbedder
) -> None:
    plain = open_robot(resident=False)
    ids = [detect(plain, f'the gripper jams for {i} s', i) for i in range(20)]
    ids += [detect(plain, f'the red cup slips for {i} s', 30 + i) for i in range(3)]
    pair = open_robot(embedder=tiny_embedders[8], second=english_embedder, resident=False)
    pair.memory.embedder.wait()
    steps = run_maintenance(pair)
    assert steps['vectors'].detail == '4 vectors computed'
    assert pair.rows(COUNTS) == [(4, 4)]
    with pair.memory.db.read() as connection:
        assert vectors.count_missing(connection) == 0
        found = vectors.fetch(connection, ids)
    assert set(found) == set(ids)
    before = found[ids[0]]
    detect(pair, 'the gripper jams for 99 s', 99)
    assert pair.rows(COUNTS) == [(4, 4)]
    with pair.memory.db.read() as connection:
        made = require(pair.memory.vectorizer.embed_form('the gripper jams for 5 s')).first
        assert before @ made > 0.9999
    check_file(pair.memory.db.path)


def test_a_known_form_is_not_embedded_again(
    pair: Robot, open_robot: Open, tiny_embedders: Embedders, english_embedder: BackgroundEmbedder
) -> None:
    detect(pair, 'the gripper jams for 3 s', 0)
    again = open_robot(embedder=tiny_embedders[8], second=english_embedder, resident=False)
    assert again.memory.embedder.wait()
    detect(again, 'the gripper jams for 4.5 s', 1)
    assert 'embed_passages' not in again.memory.registry.get_operation_timings()
    assert again.rows(COUNTS) == [(2, 2)]
    detect(again, 'the red cup slips for 4.5 s', 2)
    assert again.rows(COUNTS) == [(4, 4)]


def test_the_vectors_of_forms_outlast_another_first_model(
    open_robot: Open, tiny_embedders: Embedders
) -> None:
    small = open_robot(embedder=tiny_embedders[8], resident=False)
    small.embed_all()
    for number in range(9):
        detect(small, f'the gripper jams for {number} s', number)
    before = small.rows('SELECT coarse, fine FROM form_vectors')
    large = open_robot(embedder=tiny_embedders[16], resident=False)
    large.embed_all()
    assert large.rows('SELECT model, length(coarse) FROM form_vectors ORDER BY 1') == [
        (0, 16),
        (1, 8),
    ]
    detect(large, 'the red cup slips for 3 s', 20)
    again = open_robot(embedder=tiny_embedders[8], resident=False)
    assert list(again.memory.reindexer.run()) == [(1, 0)]
    kept = again.rows('SELECT coarse, fine FROM form_vectors WHERE model = 0 ORDER BY form')
    assert kept[:1] == before
    check_file(again.memory.db.path)


def test_forms_from_before_the_second_model_get_its_vectors(
    open_robot: Open, tiny_embedders: Embedders, english_embedder: BackgroundEmbedder
) -> None:
    alone = open_robot(embedder=tiny_embedders[8], resident=False)
    alone.embed_all()
    for number in range(9):
        detect(alone, f'the gripper jams for {number} s', number)
        detect(alone, f'夹爪卡住 {number} 秒', 20 + number)
    pair = open_robot(embedder=tiny_embedders[8], second=english_embedder, resident=False)
    pair.embed_all()
    assert pair.rows('SELECT model, count(coarse) FROM form_vectors GROUP BY 1') == [
        (0, 2),
        (1, 1),
    ]
    check_file(pair.memory.db.path)


def test_the_nearest_over_forms_are_those_over_rows(pair: Robot) -> None:
    chance = random.Random(3)
    texts = [sentence(chance, 4) for _ in range(5)]
    ids = fill(pair, 30)
    ids += [detect(pair, f'{chance.choice(texts)} {i} s', i) for i in range(60)]
    second = require(pair.memory.vectorizer.get_second())
    with pair.memory.db.read() as connection:
        known = vectors.fetch(connection, ids)
        planes = {id: quantisation.split(vector)[0] for id, vector in known.items()}
        asked = require(pair.memory.embed_query('the red cup is on the left shelf'))
        order = sort_by_cosine(asked.coarse, planes)
        for limit in (1, 7, 40, 200):
            for among in (None, ids[::3], ids[40:]):
                wanted = [id for id in order if among is None or id in among][:limit]
                found = vectors.find_nearest(connection, 'default', asked.coarse, limit, among)
                assert found == wanted
    assert second.name in require(asked.second).model


def sort_by_cosine(query: NDArray[Any], planes: dict[int, NDArray[Any]]) -> list[int]:
    """Return ids, nearest first, the newer of equals first."""

    def measure(plane: NDArray[Any]) -> float:
        one, other = query.astype(np.float64), plane.astype(np.float64)
        return round(float(one @ other / np.linalg.norm(one) / np.linalg.norm(other)), 6)

    return sorted(planes, key=lambda id: (-measure(planes[id]), -id))


@pytest.mark.parametrize('models', [1, 2])
def test_file_and_copy_find_the_same_events(
    open_robot: Open,
    tiny_embedders: Embedders,
    english_embedder: BackgroundEmbedder,
    models: int,
) -> None:
    second = english_embedder if models == 2 else None
    plain = open_robot(embedder=tiny_embedders[16], second=second, resident=False)
    copied = open_robot(embedder=tiny_embedders[16], second=second, resident=True)
    plain.embed_all()
    chance = random.Random(8)
    texts = [sentence(chance, 4) for _ in range(6)]
    copied.recall('red cup')
    fill(plain, 20)
    ids = [detect(plain, f'{chance.choice(texts)} {i} s', i) for i in range(150)]
    for memory_id in ids[::9]:
        plain.forget(memory_id, 'wrong')
    plain.update(ids[1], 'the gripper jams in the dark')
    for question in (*texts, 'red cup', 'zebra', 'wet floor at night'):
        for filter_ in (None, {'memory_id': {'$lt': ids[60]}}):
            one, other = (
                robot.recall(question, n=20, context_filter=filter_) for robot in (plain, copied)
            )
            assert [m.id for m in one.memories] == [m.id for m in other.memories]
            assert [m._rrf_score for m in one.memories] == pytest.approx(
                [m._rrf_score for m in other.memories], abs=2e-5
            )


def test_the_copy_follows_a_form_that_gets_its_vector_later(
    open_robot: Open, tiny_embedders: Embedders
) -> None:
    plain = open_robot(resident=False)
    ids = [detect(plain, f'the gripper jams for {i} s', i) for i in range(5)]
    copied = open_robot(embedder=tiny_embedders[8], resident=True)
    assert copied.memory.embedder.wait()
    copied.recall('gripper')
    copied.embed_all()
    with copied.memory.db.read() as connection:
        shard = require(require(copied.memory.resident_index).shard(connection, 'default'))
        vector = vectors.fetch(connection, ids)[ids[0]]
    assert shard.has_vectors
    cosines = shard.cosines(quantisation.split(vector)[0])
    assert cosines == pytest.approx(np.ones(5), abs=1e-3)
    ((changes,),) = copied.rows('SELECT count(*) FROM changes WHERE memory_id < 0')
    assert changes == 1


def test_a_rebuild_keeps_the_vectors_of_forms(pair: Robot) -> None:
    for number in range(5):
        detect(pair, f'the gripper jams for {number} s', number)
    first = detect(pair, 'the red cup slips for 1 s', 20)
    pair.update(first, 'the red cup slips twice')
    before = pair.rows('SELECT * FROM form_vectors'), pair.rows('SELECT coarse FROM indexed')
    with pair.memory.db.write() as connection:
        connection.execute("UPDATE meta SET value = 0 WHERE key = 'derived_rules'")
    path = pair.memory.db.path
    pair.close()
    robot = opened(path)
    after = robot.rows('SELECT * FROM form_vectors'), robot.rows('SELECT coarse FROM indexed')
    assert after == before
    robot.close()
    check_file(path)


def test_an_upgrade_moves_vectors_that_are_the_same_of_a_form(tmp_path: Path) -> None:
    path = fixture(19, tmp_path)
    connection = checksums.connect(path)
    events = connection.execute(
        'SELECT i.memory_id FROM indexed AS i JOIN memories AS m ON m.id = i.memory_id'
        " WHERE m.context ->> '$.sense.detector' IS NOT NULL ORDER BY 1"
    ).fetchall()
    one, two, three, four = (row[0] for row in events[:4])
    for memory_id, number in ((one, 3), (two, 4), (three, 5), (four, 6)):
        text = f'the {"cup" if number < 5 else "door"} slips for {number} s'
        plane = bytes([min(number, 5) % 7] * 8) if number < 5 else bytes([number] * 8)
        plane = b'\1' * 8 if number < 5 else plane
        connection.execute('UPDATE memories SET content = ? WHERE id = ?', (text, memory_id))
        connection.execute(
            'UPDATE indexed SET coarse = ?, fine = ? WHERE memory_id = ?',
            (plane, plane, memory_id),
        )
    connection.close()
    robot = opened(path)
    same = 'SELECT v.coarse FROM indexed AS i JOIN form_vectors AS v ON v.form = i.form'
    assert robot.rows(f'{same} WHERE i.memory_id IN (?, ?)', one, two) == [(b'\1' * 8,)] * 2
    assert robot.rows(f'{same} WHERE i.memory_id IN (?, ?)', three, four) == [(None,)] * 2
    robot.close()
    check_file(path)


def make_row(memory_id: int, form: int | None = None, plane: bytes | None = None) -> indexed.Row:
    return indexed.Row(memory_id, 'c', False, b'', plane, None, form)


def test_a_snapshot_of_a_shard_knows_no_vector_that_came_later() -> None:
    plane = np.array([3, 4], np.int8)
    shard = shard_module.Shard()
    shard.put_form(forms.Form(1, 'c', None, None))
    shard.extend([make_row(1, 1), make_row(2), make_row(3, 1)])
    snapshot = shard.snapshot()
    for memory_id in range(2, 200):
        shard.put(make_row(memory_id, None, plane.tobytes()))
    assert snapshot.cosines(plane).tolist() == [-2, -2, -2]
    shard.put_form(forms.Form(1, 'c', plane.tobytes(), None))
    assert shard.has_vectors
    assert shard.cosines(plane) == pytest.approx(np.ones(199))
    shard.drop(1)
    shard.put(make_row(5, 1))
    assert shard.cosines(plane, np.array([0, 4])) == pytest.approx([-2, 1])
    assert shard.compare_near(plane / np.float32(5)).find_above(0.9)[0].tolist() == list(
        range(1, 199)
    )
