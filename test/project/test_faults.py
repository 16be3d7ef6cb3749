"""
The numbered faults at the end of the contract that concern the core, one test each or more.

Faults 1 to 3 are of the ROS face and tested there.
"""

from __future__ import annotations

import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from narrowing import require
from robots import VOCABULARY, MovableClock, Robot, make_store
from waiting import HANG_SECONDS

from robot_memory.core.authority import THE_STORE
from robot_memory.core.records import make_record
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.storage.tables import memories
from robot_memory.text.categories import classify

Open = Callable[..., Robot]
Embedders = dict[int, BackgroundEmbedder]

SYLLABLES = 'ba de ki lo mu na pe ri so tu va we xi yo zu'.split()


def keep_many(robot: Robot, texts: list[str], contexts: list[dict[str, Any]]) -> None:
    """Keep facts in one transaction, without the check for duplicates."""
    with robot.memory.db.write() as connection:
        for text, context in zip(texts, contexts, strict=True):
            record = make_record(
                'fact', text, classify(text), context, robot.memory.clock(), THE_STORE
            )
            memories.insert(connection, replace(record, collection='default'), None)


def test_fault_04_the_same_perception_twice_is_two_memories(robot: Robot) -> None:
    first = robot.save_perception('contact with the table', 'tactile', {'force': [1, 2]})
    second = robot.save_perception('contact with the table', 'tactile', {'force': [1, 2]})
    assert first.memory_id != second.memory_id
    assert robot.recall('contact', n=10).total == 2


def test_fault_05_five_ends_in_a_minute_decay_no_more_than_one(
    robot: Robot, clock: MovableClock
) -> None:
    kept = robot.learn('the tray is wet')
    clock.forward(days=10)
    seen = []
    for _ in range(5):
        robot.end_session(robot.start_session().session_id)
        seen.append(robot.row(require(kept.memory_id))['confidence'])
        clock.forward(seconds=12)
    expected = require(kept.auto_inferred).confidence * 0.99**10
    assert seen[0] == pytest.approx(expected, rel=1e-12)
    assert seen[-1] == pytest.approx(expected, rel=1e-4)


def draw_places() -> list[list[float]]:
    chance = random.Random(6)
    return [[chance.uniform(0, 10) for _ in range(3)] for _ in range(3000)]


def keep_trials(robot: Robot) -> None:
    contexts = [
        {'spatial': {'object_position': place}, 'task': {'success': i % 57 == 56}}
        for i, place in enumerate(draw_places())
    ]
    keep_many(robot, [f'grasp the red cup, trial {i}' for i in range(3000)], contexts)


