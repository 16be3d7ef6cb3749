"""What a run begins with is what earlier runs of the robot left."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from narrowing import require
from recordings import messages_of, run, swing, write2
from robots import Robot
from rosbags.rosbag2 import StoragePlugin
from rosbags.typesys import Stores, get_typestore
from scenes import SECOND_NS, START_NS, elsewhere, stream, table

from robot_memory.detectors.effort import LearnedEffort
from robot_memory.ingest.bag_import import ImportPlan
from robot_memory.ingest.earlier_runs import StoredRuns
from robot_memory.ingest.handlers import ReceivedMessage
from robot_memory.ingest.pipeline import Pipeline
from robot_memory.ingest.pose_source import PoseSourceSettings
from robot_memory.ingest.sessions import SessionFinder
from robot_memory.ingest.stamps import LIVE
from robot_memory.ingest.tap import DEFAULTS, make_tap
from robot_memory.lifecycle.usual_efforts import TopicEffort, store_effort
from robot_memory.storage.tables import learned_efforts

KIND = 'sensor_msgs/msg/Image'
HOUR_NS = 3600 * SECOND_NS


def film(path: Path, scenes: list[Any], start_ns: int, frames: int = 12) -> Path:
    """Return a recording of a camera that sees each scene for so many frames at 10 Hz."""
    store = get_typestore(Stores.LATEST)
    header, time = store.types['std_msgs/msg/Header'], store.types['builtin_interfaces/msg/Time']
    found = []
    for one in stream(scenes, frames, start_ns=start_ns):
        image, at = one.view.image, one.stamp_ns
        message = store.types[KIND](
            header(time(at // 10**9, at % 10**9), one.frame_id),
            image.height,
            image.width,
            'rgb8',
            0,
            3 * image.width,
            np.frombuffer(image.tobytes(), np.uint8),
        )
        found.append(('/camera/image_raw', KIND, at, bytes(store.serialize_cdr(message, KIND))))
    return write2(path, found, StoragePlugin.MCAP)


def list_scenes(robot: Robot) -> list[str]:
    rows = robot.rows("SELECT content FROM memories WHERE type = 'perception' ORDER BY id")
    return [content for (content,) in rows]


def test_the_first_view_after_a_restart_is_an_event_only_if_something_changed(
    robot: Robot, tmp_path: Path
) -> None:
    run(robot.memory, film(tmp_path / 'before', [table()], START_NS))
    assert len(list_scenes(robot)) == 1
    later = START_NS + 3 * HOUR_NS
    same = film(tmp_path / 'same', [table() * 0.8], later)
    run(robot.memory, same)
    assert len(list_scenes(robot)) == 1
    changed = film(tmp_path / 'changed', [table((30, 180))] * 2, later + HOUR_NS)
    for _ in range(2):  # the second time, what came before is the same
        run(robot.memory, changed)
        run(robot.memory, same)
        (_, event) = list_scenes(robot)
        assert event.startswith(
            'The camera (camera) sees after a restart, compared with 4.0 hours before: '
            'a red object appeared at the lower left'
        )


def test_a_view_of_another_topic_or_of_a_later_time_is_not_the_one_before(
    robot: Robot, tmp_path: Path
) -> None:
    run(robot.memory, film(tmp_path / 'later', [table()], START_NS + HOUR_NS))
    run(robot.memory, film(tmp_path / 'earlier', [table()], START_NS))
    other = ImportPlan({'side': {'topic': '/camera/image_raw', 'type': KIND}}, {'collection': 'b'})
    run(robot.memory, film(tmp_path / 'other', [table()], START_NS + 2 * HOUR_NS), other)
    assert [text.count('for the first time') for text in list_scenes(robot)] == [1, 1, 1]


def test_without_its_picture_the_look_of_the_last_view_is_compared(
    robot: Robot, tmp_path: Path
) -> None:
    run(robot.memory, film(tmp_path / 'before', [elsewhere(1)], START_NS))
    with robot.memory.db.write() as connection:
        connection.execute('UPDATE parts SET content = NULL, removed_at = 1')
    run(robot.memory, film(tmp_path / 'same', [elsewhere(1)], START_NS + HOUR_NS))
    assert len(list_scenes(robot)) == 1
    run(robot.memory, film(tmp_path / 'else', [elsewhere(2)], START_NS + 2 * HOUR_NS))
    assert ['for the first time' in text for text in list_scenes(robot)] == [True, True]


def test_what_moves_when_a_stream_begins_is_judged_once_it_has_settled(
    robot: Robot, tmp_path: Path
) -> None:
    run(robot.memory, film(tmp_path / 'before', [table()], START_NS))
    moving = [table((30 + 8 * step, 180)) for step in range(10)]
    run(robot.memory, film(tmp_path / 'back', [*moving, *[table()] * 9], START_NS + HOUR_NS, 1))
    assert len(list_scenes(robot)) == 1
    stays = [*moving, *[moving[-1]] * 9]
    run(robot.memory, film(tmp_path / 'stays', stays, START_NS + 2 * HOUR_NS, 1))
    (_, event) = list_scenes(robot)
    assert 'after a restart' in event


DAY_NS = 24 * HOUR_NS


def count_efforts(robot: Robot) -> int:
    return len(robot.query_events(where={'kind': 'effort'}).events)


def test_a_later_run_goes_on_from_the_usual_effort_and_an_earlier_one_does_not(
    robot: Robot, tmp_path: Path
) -> None:
    later = swing(tmp_path / 'later', START_NS + DAY_NS, 60)
    run(robot.memory, later)
    assert count_efforts(robot) == 0  # a new robot learns first
    run(robot.memory, swing(tmp_path / 'long', START_NS))
    assert count_efforts(robot) == 1
    run(robot.memory, swing(tmp_path / 'before', START_NS - DAY_NS, 60))
    assert count_efforts(robot) == 1
    last = swing(tmp_path / 'last', START_NS + 2 * DAY_NS, 60)
    for _ in range(2):
        run(robot.memory, last)
        assert count_efforts(robot) == 1  # it goes on from `later`, which had learned for 60 s
    run(robot.memory, later)
    assert count_efforts(robot) == 2


def test_of_a_robot_the_newest_runs_are_stored_until_they_are_removed(robot: Robot) -> None:
    finder = StoredRuns(SessionFinder(robot.memory, 'arm'))
    names, conditions = ('elbow', 'wrist'), (0.01, 'rad', '')
    for number in range(learned_efforts.RUNS + 3):
        for until in (5, 7):
            learned = LearnedEffort(
                names, conditions, 10 * number, 10 * number + until, 1.5 * number, {}
            )
            store_effort(robot.memory, TopicEffort('arm', '/joint_states', learned))

    def find(stamp_ns: int, topic: str = '/joint_states') -> LearnedEffort | None:
        return finder.find_learned(topic, names, conditions, stamp_ns)

    assert robot.rows("SELECT count(*) FROM meta WHERE key LIKE 'usual_effort%'") == [
        (learned_efforts.RUNS,)
    ]
    assert require(find(200)).learned_s == 15.0
    assert require(find(97)).until_ns == 87
    assert find(37) is None and find(200, '/other') is None
    assert finder.find_learned('/joint_states', names, (0.02, 'rad', ''), 200) is None
    store_effort(robot.memory, TopicEffort('arm', '/other', None))
    assert find(200) is not None
    store_effort(robot.memory, TopicEffort('arm', '/joint_states', None))
    assert find(200) is None


@pytest.mark.parametrize(('learning_s', 'stored'), [(600.0, 2), (0.0, 0)])
def test_a_node_stores_what_it_learned_once_an_hour_and_at_its_end(
    robot: Robot, tmp_path: Path, learning_s: float, stored: int
) -> None:
    made: list[Any] = []
    settings = {**DEFAULTS['joint_states'], 'effort_learning_s': learning_s}
    pipeline = Pipeline(
        [make_tap('joint_states', settings)],
        PoseSourceSettings(),
        'arm',
        lambda tap, item: made.append(item),
        made.append,
        str,
        robot.memory.extensions,
        LIVE,
    )
    if not learning_s:
        assert made.pop() == TopicEffort('arm', '/joint_states', None)
    (handler,) = pipeline.list_handlers()
    messages = messages_of(swing(tmp_path / 'swing', lasts_s=20))
    pipeline.receive([ReceivedMessage(handler, raw, at) for _, _, at, raw in messages])
    now_ns = messages[-1][2]
    for later_ns in (0, HOUR_NS - 1, HOUR_NS, HOUR_NS + 1):
        pipeline.flush_silent(now_ns + later_ns)
    pipeline.finish()
    found = [item for item in made if isinstance(item, TopicEffort)]
    assert len(found) == stored
    for item in found:
        learned = require(item.learned)
        assert (learned.names, learned.until_ns) == (('elbow',), now_ns)
        assert learned.learned_s == pytest.approx(19.9)
