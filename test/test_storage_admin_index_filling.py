"""Emptied indexes are filled in batches: beside writers, after kills, and left out until then."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import prepared
import pytest
from narrowing import require
from robots import Robot, check_file, make_store, run_maintenance

from robot_memory.background.index_mending import REBUILT
from robot_memory.core.errors import Unavailable
from robot_memory.storage.admin import index_filling
from robot_memory.storage.admin.verify import verify
from robot_memory.storage.indexes.set_aside import CONTEXTS, WORDS
from robot_memory.storage.tables import mending

sys.path.insert(0, str(Path(__file__).parents[1] / 'torture'))

import checker

SIZE = 700
"""Memories of a store: three batches."""


def fill(robot: Robot) -> None:
    for number in range(SIZE):
        robot.learn(
            f'Shelf {number} of aisle {number % 7} holds part {number * 37}',
            context={
                'spatial': {
                    'position': [number / 10, number % 7, 0.5],
                    'frame_id': 'map' if number % 5 else 'base',
                },
                'env': {'light': number, 'house': f'hall {number % 5} of the north wing'},
                'many': {str(key): key for key in range(80 if number == 11 else 2)},
            },
        )
    for number in range(0, SIZE, 50):
        robot.learn(
            f'Shelf {number} of aisle {number % 7} holds part {number * 37}',
            context={'env': {'light': -number - 1}, 'spatial': {'position': [9, 9, number]}},
        )
        robot.forget(memory_id=number + 3, reason='it was moved')
    robot.save_perception('Felt a push', 'tactile', data={'peak': 3})


@pytest.fixture(scope='module')
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A closed store of some batches; only to read."""
    return make_store(tmp_path_factory.mktemp('filled'), fill)


def empty(robot: Robot) -> None:
    with robot.memory.db.write() as connection:
        for group in (WORDS, CONTEXTS):
            index_filling.empty(connection, group)


def fill_some(robot: Robot, batches: int) -> None:
    for _ in range(batches):
        index_filling.fill(robot.memory.db)


def test_what_was_emptied_is_filled_as_it_was(
    open_robot: Callable[..., Robot], store: Path
) -> None:
    robot = open_robot(resident=False)
    tables = ('facets', 'facet_paths', 'places', 'placed', 'place_frames', 'memories_fts_docsize')
    asked = [
        'SELECT p.path, f.value, f.memory_id FROM facets AS f LEFT JOIN facet_paths AS p'
        ' ON p.id = f.path_id ORDER BY 3, 1, 2',
        'SELECT p.path, f.cell, f.memory_id FROM places AS f JOIN place_paths AS p'
        ' ON p.id = f.path_id ORDER BY 3, 1, 2',
        'SELECT memory_id, f.frame, x, y, z FROM placed JOIN place_frames AS f'
        ' ON f.id = frame_id ORDER BY 1',
        'SELECT term, doc, cnt FROM memories_vocabulary ORDER BY 1',
    ]
    before = [robot.rows(sql) for sql in asked]
    assert all(before)
    empty(robot)
    assert [robot.rows(f'SELECT count(*) FROM {table}') for table in tables] == [[(0,)]] * 6
    index_filling.fill_all(robot.memory.db)
    assert index_filling.list_left(robot.memory.db) == {}
    assert [robot.rows(sql) for sql in asked] == before
    robot.close()
    check_file(store)
    assert checker.check(store) == []


def test_what_is_written_meanwhile_is_indexed_as_ever(
    open_robot: Callable[..., Robot], store: Path
) -> None:
    chance = random.Random(4)
    robot = open_robot(resident=False, python_role='operator')
    empty(robot)
    new = 0
    while index_filling.list_left(robot.memory.db):
        for _ in range(12):
            # Some are before what is filled, and some are not.
            memory_id = chance.randrange(1, SIZE)
            (status,) = robot.rows('SELECT status FROM memories WHERE id = ?', memory_id) or [()]
            verb = chance.choice(('learn', 'update', 'forget', 'undo', 'erase', 'again'))
            new += 1
            said = f'Crate {new} of lane {new % 3} holds tool {new * 41}'
            context = {'env': {'light': new / 3}, 'spatial': {'position': [new, 1, 2]}}
            if verb == 'learn':
                robot.learn(said, context=context)
            elif status != ('active',):
                continue
            elif verb == 'update':
                robot.update(memory_id, said, context=context)
            elif verb == 'again':
                (text,) = robot.rows('SELECT content FROM memories WHERE id = ?', memory_id)
                robot.learn(text[0], context=context)
            elif verb == 'erase':
                token = require(robot.erase(memory_ids=[memory_id], reason='asked for').token)
                robot.erase(token=token, reason='asked for')
            else:
                robot.forget(memory_id=memory_id, reason='it was moved')
                if verb == 'undo':
                    robot.undo(memory_id, 'it was there')
        index_filling.fill(robot.memory.db)
    robot.close()
    check_file(store)
    assert checker.check(store) == []


