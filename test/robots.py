"""Robots for the tests: a real store, a clock that moves when told to, small real models."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from narrowing import require
from waiting import HANG_SECONDS

from robot_memory.api import RobotMemory
from robot_memory.core.clock import DAY, ClockReading, Clocks
from robot_memory.core.settings import Settings
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.memory import Memory
from robot_memory.storage import checksums

START = 1_772_000_000_000_000
"""2026-02-25 06:13:20 UTC in microseconds."""

VOCABULARY = """
    the a of for on in at is was needs more less with before after while near cup plate bottle
    tray door drawer handle valve gripper arm robot red blue green white steel glass wet dry
    heavy force grip torque speed slow fast left right table shelf dock kitchen lab slips sticks
    opens closes jams works camera light dark battery charge wheel floor ramp lift
""".split()

ALIKE = (
    'the red cup on the left shelf is wet',
    'the red cup on the left shelf slips',
    'the red cup on the left shelf falls at night',
)
"""Pairwise word overlaps over 0.50 and under 0.70, but for the first and the last: 0.50."""

REVISIONS = {'2025-11-25': 'legacy', '2026-07-28': '2026-07-28'}
"""How the SDK's client is told to speak each."""


class MovableClock(Clocks):
    """Stand still until moved; `steady` counts the seconds that went by, not how it was set."""

    def __init__(self) -> None:
        self.now = START
        self.passed = 0.0
        self.boot_id = 'first boot'
        self.synchronised = False

    def __call__(self) -> int:
        return self.now

    def wall(self) -> int:
        return self.now

    def steady(self) -> float:
        return self.passed

    def read(self) -> ClockReading:
        """Read all clocks of the machine."""
        boot = round(self.passed * 1e6)
        return ClockReading(self.now, boot, self.boot_id, '', self.synchronised)

    def reboot(self) -> None:
        """Start the machine anew: its CLOCK_BOOTTIME begins at 0."""
        self.boot_id = f'{self.boot_id} and another'
        self.passed = 0.0

    def forward(self, days: float = 0.0, seconds: float = 0.0) -> None:
        self.now += round(days * DAY + seconds * 1e6)
        self.passed += days * 86_400 + seconds

    def jump(self, days: float) -> None:
        """Be set by so many days, while no time goes by."""
        self.now += round(days * DAY)


class Seconds:
    """A clock of seconds that stands still until moved."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Robot(RobotMemory):
    """The Python face over a memory that a test made, with a view into its file."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def rows(self, sql: str, *values: Any) -> list[tuple[Any, ...]]:
        with self.memory.db.read() as connection:
            return list(connection.execute(sql, values))

    def row(self, memory_id: int) -> dict[str, Any]:
        self.memory.accesses.flush()
        names = [row[1] for row in self.rows('PRAGMA table_info(memories)')]
        ((*values,),) = self.rows('SELECT * FROM memories WHERE id = ?', memory_id)
        return dict(zip(names, values, strict=True))

    def embed_all(self) -> None:
        """Wait for the model and give every memory its vector."""
        assert self.memory.embedder.wait(HANG_SECONDS)
        for _ in self.memory.reindexer.run():
            pass

    def contents(self, **arguments: Any) -> list[str]:
        return [memory.content for memory in self.recall(**arguments).memories]


def sentence(chance: random.Random, words: int = 6) -> str:
    return ' '.join(chance.choices(VOCABULARY, k=words))


def fill(robot: Robot, count: int, collection: str = 'default', seed: int = 0) -> list[int]:
    """Keep texts that differ by a number, so that none is a duplicate, a third of them real."""
    chance = random.Random(seed)
    contexts: list[dict[str, Any]] = [{}, {}, {'env': {'sim_or_real': 'real'}}]
    return [
        require(
            robot.learn(
                f'{sentence(chance)} {i}', context=chance.choice(contexts), collection=collection
            ).memory_id
        )
        for i in range(count)
    ]


def fill_and_forget(robot: Robot) -> None:
    """Let a robot remember some of everything, and forget some."""
    fill(robot, 7)
    for number in range(4):
        robot.save_perception(f'a cup on the table {number}')
        robot.save_conversation(f'where is cup {number}', 'on the table')
    for memory_id in (1, 2, 8):
        robot.forget(memory_id, 'wrong')
    session = robot.start_session().session_id
    robot.learn('grip the cup softly at 5 N', session_id=session)
    robot.clear_session(session)


