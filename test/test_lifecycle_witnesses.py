"""A contact that several topics measure is one event, and each measurement is kept."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from recordings import ALL, Message, Messages, events_of, messages_of, run, write2
from robots import Robot
from rosbags.rosbag2 import StoragePlugin
from rosbags.typesys import Stores, get_typestore


@pytest.fixture(scope='module')
def wrenches(made: Path) -> Messages:
    """Return the wrench of the demonstration: two contacts."""
    return [one for one in messages_of(made) if one[0] == '/wrench']


def measure_again(
    wrenches: Messages, gain: float = 1, bias: float = 0, frame_id: str = 'wrist', late_s: int = 0
) -> Messages:
    """Return what a second sensor says: forces times `gain` plus `bias` in N, `late_s` s later."""
    store = get_typestore(Stores.LATEST)
    found: list[Message] = []
    for _, kind, at, raw in wrenches:
        message: Any = store.deserialize_cdr(raw, kind)
        for axis in 'xyz':
            force = gain * getattr(message.wrench.force, axis) + bias
            setattr(message.wrench.force, axis, force)
        message.header.frame_id = frame_id
        message.header.stamp.sec += late_s
        late = at + late_s * 10**9
        found.append(('/ft_raw', kind, late, bytes(store.serialize_cdr(message, kind))))
    return found


def record(path: Path, *streams: Messages) -> Path:
    """Write a recording of several topics."""
    messages = sorted((one for stream in streams for one in stream), key=lambda one: one[2])
    return write2(path, messages, StoragePlugin.MCAP)


def show_witnesses(robot: Robot) -> list[list[Any]]:
    """Return the witnesses of each event, in the order of onsets."""
    rows = robot.rows(
        "SELECT id FROM memories WHERE type = 'perception' AND status = 'active' ORDER BY stamp"
    )
    return [robot.show(memory_id).metadata.get('witnesses', []) for (memory_id,) in rows]


def test_a_contact_on_two_topics_is_one_event_with_two_witnesses(
    robot: Robot, tmp_path: Path, wrenches: Messages
) -> None:
    both = record(tmp_path / 'both', wrenches, measure_again(wrenches, bias=20))
    imported, _ = run(robot.memory, both)
    assert imported.kept == len(events_of(robot.memory)) == 2
    counted = robot.query_events(aggregate=('count',), where={'kind': 'contact'})
    assert [group.count for group in counted.groups] == [2]
    for (witness,), event in zip(show_witnesses(robot), events_of(robot.memory), strict=True):
        assert {witness['topic'], event[0]} == {'/wrench', '/ft_raw'}
        assert witness['onset_ns'] == pytest.approx(event[2], abs=5e7)
        assert witness['peak_force'] > 1


def test_a_recording_of_two_topics_is_known_when_it_comes_again(
    robot: Robot, tmp_path: Path, wrenches: Messages
) -> None:
    both = record(tmp_path / 'both', wrenches, measure_again(wrenches, bias=20))
    run(robot.memory, both)
    before = robot.rows('SELECT * FROM audit'), show_witnesses(robot)
    again, _ = run(robot.memory, both)
    assert (again.kept, again.known) == (0, 4)
    assert (robot.rows('SELECT * FROM audit'), show_witnesses(robot)) == before


@pytest.mark.parametrize(
    'change',
    [
        pytest.param({'gain': 3}, id='much harder'),
        pytest.param({'gain': -1, 'frame_id': 'tool0'}, id='the other way'),
        pytest.param({'late_s': 5}, id='later'),
    ],
)
def test_what_does_not_fit_is_an_event_of_its_own(
    robot: Robot, tmp_path: Path, wrenches: Messages, change: dict[str, Any]
) -> None:
    run(robot.memory, record(tmp_path / 'both', wrenches, measure_again(wrenches, **change)))
    assert show_witnesses(robot) == [[]] * 4


def test_contacts_of_two_robots_are_two_events(
    robot: Robot, tmp_path: Path, wrenches: Messages
) -> None:
    twin = measure_again(wrenches)
    run(robot.memory, record(tmp_path / 'one', wrenches))
    run(robot.memory, record(tmp_path / 'two', twin), replace(ALL, source='twin'))
    assert show_witnesses(robot) == [[]] * 4
