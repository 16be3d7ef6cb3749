"""Recordings of every form become the same memories, once, whatever breaks off."""

from __future__ import annotations

import base64
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import prepared
import pytest
import recordings
from PIL import Image
from recordings import FORMS, Message, Messages, events_of, messages_of, run
from robots import MovableClock, Robot, check_file
from rosbags.rosbag2 import StoragePlugin
from rosbags.typesys import Stores, get_typestore
from waiting import HANG_SECONDS, until

from robot_memory.core.errors import InvalidArgument, NotFound
from robot_memory.core.settings import Settings
from robot_memory.detectors import Signal
from robot_memory.ingest import PoseSourceSettings
from robot_memory.ingest.bag_import import ImportPlan
from robot_memory.memory import Memory

PUSHES = ImportPlan(taps={'wrench': {'onset_n': 2.0}})


@pytest.fixture(scope='module')
def wanted(tmp_path_factory: pytest.TempPathFactory, made: Path) -> list[tuple[Any, ...]]:
    """Return what tells the events of the arm's recording apart."""
    path = tmp_path_factory.mktemp('wanted') / 'memory.db'
    with Memory(Settings(db_path=str(path), model='none'), resident=False) as memory:
        run(memory, made)
        found = events_of(memory)
    assert len(found) == 8
    return found


def test_the_senses_notice_in_a_recording_what_happened(robot: Robot, made: Path) -> None:
    imported, told = run(robot.memory, made)
    kinds = {
        topic: [row for row in events_of(robot.memory) if row[0] == topic]
        for topic in ('/joint_states', '/wrench', '/camera/image_raw')
    }
    assert {topic: len(rows) for topic, rows in kinds.items()} == {
        '/joint_states': 3,
        '/wrench': 2,
        '/camera/image_raw': 3,
    }
    assert imported.kept == 8 and imported.known == 0 and told == []
    assert imported.taps['wrench (/wrench)']['received'] == 2000


def test_importing_a_recording_twice_adds_nothing(robot: Robot, made: Path) -> None:
    run(robot.memory, made)
    before = robot.rows('SELECT * FROM memories')
    again, _ = run(robot.memory, made)
    assert (again.kept, again.known) == (0, 8)
    assert robot.rows('SELECT * FROM memories') == before


@pytest.mark.parametrize('write', FORMS, ids=lambda write: write.__name__)
def test_every_form_of_recording_gives_the_same_events(
    robot: Robot,
    tmp_path: Path,
    wanted: list[tuple[Any, ...]],
    messages: Messages,
    write: Callable[[Path, Messages], Path],
) -> None:
    _, told = run(robot.memory, write(tmp_path / 'bag', messages))
    assert told == []
    assert events_of(robot.memory) == wanted


def test_without_its_metadata_a_recording_is_read_as_well(
    robot: Robot, tmp_path: Path, messages: Messages
) -> None:
    bag = recordings.each_file_compressed(tmp_path / 'bag', messages)
    (bag / 'metadata.yaml').unlink()
    imported, told = run(robot.memory, bag)
    assert imported.kept == 8 and told == []


def test_what_cannot_be_read_is_told_a_line_each_and_the_rest_is_read(
    robot: Robot, tmp_path: Path, messages: Messages
) -> None:
    bag = recordings.split(tmp_path / 'bag', messages)
    (bag / '3.mcap').write_bytes(b'\x89MCAP0\r\n' + b'broken' * 100)
    (bag / '4.db3').write_bytes(b'')
    imported, told = run(robot.memory, bag)
    assert imported.kept == 8
    assert [line.partition(':')[0] for line in told] == ['cannot read 3.mcap', 'cannot read 4.db3']


def test_unknown_types_and_empty_topics_are_told(
    robot: Robot, tmp_path: Path, messages: Messages
) -> None:
    types = get_typestore(Stores.LATEST)
    empty = types.types['std_msgs/msg/Empty']()
    raw = bytes(types.serialize_cdr(empty, 'std_msgs/msg/Empty'))
    more = [*messages, ('/beat', 'std_msgs/msg/Empty', messages[-1][2] + 1, raw)]
    bag = recordings.sqlite3(tmp_path / 'bag', more)
    imported, told = run(robot.memory, bag)
    assert imported.kept == 8
    assert told == ['skipping /beat (std_msgs/msg/Empty): no detector accepts its type']


