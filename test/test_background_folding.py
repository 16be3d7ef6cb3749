"""Folding: the events stay exact, ids stay valid, and what must stay whole stays whole."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from narrowing import require
from robots import START, MovableClock, Robot, check_file, run_maintenance

from robot_memory.archive.reader import import_archive
from robot_memory.archive.writer import ExportScope, generate_lines
from robot_memory.background import folding as folder
from robot_memory.background.folding import share_out
from robot_memory.core.errors import Conflict
from robot_memory.core.fields import to_plain
from robot_memory.core.ranges import read_ranges, read_steps, write_ranges, write_steps
from robot_memory.lifecycle.perceptions import Perception, store_perception
from robot_memory.status.limits import report_limits
from robot_memory.storage.admin.audit_check import check
from robot_memory.storage.tables import audit, sizes
from robot_memory.storage.tables.audit import Head
from robot_memory.storage.tables.event_keys import Identity
from robot_memory.storage.tables.folding import Sort
from robot_memory.storage.tables.parts import Part

SECOND = 1_000_000_000
T0 = START * 1000
FEW = 15


@pytest.fixture
def robot(open_robot: Callable[..., Robot]) -> Robot:
    """A robot without a worker, which would fold beside the test."""
    return open_robot(resident=False)


@pytest.fixture(autouse=True)
def _few_are_rare(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder, 'RARE', FEW)


def perceive(
    at: int, kind: str = 'contact', label: str | None = 'push', **more: Any
) -> Perception:
    chance = random.Random(at)
    force, seconds = round(chance.expovariate(0.1), 2), round(chance.expovariate(1.0), 2)
    end = at + round(seconds * SECOND)
    sense = {'topic': f'/{kind}', 'detector': kind, 'source': 'cell', 'kind': label}
    names = {'peak_force': 'N', 'impulse': 'N s', 'a': 'V', 'b': 'A', 'c': 'm'}
    params = {name: {'value': force, 'unit': unit} for name, unit in names.items()}
    context = {
        'sense': {name: value for name, value in sense.items() if value},
        'params': params,
        'task': {'name': chance.choice(('pour', 'wipe'))},
    }
    return Perception(
        f'{kind} {label} of {force} N for {seconds} s',
        'tactile',
        stamp=at,
        frame_id='tool0',
        context=context | more.pop('context', {}),
        data={'peak_force': force},
        identity=Identity('cell', f'/{kind}', kind, at, (at + end) // 2, end),
        **more,
    )


def fill(robot: Robot, number: int = 90, hours: float = 12, seed: int = 1) -> list[int]:
    """Store pushes and motions at random times of half a day; return their ids."""
    chance = random.Random(seed)
    times = sorted(chance.randrange(round(hours * 3600 * SECOND)) for _ in range(number))
    return [
        store_perception(
            robot.memory,
            perceive(T0 + at, *chance.choice((('contact', 'push'), ('motion', None)))),
        ).memory_id
        for at in times
    ]


def fold_to(robot: Robot, megabytes: float) -> int:
    robot.memory.settings = replace(robot.memory.settings, perception_limit_mb=megabytes)
    return robot.memory.folder.run()


def folded_ids(robot: Robot) -> list[int]:
    rows = robot.rows('SELECT id FROM events WHERE id > 0 AND memory_id <> id ORDER BY id')
    return [row[0] for row in rows]


def ask_all(robot: Robot) -> list[Any]:
    """Return counts, sums, quantiles and orders of all that there is."""
    sums = ['count', 'min', 'max', 'mean', 'sum', 'std', 'quantiles', 'p99', 'histogram']
    answers: list[Any] = []
    for figure in ('peak_force', 'impulse', 'c', 'duration'):
        for group in ('', 'hour', 'day', 'weekday', 'kind', 'label', 'task', 'topic'):
            asked = robot.query_events(aggregate=sums, figure=figure, group_by=group)
            answers.append(to_plain(asked).get('groups'))
        for descending in (True, False):
            for where in ({}, {'kind': 'contact'}, {figure: {'$gt': 5}}, {'task': 'pour'}):
                cursor = ''
                while True:
                    page = robot.query_events(
                        where=where,
                        order_by=figure,
                        descending=descending,
                        limit=150,
                        cursor=cursor,
                    )
                    answers += [describe(event) for event in page.events]
                    if not (cursor := page.next_cursor or ''):
                        break
    return answers


def describe(event: Any) -> dict[str, Any]:
    """Return an event without its memory and its text, which fold."""
    plain = to_plain(event)
    plain['figures'].sort(key=lambda one: one['name'])
    return {name: value for name, value in plain.items() if name not in ('memory_id', 'text')}


def test_counts_sums_quantiles_and_orders_of_events_are_the_same_after_folding(
    robot: Robot,
) -> None:
    ids = fill(robot, 140)
    before = ask_all(robot)
    assert fold_to(robot, 0.15) > 40
    gone = folded_ids(robot)
    assert len(gone) > 40 and set(gone) < set(ids)
    assert ask_all(robot) == before
    check_file(robot.memory.db.path)
    steps = run_maintenance(robot, all=True)
    assert steps['audit'].done, steps['audit'].detail


def test_what_is_rare_protected_referred_to_or_a_fault_stays_whole(
    robot: Robot, clock: MovableClock
) -> None:
    stay = {
        'rare': perceive(T0 - 9 * SECOND, 'contact', 'collision'),
        'fault': perceive(
            T0 - 8 * SECOND, context={'sense': {'detector': 'state', 'fault': True}}
        ),
        'broken off': perceive(T0 - 7 * SECOND),
        'demonstration': replace(perceive(T0 - 6 * SECOND), perception_type='procedural'),
        'rule': replace(
            perceive(T0 - 5 * SECOND), context={}, description='Never push over 5 N there'
        ),
        'updated': perceive(T0 - 4 * SECOND),
        'replacing': perceive(T0 - 3 * SECOND),
    }
    whole = stay['broken off'].identity
    assert whole is not None
    stay['broken off'] = replace(stay['broken off'], identity=replace(whole, broken_off=True))
    ids = {why: store_perception(robot.memory, one).memory_id for why, one in stay.items()}
    ordinary = store_perception(robot.memory, perceive(T0 - 2 * SECOND)).memory_id
    robot.update(ids['updated'], 'Contact push, looked at by Anna')
    with robot.memory.db.write() as connection:
        connection.execute(
            'UPDATE memories SET superseded_by = ? WHERE id = ?', (ids['replacing'], ids['rare'])
        )
    fill(robot)
    assert fold_to(robot, 0.01) > 30
    gone = folded_ids(robot)
    assert ordinary in gone
    assert not set(gone) & set(ids.values())
    kinds = robot.rows(
        'SELECT n.name, count(*) FROM events AS e JOIN event_names AS n ON n.id = e.kind'
        " WHERE e.id = e.memory_id AND n.name = 'motion' GROUP BY 1"
    )
    assert kinds[0][1] >= FEW


def test_a_folded_memory_is_shown_with_its_figures_and_its_digest(robot: Robot) -> None:
    ids = fill(robot)
    before = {one.event_id: one for one in robot.query_events(limit=200).events}
    fold_to(robot, 0.1)
    (first, *_) = folded_ids(robot)
    shown = robot.show(first)
    digest = require(shown.superseded_by)
    assert shown.status == 'folded' and f'memory {digest}' in shown.memory.content
    assert shown.memory.params['peak_force']['value'] == figure(before[first], 'peak_force')
    assert shown.data['figures'] == [to_plain(one) for one in before[first].figures]
    asked = robot.query_events(where={'event_id': first}).events
    assert [(one.event_id, one.memory_id, one.text) for one in asked] == [(first, digest, None)]
    told = robot.show(digest).memory
    members = [row[0] for row in robot.rows('SELECT id FROM events WHERE memory_id = ?', digest)]
    said = json.loads(told.context)['digest']
    values = [require(figure(before[one], 'peak_force')) for one in members]
    assert said['count'] == len(members) and first in members
    assert said['figures']['peak_force']['max'] == pytest.approx(max(values))
    assert said['figures']['peak_force']['min'] == pytest.approx(min(values))
    assert said['figures']['peak_force']['mean'] == pytest.approx(sum(values) / len(values))
    assert told.measured_at == min(before[one].start for one in members)
    for change in (robot.forget, robot.update):
        with pytest.raises(Conflict, match=f'was folded into the digest, memory {digest}'):
            change(first, 'wrong')
    with pytest.raises(Conflict, match='was folded'):
        robot.undo(first, 'wrong')
    assert robot.history(first).entries[0].status == 'folded'
    assert ids[-1] not in folded_ids(robot)


def figure(event: Any, name: str) -> float | None:
    return next((one.value for one in event.figures if one.name == name), None)


def test_a_digest_is_found_and_what_is_done_to_it_is_done_to_its_events(robot: Robot) -> None:
    fill(robot)
    count = robot.query_events(aggregate=['count']).groups[0].count
    fold_to(robot, 0.1)
    found = list(robot.recall('events push contact hour', n=5, read='off').memories)
    digests = [one for one in found if 'digest' in json.loads(one.context)]
    assert digests
    ((members,),) = robot.rows('SELECT count(*) FROM events WHERE memory_id = ?', digests[0].id)
    robot.forget(digests[0].id, 'a test rig')
    assert robot.query_events(aggregate=['count']).groups[0].count == count - members
    robot.undo(digests[0].id, 'it was none')
    assert robot.query_events(aggregate=['count']).groups[0].count == count


def test_digests_hold_events_of_one_actor_session_and_collection(robot: Robot) -> None:
    session = robot.start_session().session_id
    for number in range(90):
        context = {'actor_id': 'operator:anna'} if number % 3 == 0 else {}
        more: dict[str, Any] = {'session_id': session} if number % 3 == 1 else {}
        more['context'] = context
        store_perception(robot.memory, perceive(T0 + number * 60 * SECOND, **more))
    mine = {row[0] for row in robot.rows('SELECT id FROM memories WHERE actor_id IS NOT NULL')}
    fold_to(robot, 0.1)
    rows = robot.rows(
        'SELECT m.actor_id, m.session_id, e.id, n.name FROM events AS e JOIN memories AS m'
        ' ON m.id = e.memory_id LEFT JOIN event_names AS n ON n.id = e.session'
        ' WHERE e.id > 0 AND e.id <> e.memory_id'
    )
    assert {row[0] for row in rows} == {None, 'operator:anna'}
    assert all((actor is not None) == (event in mine) for actor, _, event, _ in rows)
    assert all(of_digest == of_event for _, of_digest, _, of_event in rows)
    before = robot.query_events(aggregate=['count']).groups[0].count
    robot.clear_session(session)
    assert robot.query_events(aggregate=['count']).groups[0].count == before - 30


def count_gone(robot: Robot, line: int) -> int:
    """Return how many memories of an audit line are gone now."""
    return int(require(robot.recall('push', as_of=f'#{line}').as_of)['gone'])


def test_folding_is_audited_counted_and_told_by_as_of(robot: Robot, clock: MovableClock) -> None:
    fill(robot)
    ((line,),) = robot.rows('SELECT max(id) FROM audit')
    assert count_gone(robot, line) == 0
    folded = fold_to(robot, 0.1)
    rows = robot.rows("SELECT reason, detail FROM audit WHERE action = 'folded'")
    assert {reason for reason, _ in rows} == {'perceptions reached their limit of 0.1 MB'}
    assert sum(json.loads(detail)['events'] for _, detail in rows) == folded
    ranges = [one for _, detail in rows for one in read_ranges(json.loads(detail)['ids'])]
    told = sorted(one for low, high in ranges for one in range(low, high + 1))
    assert told == folded_ids(robot)
    assert count_gone(robot, line) == folded
    ((now,),) = robot.rows('SELECT max(id) FROM audit')
    assert count_gone(robot, now) == 0
    removed = [one for _, detail in rows for one in read_steps(json.loads(detail)['lines'])]
    assert robot.rows('SELECT sum(last - first + 1) FROM audit_gaps') == [(folded,)]
    assert sum(high - low + 1 for low, high in removed) == folded
    assert run_maintenance(robot, all=True)['audit'].done
    assert [one.action for one in robot.history(folded_ids(robot)[0]).entries] == ['folded']


@pytest.mark.parametrize(
    'change',
    [
        "UPDATE audit SET salt = NULL, detail = '{}' WHERE id = :line",
        'DELETE FROM audit WHERE id = :line',
        'DELETE FROM audit WHERE id = :line;'
        ' UPDATE audit_gaps SET last = :line WHERE last = :line - 1 OR first = 1',
        "UPDATE audit_gaps SET chain = x'00'",
        'UPDATE audit_gaps SET last = last - 1',
        'DELETE FROM audit_gaps',
        "UPDATE audit SET detail = replace(detail, '+', ',') WHERE action = 'folded'",
    ],
)
def test_what_is_changed_in_or_beside_removed_lines_is_found(robot: Robot, change: str) -> None:
    fill(robot)
    fold_to(robot, 0.1)
    ((line,),) = robot.rows(
        'SELECT min(id) FROM audit WHERE id > (SELECT min(last) FROM audit_gaps)'
    )
    with robot.memory.db.read() as connection:
        assert not check(connection, all_lines=True).problem
    with robot.memory.db.write() as connection:
        connection.execute(change, {'line': line})
        assert check(connection, all_lines=True).problem


def test_lines_whose_head_was_given_out_stay_when_their_memory_is_folded(robot: Robot) -> None:
    fill(robot)
    with robot.memory.db.write() as connection:
        heads = [
            Head(line, chain.hex())
            for line, chain in connection.execute('SELECT id, chain FROM audit WHERE id IN (3, 5)')
        ]
        audit.keep_line(connection, 3)
    fold_to(robot, 0.1)
    with robot.memory.db.read() as connection:
        first, second = (check(connection, all_lines=True, expected=head) for head in heads)
    assert not first.problem
    assert 'went when its memory was folded' in second.problem


def test_the_same_recording_does_not_bring_folded_events_back(robot: Robot) -> None:
    ids = fill(robot)
    fold_to(robot, 0.1)
    assert fill(robot) == ids
    assert robot.query_events(aggregate=['count']).groups[0].count == 90


def test_rows_leave_payloads_their_share_and_payloads_fold_no_rows(
    open_robot: Callable[..., Robot],
) -> None:
    robot = open_robot(resident=False, store_limit_mb=0.7, perception_limit_mb=100.0)
    fill(robot, 120)
    pictured = store_perception(
        robot.memory,
        replace(perceive(T0), parts=(Part('signal', 'x', 200_000, bytes(200_000)),)),
    )
    ((pages, size),) = robot.rows(
        'SELECT page_count, page_size FROM pragma_page_count, pragma_page_size'
    )
    assert pages * size > 700_000
    assert robot.show(pictured.memory_id).parts[0].content is not None
    assert robot.memory.folder.run() == 0


def test_a_payload_limit_of_its_own_holds(open_robot: Callable[..., Robot]) -> None:
    robot = open_robot(resident=False, store_limit_mb=100.0, payload_limit_mb=0.5)
    for number in range(9):
        part = Part('signal', 'x', 100_000, bytes(100_000))
        store_perception(robot.memory, replace(perceive(T0 + number * SECOND), parts=(part,)))
    assert robot.rows('SELECT sum(length(content)) FROM parts') == [(500_000,)]
    assert robot.rows('SELECT DISTINCT reason FROM audit WHERE action = ?', 'payload_removed') == [
        ('signals and images reached their limit of 0.5 MB',)
    ]
    assert robot.rows("SELECT value FROM sizes WHERE name = 'payloads'") == [(500_000,)]


def test_parts_that_made_room_leave_no_pages_behind(open_robot: Callable[..., Robot]) -> None:
    robot = open_robot(resident=False, store_limit_mb=100.0, payload_limit_mb=0.04)
    for number in range(100):
        part = Part('signal', 'x', 4000, bytes(4000))
        store_perception(robot.memory, replace(perceive(T0 + number * SECOND), parts=(part,)))
    ((kept, removed),) = robot.rows('SELECT count(content), count(removed_at) FROM parts')
    assert (kept + removed, kept <= 10) == (100, True)
    ((pages,),) = robot.rows("SELECT count(*) FROM dbstat WHERE name = 'parts'")
    assert pages < kept + 15


def test_the_limit_holds_while_perceptions_come(
    open_robot: Callable[..., Robot], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, '_CHECKED', 20)
    robot = open_robot(resident=False, perception_limit_mb=0.1)
    fill(robot, 120)
    with robot.memory.db.read() as connection:
        used, _ = sizes.measure_perceptions(connection)
        folded = sizes.count_folded(connection)
    assert used <= 1.5 * 100_000
    assert folded == len(folded_ids(robot)) > 40


def test_what_retention_retired_folds_into_digests_that_come_back_with_the_clock(
    open_robot: Callable[..., Robot], clock: MovableClock
) -> None:
    robot = open_robot(resident=False, retention_days=5)
    fill(robot)
    clock.jump(days=10)
    robot.end_session(robot.start_session().session_id)
    where = {'kind': {'$in': ['contact', 'motion']}}
    assert robot.query_events(where=where, aggregate=['count']).groups[0].count == 0
    assert fold_to(robot, 0.1) > 20
    assert robot.query_events(where=where, aggregate=['count']).groups[0].count == 0
    clock.jump(days=-10)
    clock.synchronised = True
    robot.learn('the clock is right')
    robot.memory.timekeeper.run()
    assert robot.query_events(where=where, aggregate=['count']).groups[0].count == 90


def test_the_commonest_give_until_others_are_as_common() -> None:
    sorts = [Sort(1, None, 1000), Sort(2, None, 600), Sort(3, None, FEW)]
    assert list(share_out(sorts, 300)) == [(sorts[0], 300)]
    assert [number for _, number in share_out(sorts, 600)] == [500, 100]
    assert [number for _, number in share_out(sorts, 9000)] == [1000 - FEW, 600 - FEW]
    assert list(share_out([Sort(1, None, FEW)], 10)) == []


def test_ranges_of_ids_are_read_as_they_were_written() -> None:
    ids = sorted(random.Random(1).sample(range(1, 400), 150))
    ranges = read_ranges(write_ranges(ids))
    assert [one for low, high in ranges for one in range(low, high + 1)] == ids
    assert read_steps(write_steps(ids)) == ranges
    assert write_steps([*range(1, 251), 252]) == '1+249,2'
    assert read_steps('') == read_ranges('') == []


def test_an_archive_brings_folded_events_once_with_their_figures_and_digests(
    robot: Robot, open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    fill(robot)
    fold_to(robot, 0.1)
    gone, before = folded_ids(robot), ask_all(robot)
    archive = tmp_path / 'cell.jsonl'
    archive.write_text(export(robot))
    empty = open_robot(resident=False, name='empty')
    result = import_archive(empty.memory, archive)
    assert (result.refused, result.events, result.same_ids) == (0, len(gone), True)
    assert folded_ids(empty) == gone
    assert ask_all(empty) == before
    assert export(empty) == export(robot)
    assert import_archive(empty.memory, archive).events == 0
    check_file(empty.memory.db.path)
    kept = empty.save_perception('Seen after the import').memory_id
    assert require(kept) > max(gone)
    other = open_robot(resident=False, name='other')
    other.learn('The charger stands in room 204')
    for expected in (len(gone), 0):
        assert import_archive(other.memory, archive).events == expected
    count = other.query_events(aggregate=['count', 'sum'], figure='peak_force').groups[0]
    assert count == robot.query_events(aggregate=['count', 'sum'], figure='peak_force').groups[0]
    pairs = (
        'SELECT json_extract(m.context, "$.digest.count"), count(*) FROM events AS e'
        ' JOIN memories AS m ON m.id = e.memory_id WHERE e.id > 0 AND e.id <> e.memory_id'
        ' GROUP BY m.id'
    ).replace('"', "'")
    assert all(told == there for told, there in other.rows(pairs))
    assert run_maintenance(other, all=True)['audit'].done


def test_a_digest_of_events_that_are_known_whole_is_no_event_of_its_own(
    robot: Robot, open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    fill(robot)
    archive = tmp_path / 'cell.jsonl'
    archive.write_text(export(robot))
    copy = open_robot(resident=False, name='copy')
    import_archive(copy.memory, archive)
    fold_to(copy, 0.1)
    archive.write_text(export(copy))
    count = robot.query_events(aggregate=['count']).groups
    result = import_archive(robot.memory, archive)
    assert result.memories > 0 and (result.refused, result.events) == (0, 0)
    assert robot.query_events(aggregate=['count']).groups == count


def test_facts_and_turns_are_passed_over_once(robot: Robot) -> None:
    robot.memory.settings = replace(robot.memory.settings, perception_limit_mb=1.0)
    robot.save_perception('Seen first')
    for number in range(folder._CHECKED):
        robot.learn(f'Shelf {number} holds part {number * number + 7}')
    for waiting in (folder._CHECKED + 1, 0):
        with robot.memory.db.read() as connection:
            assert sizes.measure_perceptions(connection)[1] == waiting
        robot.memory.folder.run()


def test_an_archive_from_before_folding_brings_nothing_back(robot: Robot, tmp_path: Path) -> None:
    fill(robot)
    archive = tmp_path / 'before.jsonl'
    archive.write_text(export(robot))
    fold_to(robot, 0.1)
    gone = folded_ids(robot)
    result = import_archive(robot.memory, archive)
    assert (result.memories, result.known) == (0, 90)
    assert folded_ids(robot) == gone


def export(robot: Robot) -> str:
    with robot.memory.db.read() as connection:
        return '\n'.join(generate_lines(connection, ExportScope())) + '\n'


def test_status_says_how_long_limits_last(
    open_robot: Callable[..., Robot], clock: MovableClock
) -> None:
    robot = open_robot(resident=False, perception_limit_mb=1.0, payload_limit_mb=1.0)
    for _ in range(40):
        clock.forward(seconds=1800)
        at = clock.now * 1000
        part = Part('signal', 'x', 5_000, bytes(5_000))
        store_perception(robot.memory, replace(perceive(at), parts=(part,)))
    with robot.memory.db.read() as connection:
        payloads, perceptions = report_limits(robot.memory, connection)
    assert payloads.used_mb == 0.2
    assert payloads.mb_a_day == pytest.approx(0.2 * 24 / 19.5, rel=0.02)
    assert payloads.days_left == pytest.approx(0.8 / payloads.mb_a_day, rel=0.02)
    assert perceptions.days_left == pytest.approx(
        (1.0 - perceptions.used_mb) / perceptions.mb_a_day, rel=0.02
    )
    assert 'full in' in payloads.describe()
    clock.jump(days=10)  # what is imported counts when it comes, not when it happened
    for number in range(20):
        store_perception(robot.memory, perceive(T0 - number * 60 * SECOND))
    with robot.memory.db.read() as connection:
        _, perceptions = report_limits(robot.memory, connection)
    assert perceptions.mb_a_day == pytest.approx(perceptions.used_mb / 60 * 20 / 7, abs=6e-4)
    fold_to(robot, 0.05)
    with robot.memory.db.read() as connection:
        _, full = report_limits(robot.memory, connection)
    assert full.days_left == 0 and 'full: the oldest are folded' in full.describe()
