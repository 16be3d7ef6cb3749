"""An import gives the same vectors whether the models are loaded before it or after it."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import pytest
import recordings
from recordings import Messages
from waiting import HANG_SECONDS

from robot_memory.background.reindexing import Reindexer
from robot_memory.core.settings import Settings
from robot_memory.embedding import BackgroundEmbedder, OnnxEmbedder
from robot_memory.lifecycle.deferred_vectors import load_in_turn, load_models
from robot_memory.memory import Memory
from robot_memory.storage.indexes import vectors


@pytest.fixture
def settings(
    tmp_path: Path, tiny_models: dict[int, Path], english_embedder: BackgroundEmbedder
) -> Settings:
    """Return the settings of a store with two small models."""
    loaded = english_embedder.get_if_loaded()
    assert isinstance(loaded, OnnxEmbedder)
    return Settings(
        db_path=str(tmp_path / 'memory.db'),
        model=str(tiny_models[8]),
        second_model=str(loaded.directory),
    )


def open_memory(settings: Settings, *, loads_models: bool = False) -> Memory:
    return Memory(settings, resident=False, loads_models=loads_models)


def list_vectors(memory: Memory) -> list[Any]:
    with memory.db.read() as connection:
        rows: list[Any] = connection.execute(
            'SELECT f.collection, f.digest, v.model, v.coarse, v.fine'
            ' FROM forms AS f JOIN form_vectors AS v ON v.form = f.id ORDER BY 1, 2, 3'
        ).fetchall()
        return rows


def count_loaded(memory: Memory) -> int:
    return sum(one.get_if_loaded() is not None for one in (memory.embedder, memory.second))


def test_an_import_gives_the_vectors_that_it_gives_with_both_models_at_hand(
    settings: Settings, made: Path, tmp_path: Path
) -> None:
    with open_memory(settings) as memory:
        load_models(memory, HANG_SECONDS)
        assert count_loaded(memory) == 2
        recordings.run(memory, made)
        expected = list_vectors(memory)
    other = Settings(**{**vars(settings), 'db_path': str(tmp_path / 'other.db')})
    with open_memory(other) as memory:
        recordings.run(memory, made)
        assert count_loaded(memory) == 0
        assert {row[3] for row in list_vectors(memory)} == {None}
        for _ in load_in_turn(memory, HANG_SECONDS):
            assert count_loaded(memory) == 1
            memory.reindexer.embed_forms()
        assert count_loaded(memory) == 0
        assert memory.vectorizer.get_second() is None
        assert list_vectors(memory) == expected
    assert None not in {row[3] for row in expected} and len(expected) >= 10
    with open_memory(other) as memory:  # where nothing waits, nothing is loaded
        recordings.run(memory, made)
        assert list(load_in_turn(memory, HANG_SECONDS)) == []


def test_models_are_loaded_for_texts_which_are_compared_before_they_are_stored(
    settings: Settings, messages: Messages, tmp_path: Path
) -> None:
    text = b'Take the red cup to the table\0'
    said = b'\0\1\0\0' + struct.pack('<I', len(text)) + text
    at = messages[0][2]
    bag = recordings.one_file(
        tmp_path / 'said', [('/task', 'std_msgs/msg/String', at, said), *messages[1:40]]
    )
    with open_memory(settings) as memory:
        recordings.run(memory, bag)
        assert count_loaded(memory) == 2
        with memory.db.read() as connection:
            rows = connection.execute(
                'SELECT count(*), count(i.coarse) FROM memories AS m'
                " JOIN indexed AS i ON i.memory_id = m.id WHERE m.type != 'perception'"
            ).fetchall()
        assert rows == [(1, 1)]
        for _ in load_in_turn(memory, HANG_SECONDS):
            memory.reindexer.embed_forms()
        assert count_loaded(memory) == 2  # what was loaded before stays


def test_a_file_of_another_model_is_given_no_vectors_of_this_one(
    settings: Settings, made: Path, tiny_models: dict[int, Path]
) -> None:
    with open_memory(Settings(**{**vars(settings), 'model': str(tiny_models[16])})) as memory:
        load_models(memory, HANG_SECONDS)
    with open_memory(settings) as memory:
        recordings.run(memory, made)
        for _ in load_in_turn(memory, HANG_SECONDS):
            memory.reindexer.embed_forms()
        found = list_vectors(memory)
    assert {row[3] for row in found if row[2] == 0} == {None}
    assert None not in {row[3] for row in found if row[2] != 0}


def test_forms_get_no_vectors_of_a_model_that_is_no_longer_that_of_the_file(
    settings: Settings, made: Path
) -> None:
    with open_memory(settings) as memory, open_memory(settings) as other:
        recordings.run(memory, made)
        memory.embedder.start()
        memory.embedder.wait(HANG_SECONDS)
        memory.reindexer.adopt_model()

        def give_another_model() -> Settings:
            with other.db.write() as connection:
                vectors.use_model(connection, 'another model', 16)
            return settings

        reindexer = Reindexer(
            memory.db, memory.embedder, memory.vectorizer, give_another_model, lambda: False
        )
        reindexer.embed_forms()
        assert {row[3] for row in list_vectors(memory)} == {None}
