"""What as_of answers is what a copy of the store that was taken then answers."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from amounts import few_or_many
from narrowing import require
from old_stores import every_version, fixture, opened
from robots import VOCABULARY, MovableClock, Robot, sentence

from robot_memory.core.clock import DAY, format_instant
from robot_memory.core.errors import Conflict, InvalidArgument, NotFound
from robot_memory.core.fields import to_plain
from robot_memory.core.settings import Settings
from robot_memory.memory import Memory
from robot_memory.storage.admin.audit_check import check

COLLECTIONS = ('default', 'lab')
NEAR = {'field': 'spatial.position', 'target': [0.5, 0.5, 0.0], 'max_distance': 0.7}


def context_of(chance: random.Random) -> dict[str, Any]:
    return chance.choice(
        [
            {},
            {'task': {'success': chance.random() < 0.5}, 'params': {'force': chance.randrange(9)}},
            {'env': {'sim_or_real': 'real'}, 'robot': {'id': f'arm-{chance.randrange(3)}'}},
            {'spatial': {'position': [chance.random(), chance.random(), 0.0]}},
        ]
    )


def live(robot: Robot, clock: MovableClock, chance: random.Random) -> None:
    """Do one thing at random; what is refused changes nothing."""
    clock.forward(days=chance.choice([0.0001, 0.01, 1.5]))
    some = chance.randrange(1, 40)
    with suppress(Conflict, NotFound):
        match chance.randrange(12):
            case 0 | 1 | 2 | 3:
                robot.learn(
                    f'{sentence(chance)} {chance.randrange(30)}',
                    context=context_of(chance),
                    collection=chance.choice(COLLECTIONS),
                    session_id=find_session(robot, chance),
                )
            case 4 | 5:
                robot.update(some, f'{sentence(chance)} {some}', context=context_of(chance))
            case 6:
                robot.forget(some, sentence(chance))
            case 7:
                robot.undo(some)
            case 8:
                robot.save_perception(sentence(chance, 8), 'visual', data={'n': some})
            case 9:
                robot.save_conversation(f'I prefer the {sentence(chance, 3)}', 'Noted')
            case 10:
                robot.recall(chance.choice(VOCABULARY))
            case _:
                session = find_session(robot, chance)
                if session is None:
                    robot.start_session(context={'robot': {'id': 'arm-9'}})
                elif chance.random() < 0.5:
                    robot.end_session(session)
                else:
                    robot.clear_session(session)


def find_session(robot: Robot, chance: random.Random) -> str | None:
    rows = robot.rows("SELECT id FROM sessions WHERE status = 'open'")
    found: list[str | None] = [None, *(row[0] for row in rows)]
    return chance.choice(found)


def ask(robot: Robot, chance: random.Random, as_of: str = '') -> list[Any]:
    """Return answers without what the clock, the age and the accesses make of them."""
    words = chance.sample(VOCABULARY, 12)
    start = format_instant(1_772_000_000_000_000 + chance.randrange(20) * DAY)
    found: list[Any] = []
    for number, word in enumerate(words):
        plans: list[dict[str, Any]] = [
            {'query': f'{word} {words[0]}'},
            {'query': word, 'collection': 'lab'},
            {'query': f'{word} 7', 'context_filter': {'params.force': {'$gt': 3}}},
            {'context_filter': {'robot.id': {'$in': ['arm-1', 'arm-9']}}},
            {'spatial_sort': NEAR},
            {'query': word, 'spatial_sort': NEAR},
        ]
        asked = plans[number % 6]
        found.append(robot.recall(n=7, min_confidence=0.0, as_of=as_of, **asked))
    conditions: list[dict[str, Any]] = [
        {},
        {'status': {'$ne': 'active'}},
        {'updated_at': {'$gte': start}, 'status': {'$in': ['active', 'superseded']}},
        {'category': {'$ne': 'observation'}},
        {'task.success': True},
        {'kind': 'turn'},
    ]
    for where in conditions:
        found.append(robot.query_records(where=where, limit=20, as_of=as_of))
    return [strip(to_plain(answer)) for answer in found]


def strip(answer: dict[str, Any]) -> dict[str, Any]:
    for name in ('query_ms', 'as_of', 'why_empty'):  # why is told of the line, not of its time
        answer.pop(name, None)
    for record in answer.get('memories') or answer.get('records') or ():
        record.pop('confidence')
    return answer


def take_copy(robot: Robot, path: Path, clock: MovableClock) -> Robot:
    with robot.memory.db.connect() as connection:
        connection.execute('VACUUM INTO ?', (str(path),))
    settings = Settings(db_path=str(path), model='none', durability='normal')
    return Robot(Memory(settings, resident=False, clocks=clock))


@pytest.mark.parametrize('seed', range(few_or_many(1, 20)))
def test_answers_as_of_an_instant_are_those_of_a_copy_taken_then(
    seed: int, open_robot: Callable[..., Robot], clock: MovableClock, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    robot = open_robot()
    known: list[tuple[str, int, list[Any]]] = []
    for number in range(few_or_many(8, 50)):
        for _ in range(chance.randrange(1, 9)):
            live(robot, clock, chance)
        copy = take_copy(robot, tmp_path / f'copy-{number}.db', clock)
        known.append((format_instant(clock()), number, ask(copy, random.Random(number))))
        copy.close()
        clock.forward(seconds=1)
    assert any(answer['memories'] for answer in known[-1][2][:6])
    for instant, number, expected in chance.sample(known, len(known)):
        assert ask(robot, random.Random(number), as_of=instant) == expected, instant


def test_a_state_is_named_by_its_audit_line_too(robot: Robot, clock: MovableClock) -> None:
    kept = require(robot.learn('The dock is in hall 2').memory_id)
    robot.update(kept, 'The dock is in hall 4')
    for as_of in ('1', '#1'):
        (found,) = robot.recall('dock', as_of=as_of).memories
        assert found.content == 'The dock is in hall 2'
    clock.forward(seconds=1)
    robot.update(kept, 'The dock is in hall 6')
    clock.forward(seconds=1)
    answer = robot.recall('dock', as_of='#3')
    assert [found.content for found in answer.memories] == ['The dock is in hall 6']
    at = format_instant(clock() - 1_000_000)
    assert answer.as_of == {'line': 3, 'at': at, 'gone': 0}


def test_nothing_was_there_before_the_first_write(robot: Robot, clock: MovableClock) -> None:
    clock.forward(days=1)
    robot.learn('The dock is in hall 2')
    answer = robot.recall('dock', as_of='2026-02-25T12:00:00Z')
    assert (answer.memories, require(answer.as_of)['line']) == ((), 0)


def test_the_instant_that_a_date_is_read_as_is_named(robot: Robot, clock: MovableClock) -> None:
    clock.forward(days=1)
    robot.learn('The dock is in hall 2')
    clock.forward(days=1)
    begin = '2026-02-26T00:00:00.000000Z'
    read = f'{begin}, where that day begins in UTC (audit line 0)'
    for answer in (
        robot.recall('dock', as_of='2026-02-26'),
        robot.query_records(as_of='2026-02-26'),
    ):
        assert answer.why_empty == f'Nothing that was stored by {read} passes.'
    found = robot.recall('dock', as_of='2026-02-27')
    assert require(found.as_of)['instant'] == '2026-02-27T00:00:00.000000Z'
    timed = robot.recall('dock', as_of='2026-02-26T01:00+01:00')
    assert timed.why_empty == f'Nothing that was stored by {begin} (audit line 0) passes.'
    line = robot.recall('lamp', as_of='#1')
    assert line.why_empty == 'Nothing that was stored by audit line 1 passes.'
    assert 'instant' not in require(line.as_of)


def test_an_earlier_state_records_no_access(robot: Robot, clock: MovableClock) -> None:
    kept = require(robot.learn('The dock is in hall 2').memory_id)
    robot.recall('dock', as_of='#1')
    assert robot.row(kept)['access_count'] == 0


def test_min_confidence_holds_as_of_an_instant_where_it_is_asked(robot: Robot) -> None:
    robot.learn('The dock is in hall 2')
    with robot.memory.db.write() as connection:
        connection.execute('UPDATE memories SET confidence = 0.2')
    assert len(robot.recall('dock', as_of='#1').memories) == 1
    assert robot.recall('dock', as_of='#1', min_confidence=0.31).memories == ()


@pytest.mark.parametrize(
    ('as_of', 'words'),
    [
        ('2027-01-01', 'in the future; it is 2026'),
        ('#9', 'audit line 9; the last one is 1'),
        ('last week', 'ISO 8601 time'),
    ],
)
def test_a_state_that_cannot_be_known_is_refused_in_words(
    as_of: str, words: str, robot: Robot
) -> None:
    robot.learn('The dock is in hall 2')
    with pytest.raises(InvalidArgument, match=words):
        robot.recall('dock', as_of=as_of)
    with pytest.raises(InvalidArgument, match=words):
        robot.query_records(as_of=as_of)
    with pytest.raises(InvalidArgument, match='accesses have no history'):
        robot.query_records(where={'access_count': 0}, as_of='#1')


@every_version
def test_the_history_of_a_store_that_was_upgraded_begins_then(
    version: int, tmp_path: Path
) -> None:
    robot = opened(fixture(version, tmp_path))
    assert check_audit(robot) == ''
    known = robot.rows('SELECT coalesce(max(id), 0) FROM audit')[0][0]
    robot.forget(1, 'the cup was sold')
    assert check_audit(robot) == ''
    answer = robot.recall('red cup', as_of=f'#{known}')
    assert 'Grip force of 12.5 N holds the red cup' in [one.content for one in answer.memories]
    if version < 12:
        with pytest.raises(InvalidArgument, match='before the history begins, 2027'):
            robot.recall('red cup', as_of='2026-03-20')
    robot.close()


def check_audit(robot: Robot) -> str:
    with robot.memory.db.read() as connection:
        return check(connection, all_lines=True).problem


def test_before_the_horizon_it_is_refused_with_its_date(
    open_robot: Callable[..., Robot], clock: MovableClock
) -> None:
    robot = open_robot(history_days=10)
    kept = require(robot.learn('The dock is in hall 2').memory_id)
    robot.update(kept, 'The dock is in hall 4')
    clock.forward(days=20)
    robot.update(kept, 'The dock is in hall 6')
    with pytest.raises(InvalidArgument, match=r'before the history begins, 2026-03-07.*history_d'):
        robot.recall('dock', as_of='2026-03-01')
    assert robot.rows('SELECT count(*) FROM revisions') == [(2,)]
    (step,) = (step for step in robot.maintain().steps if step.name == 'history')
    assert (step.done, step.detail) == (True, '1 earlier states removed')
    with pytest.raises(InvalidArgument, match='before the history begins, 2026-03-17'):
        robot.recall('dock', as_of='#1')
    (found,) = robot.recall('dock', as_of='#2').memories
    assert found.content == 'The dock is in hall 4'
    robot.undo(kept)
    with pytest.raises(Conflict, match='no change to undo'):
        robot.undo(kept)
