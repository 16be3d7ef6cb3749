"""A clock that is wrong for a while, ahead or behind: nothing is lost, hidden or stopped by it."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from narrowing import require
from robots import START, MovableClock, Robot, check_file, sentence

from robot_memory.core.clock import DAY, LAST
from robot_memory.storage.admin import backup

OpenRobot = Callable[..., Robot]


def end(robot: Robot) -> Any:
    return robot.end_session(robot.start_session().session_id)


def learned(robot: Robot, count: int) -> list[int]:
    chance = random.Random(count)
    return [require(robot.learn(f'cup {sentence(chance)} {i}').memory_id) for i in range(count)]


def found(robot: Robot) -> set[int]:
    return {memory.id for memory in robot.recall('cup', n=100).memories}


# Confidence


def test_a_clock_400_days_ahead_for_one_end_session_hides_nothing_once_it_is_right(
    robot: Robot, clock: MovableClock
) -> None:
    ids = set(learned(robot, 25))
    before = [robot.row(memory_id) for memory_id in sorted(ids)]
    clock.jump(days=400)
    end(robot)
    assert found(robot) == set()
    clock.jump(days=-400)
    assert found(robot) == ids
    assert [robot.row(memory_id)['confidence'] for memory_id in sorted(ids)] == [
        row['confidence'] for row in before
    ]


def test_another_process_takes_it_back_when_it_opens_the_store(
    open_robot: OpenRobot, clock: MovableClock
) -> None:
    robot = open_robot(resident=False)
    ids = set(learned(robot, 25))
    clock.jump(days=400)
    end(robot)
    robot.close()
    clock.jump(days=-400)
    assert found(open_robot(resident=False)) == ids


def test_what_was_learned_in_1970_does_not_age_when_the_clock_is_set(
    open_robot: OpenRobot, clock: MovableClock
) -> None:
    clock.now = 30_000_000
    robot = open_robot()
    ids = set(learned(robot, 20))
    clock.now = START
    end(robot)
    assert found(robot) == ids
    clock.forward(days=5)
    end(robot)
    for row in map(robot.row, ids):
        assert row['confidence'] == pytest.approx(row['confidence_base'] * 0.99**5)


def test_an_access_while_the_clock_was_ahead_fixes_no_decay(
    robot: Robot, clock: MovableClock
) -> None:
    kept = robot.learn('the cup is wet').memory_id
    sure = robot.row(require(kept))['confidence']
    clock.jump(days=400)
    for _ in range(3):
        end(robot)
        robot.recall('cup', min_confidence=0)
        clock.forward(days=2)
    clock.jump(days=-400)
    assert found(robot) == {kept}
    assert sure * 0.99**7 <= robot.row(require(kept))['confidence'] <= sure
    clock.forward(days=10)
    end(robot)
    assert robot.row(require(kept))['confidence'] <= sure
    assert robot.row(require(kept))['confidence'] >= sure * 0.99**17


def test_decay_goes_on_exactly_after_the_clock_was_ahead(
    robot: Robot, clock: MovableClock
) -> None:
    robot.learn('first of all')
    clock.jump(days=400)
    end(robot)
    robot.learn('learned ahead')
    clock.jump(days=-400)
    kept = robot.learn('the cup is wet')
    clock.forward(days=10)
    end(robot)
    expected = require(kept.auto_inferred).confidence * 0.99**10
    assert robot.row(require(kept.memory_id))['confidence'] == pytest.approx(expected, rel=1e-12)
    robot.recall('cup')
    clock.forward(days=10)
    end(robot)
    expected *= 0.99**10
    assert robot.row(require(kept.memory_id))['confidence'] == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize('days', [-300, -20_000], ids=['plausible', '1970'])
def test_what_was_learned_or_recalled_with_the_clock_behind_is_no_older_than_what_came_before(
    robot: Robot, clock: MovableClock, days: int
) -> None:
    old = robot.learn('the cup is wet').memory_id
    clock.jump(days=days)
    new = robot.learn('the cup is dry').memory_id
    robot.recall('cup wet')
    clock.forward(days=1)
    clock.jump(days=-days)
    clock.forward(days=1)
    end(robot)
    sure = robot.row(require(new))['confidence_base']
    for memory_id in (old, new):
        assert robot.row(require(memory_id))['confidence'] >= sure * 0.99**3


# Retention


def test_what_retention_retired_while_the_clock_was_ahead_comes_back(
    open_robot: OpenRobot, clock: MovableClock
) -> None:
    robot = open_robot(retention_days=30)
    seen = [robot.save_perception(f'the cup is at dock {i}').memory_id for i in range(5)]
    clock.jump(days=400)
    end(robot)
    assert found(robot) == set()
    clock.jump(days=-400)
    assert found(robot) == set(seen)
    check_file(robot.memory.db.path)
    clock.forward(days=31)
    end(robot)
    assert found(robot) == set()


@pytest.mark.parametrize('days', [-300, -20_000], ids=['plausible', '1970'])
def test_retention_does_not_retire_what_was_seen_with_the_clock_behind(
    open_robot: OpenRobot, clock: MovableClock, days: int
) -> None:
    robot = open_robot(retention_days=30)
    robot.learn('something')
    clock.jump(days=days)
    seen = robot.save_perception('the cup is at the dock').memory_id
    clock.jump(days=-days)
    end(robot)
    assert found(robot) == {seen}


def test_retention_rests_while_the_clock_cannot_be_right(
    open_robot: OpenRobot, clock: MovableClock
) -> None:
    robot = open_robot(retention_days=30)
    seen = robot.save_perception('the cup is at the dock').memory_id
    clock.now = LAST + 400 * DAY
    end(robot)
    clock.now = START
    assert found(robot) == {seen}


# Backups


def made(folder: Path) -> list[str]:
    return [path.name for _, path in backup.backups(folder, 'memory')]


def test_a_backup_made_a_year_ahead_stops_no_backups(
    open_robot: OpenRobot, clock: MovableClock, tmp_path: Path
) -> None:
    robot = open_robot(resident=False, backup_folder=str(tmp_path / 'b'), backup_keep=3)
    robot.learn('something')
    clock.jump(days=365)
    assert robot.memory.backups.make_due()
    ahead = made(tmp_path / 'b')
    clock.jump(days=-365)
    assert robot.memory.backups.make_due() is None  # a moment ago one was made
    for _ in range(3):
        clock.forward(days=1)
        assert robot.memory.backups.make_due()
    assert len(made(tmp_path / 'b')) == 3
    assert not set(ahead) & set(made(tmp_path / 'b'))
    robot.close()


def test_a_backup_from_the_future_stops_no_backups_of_a_new_process(
    open_robot: OpenRobot, clock: MovableClock, tmp_path: Path
) -> None:
    robot = open_robot(resident=False, backup_folder=str(tmp_path / 'b'), backup_keep=2)
    robot.learn('something')
    clock.jump(days=365)
    robot.memory.backups.make_due()
    robot.close()
    clock.jump(days=-365)
    robot = open_robot(resident=False, backup_folder=str(tmp_path / 'b'), backup_keep=2)
    assert robot.memory.backups.make_due()
    assert robot.memory.backups.make_due() is None


def test_a_machine_that_boots_in_1970_time_after_time_keeps_its_good_backups(
    open_robot: OpenRobot, clock: MovableClock, tmp_path: Path
) -> None:
    settings: dict[str, Any] = {'backup_folder': str(tmp_path / 'b'), 'backup_keep': 2}
    robot = open_robot(resident=False, **settings)
    robot.learn('something')
    robot.memory.backups.make_due()
    clock.forward(days=1)
    robot.memory.backups.make_due()
    good = made(tmp_path / 'b')
    assert len(good) == 2
    right = clock.now
    for boot in range(5):
        robot.close()
        clock.now = 5_000_000 + boot
        robot = open_robot(resident=False, **settings)
        assert robot.memory.backups.make_due() is None
    assert made(tmp_path / 'b') == good
    clock.now = 5_000_000
    clock.forward(days=1)  # it ran for a day
    assert robot.memory.backups.make_due()
    clock.now = right
    assert robot.memory.backups.make_due() is None
    assert made(tmp_path / 'b')[0] == good[1]


# The rest


def test_a_session_begun_with_the_clock_ahead_is_not_current_for_ever(
    robot: Robot, clock: MovableClock
) -> None:
    clock.jump(days=400)
    robot.start_session()
    clock.jump(days=-400)
    clock.forward(days=1)
    now = robot.start_session().session_id
    assert robot.save_conversation('the cup is wet', 'I see').session_id == now


def test_setting_the_clock_neither_keeps_nor_forgets_the_vector_of_a_question(
    open_robot: OpenRobot, tiny_embedders: Any, clock: MovableClock
) -> None:
    robot = open_robot('', embedder=tiny_embedders[8], cache_ttl=300)

    def asked() -> int:
        robot.memory.embed_query('red cup')
        return robot.memory.registry.get_operation_timings()['embed_query'].count

    counts = [asked()]
    for days in (400, -800):
        clock.jump(days=days)
        counts.append(asked())
    clock.forward(seconds=301)
    assert [*counts, asked()] == [1, 1, 1, 2]


@pytest.mark.parametrize('now', [-70_000_000 * DAY // 1000, 0, LAST, LAST + DAY])
def test_no_time_of_the_clock_makes_a_tool_fail(
    robot: Robot, clock: MovableClock, now: int
) -> None:
    clock.now = now
    kept = robot.learn('the cup is wet').memory_id
    robot.save_conversation('the cup is mine', 'I see')
    robot.update(require(kept), 'the cup is dry')
    assert robot.recall('cup').total
    assert robot.query_records().total_count
    assert robot.get_context('cup').num_results
    robot.get_memory_stats()
    robot.sage_system_status()
    end(robot)
    robot.maintain()


@pytest.mark.parametrize('seed', range(12))
def test_after_any_history_of_wrong_clocks_all_is_recalled_that_a_right_clock_would_recall(
    open_robot: OpenRobot, clock: MovableClock, seed: int
) -> None:
    """The same history twice: with a clock that is set wrong now and then, and a right one."""
    recalled = []
    for is_wrong in (True, False):
        chance = random.Random(seed)
        clock.now = START + 500 * DAY
        settings = {'retention_days': 60, 'name': f'wrong-{is_wrong}', 'resident': False}
        robot = open_robot(**settings)
        off = 0.0
        for step in range(60):
            what = chance.choice(['learn', 'learn', 'see', 'ask', 'end', 'wait', 'set', 'open'])
            clock.forward(days=chance.choice([0.001, 0.5, 3]))
            if what == 'learn':
                robot.learn(f'cup {sentence(chance)} {step}')
            elif what == 'see':
                robot.save_perception(f'cup {sentence(chance)} {step}')
            elif what == 'ask':
                facts = robot.rows("SELECT id FROM memories WHERE type = 'fact' ORDER BY id")
                robot.memory.accesses.record(
                    row[0] for row in chance.sample(facts, min(3, len(facts)))
                )
            elif what == 'end':
                end(robot)
            elif what == 'wait':
                clock.forward(days=chance.choice([10, 40]))
            elif what == 'open':
                robot.close()
                robot = open_robot(**settings)
            else:
                days = chance.choice([0, -off, 400, -400, 3000, -20_000, 0.2, -0.2])
                robot.memory.clock_monitor.check()  # as the worker does every second
                if is_wrong:
                    clock.jump(days=days)
                    off += days
        robot.memory.clock_monitor.check()
        clock.jump(days=-off)
        end(robot)
        contents = {memory.content for memory in robot.recall('cup', n=100).memories}
        recalled.append((contents, robot.rows('SELECT count(*) FROM memories')))
        check_file(robot.memory.db.path)
        robot.close()
    (wrong, count), (right, other) = recalled
    assert count == other
    assert wrong >= right