@pytest.fixture(scope='module')
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store of many trials, without vectors; only to read."""
    return make_store(tmp_path_factory.mktemp('trials'), keep_trials)


@pytest.mark.parametrize('dimension', [None, 8])
def test_fault_06_filters_and_spatial_sort_see_every_memory(
    store: Path, open_robot: Open, tiny_embedders: Embedders, dimension: int | None
) -> None:
    robot = open_robot(embedder=tiny_embedders[dimension] if dimension else None)
    places = draw_places()
    if dimension:
        robot.embed_all()
    found = robot.recall('grasp the red cup', n=100, context_filter={'task.success': True})
    assert found.total == 52
    assert all(memory.task['success'] for memory in found.memories)
    target = [4.0, 5.0, 6.0]

    def distance(index: int) -> float:
        made: float = sum((a - b) ** 2 for a, b in zip(places[index], target, strict=True)) ** 0.5
        return made

    nearest = sorted(range(3000), key=distance)[:5]
    sort = {'field': 'spatial.object_position', 'target': target}
    for query in ('grasp the red cup', ''):
        found = robot.recall(query, n=5, spatial_sort=sort)
        assert [memory.id - 1 for memory in found.memories] == nearest


def test_fault_06_restrictions_hold_before_the_words_are_ranked(robot: Robot) -> None:
    keep_many(robot, [f'the red cup slips {i}' for i in range(1000)], [{}] * 1000)
    for i in range(20):
        robot.save_perception(f'the red cup is seen on the long way home {i}', collection='small')
    with robot.memory.db.write() as connection:
        connection.execute('UPDATE memories SET confidence = 0.1 WHERE id <= 990')
    assert robot.recall('red cup slips', collection='small', n=20).total == 20
    assert robot.recall('red cup slips', n=20).total == 10


@pytest.mark.parametrize('resident', [True, False])
def test_fault_07_a_small_collection_gets_all_of_its_own(
    open_robot: Open, tiny_embedders: Embedders, resident: bool
) -> None:
    robot = open_robot(embedder=tiny_embedders[8], resident=resident)
    robot.embed_all()
    chance = random.Random(7)
    for i in range(600):
        robot.save_perception(' '.join(chance.choices(VOCABULARY, k=5)))
        if i % 30 == 0:
            robot.save_perception(f'the camera is dark {i}', collection='small')
    found = robot.recall('gripper slips', collection='small', n=20)
    assert (found.total, found.mode) == (20, 'vec_only')


@pytest.mark.parametrize(
    ('kept', 'asked'),
    [
        ('Манипулятор роняет мокрую чашку', 'чашка чашку'),
        ('Der Greifer öffnet die Tür zu früh', 'Tür'),
        ('Le préhenseur glisse sur le métal mouillé', 'préhenseur'),
        ('El brazo choca con la caña', 'caña'),
        ('Ο βραχίονας σταμάτησε', 'βραχίονας'),
        ('ロボットが転んだ', '転んだ'),
        ('로봇이 넘어졌다', '로봇'),
        ('抽屉受潮后会卡住', '受潮'),
        ('الروبوت توقف', 'الروبوت'),
    ],
)
def test_fault_08_words_of_every_script_are_words(robot: Robot, kept: str, asked: str) -> None:
    robot.learn('the red cup slips')
    robot.learn(kept)
    assert robot.contents(query=asked) == [kept]


def test_fault_09_stamp_frame_and_pose_are_kept_to_the_nanosecond(robot: Robot) -> None:
    stamp = {'sec': 1_700_000_000, 'nanosec': 123_456_789}
    pose = {'position': [1.0, 2.0, 3.0], 'orientation': [0.0, 0.0, 0.0, 1.0]}
    own = robot.save_perception('the tray is seen', stamp=stamp, frame_id='camera', pose=pose)
    header = {'stamp': stamp, 'frame_id': 'camera', 'pose': pose}
    read = robot.save_perception('the tray is seen again', metadata=header)
    assert own.memory_id != read.memory_id
    found = robot.recall('tray', n=2).memories
    assert len(found) == 2
    for memory in found:
        assert memory.stamp == 1_700_000_000_123_456_789
        assert (memory.frame_id, memory.pose) == ('camera', pose)
        assert memory.spatial == {'position': [1.0, 2.0, 3.0], 'frame_id': 'camera'}
        assert memory.created_at.startswith('2026-')


def test_fault_09_the_time_of_storing_has_microseconds(robot: Robot, clock: MovableClock) -> None:
    clock.now += 123_456
    robot.learn('the tray is wet')
    assert robot.recall('tray').memories[0].created_at == '2026-02-25T06:13:20.123456Z'


def test_fault_10_row_words_and_vector_are_of_one_transaction(
    open_robot: Open, tiny_embedders: Embedders
) -> None:
    robot = open_robot(embedder=tiny_embedders[8], resident=False)
    robot.embed_all()

    def counts() -> list[int]:
        tables = ('memories', 'memories_fts_docsize', 'indexed', 'changes')
        return [robot.rows(f'SELECT count(*) FROM {table}')[0][0] for table in tables]

    def failing() -> None:
        with robot.memory.db.write() as connection:
            record = make_record('fact', 'the red cup', classify('the red cup'), {}, 0, THE_STORE)
            vector = robot.memory.embed_passage('the red cup')
            memories.insert(connection, replace(record, collection='default'), vector)
            inside = connection.execute('SELECT count(coarse) FROM indexed').fetchall()
            assert inside == [(1,)]
            raise KeyError('as if killed')

    with pytest.raises(KeyError):
        failing()
    assert counts() == [0, 0, 0, 0]
    robot.learn('the red cup')
    assert counts() == [1, 1, 1, 1]


def test_fault_11_learning_costs_the_same_however_much_is_known(robot: Robot) -> None:
    chance = random.Random(11)
    names = [''.join(chance.choices(SYLLABLES, k=3)) for _ in range(3000)]
    shares = [1 / (rank + 1) for rank in range(len(names))]

    def plain_text() -> str:
        return 'the ' + ' '.join(chance.choices(names, shares, k=9))

    def with_numbers() -> str:
        force, speed = round(chance.uniform(2, 30), 1), chance.randint(1, 99)
        return f'{plain_text()} with {force} newtons at {speed} percent'

    steps = 0

    def step() -> bool:
        nonlocal steps
        steps += 1
        return False

    costs = []
    for known in (300, 3000):
        have = robot.rows('SELECT count(*) FROM memories')[0][0]
        texts = [(plain_text if i % 2 else with_numbers)() for i in range(known - have)]
        keep_many(robot, texts, [{}] * len(texts))
        robot.learn(plain_text())  # takes over what was kept since
        for make in (plain_text, with_numbers):
            with robot.memory.db.write() as writer:  # no other thread writes meanwhile
                writer.set_progress_handler(step, 10)
            steps = 0
            for _ in range(40):
                robot.learn(make())
            costs.append(steps)
            with robot.memory.db.write() as writer:
                writer.set_progress_handler(None)
    few, few_with_numbers, many, many_with_numbers = costs
    assert many < 2 * few
    assert many_with_numbers < 2 * few_with_numbers


def test_fault_12_a_least_confidence_of_zero_is_zero(robot: Robot) -> None:
    faded = robot.learn('the tray is perhaps wet').memory_id
    with robot.memory.db.write() as connection:
        connection.execute('UPDATE memories SET confidence = 0.01 WHERE id = ?', (faded,))
    assert robot.recall('tray').total == 0
    for zero in (0, 0.0):
        assert [m.id for m in robot.recall('tray', min_confidence=zero).memories] == [faded]
    assert robot.end_session(robot.start_session().session_id, 0).status == 'ended'
    assert robot.rows('SELECT outcome_score FROM sessions') == [(0.0,)]


def test_fault_13_vectors_need_nothing_of_the_sqlite_that_python_has(
    tiny_models: dict[int, Any], tmp_path: Any
) -> None:
    script = """