def test_a_broken_message_is_counted_and_the_rest_is_read(
    robot: Robot, tmp_path: Path, messages: Messages
) -> None:
    damaged = [
        (topic, kind, at, raw[:20] if number % 100 == 7 else raw)
        for number, (topic, kind, at, raw) in enumerate(messages)
    ]
    imported, told = run(robot.memory, recordings.sqlite3(tmp_path / 'bag', damaged))
    unreadable = [counts.get('unreadable', 0) for counts in imported.taps.values()]
    assert sum(unreadable) == sum(number % 100 == 7 for number in range(len(messages)))
    assert imported.kept == 8 and told


def test_there_must_be_a_recording(robot: Robot, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match='no recording at'):
        run(robot.memory, tmp_path / 'none')
    with pytest.raises(NotFound, match='accepted: a file or a folder'):
        run(robot.memory, tmp_path)
    (tmp_path / 'broken.mcap').write_bytes(b'\x89MCAP0\r\n' + b'broken' * 100)
    with pytest.raises(NotFound, match='no readable file in'):
        run(robot.memory, tmp_path)


def test_only_the_taps_of_the_parameters_listen(robot: Robot, made: Path) -> None:
    imported, told = run(robot.memory, made, ImportPlan(taps={'wrench': {'onset_n': 12.0}}))
    assert [row[0] for row in events_of(robot.memory)] == ['/wrench']
    assert imported.messages == 2000
    assert 'skipping /joint_states (sensor_msgs/msg/JointState): no tap subscribes to it' in told


def test_two_taps_can_listen_to_one_topic(robot: Robot, made: Path) -> None:
    taps = {
        'wrench': {},
        'strong': {
            'topic': '/wrench',
            'type': 'geometry_msgs/msg/WrenchStamped',
            'onset_n': 12.0,
        },
    }
    imported, _ = run(robot.memory, made, ImportPlan(taps=taps))
    assert [counts['received'] for counts in imported.taps.values()] == [2000, 2000]


def test_a_parameter_file_for_another_node_is_refused(tmp_path: Path, made: Path) -> None:
    params = tmp_path / 'params.yaml'
    params.write_text('taps: [wrench]\n')
    process = importing(tmp_path / 'memory.db', made, '--params', params)
    _, err = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 1 and 'has no parameters for robot_memory' in err


@pytest.mark.parametrize(
    ('settings', 'said'),
    [
        ({'onset_n': -1.0}, 'onset_n'),
        ({'onset': 2.0}, 'onset'),
        ({'type': 'sensor_msgs/msg/LaserScan'}, 'LaserScan'),
        ({'detector': 'motion'}, 'accepted: contact'),
    ],
)
def test_a_wrong_tap_is_refused_by_its_name(
    robot: Robot, made: Path, settings: dict[str, object], said: str
) -> None:
    with pytest.raises(InvalidArgument, match="tap 'wrench'") as refused:
        run(robot.memory, made, ImportPlan(taps={'wrench': settings}))
    assert said in str(refused.value)
    assert robot.rows('SELECT count(*) FROM memories') == [(0,)]


def test_a_demonstration_is_kept_as_procedural(robot: Robot, made: Path) -> None:
    run(robot.memory, made, ImportPlan(demonstration='laying the table'))
    kinds = robot.rows('SELECT perception_type, count(*) FROM memories GROUP BY 1 ORDER BY 1')
    assert kinds == [('procedural', 3), ('tactile', 2), ('visual', 3)]
    (found,) = robot.recall('demonstration of laying the table', n=1).memories
    assert found.task == {'demonstration': 'laying the table'}


