"""What is typed in ROS says what the JSON beside it says, to the last digit."""

from __future__ import annotations

import copy
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from amounts import few_or_many
from builtin_interfaces.msg import Time
from geometry_msgs.msg import Point, PoseWithCovarianceStamped
from hypothesis import given, settings
from hypothesis import strategies as st
from typed_answers import list_disagreements

from robot_memory import msg, srv
from robot_memory.api import RobotMemory
from robot_memory.catalog import get_tool
from robot_memory.core.clock import format_instant
from robot_memory.core.errors import InvalidArgument, RobotMemoryError
from robot_memory.core.fields import NANOSECONDS, Stamp, get_fields, to_plain
from robot_memory.ros import convert, interfaces
from robot_memory.ros.typed_values import fill_typed

SECONDS = st.integers(-(2**31), 2**31 - 1)
STAMPS = st.builds(
    lambda sec, nanosec: sec * NANOSECONDS + nanosec,
    SECONDS | st.just(0),
    st.integers(0, NANOSECONDS - 1) | st.just(0),
)
NUMBERS = st.floats(-1e6, 1e6)
TOUCH = 'Touched the table'
STAMP = Stamp(1_700_000_000_123_456_789)


@pytest.fixture(scope='module')
def robot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RobotMemory]:
    """A memory that the calls of a whole module go to: they ask of what they stored alone."""
    folder: Path = tmp_path_factory.mktemp('typed')
    memory = RobotMemory(str(folder / 'memory.db'), model='none')
    yield memory
    memory.close()


@st.composite
def quaternions(draw: Any) -> list[float]:
    turn = draw(st.tuples(*[st.floats(-1, 1)] * 4).filter(lambda q: math.hypot(*q) > 0.1))
    length = math.hypot(*turn)
    return [part / length for part in turn]


@st.composite
def covariances(draw: Any) -> list[float]:
    """Return a covariance: the square of a matrix is one."""
    rows = draw(st.tuples(*[st.tuples(*[st.floats(-3, 3)] * 6)] * 6))
    made = [[sum(a * b for a, b in zip(r, s, strict=True)) for s in rows] for r in rows]
    return [made[min(r, c)][max(r, c)] for r in range(6) for c in range(6)]


@st.composite
def poses(draw: Any) -> dict[str, Any]:
    pose = {'position': draw(st.lists(NUMBERS, min_size=3, max_size=3)), 'frame_id': 'map'}
    pose['orientation'] = draw(quaternions())
    return {**pose, 'covariance': draw(covariances())} if draw(st.booleans()) else pose


def make_pose(pose: dict[str, Any]) -> PoseWithCovarianceStamped:
    made = PoseWithCovarianceStamped()
    made.header.frame_id = pose['frame_id']
    inner = made.pose.pose
    inner.position.x, inner.position.y, inner.position.z = pose['position']
    turn = inner.orientation
    turn.x, turn.y, turn.z, turn.w = pose['orientation']
    if 'covariance' in pose:
        made.pose.covariance = pose['covariance']
    return made


def read_pose(message: Any) -> dict[str, Any]:
    """Return the typed pose of an answer as JSON has it."""
    inner = message.pose_stamped.pose.pose
    place, turn = inner.position, inner.orientation
    read: dict[str, Any] = {
        'position': [place.x, place.y, place.z],
        'frame_id': message.pose_stamped.header.frame_id,
    }
    if message.has_orientation:
        read['orientation'] = [turn.x, turn.y, turn.z, turn.w]
    if message.has_covariance:
        read['covariance'] = [float(number) for number in message.pose_stamped.pose.covariance]
    return read


def call(robot: RobotMemory, request: Any) -> Any:
    """Answer a request as the node does; return the response."""
    name = type(request).__name__.removesuffix('_Request')
    tool = next(one for one in interfaces.ROS_TOOLS if interfaces.service_name(one) == name)
    answer = tool.run(robot.memory, convert.read_arguments(request, tool.request))
    return convert.fill(getattr(srv, name).Response(), answer)


