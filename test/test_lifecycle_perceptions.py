"""What tells one event from another, and what a payload costs and becomes."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from narrowing import require
from robots import MovableClock, Robot, check_file

from robot_memory.core.errors import InvalidArgument, NotFound
from robot_memory.core.ranges import read_ranges
from robot_memory.lifecycle import reclassification
from robot_memory.lifecycle.perceptions import Perception, store_perception
from robot_memory.lifecycle.recognition import SAME_PICTURE_NS
from robot_memory.storage.tables.event_keys import Identity
from robot_memory.storage.tables.parts import Part

SECOND = 10**9
ONE = Identity('', '/wrench', 'contact', 10 * SECOND, 11 * SECOND, 12 * SECOND)
PICTURE = Identity('', '/camera', 'scene', SECOND, SECOND, SECOND, look='0123456789abcdef')
PUSH = Perception('Push of 8 N for 2 s', 'tactile', stamp=ONE.onset, identity=ONE)
OTHERS = {
    'another robot': replace(ONE, source='left'),
    'another topic': replace(ONE, topic='/left/wrench'),
    'another subject': replace(ONE, subject='motion of elbow'),
    'a later event': replace(ONE, onset=20 * SECOND, peak=21 * SECOND, end=22 * SECOND),
    'an event inside, with stamps of its own': replace(
        ONE, onset=ONE.onset + 1, peak=ONE.peak + 1, end=ONE.end + 1
    ),
}
SAME = {
    'itself': ONE,
    'an onset noticed later': replace(ONE, onset=ONE.onset + 7, peak=ONE.peak + 7),
    'another peak': replace(ONE, peak=ONE.peak + 7, end=ONE.end + 7),
    'another extent around the same peak': replace(ONE, onset=ONE.onset - 5, end=ONE.end + 5),
}


def parts_of(size: int, count: int = 1) -> tuple[Part, ...]:
    return tuple(
        Part(f'signal.{number}', 'application/x-npz', size, bytes(size)) for number in range(count)
    )


@pytest.mark.parametrize('known', SAME.values(), ids=SAME)
def test_an_event_is_known_by_its_onset_its_peak_or_its_end(robot: Robot, known: Identity) -> None:
    first = store_perception(robot.memory, PUSH)
    again = store_perception(robot.memory, replace(PUSH, identity=known))
    assert first.new and not again.new
    assert again.memory_id == first.memory_id
    assert robot.rows('SELECT count(*) FROM memories') == [(1,)]


@pytest.mark.parametrize('other', OTHERS.values(), ids=OTHERS)
def test_another_event_is_another_memory(robot: Robot, other: Identity) -> None:
    store_perception(robot.memory, PUSH)
    assert store_perception(robot.memory, replace(PUSH, identity=other)).new


def test_another_reading_at_the_same_instant_is_of_another_run(robot: Robot) -> None:
    """A simulation with fixed steps begins at zero again and again."""

    def is_new(peak: float) -> bool:
        data = {'peak_force': peak - 1, 'raw_peak_force': peak}
        return store_perception(robot.memory, replace(PUSH, data=data)).new

    assert [is_new(peak) for peak in (20.0, 35.0, 20.0, 35.0)] == [True, True, False, False]


def test_a_motion_is_known_in_whatever_order_its_joints_are_named(robot: Robot) -> None:
    motion = replace(ONE, topic='/joint_states', subject='motion of elbow, wrist, base')

    def is_new(subject: str) -> bool:
        identity = replace(motion, subject=subject)
        return store_perception(robot.memory, replace(PUSH, identity=identity)).new

    assert is_new(motion.subject)
    assert not is_new('motion of base, elbow, wrist')
    assert is_new('motion of base, elbow')


def test_each_collection_keeps_an_event_once(robot: Robot) -> None:
    elsewhere = replace(PUSH, collection='strong')
    assert (
        store_perception(robot.memory, PUSH).new and store_perception(robot.memory, elsewhere).new
    )
    assert (
        not store_perception(robot.memory, PUSH).new
        and not store_perception(robot.memory, elsewhere).new
    )


def test_an_event_that_was_forgotten_is_not_noticed_again(robot: Robot) -> None:
    kept = store_perception(robot.memory, PUSH)
    robot.forget(kept.memory_id, 'the sensor was loose')
    assert not store_perception(robot.memory, PUSH).new
    assert robot.query_records(where={'kind': 'perception', 'status': 'active'}).total_count == 0


def test_the_whole_of_an_event_takes_the_place_of_what_was_broken_off(robot: Robot) -> None:
    broken = replace(ONE, peak=ONE.onset + 1, end=ONE.onset + 2, broken_off=True)
    part = store_perception(robot.memory, replace(PUSH, identity=broken))
    whole = store_perception(robot.memory, PUSH)
    assert whole.new
    assert robot.row(part.memory_id)['status'] == 'superseded'
    assert robot.row(part.memory_id)['superseded_by'] == whole.memory_id
    assert not store_perception(robot.memory, replace(PUSH, identity=broken)).new
    assert not store_perception(robot.memory, PUSH).new


def test_a_picture_is_known_where_it_looks_the_same_at_about_the_same_time(robot: Robot) -> None:
    seen = replace(PUSH, perception_type='visual', identity=PICTURE)
    store_perception(robot.memory, seen)
    later = PICTURE.peak + SAME_PICTURE_NS
    near = replace(PICTURE, onset=later, peak=later, end=later)
    assert not store_perception(robot.memory, replace(seen, identity=near)).new
    far = replace(near, onset=later + 1, peak=later + 1, end=later + 1)
    assert store_perception(robot.memory, replace(seen, identity=far)).new
    changed = replace(near, look='fedcba9876543210')
    assert store_perception(robot.memory, replace(seen, identity=changed)).new


def test_fault_04_without_an_identity_the_same_perception_twice_is_two_memories(
    robot: Robot,
) -> None:
    first, second = (
        store_perception(robot.memory, replace(PUSH, identity=None)) for _ in range(2)
    )
    assert first.new and second.new and first.memory_id != second.memory_id


def test_show_returns_every_byte_and_recall_the_digest_and_where_they_are(robot: Robot) -> None:
    content = bytes(range(256))
    part = Part('signal', 'application/x-npz', 256, content)
    data, metadata = {'peak_force': 8.0}, {'detector': 'contact'}
    kept = store_perception(
        robot.memory, replace(PUSH, data=data, metadata=metadata, parts=(part,))
    )
    shown = robot.show(kept.memory_id)
    assert (shown.data, shown.metadata) == (data, metadata)
    assert [(item.name, item.content) for item in shown.parts] == [('signal', content)]
    (found,) = robot.recall('push').memories
    uri = f'robot-memory://memories/{kept.memory_id}/signal'
    reference = {
        'name': 'signal',
        'media_type': 'application/x-npz',
        'size': 256,
        'uri': uri,
    }
    assert found.payload == {'data': data, 'parts': [reference]}
    assert shown.parts[0].uri == uri


def test_what_does_not_exist_is_not_shown(robot: Robot) -> None:
    with pytest.raises(NotFound, match='no memory 7'):
        robot.show(7)


def test_the_forgotten_is_shown_and_says_so(robot: Robot) -> None:
    kept = robot.learn('the red cup').memory_id
    robot.forget(require(kept), 'wrong')
    assert robot.show(require(kept)).status == 'invalidated'


def test_long_data_is_packed_and_shown_whole(robot: Robot) -> None:
    data = {'trajectory': [[0.5, number] for number in range(2000)]}
    kept = robot.save_perception('A long movement', 'proprioceptive', data=data)
    assert robot.show(kept.memory_id).data == data
    ((size,),) = robot.rows('SELECT size FROM parts')
    assert size < len(json.dumps(data)) / 3
    (found,) = robot.recall('movement').memories
    assert 'data' not in require(found.payload)


def test_the_oldest_payloads_make_room_and_what_went_is_told(
    open_robot: Callable[..., Robot], clock: MovableClock
) -> None:
    robot = open_robot(store_limit_mb=1.3)
    ids = []
    for number in range(30):
        clock.forward(seconds=1)
        at = number * 100 * SECOND
        identity = replace(ONE, onset=at + 1, peak=at + 2, end=at + 3)
        kept = store_perception(
            robot.memory, replace(PUSH, identity=identity, parts=parts_of(100_000))
        )
        ids.append(kept.memory_id)
    gone = [item for item in ids if robot.show(item).parts[0].content is None]
    assert gone and gone == ids[: len(gone)], 'the oldest go first'
    assert len(ids) - len(gone) >= 5
    ((pages, free, size),) = robot.rows(
        'SELECT page_count, freelist_count, page_size'
        ' FROM pragma_page_count, pragma_freelist_count, pragma_page_size'
    )
    assert (pages - free) * size <= 1_300_000
    assert all(robot.row(item)['status'] == 'active' for item in ids), 'the memories stay'
    assert robot.show(gone[0]).parts[0].removed is not None
    told = robot.rows(
        "SELECT action, reason, detail FROM audit WHERE action <> 'created' ORDER BY id"
    )
    ranges = [one for *_, detail in told for one in read_ranges(json.loads(detail)['ids'])]
    assert [one for low, high in ranges for one in range(low, high + 1)] == gone
    assert {row[:2] for row in told} == {
        ('payload_removed', 'the store reached its limit of 1.3 MB')
    }
    lines = robot.history(gone[-1]).entries
    assert [one.action for one in lines] == ['created', 'payload_removed']
    assert [one.action for one in robot.history(ids[-1]).entries] == ['created']
    check_file(robot.memory.db.path)


def test_what_a_detector_measured_is_no_rule_for_its_amounts(robot: Robot) -> None:
    text = 'Contact for 1.3 s on tool0: push over 5 N, peak 8 N'
    sense = {'topic': '/wrench', 'detector': 'contact', 'kind': 'push'}
    felt = replace(PUSH, description=text, context={'sense': sense})
    memory_id = store_perception(robot.memory, felt).memory_id
    assert robot.rows('SELECT category FROM memories WHERE id = ?', memory_id) == [('code',)]
    assert reclassification.preview(robot.memory) == []


def test_protected_payloads_stay_and_what_finds_no_room_is_counted(
    open_robot: Callable[..., Robot],
) -> None:
    robot = open_robot(store_limit_mb=1.2)
    demonstration = replace(PUSH, perception_type='procedural', parts=parts_of(600_000))
    first = store_perception(robot.memory, demonstration)
    at = 100 * SECOND
    other = replace(ONE, onset=at + 1, peak=at + 2, end=at + 3)
    second = store_perception(robot.memory, replace(demonstration, identity=other))
    assert robot.show(first.memory_id).parts[0].content is not None
    part = robot.show(second.memory_id).parts[0]
    assert part.content is None and part.removed is not None
    assert robot.rows('SELECT count(removed_at) FROM parts') == [(1,)]


def test_without_a_limit_nothing_goes(open_robot: Callable[..., Robot]) -> None:
    robot = open_robot(store_limit_mb=0.0)
    kept = store_perception(robot.memory, replace(PUSH, parts=parts_of(1_000_000, 6)))
    assert all(part.content for part in robot.show(kept.memory_id).parts)


def test_a_stamp_of_this_hosts_clock_is_corrected_with_it(
    robot: Robot, clock: MovableClock
) -> None:
    right = clock.now
    clock.now = 1_000_000
    by_host, by_another = (
        store_perception(
            robot.memory,
            Perception(f'seen {local}', 'visual', stamp=1_500_000_000, stamp_is_local=local),
        ).memory_id
        for local in (True, False)
    )
    clock.now = right
    robot.learn('the clock is right')
    stamps = {record.id: record.stamp for record in robot.recall('seen').memories}
    assert stamps[by_another] == 1_500_000_000
    assert stamps[by_host] == 1_500_000_000 + (right - 1_000_000) * 1000
    early = robot.query_events(until='1970-01-01T00:00:02Z').events
    assert [event.memory_id for event in early] == [by_another]


def test_a_perception_takes_a_context(robot: Robot) -> None:
    context = {'task': {'name': 'wipe'}, 'robot': {'id': 'arm_1'}}
    told = robot.save_perception('The cloth is wet', context=context, pose={'position': [1, 2]})
    assert robot.recall(context_filter={'task.name': 'wipe'}).memories[0].id == told.memory_id
    (event,) = robot.query_events(where={'robot': 'arm_1'}).events
    assert event.memory_id == told.memory_id
    for name in ('sense', 'trial', 'change', 'digest'):
        with pytest.raises(InvalidArgument, match=name):
            robot.save_perception('The cloth is wet', context={name: {'skill': 'x'}})