def test_what_is_said_meanwhile_is_part_of_what_happens(
    robot: Robot, tmp_path: Path, messages: Messages
) -> None:
    types = get_typestore(Stores.LATEST)
    text = types.types['std_msgs/msg/String']('wipe the table')
    raw = bytes(types.serialize_cdr(text, 'std_msgs/msg/String'))
    begin = messages[0][2]
    said = ('/task', 'std_msgs/msg/String', begin + 7 * 10**9, raw)
    bag = recordings.sqlite3(tmp_path / 'bag', sorted([*messages, said], key=lambda m: m[2]))
    run(robot.memory, bag)
    (fact,) = robot.query_records(where={'kind': 'fact'}).records
    assert fact.record_content == 'wipe the table'
    rows = robot.rows("SELECT content, stamp FROM memories WHERE type = 'perception'")
    for content, stamp in rows:
        assert ('wipe the table' in content) == (stamp >= said[2]), content


def test_every_memory_names_its_recording_and_the_offset_in_it(
    robot: Robot, tmp_path: Path, messages: Messages
) -> None:
    types = get_typestore(Stores.LATEST)
    begin = messages[0][2]
    texts = [
        (
            '/task',
            'std_msgs/msg/String',
            begin + seconds * 10**9,
            bytes(
                types.serialize_cdr(
                    types.types['std_msgs/msg/String'](text), 'std_msgs/msg/String'
                )
            ),
        )
        for seconds, text in ((4, 'wipe the table'), (9, 'polish it'), (11, 'wipe the table'))
    ]
    bag = recordings.sqlite3(tmp_path / 'bag', in_time([*messages, *texts]))
    run(robot.memory, bag)
    rows = robot.rows('SELECT stamp, context FROM memories ORDER BY id')
    assert robot.rows("SELECT count(*) FROM memories WHERE type = 'fact'") == [(2,)]
    for stamp, context in rows:
        sense = json.loads(context)['sense']
        assert sense['recording'] == 'bag'
        assert sense['offset_s'] == pytest.approx(max(0, stamp - begin) / 1e9, abs=1e-6)
    late = {'sense.recording': 'bag', 'sense.offset_s': {'$gte': 10.0}}
    found = robot.recall('polish', n=20, context_filter=json.dumps(late)).memories
    assert found
    assert all(json.loads(memory.context)['sense']['offset_s'] >= 10 for memory in found)
    before = robot.rows('SELECT * FROM memories'), robot.rows('SELECT * FROM observations')
    again, _ = run(robot.memory, bag)
    assert again.kept == 0 and len(before[1]) == 1
    assert before == (
        robot.rows('SELECT * FROM memories'),
        robot.rows('SELECT * FROM observations'),
    )


def test_the_offset_is_that_in_the_recording_where_stamps_are_of_another_clock(
    robot: Robot, tmp_path: Path, messages: Messages
) -> None:
    later = 10**6 * 10**9
    moved = [(topic, kind, at + later, raw) for topic, kind, at, raw in messages]
    run(robot.memory, recordings.one_file(tmp_path / 'bag', moved))
    rows = robot.rows('SELECT stamp, context FROM memories ORDER BY id')
    for stamp, context in rows:
        sense = json.loads(context)['sense']
        assert sense['recording'] == 'bag.mcap'
        assert sense['offset_s'] == pytest.approx((stamp - messages[0][2]) / 1e9, abs=0.01)


def test_an_instruction_is_over_with_its_session(
    robot: Robot, clock: MovableClock, tmp_path: Path, messages: Messages
) -> None:
    begin = messages[0][2]
    clock.now = begin // 1000
    session = robot.start_session(context={'task': {'name': 'wiping'}}).session_id
    clock.forward(seconds=9)
    robot.end_session(session)
    types = get_typestore(Stores.LATEST)
    text = types.types['std_msgs/msg/String']('wipe the table')
    raw = bytes(types.serialize_cdr(text, 'std_msgs/msg/String'))
    said = ('/task', 'std_msgs/msg/String', begin + 10**9, raw)
    bag = recordings.sqlite3(tmp_path / 'bag', sorted([*messages, said], key=lambda m: m[2]))
    run(robot.memory, bag)
    rows = robot.rows(
        "SELECT content, stamp, session_id, context FROM memories WHERE type = 'perception'"
    )
    assert {stamp < begin + 9 * 10**9 for _, stamp, _, _ in rows} == {True, False}
    for content, stamp, of, context in rows:
        within = begin <= stamp < begin + 9 * 10**9
        assert of == (session if within else None)
        assert json.loads(context).get('task', {}).get('name') == ('wiping' if within else None)
        assert ('wipe the table' in content) == (said[2] <= stamp and within), content
    run(robot.memory, bag)
    (task,) = robot.query_events(where={'kind': 'task'}).events
    assert (task.task, task.session_id) == ('wipe the table', session)