def get_nanoseconds(time: Time) -> int:
    return int(time.sec) * NANOSECONDS + int(time.nanosec)


def to_time(nanoseconds: int) -> Time:
    sec, nanosec = divmod(nanoseconds, NANOSECONDS)
    return Time(sec=sec, nanosec=nanosec)


@settings(max_examples=few_or_many(30, 500), deadline=None, derandomize=True)
@given(pose=poses(), stamp=STAMPS)
def test_a_pose_and_its_time_come_back_unchanged_typed_and_as_json(
    robot: RobotMemory, pose: dict[str, Any], stamp: int
) -> None:
    request = srv.SavePerception.Request(description=TOUCH, has_pose=True, has_stamp=True)
    request.pose_stamped, request.stamp = make_pose(pose), to_time(stamp)
    request.has_covariance = 'covariance' in pose
    kept = call(robot, request)
    memory = call(robot, srv.Show.Request(memory_id=kept.memory_id)).memory
    assert json.loads(memory.pose) == read_pose(memory) == pose
    assert memory.has_pose and memory.has_covariance == ('covariance' in pose)
    assert memory.has_stamp and get_nanoseconds(memory.stamp) == stamp
    assert memory.pose_stamped.header.stamp == memory.stamp
    assert memory.has_measured == bool(memory.measured_at)
    if memory.has_measured:
        assert get_nanoseconds(memory.measured) == stamp
    as_json = to_plain(robot.save_perception(TOUCH, pose=pose, stamp=Stamp(stamp)))
    other = call(robot, srv.Show.Request(memory_id=as_json['memory_id'])).memory
    assert (read_pose(other), other.stamp) == (read_pose(memory), memory.stamp)
    (listed,) = call(
        robot, srv.QueryRecords.Request(where=json.dumps({'memory_id': kept.memory_id}))
    ).records
    assert (read_pose(listed), listed.stamp) == (pose, memory.stamp) and listed.has_stamp
    assert convert.to_plain(other, type_of(get_tool('show').response, 'memory')) == to_plain(
        robot.show(as_json['memory_id']).memory
    )


def type_of(declaration: type, name: str) -> type:
    (found,) = (field.record for field in get_fields(declaration) if field.name == name)
    assert found is not None
    return found


def test_what_compares_typed_answers_notices_each_that_differs(robot: RobotMemory) -> None:
    pose = {'position': [1, 2, 3], 'orientation': [0, 0, 0, 1], 'covariance': [0.5] + [0.0] * 35}
    params = {'force': {'value': 12.5, 'unit': 'N'}}
    kept = robot.save_perception(TOUCH, pose=pose, stamp=STAMP, context={'params': params})
    answer = call(robot, srv.Show.Request(memory_id=kept.memory_id))
    assert list_disagreements(answer) == []
    memory = answer.memory
    spoilt: tuple[tuple[Any, str, Any, str], ...] = (
        (memory.created, 'sec', 5, 'created'),
        (memory, 'has_measured', False, 'measured'),
        (memory.pose_stamped.pose.pose.position, 'x', 1.5, 'pose_stamped'),
        (memory.params_figures[0], 'value', 12.0, 'params_figures'),
    )
    for number, (holder, name, value, noticed) in enumerate(spoilt, 1):
        setattr(holder, name, value)
        found = list_disagreements(answer)
        assert len(found) == number and f'.memory[0].{noticed}' in found


def test_the_time_of_a_pose_is_that_of_the_measurement_where_no_other_is_set(
    robot: RobotMemory,
) -> None:
    request = srv.SavePerception.Request(description=TOUCH, has_pose=True)
    request.pose_stamped.header.stamp = to_time(STAMP)
    kept = call(robot, request)
    memory = call(robot, srv.Show.Request(memory_id=kept.memory_id)).memory
    assert get_nanoseconds(memory.stamp) == get_nanoseconds(memory.measured) == STAMP