def open_at(
    path: Path,
    model: str = 'none',
    resident: bool = True,
    clock: MovableClock | None = None,
    embedder: BackgroundEmbedder | str | None = None,
    second: BackgroundEmbedder | None = None,
    **settings: Any,
) -> Robot:
    """Open a robot on a file, as tests have it: it waits for no disk, and keeps no room on it."""
    settings = {'disk_reserve': 0, 'durability': 'normal', **settings}
    if isinstance(embedder, str):  # the setting: a model of the site's own
        settings['embedder'], embedder = embedder, None
    return Robot(
        Memory(
            Settings(db_path=str(path), model=model, **settings),
            resident=resident,
            clocks=clock or MovableClock(),
            embedder=embedder,
            second=second,
        )
    )


def make_store(
    folder: Path, fill: Callable[[Robot], object], embedder: BackgroundEmbedder | None = None
) -> Path:
    """Fill a new store, close it and return its file."""
    path = folder / 'memory.db'
    robot = open_at(path, resident=False, embedder=embedder)
    fill(robot)
    robot.close()
    return path


def run_maintenance(robot: Robot, **arguments: Any) -> dict[str, Any]:
    """Put a store in order, and return what each step did by its name."""
    return {step.name: step for step in robot.maintain(**arguments).steps}


def check_file(path: Path) -> set[int]:
    """
    Check a store's integrity and that its indexes fit its rows; return the ids of all rows.

    On a connection of its own: FTS5's part of integrity_check misreads what a connection that
    has read the index before still holds of it.
    """
    connection = checksums.connect(path)

    def rows(sql: str) -> list[tuple[Any, ...]]:
        return list(connection.execute(sql))

    connection.execute('BEGIN')
    assert rows('PRAGMA integrity_check') == [('ok',)]
    assert rows('PRAGMA foreign_key_check') == []
    active = rows("SELECT id FROM memories WHERE status = 'active' ORDER BY id")
    assert rows('SELECT id FROM memories_fts_docsize ORDER BY id') == active
    assert rows('SELECT memory_id FROM indexed ORDER BY memory_id') == active
    assert rows('SELECT 1 FROM indexed WHERE (coarse IS NULL) <> (fine IS NULL)') == []
    assert rows('SELECT 1 FROM indexed WHERE form IS NOT NULL AND coarse IS NOT NULL') == []
    used = 'SELECT form, collection FROM indexed WHERE form IS NOT NULL GROUP BY 1, 2 ORDER BY 1'
    assert rows('SELECT id, collection FROM forms ORDER BY 1') == rows(used)
    first = 'SELECT form FROM form_vectors WHERE model = 0 ORDER BY 1'
    assert rows(first) == rows('SELECT id FROM forms ORDER BY 1')
    of_none = 'SELECT memory_id FROM other_vectors EXCEPT SELECT memory_id FROM indexed'
    assert rows(f'{of_none} WHERE form IS NULL') == []
    counted = 'SELECT collection, count(*) FROM indexed GROUP BY 1'
    assert rows(f'{counted} ORDER BY 1') == rows('SELECT * FROM collections WHERE memories')
    counted = 'SELECT type, status, count(*) FROM memories GROUP BY 1, 2'
    assert rows(f'{counted} ORDER BY 1, 2') == rows('SELECT * FROM counts WHERE memories')
    assert set(rows('SELECT memory_id FROM places')) <= set(active)
    assert rows('SELECT memory_id FROM facets EXCEPT SELECT id FROM memories') == []
    ids = {row[0] for row in rows('SELECT id FROM memories')}
    connection.close()
    return ids


def make_model(folder: Path, dimension: int) -> Path:
    """Write an ONNX model that gives the mean of fixed vectors of the words."""
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


def count_rows(robot: Robot) -> dict[str, int]:
    """Return how many rows each table of the store has, those of the indexes included."""
    names = robot.rows("SELECT name FROM sqlite_master WHERE type = 'table'")
    counted = {}
    for (name,) in names:
        if name not in ('clock_epochs', 'meta', 'sqlite_sequence'):
            ((counted[name],),) = robot.rows(f'SELECT count(*) FROM "{name}"')
    return counted