def test_the_pose_of_an_event_is_that_of_its_stamp_or_said_to_be_unknown(
    robot: Robot, tmp_path: Path, messages: Messages
) -> None:
    # The pose is known in the first ten seconds only: the push at 6 s, not the tap at 12.5 s.
    poses = [pose(messages[0][2], number / 10, (number / 10, 2.0, 0.5)) for number in range(100)]
    bag = recordings.sqlite3(tmp_path / 'bag', in_time([*messages, *poses]))
    plan = ImportPlan(taps={'wrench': {}}, place=PoseSourceSettings(pose_topic='/tcp_pose'))
    run(robot.memory, bag, plan)
    push, tap = oldest_first(robot)
    seconds = (push.stamp - messages[0][2]) / 1e9
    assert push.pose['frame_id'] == 'map'
    assert push.pose['position'] == pytest.approx([seconds, 2.0, 0.5], abs=1e-6)
    assert push.spatial['position'] == push.pose['position']
    assert tap.pose is None
    assert robot.show(tap.id).data['place'].startswith('unknown: ')


def test_tf_gives_the_pose_of_the_frame_of_an_event_in_the_fixed_frame(
    robot: Robot, tmp_path: Path, messages: Messages
) -> None:
    begin = messages[0][2]
    moving = [
        transform(begin, number / 10, 'map', 'base_link', (number / 10, 0.0, 0.0))
        for number in range(100)
    ]
    fixed = transform(begin, 0.0, 'base_link', 'tool0', (0.0, 0.0, 1.2), '/tf_static')
    bag = recordings.sqlite3(tmp_path / 'bag', in_time([*messages, *moving, fixed]))
    plan = ImportPlan(taps={'wrench': {}}, place=PoseSourceSettings(fixed_frame='map'))
    imported, _ = run(robot.memory, bag, plan)
    push, tap = oldest_first(robot)
    seconds = (push.stamp - begin) / 1e9
    assert push.frame_id == 'tool0' and push.pose['frame_id'] == 'map'
    assert push.pose['position'] == pytest.approx([seconds, 0.0, 1.2], abs=1e-6)
    assert tap.pose is None and "'base_link'" in robot.show(tap.id).data['place']
    assert imported.taps['/tf']['received'] == 100


def test_the_tree_of_tf_is_kept_at_each_event_and_answers_what_is_near(
    robot: Robot, tmp_path: Path, messages: Messages
) -> None:
    begin = messages[0][2]
    moving = [
        transform(begin, number / 10, 'map', 'base_link', (number / 10, 0.0, 0.0))
        for number in range(250)
    ]
    fixed = transform(begin, 0.0, 'base_link', 'tool0', (0.0, 0.0, 1.2), '/tf_static')
    bag = recordings.sqlite3(tmp_path / 'bag', in_time([*messages, *moving, fixed]))
    plan = ImportPlan(
        taps={'wrench': {}, 'joint_states': {}}, place=PoseSourceSettings(fixed_frame='map')
    )
    run(robot.memory, bag, plan)
    found: Any
    push, _ = oldest_first(robot)
    assert push.pose is not None
    found = robot.recall(near={'of': 'tool0', 'at': push.measured_at, 'frame': 'map'}, n=1)
    assert found.memories[0].id == push.id
    assert found.memories[0].near.distance < 0.01
    found = robot.recall(near={'of': f'mem_{push.id}', 'frame': 'tool0', 'at': push.measured_at})
    assert found.near['position'] == pytest.approx([0, 0, 0], abs=0.01)
    motions: Any = robot.query_records(where={'perception_type': 'proprioceptive'}).records
    assert motions
    for one in motions:
        where = robot.show(one.memory_id).memory.pose
        assert where is not None
        assert where['position'][2] == pytest.approx(1.2)  # the tool's, not the base's
    with pytest.raises(InvalidArgument, match='the transforms kept nearest to 2020'):
        robot.recall(near={'of': 'tool0', 'at': '2020-01-01T00:00:00Z'})