import sys, types
bare = types.ModuleType('sqlite3')  # that of a Python which cannot load extensions, nor much else
bare.Connection = type('Connection', (), {})
sys.modules['sqlite3'] = bare
from robot_memory.api import RobotMemory
with RobotMemory(sys.argv[1], model=sys.argv[2]) as robot:
    assert robot.wait_for_model()
    list(robot.memory.reindexer.run())
    robot.learn('the red cup is wet')
    list(robot.memory.reindexer.run())
    print(robot.recall('gripper').mode)
"""
    command = [sys.executable, '-c', script, str(tmp_path / 'x.db'), str(tiny_models[8])]
    ran = subprocess.run(
        command, capture_output=True, text=True, timeout=HANG_SECONDS, check=False
    )
    assert (ran.stdout, ran.stderr) == ('vec_only\n', '')


def test_fault_14_what_was_answered_is_in_the_file(robot: Robot, open_robot: Open) -> None:
    learned = robot.learn('the red cup').memory_id
    seen = robot.save_perception('the red cup is seen', data={'readings': [1, 2]}).memory_id
    other = open_robot(resident=False)
    assert {record.memory_id for record in other.query_records().records} == {learned, seen}
    assert other.recall('cup').total == 2
    assert other.rows('SELECT data FROM payloads') == [('{"readings":[1,2]}',)]
