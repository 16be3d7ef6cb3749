"""Copies of skills follow the file, whoever writes it, and learn in the background."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from narrowing import require
from robots import Robot, check_file
from waiting import HANG_SECONDS, until

from robot_memory.archive.reader import import_archive
from robot_memory.archive.writer import ExportScope, generate_lines
from robot_memory.background import folding
from robot_memory.background.blas import hold_blas
from robot_memory.background.skills import SkillKey
from robot_memory.core.errors import Internal
from robot_memory.lifecycle import trials
from robot_memory.storage.indexes import indexed

KEY = SkillKey('default', 'strike')


def strike(arm: Robot, number: int, situation: str = 'disc on ice', **more: Any) -> Any:
    speed = 0.5 + number % 12 / 10
    return arm.record_outcome(
        'strike',
        situation,
        params={'speed': f'{speed:g} m/s'},
        results={'slide': f'{speed**2 + number % 3 / 100:.3f} m'},
        success='true' if 0.8 < speed < 1.2 else 'false',
        **more,
    )


def open_copy(robot: Robot, key: SkillKey = KEY) -> Any:
    with robot.memory.db.read() as connection:
        return robot.memory.skills.open(connection, key)


def test_a_copy_follows_what_another_process_writes(open_robot: Callable[..., Robot]) -> None:
    one, other = open_robot(), open_robot()
    for number in range(12):
        strike(one, number)
    copy = open_copy(other)
    assert len(copy.rows) == 12
    told = strike(one, 12)
    assert open_copy(other) is copy, 'it is followed, not loaded anew'
    assert copy.rows[-1].memory_id == told.memory_id
    strike(other, 13)
    assert [row.memory_id for row in open_copy(one).rows] == [
        row.memory_id for row in open_copy(other).rows
    ]
    one.forget(told.memory_id, 'wrong')
    assert told.memory_id not in {row.memory_id for row in open_copy(other).rows}


def test_what_a_process_has_recorded_it_does_not_read_again(
    open_robot: Callable[..., Robot],
) -> None:
    one, other = open_robot(), open_robot()
    for robot in (one, other, other, one):
        told = strike(robot, 1)
        (copy,) = robot.memory.skills._copies.values()
        with robot.memory.db.read() as connection:
            assert copy.seq == indexed.last_change(connection)
        assert copy.rows[-1].memory_id == told.memory_id
    assert len(open_copy(other).rows) == len(open_copy(one).rows) == 4


def test_scales_are_learned_in_the_background_and_kept(open_robot: Callable[..., Robot]) -> None:
    robot = open_robot()
    for number in range(12):
        strike(robot, number)

    def is_kept() -> bool:
        return bool(robot.rows('SELECT 1 FROM skill_states'))

    until(is_kept, 'scales')
    until(lambda: not open_copy(robot).skill.is_due, 'scales')
    learned = open_copy(robot).skill.scales
    other = open_robot(resident=False)
    assert open_copy(other).skill.scales.keys() == learned.keys()


def test_a_write_that_fails_leaves_no_trial_in_the_copy(
    robot: Robot, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        strike(robot, number)

    def fail(*_: Any) -> int:
        raise RuntimeError('the disk is gone')

    with monkeypatch.context() as patch:
        patch.setattr(trials, '_insert', fail)
        with pytest.raises(Internal, match='the disk is gone'):
            strike(robot, 3)
    told = strike(robot, 3)
    assert open_copy(robot).rows[-1].memory_id == told.memory_id
    assert len(open_copy(robot).skill.trials) == len(open_copy(robot).rows) == 4


def test_many_threads_record_and_ask_at_once(robot: Robot) -> None:
    for number in range(6):
        strike(robot, number)
    failures: list[BaseException] = []

    def work(first: int) -> None:
        try:
            for number in range(first, first + 10):
                strike(robot, number, f'disc on floor {first % 3}')
                robot.suggest('strike', 'disc on ice', want={'maximise': 'slide'})
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(first,)) for first in (0, 10, 20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(HANG_SECONDS)
    assert not failures
    copy = open_copy(robot)
    assert len(copy.rows) == len(copy.skill.trials) == len(copy.skill.surprises.rows) == 36
    assert [(row.memory_id,) for row in copy.rows] == robot.rows(
        "SELECT id FROM memories WHERE context ->> '$.trial' IS NOT NULL ORDER BY id"
    )


def test_a_trial_that_is_folded_is_learned_from_no_more(
    open_robot: Callable[..., Robot], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folding, 'RARE', 10)
    robot = open_robot(resident=False)
    for number in range(60):
        strike(robot, number)
    open_copy(robot)
    robot.memory.settings = replace(robot.memory.settings, perception_limit_mb=0.03)
    assert robot.memory.folder.run()
    rows = open_copy(robot).rows
    assert 10 <= len(rows) < 60
    assert robot.rows('SELECT count(*) FROM trials') == [(len(rows),)]
    (group,) = robot.query_events(
        where={'kind': 'trial'}, aggregate=['mean'], figure='slide'
    ).groups
    assert group.count == 60
    check_file(robot.memory.db.path)


def test_an_archive_brings_trials_along_and_who_stands_behind_them_decides(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    robot = open_robot()
    for number in range(8):
        strike(robot, number, key=f'k{number}')
    with robot.memory.db.read() as connection:
        lines = ''.join(f'{line}\n' for line in generate_lines(connection, ExportScope()))
    (tmp_path / 'archive.jsonl').write_text(lines)
    other = open_robot(name='other')
    import_archive(other.memory, tmp_path / 'archive.jsonl')
    query = 'SELECT skill, figures, success, key, body, surprise FROM trials ORDER BY memory_id'
    assert other.rows(query) == robot.rows(query)
    ((authority,),) = other.rows(
        "SELECT DISTINCT authority FROM memories WHERE type = 'perception'"
    )
    found = other.suggest('strike', 'disc on ice', default={'speed': '1 m/s'})
    assert found.default_used == (authority == 'imported')


def test_situations_get_their_vectors_once_there_is_a_model(
    open_robot: Callable[..., Robot], tiny_embedders: dict[int, Any]
) -> None:
    robot = open_robot()
    for number in range(6):
        strike(robot, number, ('red cup on the table', 'steel plate on the shelf')[number % 2])
    robot.close()
    robot = open_robot(embedder=tiny_embedders[8])
    until(lambda: robot.rows('SELECT count(*) FROM situation_vectors') == [(2,)], 'vectors')
    copy = open_copy(robot)
    assert require(copy.get_vector(copy.rows[0].situation)).shape == (8,)


def test_a_situation_is_embedded_once_and_only_the_latest_are_kept(
    open_robot: Callable[..., Robot],
    tiny_embedders: dict[int, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    robot = open_robot(embedder=tiny_embedders[8])
    asked: list[str] = []
    embed = robot.memory.vectorizer.embed_first

    def note(texts: Any) -> Any:
        asked.extend(texts)
        return embed(texts)

    monkeypatch.setattr(robot.memory.vectorizer, 'embed_first', note)
    robot.suggest('strike', 'disc on moss')
    strike(robot, 0, 'disc on moss')
    assert asked.count('disc on moss') == 1
    for number in (*range(300), 0):
        robot.memory.skills.embed(f'disc on stone {number}')
    assert asked.count('disc on stone 299') == 1
    assert asked.count('disc on stone 0') == 2


def test_blas_has_its_threads_back_after_the_last_of_nested_holds() -> None:
    from threadpoolctl import threadpool_info

    def count() -> list[int]:
        return [one['num_threads'] for one in threadpool_info() if one['user_api'] == 'blas']

    before = count()
    with hold_blas(), hold_blas():
        assert set(count()) <= {1}
    assert count() == before


def test_what_was_learned_outlives_trials_that_are_forgotten(
    open_robot: Callable[..., Robot],
) -> None:
    robot = open_robot(resident=False)
    chance = random.Random(1)
    ids = []
    for number in range(60):
        speed = 0.5 + number % 10 / 10
        far = speed / 2 + chance.gauss(0, 0.02) + (0.15 if number >= 40 else 0)
        told = robot.record_outcome(
            'strike',
            'disc on ice',
            params={'speed': f'{speed} m/s'},
            results={'slide': f'{far} m'},
        )
        ids.append(told.memory_id)
        if number in (10, 20, 39):
            open_copy(robot).skill.learn()
    before = open_copy(robot).list_changes()
    assert before
    for memory_id in (ids[3], ids[50]):
        robot.forget(memory_id, 'measured wrongly')
    copy = open_copy(robot)
    assert len(copy.rows) == len(copy.skill.history.outdated) == 58
    assert [one['begin'] for one in copy.list_changes()][:1] == [before[0]['begin']]
