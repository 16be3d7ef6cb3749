"""Real stores on temporary files, real models, and a clock that moves when it is told to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from robot_memory.api import RobotMemory
from robot_memory.clock import DAY
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.memory import Memory
from robot_memory.settings import Settings

START = 1_772_000_000_000_000
"""2026-02-25 06:13:20 UTC in microseconds."""

VOCABULARY = [
    'the',
    'a',
    'of',
    'for',
    'on',
    'in',
    'at',
    'is',
    'was',
    'needs',
    'more',
    'less',
    'with',
    'before',
    'after',
    'while',
    'near',
    'cup',
    'plate',
    'bottle',
    'tray',
    'door',
    'drawer',
    'handle',
    'valve',
    'gripper',
    'arm',
    'robot',
    'red',
    'blue',
    'green',
    'white',
    'steel',
    'glass',
    'wet',
    'dry',
    'heavy',
    'force',
    'grip',
    'torque',
    'speed',
    'slow',
    'fast',
    'left',
    'right',
    'table',
    'shelf',
    'dock',
    'kitchen',
    'lab',
    'slips',
    'sticks',
    'opens',
    'closes',
    'jams',
    'works',
    'camera',
    'light',
    'dark',
    'battery',
    'charge',
    'wheel',
    'floor',
    'ramp',
    'lift',
]


class MovableClock:
    """Stand still until moved."""

    def __init__(self) -> None:
        self.now = START

    def __call__(self) -> int:
        return self.now

    def forward(self, days: float = 0.0, seconds: float = 0.0) -> None:
        self.now += round(days * DAY + seconds * 1e6)


class Robot(RobotMemory):
    """The Python face over a memory that a test made, with a view into its file."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with self.memory.db.read() as connection:
            return list(connection.execute(sql, values))

    def row(self, memory_id: int) -> dict[str, Any]:
        self.memory.flush()
        names = [row[1] for row in self.rows('PRAGMA table_info(memories)')]
        ((*values,),) = self.rows('SELECT * FROM memories WHERE id = ?', memory_id)
        return dict(zip(names, values, strict=True))

    def embed_all(self) -> None:
        """Wait for the model and give every memory its vector."""
        assert self.memory.embedder.wait(60)
        for _ in self.memory.index():
            pass

    def contents(self, **arguments: Any) -> list[str]:
        return [memory.content for memory in self.recall(**arguments).memories]


@pytest.fixture
def clock() -> MovableClock:
    return MovableClock()


@pytest.fixture
def open_robot(tmp_path: Path, clock: MovableClock) -> Iterator[Callable[..., Robot]]:
    """Open robots on one file, `name`.db, and close them at the end."""
    opened: list[Robot] = []

    def open_one(
        model: str = 'none',
        name: str = 'memory',
        resident: bool = True,
        embedder: BackgroundEmbedder | None = None,
        **settings: Any,
    ) -> Robot:
        path = tmp_path / f'{name}.db'
        chosen = Settings(db_path=str(path), model=model, durability='normal', **settings)
        memory = Memory(chosen, resident=resident, clock=clock, embedder=embedder)
        opened.append(Robot(memory))
        return opened[-1]

    yield open_one
    for robot in opened:
        robot.close()


@pytest.fixture
def robot(open_robot: Callable[..., Robot]) -> Robot:
    """A memory of words only."""
    return open_robot()


@pytest.fixture(scope='session')
def real_embedder() -> BackgroundEmbedder:
    """The default model, loaded once for all tests."""
    embedder = BackgroundEmbedder()
    embedder.start()
    if embedder.wait(120) is None:
        pytest.skip(f'the real model cannot be had: {embedder.reason}')
    return embedder


@pytest.fixture
def thinking_robot(open_robot: Callable[..., Robot], real_embedder: BackgroundEmbedder) -> Robot:
    """A memory of words and meaning."""
    robot = open_robot('', embedder=real_embedder)
    robot.embed_all()
    return robot


@pytest.fixture(scope='session')
def tiny_models(tmp_path_factory: pytest.TempPathFactory) -> dict[int, Path]:
    """Two small ONNX models by their dimension: the mean of fixed vectors of the words."""
    folder = tmp_path_factory.mktemp('models')
    return {dimension: _make_model(folder / f'd{dimension}', dimension) for dimension in (8, 16)}


@pytest.fixture(scope='session')
def tiny_embedders(tiny_models: dict[int, Path]) -> dict[int, BackgroundEmbedder]:
    embedders = {}
    for dimension, folder in tiny_models.items():
        embedders[dimension] = BackgroundEmbedder(str(folder))
        embedders[dimension].start()
        assert embedders[dimension].wait(60), embedders[dimension].reason
    return embedders


def _make_model(folder: Path, dimension: int) -> Path:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    from robot_memory.embedding.sentences import CHINESE, ENGLISH, PARAPHRASES, QUESTIONS

    folder.mkdir()
    known = [*ENGLISH, *CHINESE, *QUESTIONS, *(text for pair in PARAPHRASES for text in pair)]
    split = pre_tokenizers.Whitespace()
    words = dict.fromkeys(VOCABULARY)
    for text in known:
        words.update(dict.fromkeys(word for word, _ in split.pre_tokenize_str(text.lower())))
    vocabulary = {'[UNK]': 0} | {word: index for index, word in enumerate(words, 1)}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token='[UNK]'))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = split
    tokenizer.save(str(folder / 'tokenizer.json'))

    table = np.random.default_rng(dimension).normal(size=(len(vocabulary), dimension))
    shape = ['batch', 'tokens']
    graph = helper.make_graph(
        [helper.make_node('Gather', ['table', 'input_ids'], ['last_hidden_state'])],
        'mean_of_words',
        [helper.make_tensor_value_info('input_ids', TensorProto.INT64, shape)],
        [
            helper.make_tensor_value_info(
                'last_hidden_state', TensorProto.FLOAT, [*shape, dimension]
            )
        ],
        [numpy_helper.from_array(table.astype(np.float32), 'table')],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 17)], ir_version=9)
    onnx.save(model, str(folder / 'model.onnx'))
    return folder
