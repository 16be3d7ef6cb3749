"""Of what was measured in a no-record zone or time nothing is kept, and no detector sees it."""

from __future__ import annotations

import io
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import recordings
from amounts import few_or_many
from models import write_toy_model
from pipelines import SECOND, START_NS, TYPES, feed, make_header, pack
from recordings import Message
from robots import MovableClock, Robot, count_rows
from rosbags.rosbag2 import StoragePlugin, Writer
from strikes import SETTINGS, Server
from waiting import HANG_SECONDS

from robot_memory.core.authority import Writer as Caller
from robot_memory.core.errors import Conflict
from robot_memory.core.no_record import Withheld
from robot_memory.ingest.bag_import import ImportPlan, ImportReport
from robot_memory.ingest.no_record import NoRecordPolicy
from robot_memory.ingest.pipeline import Pipeline
from robot_memory.ingest.pose_source import PoseSourceSettings
from robot_memory.ingest.stamps import LIVE, LOGGED
from robot_memory.ingest.tap import make_tap
from robot_memory.lifecycle.no_record import get_withheld
from robot_memory.lifecycle.usual_efforts import TopicEffort

POSE = 'geometry_msgs/msg/PoseWithCovarianceStamped'
WRENCH = 'geometry_msgs/msg/WrenchStamped'
IMAGE = 'sensor_msgs/msg/Image'
TF = 'tf2_msgs/msg/TFMessage'
TAPS: dict[str, dict[str, Any]] = {
    'wrench': {'topic': '/wrench', 'type': WRENCH},
    'stop': {'topic': '/stop', 'type': 'std_msgs/msg/Bool'},
    'task': {'topic': '/task', 'type': 'std_msgs/msg/String', 'use': 'learned'},
    'camera': {'topic': '/camera', 'type': IMAGE},
}
POSE_TOPIC = PoseSourceSettings(pose_topic='/amcl', pose_type=POSE)
KITCHEN = """
regions:
  kitchen: {frame: map, polygon: [[0, 0], [4, 0], [4, 3], [0, 3]], bottom: 0, top: 2.5}
no_record: {zones: [kitchen]}
"""
OUTSIDE = (9.0, 9.0, 0.5)
Where = Callable[[float], tuple[float, float, float]]