def test_times_of_the_store_are_typed_to_the_microsecond_that_the_text_has(
    robot: RobotMemory,
) -> None:
    kept = robot.learn('The tray of the typed answers is blue')
    robot.update(kept.memory_id or 0, 'The tray of the typed answers is green')
    (record,) = call(
        robot, srv.QueryRecords.Request(where=json.dumps({'memory_id': kept.memory_id}))
    ).records
    for time, flag, text in (
        (record.created, record.has_created, record.created_at),
        (record.updated, record.has_updated, record.updated_at),
        (record.observed.first, record.observed.has_first, record.observed.first_at),
    ):
        assert flag and text == format_utc(time), text
    assert not record.has_measured and not record.has_stamp
    entries = call(robot, srv.History.Request(memory_id=kept.memory_id)).entries
    assert [format_utc(one.at_time) for one in entries] == [one.at for one in entries]


def format_utc(time: Time) -> str:
    return format_instant(get_nanoseconds(time) // 1000)


def test_a_time_that_its_type_cannot_hold_is_not_set() -> None:
    view = type_of(get_tool('query_records').response, 'records')
    values = dict.fromkeys(field.attribute for field in get_fields(view))
    late = view(**{**values, 'created_at': '2038-01-19T03:14:08.000000Z'})
    message = msg.Record()
    fill_typed(message, field_of(view, 'created_at'), late)
    assert not message.has_created and message.created == Time()
    last = view(**{**values, 'created_at': '2038-01-19T03:14:07.999999Z'})
    fill_typed(message, field_of(view, 'created_at'), last)
    assert message.has_created and message.created.sec == 2**31 - 1


def field_of(declaration: type, name: str) -> Any:
    (found,) = (field for field in get_fields(declaration) if field.name == name)
    return found


def test_typed_filters_answer_what_the_json_answers(robot: RobotMemory) -> None:
    collection = 'filters'
    stamps = [STAMP, STAMP + 1000, STAMP + 2000]
    for number, stamp in enumerate(stamps):
        kind = ('visual', 'tactile', 'visual')[number]
        robot.save_perception(
            f'Seen number {number}', kind, collection=collection, stamp=Stamp(stamp)
        )
    robot.learn('A fact is stored now', collection=collection)
    request = srv.Recall.Request(collection=collection, n=10, min_confidence=0.0)
    request.since_time, request.has_since_time = to_time(stamps[1]), True

    def ask(changed: Any) -> list[int]:
        return sorted(one.id for one in call(robot, changed).memories)

    found = ask(request)
    by_filter = {'occurred_at': {'$gte': '2023-11-14T22:13:20.123457Z'}}
    assert found == sorted(
        one.id
        for one in robot.recall(
            collection=collection, n=10, min_confidence=0.0, context_filter=by_filter
        ).memories
    )
    assert len(found) == 3, 'two perceptions, and the fact by when it was stored'
    request.until_time, request.has_until_time = to_time(stamps[2]), True
    assert ask(request) == found[:1]
    request.perception_type = 'visual'
    assert ask(request) == []
    request.has_until_time, request.until_time = False, Time()
    request.context_filter = json.dumps({'type': 'perception'})
    assert ask(request) == [found[1]]
    records = srv.QueryRecords.Request(where=request.context_filter, perception_type='tactile')
    records.since_time, records.has_since_time = to_time(stamps[0]), True
    listed = call(robot, records).records
    assert [one.memory_id for one in listed if one.collection == collection] == found[:1]


def test_a_typed_place_asks_what_the_json_asks(robot: RobotMemory) -> None:
    pose = {'position': [1.0, 2.0, 0.5], 'orientation': [0.0, 0.0, 0.0, 1.0], 'frame_id': 'map'}
    kept = robot.save_perception(TOUCH, collection='places', pose=pose)
    asked = {'frame': 'map', 'position': [1.0, 0.0, 0.5], 'within': 3.0}
    as_json = call(robot, srv.Recall.Request(collection='places', near=json.dumps(asked)))
    request = srv.Recall.Request(collection='places', has_near_place=True)
    request.near_place = msg.NearPlace(frame='map', has_position=True, within=3.0)
    request.near_place.position = Point(x=1.0, y=0.0, z=0.5)
    typed = call(robot, request)
    as_json.query_ms = typed.query_ms
    assert typed == as_json and [one.id for one in typed.memories] == [kept.memory_id]
    near = typed.memories[0].near
    assert near.has_pose and near.has_orientation and near.distance == 2.0
    assert near.pose_stamped.header.frame_id == 'map'
    assert near.pose_stamped.pose.position == Point(x=1.0, y=2.0, z=0.5)
    target = srv.Recall.Request(collection='places', has_spatial_target=True)
    target.spatial_target.field = 'spatial.position'
    target.spatial_target.has_target = True
    target.spatial_target.target = Point(x=1.0, y=0.0, z=0.5)
    assert call(robot, target).memories[0].distance == 2.0


def test_a_typed_transform_brings_an_older_map_into_the_newer(robot: RobotMemory) -> None:
    call(robot, srv.SetMap.Request(name='typed', frame='typed_map'))
    request = srv.SetMap.Request(name='typed', frame='typed_map', has_transform_pose=True)
    request.transform_pose.position.x = 2.0
    answer = call(robot, request)
    assert (answer.revision, answer.anchored) == (2, 'typed r1')
    request.transform_pose.orientation.w = 3.0
    with pytest.raises(InvalidArgument, match='of length 1'):
        call(robot, request)


def test_figures_are_read_and_told_beside_names(robot: RobotMemory) -> None:
    request = srv.RecordOutcome.Request(skill='push', params='{"gripper": "soft"}')
    request.params_figures = [msg.Figure(name='speed', value=1.25, unit='m/s')]
    request.results_figures = [msg.Figure(name='slide', value=41.0, unit='cm')]
    for _ in range(3):
        call(robot, request)
    answer = call(robot, srv.Suggest.Request(skill='push', want='{"maximise": "slide"}'))
    assert json.loads(answer.params)['gripper'] == 'soft'
    assert answer.params_figures == request.params_figures
    (predicted,) = answer.predicted_figures
    assert json.loads(answer.predicted) == {'value': predicted.value, 'unit': predicted.unit}
    assert [one.unit for one in answer.interval_figures] == ['cm', 'cm']
    assert answer.evidence[0].results_figures == request.results_figures
    kept = robot.learn(
        'The typed valve opens',
        context={'params': {'force': '12.5 N', 'turns': 3, 'note': 'slow', 'by': {'x': 1}}},
    )
    memory = call(robot, srv.Show.Request(memory_id=kept.memory_id)).memory
    told = {one.name: (one.value, one.unit) for one in memory.params_figures}
    assert told == {'force': (12.5, 'N'), 'turns': (3.0, '')}


def perception(**changes: Any) -> Any:
    """Return a good request, with parts of its pose changed."""
    request = srv.SavePerception.Request(description=TOUCH, has_pose=True)
    pose = request.pose_stamped.pose
    for path, value in changes.items():
        target: Any = {'position': pose.pose.position, 'orientation': pose.pose.orientation}.get(
            path.partition('_')[0], pose
        )
        setattr(target, path.partition('_')[2] or path, value)
    return request


def changed(request: Any, **changes: Any) -> Any:
    made = copy.deepcopy(request)
    for name, value in changes.items():
        setattr(made, name, value)
    return made


NO_COVARIANCE = [1.0] + [0.0] * 34 + [-1.0]
ONE_SIDED = [1.0, 0.5] + [0.0] * 34
REFUSED = [
    (perception(orientation_w=0.5), 'quaternion x, y, z, w of length 1, not [0.0, 0.0, 0.0, 0.5]'),
    (perception(orientation_w=0.0), 'of length 0'),
    (
        perception(position_x=math.nan),
        'position of pose_stamped must be finite numbers, not [nan',
    ),
    (perception(orientation_x=math.inf), 'orientation of pose_stamped must be finite'),
    (changed(perception(covariance=NO_COVARIANCE), has_covariance=True), 'negative eigenvalue'),
    (changed(perception(covariance=ONE_SIDED), has_covariance=True), 'symmetric'),
    (
        changed(perception(covariance=[math.nan] * 36), has_covariance=True),
        'covariance of pose_stamped must be finite numbers',
    ),
    (perception(covariance=[1.0] * 36), 'has_covariance is false; set it to true'),
    (changed(perception(position_x=1.0), has_pose=False), 'has_pose is false; set it to true'),
    (
        srv.SavePerception.Request(description=TOUCH, has_covariance=True),
        'has_covariance is true, but has_pose is false',
    ),
    (
        changed(perception(), pose='{"position": [1, 2, 3]}'),
        'pose and pose_stamped are both set',
    ),
    (
        srv.SavePerception.Request(description=TOUCH, stamp=Time(sec=1, nanosec=NANOSECONDS)),
        'stamp.nanosec must be 0 to 999999999, not 1000000000',
    ),
    (
        srv.Recall.Request(query='x', since_time=Time(sec=5)),
        'since_time has a value, but has_since_time is false',
    ),
    (
        srv.Recall.Request(query='x', perception_type='smell'),
        'perception_type must be one of visual, tactile, auditory, proprioceptive, procedural, n',
    ),
    (
        srv.Recall.Request(
            has_until_time=True, context_filter='{"occurred_at": {"$lt": "2026-01-01"}}'
        ),
        "context_filter has 'occurred_at', which is set as a typed field, too",
    ),
    (
        srv.Recall.Request(near_place=msg.NearPlace(frame='map')),
        'near_place has a value, but has_near_place is false',
    ),
    (srv.Recall.Request(has_near_place=True), 'near_place is empty, but has_near_place is true'),
    (
        srv.Recall.Request(
            has_near_place=True,
            near_place=msg.NearPlace(frame='map', has_position=True, position=Point(x=math.nan)),
        ),
        'position must be finite numbers, not [nan, 0.0, 0.0]',
    ),
    (
        srv.Recall.Request(
            has_near_place=True, near_place=msg.NearPlace(of='tool0'), near='{"of": "tool0"}'
        ),
        'near and near_place are both set',
    ),
    (
        srv.QueryEvents.Request(has_since_time=True, since='yesterday'),
        'since and since_time are both set',
    ),
    (
        srv.RecordOutcome.Request(
            skill='push', results_figures=[msg.Figure(name='slide', value=math.nan)]
        ),
        'results_figures[0].value must be a finite number, not nan',
    ),
    (
        srv.RecordOutcome.Request(skill='push', results_figures=[msg.Figure(value=1.0)]),
        "results_figures[0].name must be a name that no other has, not ''",
    ),
    (
        srv.RecordOutcome.Request(
            skill='push', results='{"a": 1}', results_figures=[msg.Figure(name='a', value=1.0)]
        ),
        "results has 'a', which is set as a typed field, too",
    ),
    (
        srv.RecordOutcome.Request(
            skill='push', results_figures=[msg.Figure(name='a', value=1.0, unit='parsnips')]
        ),
        "results.a has the unknown unit 'parsnips'",
    ),
]


@pytest.mark.parametrize(('request_', 'words'), REFUSED, ids=[words for _, words in REFUSED])
def test_a_bad_typed_request_is_refused_in_words(
    robot: RobotMemory, request_: Any, words: str
) -> None:
    with pytest.raises(RobotMemoryError) as refused:
        call(robot, request_)
    assert isinstance(refused.value, InvalidArgument)
    assert words in str(refused.value)