def in_time(messages: Messages) -> Messages:
    return sorted(messages, key=lambda message: message[2])


def oldest_first(robot: Robot) -> list[Any]:
    found = robot.recall('contact', n=100).memories
    return sorted(found, key=lambda memory: memory.stamp)


def header(at_ns: int, frame: str) -> Any:
    kinds = get_typestore(Stores.LATEST).types
    stamp = kinds['builtin_interfaces/msg/Time'](*divmod(at_ns, 10**9))
    return kinds['std_msgs/msg/Header'](stamp, frame)


def pose(begin: int, seconds: float, at: tuple[float, float, float]) -> Message:
    types = get_typestore(Stores.LATEST)
    kinds, at_ns = types.types, begin + round(seconds * 1e9)
    place = kinds['geometry_msgs/msg/Pose'](
        kinds['geometry_msgs/msg/Point'](*at),
        kinds['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0),
    )
    message = kinds['geometry_msgs/msg/PoseStamped'](header(at_ns, 'map'), place)
    raw = bytes(types.serialize_cdr(message, 'geometry_msgs/msg/PoseStamped'))
    return '/tcp_pose', 'geometry_msgs/msg/PoseStamped', at_ns, raw


def transform(
    begin: int,
    seconds: float,
    parent: str,
    child: str,
    at: tuple[float, float, float],
    topic: str = '/tf',
) -> Message:
    types = get_typestore(Stores.LATEST)
    kinds, at_ns = types.types, begin + round(seconds * 1e9)
    moved = kinds['geometry_msgs/msg/Transform'](
        kinds['geometry_msgs/msg/Vector3'](*at),
        kinds['geometry_msgs/msg/Quaternion'](0.0, 0.0, 0.0, 1.0),
    )
    one = kinds['geometry_msgs/msg/TransformStamped'](header(at_ns, parent), child, moved)
    message = kinds['tf2_msgs/msg/TFMessage']([one])
    raw = bytes(types.serialize_cdr(message, 'tf2_msgs/msg/TFMessage'))
    return topic, 'tf2_msgs/msg/TFMessage', at_ns, raw


def test_every_push_of_a_real_recording_is_one_contact_with_its_peak(robot: Robot) -> None:
    truth = recordings.pushes()
    run(robot.memory, recordings.shared('bags/cmu_push_wood_patch'), PUSHES)
    rows = robot.rows(
        'SELECT e.onset, e."end", p.data FROM events AS e JOIN payloads AS p USING (memory_id)'
        " JOIN memories AS m ON m.id = e.memory_id WHERE m.perception_type = 'tactile'"
        ' ORDER BY e.onset'
    )
    assert len(rows) == len(truth) == 50
    for (onset, end, data), push in zip(rows, truth, strict=True):
        assert onset <= push['end_ns'] and end >= push['start_ns']
        assert json.loads(data)['peak_force'] == pytest.approx(push['peak_N'], rel=0.05)


@pytest.mark.parametrize('name', ['ros2bag_killed_on_contact', 'ros2bag_static_ats_inverror'])
def test_genuine_recordings_without_types_inside_are_read(robot: Robot, name: str) -> None:
    imported, told = run(robot.memory, recordings.shared(f'bags/{name}'))
    assert imported.messages > 0
    assert all(line.startswith('skipping ') for line in told)
    unreadable = [counts.get('unreadable', 0) for counts in imported.taps.values()]
    assert sum(unreadable) == 0
    check_file(robot.memory.db.path)


def test_every_episode_has_a_picture_and_its_instruction_is_found(robot: Robot) -> None:
    bag = recordings.shared('bags/bridge_tasks')
    run(robot.memory, bag)
    typestore: Any = get_typestore(Stores.LATEST)
    tasks = [
        (at, typestore.deserialize_cdr(raw, kind).data)
        for topic, kind, at, raw in messages_of(bag)
        if topic == '/task'
    ]
    assert len(tasks) == 50
    stamps = [
        row[0]
        for row in robot.rows(
            "SELECT stamp FROM memories WHERE perception_type = 'visual' ORDER BY stamp"
        )
    ]
    ends = [at for at, _ in tasks[1:]] + [tasks[-1][0] + 60 * 10**9]
    for (begin, _), end in zip(tasks, ends, strict=True):
        assert any(begin <= stamp < end for stamp in stamps)
    for _, text in tasks:
        if text.strip():
            found = [item.content for item in robot.recall(text, n=3).memories]
            assert any(text.strip() in content for content in found), text


def test_the_edge_cases_of_rosbag2_are_read_or_told(robot: Robot) -> None:
    fixtures = recordings.shared('bags/rosbag2_fixtures')
    bags = sorted(
        {file.parent for ending in ('*.mcap', '*.db3') for file in fixtures.rglob(ending)}
    )
    assert bags
    for bag in bags:
        imported, told = run(robot.memory, bag)
        assert imported.messages or told, bag


def importing(db: Path, *arguments: str | Path) -> subprocess.Popen[str]:
    command = [sys.executable, '-m', 'robot_memory', 'import', *map(str, arguments)]
    return prepared.Popen(
        [*command, '--db', str(db), '--model', 'none'],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, 'PYTHONUNBUFFERED': '1'},
    )


