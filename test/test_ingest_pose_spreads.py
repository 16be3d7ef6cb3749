"""The covariance of a pose goes with it: from its topic into the store, an archive, an answer."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import recordings
from pipelines import SECOND, TYPES, make_header, pack
from recordings import Message
from robots import Robot

from robot_memory.archive.reader import import_archive
from robot_memory.ingest.bag_import import ImportPlan
from robot_memory.ingest.pose_source import NO_COVARIANCE, PoseSourceSettings
from robot_memory.ingest.pose_spreads import CovarianceHistory

POSE = 'geometry_msgs/msg/PoseWithCovarianceStamped'
BOOL = 'std_msgs/msg/Bool'
PLAN = ImportPlan(
    taps={'stop': {'topic': '/stop', 'type': BOOL}},
    place=PoseSourceSettings(pose_topic='/amcl', pose_type=POSE),
)
UNIT = [float(x) for x in np.eye(6).ravel()]


def make_pose(seconds: float, covariance: list[float]) -> Message:
    point = TYPES['geometry_msgs/msg/Point'](seconds, 0.0, 0.0)
    turn = TYPES['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0)
    pose = TYPES['geometry_msgs/msg/Pose'](point, turn)
    found = TYPES['geometry_msgs/msg/PoseWithCovariance'](pose, np.array(covariance))
    return pack('/amcl', POSE, seconds, TYPES[POSE](make_header(seconds, 'map'), found))


def make_stop(seconds: float, pressed: bool) -> Message:
    return pack('/stop', BOOL, seconds, TYPES[BOOL](pressed))


def keep_stop(robot: Robot, path: Path, covariance: list[float]) -> Any:
    poses = [make_pose(at / 10, [(1 + at) * x for x in covariance]) for at in range(10)]
    messages = [*poses, make_stop(0.25, False), make_stop(0.45, True)]
    ordered = sorted(messages, key=lambda one: one[2])
    return recordings.run(robot.memory, recordings.one_file(path, ordered), PLAN)[0]


def test_the_covariance_of_a_pose_topic_is_kept_answered_and_archived(
    robot: Robot, open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    report = keep_stop(robot, tmp_path / 'bag', UNIT)
    assert report.kept
    asked = {'frame': 'map', 'position': [0.45, 0, 0], 'within': 1.0}
    (found,) = robot.recall(near=asked).memories
    expected = pytest.approx([5.5 * x for x in UNIT])  # half-way from that of 0.4 s to 0.5 s
    pose: Any = found.pose
    assert pose['covariance'] == expected
    assert found.near is not None and found.near.probability is not None
    path = tmp_path / 'all.jsonl'
    path.write_text(robot.export('all', 'jsonl').content, encoding='utf-8')
    other = open_robot(name='other')
    assert import_archive(other.memory, path).memories
    (again,) = other.recall(near=asked).memories
    assert again.pose == found.pose and again.near == found.near
    lines = [json.loads(line) for line in path.read_text(encoding='utf-8').splitlines()]
    for line in lines:
        if line.get('pose'):
            line['pose']['covariance'][0] = -1.0
    path.write_text('\n'.join(map(json.dumps, lines)) + '\n', encoding='utf-8')
    third = open_robot(name='third')
    done = import_archive(third.memory, path)
    assert not done.memories


def test_a_covariance_that_is_none_is_counted_and_its_pose_kept(
    robot: Robot, tmp_path: Path
) -> None:
    report = keep_stop(robot, tmp_path / 'bag', [-x for x in UNIT])
    assert report.taps['/amcl'][NO_COVARIANCE] == report.kept
    (found,) = robot.recall(near={'frame': 'map', 'position': [0.45, 0, 0]}).memories
    pose: Any = found.pose
    assert 'covariance' not in pose


def test_zeros_are_no_covariance(robot: Robot, tmp_path: Path) -> None:
    keep_stop(robot, tmp_path / 'bag', [0.0] * 36)
    (found,) = robot.recall(near={'frame': 'map', 'position': [0, 0, 0], 'within': 1}).memories
    pose: Any = found.pose
    assert 'covariance' not in pose
    assert found.near is not None and found.near.probability is None


def test_far_from_two_poses_the_covariance_is_that_of_the_nearer() -> None:
    history = CovarianceHistory()
    history.add(10 * SECOND, UNIT)
    history.add(20 * SECOND, [3 * x for x in UNIT])
    tolerance_ns = SECOND // 4
    for seconds, times in ((9, 1.0), (10, 1.0), (10.2, 1.0), (19.9, 3.0), (20, 3.0), (21, 3.0)):
        found = history.estimate(round(seconds * SECOND), tolerance_ns)
        assert found == pytest.approx([times * x for x in UNIT])
    assert history.estimate(15 * SECOND, 5 * SECOND) == pytest.approx([2 * x for x in UNIT])