def make_pose(
    seconds: float, position: tuple[float, float, float], sigma: float = 0.0, frame: str = 'map'
) -> Message:
    place = TYPES['geometry_msgs/msg/Point'](*position)
    turn = TYPES['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0)
    pose = TYPES['geometry_msgs/msg/Pose'](place, turn)
    covariance = np.diag([sigma * abs(sigma)] * 3 + [0.01 * bool(sigma)] * 3).reshape(-1)
    stamped = TYPES['geometry_msgs/msg/PoseWithCovariance'](pose, covariance)
    return pack('/amcl', POSE, seconds, TYPES[POSE](make_header(seconds, frame), stamped))


def make_transform(
    seconds: float, parent: str, child: str, position: tuple[float, float, float]
) -> Message:
    moved = TYPES['geometry_msgs/msg/Vector3'](*position)
    turn = TYPES['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0)
    transform = TYPES['geometry_msgs/msg/Transform'](moved, turn)
    stamped = TYPES['geometry_msgs/msg/TransformStamped'](
        make_header(seconds, parent), child, transform
    )
    return pack('/tf', TF, seconds, TYPES[TF]([stamped]))


def make_bool(seconds: float, value: bool) -> Message:
    return pack('/stop', 'std_msgs/msg/Bool', seconds, TYPES['std_msgs/msg/Bool'](value))


def make_text(seconds: float, text: str) -> Message:
    return pack('/task', 'std_msgs/msg/String', seconds, TYPES['std_msgs/msg/String'](text))


def make_wrench(seconds: float, force: float, frame: str = 'tool0') -> Message:
    three = TYPES['geometry_msgs/msg/Vector3']
    wrench = TYPES['geometry_msgs/msg/Wrench'](three(0.0, 0.0, force), three(0.0, 0.0, 0.0))
    return pack('/wrench', WRENCH, seconds, TYPES[WRENCH](make_header(seconds, frame), wrench))


def make_image(seconds: float, bright: bool) -> Message:
    pixels = np.tile(np.array([20, 220] if bright else [220, 20], np.uint8), (32, 16)).reshape(-1)
    if bright:
        pixels = np.repeat(np.array([10, 240], np.uint8), 512)
    image = TYPES[IMAGE](make_header(seconds, 'camera'), 32, 32, 'mono8', 0, 32, pixels)
    return pack('/camera', IMAGE, seconds, image)


def make_events(number: int) -> list[Message]:
    """Return messages of so many seconds with three events a second, each of words of its own."""
    made: list[Message] = []
    for second in range(number):
        made += [make_bool(second + 0.05, True), make_bool(second + 0.25, False)]
        made += [make_bool(second + 0.5, True), make_bool(second + 0.75, False)]
        made.append(make_text(second + 0.3, f'wipe the quixotic{second} shelf{second * 7}'))
        for step in range(50):
            force = 20.0 if second % 5 == 3 and 10 <= step < 35 else 0.0
            made.append(make_wrench(second + step / 50, force))
        made.append(make_image(second + 0.4, bright=second % 10 >= 5))
    return made


def make_poses(number: int, where: Where, sigma: float = 0.0, frame: str = 'map') -> list[Message]:
    return [make_pose(at / 10, where(at / 10), sigma, frame) for at in range(-2, number * 10 + 5)]


def run(
    robot: Robot, path: Path, messages: list[Message], place: PoseSourceSettings = POSE_TOPIC
) -> ImportReport:
    ordered = sorted(messages, key=lambda one: one[2])
    plan = ImportPlan(taps=TAPS, place=place)
    return recordings.run(robot.memory, recordings.one_file(path, ordered), plan)[0]


def is_in_files(robot: Robot, word: str) -> bool:
    files = robot.memory.db.path.parent.glob('memory.db*')
    return any(word.encode() in file.read_bytes() for file in files)


def open_with(open_robot: Callable[..., Robot], tmp_path: Path, text: str) -> Robot:
    """Open a robot with a model, and rules beside its store."""
    (tmp_path / 'memory.regions.yaml').write_text(text, encoding='utf-8')
    robot = open_robot(model=str(write_toy_model(tmp_path / 'toy')), time_zone='UTC')
    assert robot.memory.embedder.wait(HANG_SECONDS)
    return robot


def write(path: Path, messages: list[Message]) -> Path:
    """Write messages as a recording without their definitions."""
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connections: dict[str, Any] = {}
        for topic, kind, at, raw in messages:
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, msgdef=' ', rihs01=' ')
            writer.write(connections[topic], at, raw)
    return path


def stay(position: tuple[float, float, float]) -> Where:
    return lambda seconds: position


REACH = math.sqrt(11.345)
CASES: dict[str, list[Message]] = {
    'inside': make_poses(340, stay((2.0, 1.0, 0.5))),
    'on the edge': make_poses(340, stay((4.0, 1.5, 2.5))),
    'its 99 % reaches in': make_poses(340, stay((4.0 + 0.099 * REACH, 1.5, 1.0)), 0.1),
    'no pose': [],
    'poses in another frame': make_poses(340, stay(OUTSIDE), frame='odom'),
    'a covariance that is none': make_poses(340, stay(OUTSIDE), -0.1),
    'poses too far apart': [make_pose(at, OUTSIDE) for at in range(-5, 400, 9)][:2],
}


@pytest.mark.parametrize('case', CASES)
def test_nothing_is_kept_of_1000_events_in_a_zone_or_of_unknown_pose(
    open_robot: Callable[..., Robot], tmp_path: Path, case: str
) -> None:
    robot = open_with(open_robot, tmp_path, KITCHEN)
    before = count_rows(robot)
    events = make_events(340)
    report = run(robot, tmp_path / 'bag', events + CASES[case])
    assert report.kept == report.known == 0
    assert count_rows(robot) == before
    assert not is_in_files(robot, 'quixotic')
    withheld = get_withheld(robot.memory)
    assert sum(withheld.values()) == len(events) or 'apart' in case
    told = [sum(counts.get(one.value, 0) for counts in report.taps.values()) for one in Withheld]
    assert told == list(withheld.values())
    expected = Withheld.ZONE if case in list(CASES)[:3] else Withheld.PLACE_UNKNOWN
    assert withheld[expected.label] > len(events) * 0.99


def test_such_events_are_kept_outside(open_robot: Callable[..., Robot], tmp_path: Path) -> None:
    robot, seconds = open_with(open_robot, tmp_path, KITCHEN), few_or_many(100, 340)
    outside = make_poses(seconds, stay((4.0 + 0.101 * REACH, 1.5, 1.0)), 0.1)
    report = run(robot, tmp_path / 'bag', make_events(seconds) + outside)
    least = 290 * seconds // 100
    assert report.kept >= least
    rows = count_rows(robot)
    assert rows['memories'] >= least and rows['payloads'] > 0.9 * least
    assert rows['parts'] > 0.06 * least
    assert is_in_files(robot, 'quixotic')


def list_signals(robot: Robot) -> list[tuple[float, float]]:
    """Return from when to when the stored signals go, in seconds of the recording."""
    found = []
    for (content,) in robot.rows("SELECT content FROM parts WHERE name = 'signal'"):
        stamps = np.load(io.BytesIO(content))['stamp_ns']
        found.append(((int(stamps[0]) - START_NS) / 1e9, (int(stamps[-1]) - START_NS) / 1e9))
    return sorted(found)


def pass_through(seconds: float) -> tuple[float, float, float]:
    """Drive along x at 1 m/s: in the kitchen from 20 s to 24 s, both included."""
    return seconds - 20.0, 1.5, 1.0


def push_often(number: int) -> list[Message]:
    return [make_wrench(at / 50, 15.0 if at % 100 >= 60 else 0.0) for at in range(number * 50)]


@pytest.mark.parametrize('by_tf', [False, True])
def test_no_signal_reaches_into_the_time_in_a_zone(
    open_robot: Callable[..., Robot], tmp_path: Path, by_tf: bool
) -> None:
    robot = open_with(open_robot, tmp_path, KITCHEN)
    place, poses = POSE_TOPIC, make_poses(45, pass_through)
    if by_tf:
        place = PoseSourceSettings(fixed_frame='odom')
        poses = [make_transform(-1.0, 'base_link', 'tool0', (0.0, 0.0, 0.5))]
        poses[0] = ('/tf_static', *poses[0][1:])
        for at in range(-2, 455):
            x, y, _ = pass_through(at / 10)
            poses.append(make_transform(at / 10, 'map', 'base_link', (x, y, 0.5)))
            poses.append(make_transform(at / 10, 'odom', 'map', (0.0, 0.0, 0.0)))
    run(robot, tmp_path / 'bag', push_often(45) + poses, place)
    signals = list_signals(robot)
    assert [one for one in signals if one[0] < 24.0 and one[1] > 20.0] == []
    before = [one for one in signals if one[1] < 20.0]
    after = [one for one in signals if one[0] > 24.0]
    assert len(before) >= 7 and len(after) >= 7
    assert 24.0 < after[0][0] < 26.5


def make_pipeline(
    robot: Robot, made: list[Any], place: PoseSourceSettings = POSE_TOPIC, is_live: bool = False
) -> Pipeline:
    joints = {'joints': {'topic': '/joint_states', 'type': 'sensor_msgs/msg/JointState'}}
    return Pipeline(
        [make_tap(name, values) for name, values in {**TAPS, **joints}.items()],
        place,
        '',
        lambda tap, item: made.append((tap, item)),
        made.append,
        str,
        robot.memory.extensions,
        LIVE if is_live else LOGGED,
        no_record=NoRecordPolicy(robot.memory, is_live=is_live),
    )


def test_what_is_kept_does_not_depend_on_how_many_messages_come_at_once(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    robot = open_with(open_robot, tmp_path, KITCHEN)
    messages = make_events(45) + make_poses(45, pass_through)
    late = [
        (topic, kind, at + 1000 * (number % 7), raw)
        for number, (topic, kind, at, raw) in enumerate(messages)
    ]
    found = []
    for sizes in ([1] * len(late), [len(late)], [17] * 200, [150, 3, 1000, 40]):
        made: list[Any] = []
        pipeline = make_pipeline(robot, made)
        feed(pipeline, late, sizes)
        pipeline.finish()
        found.append((made, pipeline.report({})))
    assert len(found[0][0]) > 40
    assert found[1:] == found[:1] * 3


def test_nothing_is_learned_of_joints_in_a_zone(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    robot = open_with(open_robot, tmp_path, KITCHEN)
    kind = 'sensor_msgs/msg/JointState'
    states = []
    for at in range(500):
        swing = np.array([math.sin(at / 50)])
        state = TYPES[kind](make_header(at / 50, ''), ['elbow'], swing, swing / 2, swing * 3)
        states.append(pack('/joint_states', kind, at / 50, state))
    for where, expected in ((pass_through(22.0), 0), (OUTSIDE, 1)):
        made: list[Any] = []
        pipeline = make_pipeline(robot, made)
        feed(pipeline, states + make_poses(10, stay(where)), [7] * 100)
        pipeline.finish()
        assert len([item for _, item in made if isinstance(item, TopicEffort)]) == expected


def test_a_live_message_without_a_pose_is_withheld_when_its_time_is_over(
    open_robot: Callable[..., Robot], tmp_path: Path
) -> None:
    robot = open_with(open_robot, tmp_path, KITCHEN)
    made: list[Any] = []
    pipeline = make_pipeline(robot, made, is_live=True)
    feed(pipeline, [make_pose(0.0, OUTSIDE), make_text(0.1, 'wipe the quixotic shelf')], [])
    assert made == [] and get_withheld(robot.memory)['place_unknown'] == 0
    pipeline.flush_silent(START_NS + round(0.1 * SECOND) + SECOND // 4)
    assert made == [] and get_withheld(robot.memory)['place_unknown'] == 0
    pipeline.flush_silent(START_NS + round(0.1 * SECOND) + SECOND // 4 + 1)
    assert made == [] and get_withheld(robot.memory)['place_unknown'] == 1
    feed(pipeline, [make_pose(1.9, OUTSIDE), make_text(2.0, 'dust the lamp')], [])
    assert made == []
    feed(pipeline, [make_pose(2.1, OUTSIDE)], [])
    assert [item.insight for _, item in made] == ['dust the lamp']


@pytest.mark.parametrize(
    ('text', 'start_ns', 'reason'),
    [
        ("no_record: {times: ['04:00-05:00']}", START_NS, Withheld.TIME),
        ("no_record: {times: ['wed 00:00-24:00']}", START_NS, Withheld.TIME),
        ("no_record: {times: ['05:00-05:01']}", 0, Withheld.CLOCK_SUSPECT),
        ("no_record: {times: ['05:00-05:01', 'thu 03:00-05:00']}", START_NS, None),
    ],
)
def test_a_recording_is_judged_by_the_time_of_its_messages(
    open_robot: Callable[..., Robot],
    tmp_path: Path,
    text: str,
    start_ns: int,
    reason: Withheld | None,
) -> None:
    robot = open_with(open_robot, tmp_path, text)
    before, messages = count_rows(robot), make_events(20)
    if not start_ns:
        messages = [(topic, kind, at - START_NS, raw) for topic, kind, at, raw in messages]
    report = run(robot, tmp_path / 'bag', messages, PoseSourceSettings())
    if reason is None:
        assert report.kept > 50 and not any(get_withheld(robot.memory).values())
    else:
        assert count_rows(robot) == before
        assert get_withheld(robot.memory)[reason.label] == len(messages)


def test_a_suspect_clock_is_inside_of_every_no_record_time(
    open_robot: Callable[..., Robot], tmp_path: Path, clock: MovableClock
) -> None:
    robot = open_with(open_robot, tmp_path, "no_record: {times: ['13:00-13:01']}")
    made: list[Any] = []
    pipeline = make_pipeline(robot, made, PoseSourceSettings(), is_live=True)
    feed(pipeline, [make_text(0.1, 'dust the lamp')], [])
    assert [item.insight for _, item in made] == ['dust the lamp']
    robot.learn('the red cup is wet')
    clock.jump(days=-400)
    feed(pipeline, [make_text(0.2, 'wipe the quixotic shelf')], [])
    assert len(made) == 1 and get_withheld(robot.memory)['clock_suspect'] == 1
    with pytest.raises(Conflict, match=r'learn keeps nothing now: .* the clock is suspect'):
        robot.learn('the door jams')
    robot.memory.timekeeper.trust(Caller.of_role('cli', 'test', 'operator'))
    clock.forward(seconds=2)
    feed(pipeline, [make_text(2.3, 'dust the table')], [])
    assert [item.insight for _, item in made][1:] == ['dust the table']


@pytest.mark.parametrize(('begin', 'end'), [(2, 4), (0, 100), (3, 3)])
def test_a_goal_that_was_under_way_in_a_zone_makes_no_trial(
    open_robot: Callable[..., Robot], tmp_path: Path, begin: int, end: int
) -> None:
    robot = open_with(open_robot, tmp_path, KITCHEN)
    server = Server()
    for number in range(1, 3):
        server.request(number)
        server.tell_status(**{f'g{number}': 2})
        server.answer(number, 4, 0.2)
        server.tell_status(**{f'g{number}': 4})
    times = [at for _, _, at, _ in server.messages]

    def where(seconds: float) -> tuple[float, float, float]:
        at = START_NS + seconds * 1e9
        is_inside = times[begin] <= at <= times[min(end, len(times) - 1)]
        return (2.0, 1.0, 0.5) if is_inside else OUTSIDE

    first = (times[0] - START_NS) / 1e9
    poses = [make_pose(first + at / 10, where(first + at / 10)) for at in range(-3, 200)]
    plan = ImportPlan(taps={'strike': {**SETTINGS}}, place=POSE_TOPIC)
    server.messages = sorted([*server.messages, *poses], key=lambda one: one[2])
    report, _ = recordings.run(robot.memory, write(tmp_path / 'bag', server.messages), plan)
    rows = robot.rows('SELECT count(*) FROM trials')
    assert rows == [(0 if end == 100 else 1,)], report.taps
