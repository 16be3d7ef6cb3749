"""What one tap measures is judged with what the others do."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import recordings
from narrowing import require
from recordings import run, weigh, write2
from robots import Robot
from rosbags.rosbag2 import StoragePlugin
from rosbags.typesys import Stores, get_typestore


def test_the_weight_of_a_tool_that_the_joints_turn_is_no_hard_contact(
    robot: Robot, tmp_path: Path
) -> None:
    run(robot.memory, weigh(recordings.RECORD(tmp_path / 'made'), tmp_path / 'turned'))
    contacts = robot.query_events(where={'kind': 'contact'}).events
    assert contacts
    for event in contacts:
        assert event.label == 'turn'
        row = robot.row(require(event.memory_id))
        assert row['confidence'] == 0.3
        assert row['content'].startswith('Perhaps no contact')


def test_the_confidence_of_an_event_is_stored(robot: Robot, tmp_path: Path) -> None:
    run(robot.memory, recordings.RECORD(tmp_path / 'made'))
    rows = robot.rows("SELECT confidence FROM memories WHERE type = 'perception'")
    assert len(set(rows)) > 3
    assert robot.recall('contact', n=10).memories


def swing(path: Path) -> Path:
    """Return a recording of a joint that swings for eleven minutes, and is hit at the end."""
    store = get_typestore(Stores.LATEST)
    kind = 'sensor_msgs/msg/JointState'
    header, time = store.types['std_msgs/msg/Header'], store.types['builtin_interfaces/msg/Time']
    random = np.random.default_rng(5)
    found = []
    for step in range(660 * 10):
        seconds = step / 10
        at = 10**18 + round(seconds * 1e9)
        effort = random.normal(0, 1) + (50 if 650 <= seconds < 651 else 0)
        message = store.types[kind](
            header(time(at // 10**9, at % 10**9), 'base'),
            ['elbow'],
            np.array([np.sin(seconds)]),
            np.array([np.cos(seconds)]),
            np.array([effort]),
        )
        found.append(('/joint_states', kind, at, bytes(store.serialize_cdr(message, kind))))
    return write2(path, found, StoragePlugin.MCAP)


def test_a_collision_that_only_the_joints_show_can_be_asked_for(
    robot: Robot, tmp_path: Path
) -> None:
    run(robot.memory, swing(tmp_path / 'swing'))
    (event,) = robot.query_events(where={'kind': 'effort', 'residual': {'$gt': '20 N m'}}).events
    assert event.label == 'collision' and event.topic == '/joint_states'
    assert robot.query_events(where={'kind': 'motion'}).events
