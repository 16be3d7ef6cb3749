"""Every memory gets its vector, of one model, whoever writes meanwhile."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from narrowing import require
from numpy.typing import NDArray
from robots import Robot, check_file, fill
from waiting import HANG_SECONDS

from robot_memory.embedding import BackgroundEmbedder
from robot_memory.storage.indexes import vectors

Embedders = dict[int, BackgroundEmbedder]
Open = Callable[..., Robot]


def test_every_memory_gets_its_vector_whether_the_model_is_there_or_not(
    open_robot: Open, tiny_embedders: Embedders
) -> None:
    words_only = open_robot(resident=False)
    ids = fill(words_only, 40)
    assert words_only.save_perception('the red cup is seen').has_embedding is False
    robot = open_robot(embedder=tiny_embedders[8], resident=False)
    assert robot.rows('SELECT count(coarse) FROM indexed') == [(0,)]
    robot.embed_all()
    assert robot.save_perception('the red cup is seen').has_embedding is True
    assert robot.rows('SELECT count(coarse) FROM indexed') == [(len(ids) + 2,)]
    check_file(robot.memory.db.path)


@pytest.fixture
def models(open_robot: Open, tiny_embedders: Embedders) -> tuple[Robot, Robot]:
    """Two processes of one store with vectors of the first's model: of 8 and of 16 dimensions."""
    small = open_robot(embedder=tiny_embedders[8], resident=False)
    small.embed_all()
    fill(small, 20)
    assert small.recall('red cup').mode == 'hybrid'
    return small, open_robot(embedder=tiny_embedders[16], resident=False)


def test_beside_vectors_of_another_model_words_answer(models: tuple[Robot, Robot]) -> None:
    _, large = models
    assert large.recall('red cup').mode == 'bm25_only'
    assert large.learn('the gripper jams in the dark').status == 'created'
    assert large.rows('SELECT count(coarse) FROM indexed') == [(20,)]
    assert {len(row[0]) for row in large.rows('SELECT coarse FROM indexed') if row[0]} == {8}


def test_another_model_replaces_every_vector(
    models: tuple[Robot, Robot], tiny_embedders: Embedders, caplog: pytest.LogCaptureFixture
) -> None:
    _, large = models
    large.learn('the gripper jams in the dark')
    large.embed_all()
    assert 'are replaced by' in caplog.text
    assert {len(row[0]) for row in large.rows('SELECT coarse FROM indexed')} == {16}
    assert large.rows('SELECT count(coarse) FROM indexed') == [(21,)]
    assert large.recall('red cup').mode == 'hybrid'
    name = require(tiny_embedders[16].get_if_loaded()).name
    assert large.rows("SELECT value ->> 'model' FROM meta WHERE key = 'vectors'") == [(name,)]
    check_file(large.memory.db.path)


def test_vectors_of_the_same_weights_are_kept(
    open_robot: Open,
    tiny_embedders: Embedders,
    tiny_models: dict[int, Path],
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    before = open_robot(embedder=tiny_embedders[8], resident=False)
    before.embed_all()
    fill(before, 20)
    old = require(tiny_embedders[8].get_if_loaded()).name
    kept = before.rows('SELECT memory_id, coarse, fine FROM indexed')

    folder = tmp_path / 'rounded'
    shutil.copytree(tiny_models[8], folder)
    said = {'name': 'rounded', 'same_as': [old]}
    (folder / 'robot_memory.json').write_text(json.dumps(said), encoding='utf-8')
    rounded = BackgroundEmbedder(str(folder))
    rounded.start()
    name = require(rounded.wait(HANG_SECONDS)).name
    assert name != old
    after = open_robot(embedder=rounded, resident=False)
    assert after.recall('red cup').mode == 'bm25_only'
    after.memory.reindexer.adopt_model()
    assert after.recall('red cup').mode == 'hybrid'
    assert after.rows('SELECT memory_id, coarse, fine FROM indexed') == kept
    assert after.rows("SELECT value ->> 'model' FROM meta WHERE key = 'vectors'") == [(name,)]
    assert 'are replaced by' not in caplog.text
    check_file(after.memory.db.path)


def test_what_the_older_model_writes_afterwards_gets_the_newer_ones_vectors(
    models: tuple[Robot, Robot],
) -> None:
    small, large = models
    large.embed_all()
    assert small.recall('red cup').mode == 'bm25_only'
    assert small.learn('the lift is slow in the dark').status == 'created'
    small.forget(1, 'wrong')
    check_file(large.memory.db.path)
    large.embed_all()
    assert large.rows('SELECT count(coarse) FROM indexed') == [(20,)]
    assert {len(row[0]) for row in large.rows('SELECT coarse FROM indexed') if row[0]} == {16}
    check_file(large.memory.db.path)


def test_an_update_while_vectors_are_made_wins(
    open_robot: Open, tiny_embedders: Embedders, monkeypatch: pytest.MonkeyPatch
) -> None:
    robot = open_robot(resident=False)
    ids = fill(robot, 3)
    thinking = open_robot(embedder=tiny_embedders[8], resident=False)
    loaded = tiny_embedders[8].get_if_loaded()
    original = require(loaded).embed_passages
    steps = thinking.memory.reindexer.run()

    class Slow:
        """Let another process write between the reading of a text and its vector."""

        def __getattr__(self, name: str) -> object:
            return getattr(loaded, name)

        def embed_passages(self, texts: list[str]) -> NDArray[Any]:
            made = original(texts)
            if ids:
                robot.update(ids[0], 'another text altogether')
                robot.forget(ids[1], 'wrong')
                ids.clear()
            return made

    slow = Slow()
    monkeypatch.setattr(tiny_embedders[8], 'get_if_loaded', lambda: slow)
    for _ in steps:
        pass
    with thinking.memory.db.read() as connection:
        found = vectors.fetch(connection, [1, 2, 3])
    assert sorted(found) == [1, 3]
    expected = original(['another text altogether'])[0]
    assert found[1] == pytest.approx(expected, abs=1e-3)
    check_file(thinking.memory.db.path)
