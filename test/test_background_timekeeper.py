"""A clock that is wrong for a while, ahead or behind: nothing is lost, hidden or stopped by it."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from amounts import few_or_many
from authorities import OPERATOR, PLANNER
from narrowing import require
from robots import START, MovableClock, Robot, check_file, sentence

from robot_memory.core.clock import DAY, LAST
from robot_memory.core.errors import Conflict
from robot_memory.storage.admin import backup

OpenRobot = Callable[..., Robot]


def end(robot: Robot) -> Any:
    return robot.end_session(robot.start_session().session_id)


def learned(robot: Robot, count: int) -> list[int]:
    chance = random.Random(count)
    return [require(robot.learn(f'cup {sentence(chance)} {i}').memory_id) for i in range(count)]


def found(robot: Robot) -> set[int]:
    return {memory.id for memory in robot.recall('cup', n=100).memories}


# Trust


def test_only_an_operator_confirms_the_clock_and_the_audit_says_who(robot: Robot) -> None:
    robot.learn('the tray is blue')
    with pytest.raises(Conflict, match='clock trust requires the role operator'):
        robot.memory.timekeeper.trust(PLANNER)
    asked = "SELECT evidence FROM clock_epochs WHERE evidence = 'operator'"
    assert robot.rows(asked) == []
    robot.memory.timekeeper.trust(OPERATOR)
    assert robot.rows(asked) == [('operator',)]
    assert robot.rows("SELECT actor FROM audit WHERE action = 'clock_trusted'") == [('cli:anna',)]


# Confidence


def test_a_clock_400_days_ahead_for_one_end_session_hides_nothing_once_it_is_right(
    robot: Robot, clock: MovableClock
) -> None:
    ids = set(learned(robot, 25))
    before = [robot.row(memory_id) for memory_id in sorted(ids)]
    clock.jump(days=400)
    end(robot)
    assert found(robot) == ids
    clock.jump(days=-400)
    assert found(robot) == ids
    assert [robot.row(memory_id)['confidence'] for memory_id in sorted(ids)] == [
        row['confidence'] for row in before
    ]


def test_what_a_trusted_clock_decayed_comes_back_when_a_newer_one_contradicts_it(
    open_robot: OpenRobot, clock: MovableClock
) -> None:
    robot = open_robot(resident=False)
    ids = set(learned(robot, 25))
    robot.close()
    clock.reboot()
    clock.jump(days=400)
    robot = open_robot(resident=False)
    robot.memory.timekeeper.trust(OPERATOR)
    end(robot)
    assert found(robot) == set()
    robot.close()
    clock.reboot()
    clock.jump(days=-400)
    robot = open_robot(resident=False)
    robot.memory.timekeeper.trust(OPERATOR)
    assert found(robot) == ids


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


def test_a_session_ended_by_a_suspect_clock_decays_what_is_then_accessed_by_a_right_one(
    robot: Robot, clock: MovableClock
) -> None:
    """Its epoch is corrected from its beginning, so that nothing is judged anew afterwards."""
    clock.synchronised = True
    robot.learn('first of all')
    clock.jump(days=4000)
    clock.synchronised = False
    kept = require(robot.learn('the cup is wet').memory_id)
    sure = robot.row(kept)['confidence']
    clock.forward(days=20)
    end(robot)
    assert robot.row(kept)['confidence'] == sure
    clock.forward(days=0.5)
    clock.jump(days=-4000)
    clock.synchronised = True
    robot.recall('cup', min_confidence=0)
    robot.memory.accesses.flush()
    assert robot.row(kept)['confidence_base'] == pytest.approx(sure * 0.99**20)


def test_accesses_on_both_sides_of_an_end_are_replayed_as_they_were(
    open_robot: OpenRobot, clock: MovableClock
) -> None:
    robot = open_robot(resident=False)
    clock.jump(days=4000)
    kept = require(robot.learn('the cup is wet').memory_id)
    sure = robot.row(kept)['confidence']

    def access() -> None:
        robot.recall('cup', min_confidence=0)
        robot.memory.accesses.flush()

    end(robot)
    clock.forward(days=20)
    access()
    clock.forward(days=20)
    access()
    clock.forward(seconds=1)
    end(robot)
    clock.forward(days=3)
    access()
    clock.jump(days=-4000)
    clock.synchronised = True
    robot.learn('the clock is right')
    assert robot.row(kept)['confidence_base'] == sure


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
    assert found(robot) == set(seen)
    clock.reboot()
    robot.memory.timekeeper.trust(OPERATOR)
    end(robot)
    assert found(robot) == set()
    clock.reboot()
    clock.jump(days=-400)
    robot.memory.timekeeper.trust(OPERATOR)
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


YEAR = 365 * DAY


class Life:
    """
    One history, lived with a clock that is set wrong now and then, or with one that is right.

    Boots that a trusted clock closes may ask and end sessions; the others only store.
    """

    def __init__(
        self, open_robot: OpenRobot, clock: MovableClock, seed: int, wrong: bool, folder: Path
    ) -> None:
        self.chance = random.Random(seed)
        self.folder = folder / f'backups of {wrong}'
        self.since_backup = 0.0
        self.open_robot = open_robot
        self.clock, self.wrong = clock, wrong
        self.true = START
        self.number = 0
        self.stored: set[int] = set()
        self.unclosed: set[int] = set()
        self.is_empty = True
        self.set(0)
        self.robot = self.open()

    def open(self) -> Robot:
        self.since_backup = 0.0
        return self.open_robot(
            name=f'wrong-{self.wrong}',
            resident=False,
            retention_days=60,
            backup_folder=str(self.folder),
            backup_keep=5,
        )

    def back_up(self) -> None:
        """
        Make a backup where one is due; at the latest, it is behind a day of one process.

        A store that never held a memory has none.
        """
        due = self.since_backup > 1 and not self.is_empty
        made = self.robot.memory.backups.make_due() is not None
        assert made or not due
        if made:
            self.since_backup = 0.0

    def set(self, error: int) -> None:
        """Set the clock wrong by so many microseconds; the kernel knows when it is right."""
        self.error = error if self.wrong else 0
        self.clock.now = self.true + self.error
        self.clock.synchronised = not self.error

    def pass_days(self, days: float) -> None:
        self.clock.forward(days=days)
        self.since_backup += days
        self.true += round(days * DAY)

    def reboot(self, days: float) -> None:
        self.robot.close()
        self.pass_days(days)
        self.clock.reboot()

    def run(self, closed: bool) -> None:
        """Live through one boot of a few epochs."""
        for _ in range(self.chance.randint(1, 3)):
            error = round(self.chance.uniform(-40, 40) * YEAR)
            self.set(0 if closed and self.chance.random() < 0.3 else error)
            self.robot = self.open()
            for _ in range(self.chance.randint(1, 4)):
                self.pass_days(self.chance.choice([0.001, 0.5, 3, 20]))
                self.act(self.chance.choice(['learn', 'see', 'ask', 'end'][: 4 if closed else 2]))
                self.back_up()
            if self.chance.random() < 0.3:  # a virtual machine is put back
                if closed:
                    self.set(0)
                    self.act('learn')
                self.clock.passed = max(0.0, self.clock.passed - 86_400)
                self.set(0 if closed else error)
            self.robot.close()
        if closed:
            self.set(0)
            self.robot = self.open()
            self.act('learn')
            self.robot.close()
        else:
            self.unclosed |= self.stored
        self.stored.clear()

    def act(self, what: str) -> None:
        self.number += 1
        if what == 'learn':
            learned = self.robot.learn(f'cup {sentence(self.chance)} {self.number}')
            self.stored.add(require(learned.memory_id))
            self.is_empty = False
        elif what == 'see':
            seen = self.robot.save_perception(f'cup {sentence(self.chance)} {self.number}')
            self.stored.add(seen.memory_id)
            self.is_empty = False
        elif what == 'end':
            end(self.robot)
        else:
            asked = self.chance.sample(range(1, self.number + 1), min(3, self.number))
            self.robot.memory.accesses.record(asked)
            self.robot.memory.accesses.flush()

    def tell(self) -> Any:
        """Return what is listed, recalled and in context of boots that a trusted clock closed."""
        records = self.robot.query_records(limit=1000).records
        marked = {record.memory_id for record in records if record.time_uncertain}
        assert marked <= self.unclosed
        listed = [
            (record.memory_id, record.created_at[:-4], round(record.confidence, 5))
            for record in records
            if record.memory_id not in self.unclosed
        ]
        recalled = self.robot.recall('cup', n=100, min_confidence=0.3)
        context = self.robot.get_context('cup', max_results=50, max_characters=100_000).context
        unclosed = tuple(f'- [mem_{memory_id},' for memory_id in self.unclosed)
        lines = [line for line in context.splitlines() if not line.startswith(unclosed)]
        self.pass_days(2)
        self.back_up()
        return listed, {memory.id for memory in recalled.memories} - self.unclosed, sorted(lines)


@pytest.mark.parametrize('seed', range(few_or_many(4, 1000)))
def test_a_history_of_wrong_clocks_ends_as_one_of_right_clocks(
    open_robot: OpenRobot, clock: MovableClock, tmp_path: Path, seed: int
) -> None:
    told = []
    chance = random.Random(seed)
    boots = [(chance.random() < 0.7, chance.choice([0.01, 2, 10])) for _ in range(8)]
    for wrong in (True, False):
        life = Life(open_robot, clock, seed, wrong, tmp_path)
        for closed, pause in boots:
            life.reboot(pause)
            life.run(closed)
        life.reboot(1)
        life.set(0)
        life.robot = life.open()
        end(life.robot)
        told.append(life.tell())
        check_file(life.robot.memory.db.path)
        life.robot.close()
    wrong, right = told
    assert wrong == right


# Finding by time


def test_the_newest_of_many_are_found_where_the_clock_was_wrong_for_a_while(
    robot: Robot, clock: MovableClock
) -> None:
    """So many that the latest are looked for first, where the clock was never wrong."""
    right = clock.now
    robot.learn('before')
    copy_row(robot, 2100)
    clock.now = 1_000_000
    behind = robot.learn('told by a clock that began in 1970').memory_id
    clock.now = right + 1_000_000
    robot.learn('the clock is right')
    records = robot.query_records(where={'created_at': {'$gte': '2020-01-01'}}).records
    assert records[1].memory_id == behind
    since = {'created_at': {'$gte': records[1].created_at}}
    assert robot.query_records(where=since).total_count == 2


def copy_row(robot: Robot, count: int) -> None:
    """Have so many copies of the first memory's row, a microsecond after each other."""
    names = [row[1] for row in robot.rows('PRAGMA table_info(memories)') if row[1] != 'id']
    values = [f'{name} - 1 - n.value' if name == 'created_at' else name for name in names]
    with robot.memory.db.write() as connection:
        connection.execute(
            'WITH RECURSIVE n (value) AS'
            f' (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < {count})'
            f' INSERT INTO memories ({", ".join(names)}) SELECT {", ".join(values)}'
            ' FROM memories, n WHERE id = 1'
        )