SCRIPT = """
import sys
from pathlib import Path
from robot_memory.storage.admin import index_filling
from robot_memory.storage.admin.verify import verify
from robot_memory.storage.connection import Database

db = Database(Path(sys.argv[1]), 'normal')
while index_filling.list_left(db):
    print('next', flush=True)
    index_filling.fill(db)
"""


def test_a_process_that_is_killed_is_followed_by_one_that_goes_on(
    open_robot: Callable[..., Robot], store: Path
) -> None:
    chance = random.Random(6)
    robot = open_robot(resident=False)
    empty(robot)
    robot.close()
    killed = 0
    for batches in (1, 2, 1, 1, 1):
        with prepared.Popen(
            [sys.executable, '-c', SCRIPT, str(store)], stdout=subprocess.PIPE, text=True
        ) as process:
            for _ in range(batches):
                require(process.stdout).readline()
            for _ in range(chance.randrange(200_000)):  # somewhere in a batch
                pass
            process.kill()
            killed += process.wait() == -signal.SIGKILL
    assert killed
    again = open_robot(name='memory', resident=False)
    marks = index_filling.list_left(again.memory.db)
    print(f'{killed} of 5 killed, left: {mending.describe(marks)}')
    assert again.contents(context_filter={'env.light': 40}) == [
        'Shelf 40 of aisle 5 holds part 1480'
    ]
    told = run_maintenance(again)['integrity']
    assert told.done, told
    again.close()
    check_file(store)
    assert checker.check(store) == []


def ask(robot: Robot) -> list[list[str]]:
    near = {'field': 'spatial.position', 'target': [30.0, 6.0, 0.5]}
    return [
        robot.contents(query='', context_filter={'env.light': {'$gt': 20, '$lt': 24}}, n=9),
        robot.contents(query='', context_filter={'env.house': 'hall 3 of the north wing'}, n=100),
        robot.contents(query='part 1480', n=1),
        robot.contents(query='', spatial_sort=near, n=5),
    ]


@pytest.mark.parametrize('resident', [True, False])
def test_every_process_does_without_what_is_being_filled(
    open_robot: Callable[..., Robot], store: Path, resident: bool
) -> None:
    other = open_robot(resident=resident)
    answers = ask(other)
    assert all(answers)
    line = other.rows('SELECT max(id) FROM audit')[0][0]
    near = {'position': [1, 2, 0.5], 'frame': 'map'}
    nearest = [one.id for one in other.recall('', near=near).memories]
    robot = open_robot(resident=False)
    empty(robot)
    fill_some(robot, 1)
    for one in (robot, other):
        assert ask(one) == answers
        assert one.recall('part 1480', n=1, as_of=f'#{line}').memories
        if not resident:  # else its worker fills them meanwhile
            assert index_filling.list_left(one.memory.db)
            with pytest.raises(Unavailable, match='made anew'):
                one.recall('', near=near)
    text = 'Shelf 40 of aisle 5 holds part 1480'
    assert robot.learn(text).status == 'duplicate'
    index_filling.fill_all(robot.memory.db)
    assert ask(robot) == ask(other) == answers
    assert [one.id for one in robot.recall('', near=near).memories] == nearest


def test_a_worker_goes_on_with_what_another_process_left_and_tells_it(
    open_robot: Callable[..., Robot], store: Path
) -> None:
    robot = open_robot(resident=False)
    empty(robot)
    fill_some(robot, 1)
    mender = robot.memory.mender
    assert index_filling.list_left(robot.memory.db) == {CONTEXTS: 250, WORDS: 0}
    mender.run()
    assert index_filling.list_left(robot.memory.db) == {}
    assert mender.made == 2 and mender.found == frozenset() and mender.describe() == ''
    lines = robot.rows('SELECT detail FROM audit WHERE action = ? ORDER BY id', REBUILT)
    assert [WORDS in line[0] for line in lines] == [False, True]
    robot.close()
    assert checker.check(store) == []


def test_a_store_that_is_being_mended_verifies_and_is_backed_up(
    open_robot: Callable[..., Robot], store: Path, tmp_path: Path
) -> None:
    robot = open_robot(resident=False, backup_folder=str(tmp_path / 'backups'))
    empty(robot)
    fill_some(robot, 1)
    (check,) = (one for one in verify(store) if one.name == 'indexes')
    assert check.holds and check.detail.endswith('contexts up to memory 250, words up to memory 0')
    assert 'maintain' in check.cure
    made = require(robot.memory.backups.make_due())
    assert all(one.holds for one in verify(Path(made))), verify(Path(made))