def kept_in(db: Path) -> int:
    """Return how many events a file holds, as another process sees it."""
    try:
        connection = apsw.Connection(str(db), flags=apsw.SQLITE_OPEN_READONLY)
        ((number,),) = connection.execute('SELECT count(*) FROM events')
    except apsw.Error:
        return 0
    return int(number)


@pytest.mark.parametrize('after', [1, 3, 6])
@pytest.mark.parametrize('ending', [signal.SIGKILL, signal.SIGINT], ids=['kill', 'ctrl-c'])
def test_an_import_that_was_broken_off_is_completed_without_doubles(
    open_robot: Callable[..., Robot],
    tmp_path: Path,
    made: Path,
    wanted: list[tuple[Any, ...]],
    after: int,
    ending: signal.Signals,
) -> None:
    db = tmp_path / 'memory.db'
    process = importing(db, made)
    seen: list[int] = []

    def are_enough() -> bool:
        has_ended = process.poll() is not None
        seen.append(kept_in(db))  # none while the process closes the file
        return has_ended or seen[-1] >= after

    until(are_enough, f'{after} events')
    acknowledged = seen[-1]
    process.send_signal(ending)
    process.communicate(timeout=HANG_SECONDS)
    robot = open_robot()
    assert robot.rows('SELECT count(*) FROM events')[0][0] >= acknowledged >= after
    imported, _ = run(robot.memory, made)
    assert imported.kept + imported.known == 8
    assert events_of(robot.memory) == wanted
    check_file(db)


def test_the_command_imports_by_the_nodes_parameters_and_says_what_came_of_it(
    tmp_path: Path, made: Path
) -> None:
    params = tmp_path / 'params.yaml'
    params.write_text(
        '/**:\n  ros__parameters:\n    taps: [wrench, arm]\n    wrench: {onset_n: 12.0}\n'
        '    arm:\n      topic: /joint_states\n      type: sensor_msgs/JointState\n'
        '      collection: moves\n'
    )
    process = importing(tmp_path / 'memory.db', made, '--params', params, '--json')
    out, err = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 0, err
    (imported,) = json.loads(out)
    assert imported['kept'] == 4
    assert imported['taps']['arm (/joint_states)']['events'] == 3
    assert imported['taps']['wrench (/wrench)']['events'] == 1
    assert 'skipping /camera/image_raw (sensor_msgs/msg/Image): no tap subscribes to it' in err


def test_a_recording_that_is_not_there_fails_and_the_others_are_read(
    tmp_path: Path, made: Path
) -> None:
    db = tmp_path / 'memory.db'
    process = importing(db, tmp_path / 'none', made)
    out, err = process.communicate(timeout=HANG_SECONDS)
    assert process.returncode == 1
    assert 'no recording at' in err and '8 memories stored' in out
    assert kept_in(db) == 8


def test_a_source_keeps_two_robots_apart(robot: Robot, made: Path) -> None:
    run(robot.memory, made, replace(PUSHES, source='left'))
    imported, _ = run(robot.memory, made, replace(PUSHES, source='right'))
    assert imported.kept == 2 and imported.known == 0


def test_mcap_and_sqlite3_know_each_other(
    robot: Robot, tmp_path: Path, made: Path, messages: Messages
) -> None:
    run(robot.memory, made)
    other = recordings.write2(tmp_path / 'other', messages, StoragePlugin.SQLITE3)
    imported, _ = run(robot.memory, other)
    assert (imported.kept, imported.known) == (0, 8)


def command(db: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, '-m', 'robot_memory', *arguments, '--db', str(db), '--model', 'none']
    return prepared.run(line, capture_output=True, text=True)


def test_what_was_sensed_is_shown_and_drawn(robot: Robot, tmp_path: Path, made: Path) -> None:
    run(robot.memory, made)
    robot.learn('the red cup')
    db = robot.memory.db.path
    ((push,),) = robot.rows(
        "SELECT id FROM memories WHERE perception_type = 'tactile' ORDER BY stamp LIMIT 1"
    )
    shown = command(db, 'show', str(push))
    assert shown.returncode == 0 and 'peak_force' in shown.stdout
    assert 'signal' in shown.stdout and 'application/x-npz' in shown.stdout
    whole = json.loads(command(db, 'show', str(push), '--json').stdout)
    signal_ = Signal.from_npz(base64.b64decode(whole['parts'][0]['content']))
    assert len(signal_.stamps_ns) == len(signal_.values) > 100
    for arguments, drawn in (
        ([str(push)], 1),
        (['--since', '2026-01-01T00:00Z', '--until', '2026-01-02'], 8),
        (['--since', '2026-01-01T00:00:10Z'], 4),
    ):
        output = tmp_path / f'{drawn}.png'
        plotted = command(db, 'plot', *arguments, '--output', str(output), '--json')
        assert plotted.returncode == 0, plotted.stderr
        assert len(json.loads(plotted.stdout)['memories']) == drawn
        with Image.open(output) as picture:
            assert picture.format == 'PNG' and picture.width == 1200


@pytest.mark.parametrize(
    ('arguments', 'said'),
    [
        ([], 'plot requires a perception id, --since or --until, or --skill; none is given'),
        (['1', '--since', '2026-01-01'], 'or --skill; not several of these'),
        (['1'], 'memory 1 is not a perception'),
        (['77'], 'memory 77 does not exist'),
        (['--since', 'tea time'], 'since must be a time'),
        (['--since', '2031-01-01'], 'no events in that time range'),
        (['--since', 'today', '--until', 'yesterday'], 'until must be after since'),
        (['--since', 'today', '--where', '{"colour": 1}'], 'have no field or figure'),
    ],
)
def test_what_cannot_be_drawn_is_told(robot: Robot, arguments: list[str], said: str) -> None:
    robot.learn('the red cup')
    refused = command(robot.memory.db.path, 'plot', *arguments)
    assert refused.returncode == 1 and said in refused.stderr
    assert refused.stderr.count('\n') == 1


def test_motions_and_contacts_of_a_recording_can_be_asked_by_their_figures(
    robot: Robot, made: Path
) -> None:
    run(robot.memory, made)
    hardest = robot.query_events(order_by='peak_force', descending=True, limit=1).events[0]
    assert (hardest.kind, hardest.topic) == ('contact', '/wrench')
    units = {one.name: one.unit for one in hardest.figures}
    assert [units[name] for name in ('peak_force', 'mean_force', 'impulse')] == ['N', 'N', 'N s']
    farthest = robot.query_events(order_by='travel', descending=True, limit=1).events[0]
    shown: Any = robot.show(farthest.event_id).data
    figures = {one.name: one.value for one in farthest.figures}
    assert figures['travel'] == pytest.approx(sum(shown['travel']), abs=1e-3)
    assert figures['peak_speed'] == shown['peak_speed']
    assert farthest.duration == pytest.approx(shown['duration_s'], abs=1e-4)
