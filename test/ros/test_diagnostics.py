"""The memory's status and that of each tap on /diagnostics, and in the log."""

from __future__ import annotations

import contextlib
import itertools
import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from diagnostic_msgs.msg import DiagnosticArray, DiagnosticStatus
from geometry_msgs.msg import PoseStamped, Wrench, WrenchStamped
from old_stores import fixture
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from robots import make_store
from rosgraph_msgs.msg import Clock
from std_msgs.msg import String

from robot_memory.core.errors import Unavailable
from robot_memory.status.node_state import ask_node
from robot_memory.storage import checksums

MOUNT = ['unshare', '--user', '--map-root-user', '--mount', '--', 'sh', '-ec']
SMALL_DISK = """
mount -t tmpfs -o size=4m tmpfs "$0"
cp "$1" "$0/memory.db"
shift
exec "$@"
"""
"""Executes a command with a disk of 4 MB at a folder, and with a store on it."""
FULL_DISK = SMALL_DISK.replace('4m', '16m').replace(
    'shift', 'cat /dev/zero > "$0/filler" 2> /dev/null || true\nshift'
)
"""Executes a command with a store on a disk of 16 MB that a file fills."""


def diagnosed(robot: Any, wanted: Any) -> Any:
    """Return the memory's status on /diagnostics once it fits."""
    heard: list[Any] = []
    subscription = robot.node.create_subscription(
        DiagnosticArray,
        '/diagnostics',
        lambda message: heard.extend(
            (status, {item.key: item.value for item in status.values})
            for status in message.status
            if status.name == 'robot_memory: memory'
        ),
        10,
    )
    found = robot.until(lambda: [each for each in heard if wanted(*each)], 'a status that fits')
    robot.node.destroy_subscription(subscription)
    return found[0]


def test_calls_and_errors_are_on_diagnostics(start: Callable[..., Any], robot: Any) -> None:
    start(taps='[""]')
    robot.call('learn', insight='the red cup is on the shelf')
    robot.call('recall', query='cup')
    assert not robot.call('forget', memory_id=99, reason='none').success
    status, values = diagnosed(robot, lambda _, values: values['calls'] == '3')
    assert status.level == DiagnosticStatus.OK
    assert values['errors'] == values['errors not_found'] == '1'
    assert float(values['p99 ms']) >= float(values['p50 ms']) > 0
    assert (values['model'], values['model breaker']) == ('off', 'closed')


def test_store_queue_and_disk_are_on_diagnostics_under_the_name_of_the_namespace(
    start: Callable[..., Any], robot: Any
) -> None:
    start('-r', '__ns:=/cell_1', taps='["wrench"]')
    heard: dict[str, Any] = {}
    robot.node.create_subscription(
        DiagnosticArray,
        '/diagnostics',
        lambda message: heard.update({one.name: one for one in message.status}),
        10,
    )
    names = {'cell_1/robot_memory: memory', 'cell_1/robot_memory: wrench (/wrench)'}
    robot.until(lambda: names <= set(heard), 'both statuses')
    values = {one.key: one.value for one in heard['cell_1/robot_memory: memory'].values}
    assert float(values['store MB']) > 0 and int(values['disk free MB']) > 0
    assert (values['events waiting'], values['oldest waiting s']) == ('0', '0.0')
    wrench = heard['cell_1/robot_memory: wrench (/wrench)'].values
    assert 'received Hz' in {one.key for one in wrench}


def test_the_operators_figures_are_a_service(start: Callable[..., Any], robot: Any) -> None:
    start(taps='[""]')
    for number in range(3):
        robot.call('learn', insight=f'the cup {number} is red')
    found = robot.call('get_memory_stats')
    assert found.success
    assert (found.total, found.today, found.this_week, found.sessions) == (3, 3, 3, 0)
    assert found.size == f'{found.size_mb:.1f} MB'


def test_the_log_of_the_node_is_json_where_that_is_asked_for(
    start: Callable[..., Any], robot: Any
) -> None:
    node = start(log_format='json', taps='[""]')
    robot.call('learn', insight='the red cup', context='{"actor_id": "operator:anna"}')

    def logged() -> list[Any]:
        lines = [line[line.index('{"') :] for line in node.said().splitlines() if '{"' in line]
        return [found for found in map(json.loads, lines) if found['message'] == 'learn answered']

    (line,) = robot.until(logged, 'the line of the call')
    assert line['service'] == 'robot_memory'
    assert line['user_id'] == 'operator:anna'
    assert line['duration_ms'] > 0


def test_a_node_on_a_full_disk_writes_again_once_there_is_room(
    start: Callable[..., Any], robot: Any, tmp_path: Path
) -> None:
    make_store(tmp_path, lambda one: one.learn('the red cup is on the shelf'))
    disk = tmp_path / 'disk'
    disk.mkdir()
    if subprocess.run([*MOUNT, 'mount -t tmpfs tmpfs "$0"', disk], capture_output=True).returncode:
        pytest.skip('this system lets no process mount a disk of its own')
    path = disk / 'memory.db'
    wrapper = [*MOUNT, FULL_DISK, str(disk), str(tmp_path / 'memory.db')]
    node = start(wrapper=wrapper, db_path=path, taps='[""]')
    assert robot.call('recall', query='red cup', n=1).memories[0].id == 1
    refused = robot.call('learn', insight='the lamp is green')
    assert refused.error_code == 'unavailable' and 'its disk is full' in refused.message
    diagnosed(robot, lambda status, _: 'its disk is full' in status.message)
    Path(f'/proc/{node.process.pid}/root{disk}/filler').unlink()
    robot.poll(
        lambda: robot.call('learn', insight='the lamp is green').success, 'a store to write to'
    )
    assert node.said().count('is opened anew for writing') == 1
    assert node.stop() == 0


def test_a_store_that_the_disk_has_no_room_to_upgrade_is_served_read_only_with_a_warning(
    start: Callable[..., Any], robot: Any, tmp_path: Path
) -> None:
    older, disk = fixture(5, tmp_path), tmp_path / 'disk'
    with contextlib.closing(checksums.connect(older)) as connection:
        connection.pragma('journal_mode', 'wal')  # as in every store that was in use
    disk.mkdir()
    if subprocess.run([*MOUNT, 'mount -t tmpfs tmpfs "$0"', disk], capture_output=True).returncode:
        pytest.skip('this system lets no process mount a disk of its own')
    path = disk / 'memory.db'
    node = start(wrapper=[*MOUNT, SMALL_DISK, str(disk), str(older)], db_path=path, taps='[""]')
    found = robot.call('recall', query='red cup', n=5)
    assert found.success
    assert 'Grip force of 12.5 N holds the red cup' in [each.content for each in found.memories]
    command = f'`robot-memory upgrade --db {path}`'
    for service, request in (
        ('learn', {'insight': 'the lamp is green'}),
        ('forget', {'memory_id': 1, 'reason': 'wrong'}),
        ('start_session', {}),
    ):
        refused = robot.call(service, **request)
        assert (refused.success, refused.error_code) == (False, 'unavailable')
        assert 'read-only' in refused.message and command in refused.message
    # What a call refused counts as an error first; the reason stands once no error is new.
    status, values = diagnosed(robot, lambda status, _: 'read-only' in status.message)
    assert status.level == DiagnosticStatus.WARN
    assert command in status.message
    assert values['errors'] == values['errors unavailable'] == '3'
    seen = Path(f'/proc/{node.process.pid}/root{disk}')
    assert (seen / 'memory.db').read_bytes() == older.read_bytes()
    assert not (seen / 'memory.db.before-upgrade').exists()
    assert node.stop() == 0
    assert node.said().count('served read-only') == 1
    assert 'retried' not in node.said() and 'are lost' not in node.said()


OK, WARN = DiagnosticStatus.OK, DiagnosticStatus.WARN
RELIABLE = 'qos_overrides./wrench.subscription.reliability'


@pytest.fixture
def status(robot: Any) -> Callable[..., Any]:
    """Return the latest status of a tap: level, words and counts."""
    latest = {}
    robot.node.create_subscription(
        DiagnosticArray,
        '/diagnostics',
        lambda message: latest.update({one.name: one for one in message.status}),
        10,
    )

    def of(title: Any) -> tuple[Any, ...] | None:
        one = latest.get(f'robot_memory: {title}')
        if one is None:
            return None
        return one.level, one.message, {item.key: int(item.value) for item in one.values}

    return of


@pytest.fixture
def until(robot: Any, status: Callable[..., Any]) -> Callable[..., Any]:
    """Wait until a tap has a level, and words in its message; return its status."""

    def wait(title: Any, level: Any, words: str = '') -> Any:
        def told() -> Any:
            found = status(title)
            return found if found and found[0] == level and words in found[1] else None

        return robot.until(
            told, lambda: f'{title} to be {level!r}: {words}; it is {status(title)}'
        )

    return wait


@pytest.fixture
def stream(robot: Any) -> Iterator[Any]:
    """Publish messages made anew each time, over and over, until told to stop."""
    started = []

    def begin(publisher: Any, make: Any, period: float = 0.01) -> Any:
        started.append(robot.node.create_timer(period, lambda: publisher.publish(make())))
        return started[-1]

    yield begin
    for timer in started:
        robot.node.destroy_timer(timer)


def push(rate: int = 100) -> Iterator[Any]:
    """Yield forces as a push makes them, over and over, without any stamp."""
    for i in itertools.count():
        message = WrenchStamped()
        message.header.frame_id = 'tool0'
        message.wrench.force.z = -10.0 if rate * 6 // 10 <= i % (3 * rate) < rate else 0.0
        yield message


def perceived(robot: Any, collection: str = 'default') -> list[Any]:
    where = json.dumps({'kind': 'perception', 'collection': collection})
    found = robot.call('query_records', where=where, limit=100)
    return [record.memory_id for record in found.records]


def test_a_zero_stamp_is_replaced_by_the_arrival_and_marked(
    start: Callable[..., Any], robot: Any, status: Callable[..., Any], stream: Callable[..., Any]
) -> None:
    start(taps='[wrench]')
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', 500)
    robot.until(publisher.get_subscription_count, 'a match')
    before = robot.node.get_clock().now().nanoseconds // 10**9
    messages = push()
    stream(publisher, lambda: next(messages))
    (first, *_) = robot.poll(lambda: perceived(robot), 'a contact')
    shown = robot.call('show', memory_id=first)
    assert shown.memory.stamp.sec >= before
    assert json.loads(shown.metadata)['stamped_by'] == 'arrival'
    marked = json.dumps({'sense.stamped_by': 'arrival'})
    assert robot.call('query_records', where=marked).total_count >= 1
    level, _, counts = robot.until(lambda: status('wrench (/wrench)'), 'a status')
    assert level == OK
    assert counts['zero stamp replaced'] == counts['received'] > 0


def test_under_simulated_time_a_tap_whose_messages_have_no_stamp_warns_with_the_cure(
    start: Callable[..., Any], robot: Any, until: Callable[..., Any], stream: Callable[..., Any]
) -> None:
    node = start(taps='[wrench]', use_sim_time='true')
    ticks = itertools.count(1)
    clock = robot.node.create_publisher(Clock, '/clock', 10)

    def tick() -> Any:
        message = Clock()
        message.clock.sec, tenths = divmod(next(ticks), 10)
        message.clock.nanosec = tenths * 10**8
        return message

    stream(clock, tick, 0.02)
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', 500)
    messages = push()
    stream(publisher, lambda: next(messages))
    _, words, counts = until('wrench (/wrench)', WARN, 'all messages are dropped (no stamp)')
    assert 'configure the publisher to stamp each message' in words and 'use_sim_time' in words
    assert counts['no stamp'] > 0 and 'zero stamp replaced' not in counts
    seen = counts['received']
    robot.until(lambda: until('wrench (/wrench)', WARN)[2]['received'] > seen, 'more messages')
    assert node.said().count('all messages are dropped') == 1


def test_a_tap_that_recovers_is_ok_and_warns_in_the_log_again(
    start: Callable[..., Any], robot: Any, until: Callable[..., Any], stream: Callable[..., Any]
) -> None:
    node = start(taps='[wrench]')
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', 500)
    seconds = itertools.count(1_700_000_000)

    def fresh() -> Any:
        message = WrenchStamped()
        message.header.stamp.sec = next(seconds)
        return message

    def stale() -> Any:
        message = WrenchStamped()
        message.header.stamp.sec = 1_700_000_000
        message.header.stamp.nanosec = 5
        return message

    publisher.publish(fresh())
    for times in (1, 2):
        good = stream(publisher, fresh)
        until('wrench (/wrench)', OK, 'received')
        robot.node.destroy_timer(good)
        publisher.publish(stale())  # the clock goes back, and then stands
        bad = stream(publisher, stale)
        until('wrench (/wrench)', WARN, 'all messages are dropped (late or repeated stamp)')
        robot.node.destroy_timer(bad)
        robot.until(
            lambda times=times: node.said().count('(late or repeated stamp)') == times, 'the log'
        )


def test_a_tap_whose_qos_does_not_match_warns_with_the_reason_and_the_cure(
    start: Callable[..., Any], robot: Any, until: Callable[..., Any]
) -> None:
    node = start(taps='[wrench]', **{RELIABLE: 'reliable'})
    until('wrench (/wrench)', OK, 'no publisher on /wrench yet')
    unreliable = QoSProfile(depth=10, reliability=ReliabilityPolicy.BEST_EFFORT)
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', unreliable)
    _, words, _ = until('wrench (/wrench)', WARN, 'incompatible QoS')
    assert '/tester' in words
    assert f'remove {RELIABLE} (reliable, offered is best_effort)' in words
    robot.node.destroy_publisher(publisher)
    robot.node.create_publisher(WrenchStamped, '/wrench', 10)
    until('wrench (/wrench)', OK, 'no messages yet')
    assert node.said().count('incompatible QoS') == 1


def test_a_durability_that_is_not_offered_warns(
    start: Callable[..., Any], robot: Any, until: Callable[..., Any]
) -> None:
    name = 'qos_overrides./wrench.subscription.durability'
    start(taps='[wrench]', **{name: 'transient_local'})
    robot.node.create_publisher(
        WrenchStamped, '/wrench', QoSProfile(depth=10, durability=DurabilityPolicy.VOLATILE)
    )
    until('wrench (/wrench)', WARN, f'remove {name} (transient_local, offered is volatile)')


def test_a_publisher_of_another_type_warns(
    start: Callable[..., Any], robot: Any, until: Callable[..., Any]
) -> None:
    start(taps='[wrench]')
    robot.node.create_publisher(Wrench, '/wrench', 10)
    _, words, _ = until('wrench (/wrench)', WARN, 'publishes geometry_msgs/msg/Wrench')
    assert 'the tap subscribes to geometry_msgs/msg/WrenchStamped' in words


def test_a_tap_whose_publisher_is_gone_warns_until_there_is_one_again(
    start: Callable[..., Any], robot: Any, until: Callable[..., Any]
) -> None:
    node = start(taps='[wrench]')
    for times in (1, 2):
        publisher = robot.node.create_publisher(WrenchStamped, '/wrench', 10)
        until('wrench (/wrench)', OK, 'no messages yet')
        robot.node.destroy_publisher(publisher)
        _, words, _ = until('wrench (/wrench)', WARN, 'the publisher disappeared')
        assert 'restart what publishes /wrench' in words
        robot.until(
            lambda times=times: node.said().count('the publisher disappeared') == times, 'the log'
        )


def test_an_instruction_need_not_keep_its_publisher(
    start: Callable[..., Any], robot: Any, until: Callable[..., Any]
) -> None:
    node = start(taps='[task]', **{'task.topic': '/task', 'task.type': 'std_msgs/msg/String'})
    until('task (/task)', WARN, 'no publisher on /task yet')
    publisher = robot.node.create_publisher(String, '/task', 10)
    robot.until(publisher.get_subscription_count, 'a match')
    publisher.publish(String(data='wipe the table'))
    until('task (/task)', OK, 'learned 1')
    robot.node.destroy_publisher(publisher)
    where = json.dumps({'kind': 'fact'})
    robot.until(lambda: robot.node.count_publishers('/task') == 0, 'the publisher to be gone')
    assert robot.call('query_records', where=where).total_count == 1
    until('task (/task)', OK, 'learned 1')
    assert 'publisher disappeared' not in node.said()


def test_no_publisher_is_ok_on_a_default_topic_and_a_warning_on_one_that_was_named(
    start: Callable[..., Any], until: Callable[..., Any]
) -> None:
    node = start(
        taps='[wrench, left]',
        pose_topic='/tcp_pose',
        **{'left.topic': '/lft/wrench', 'left.type': 'geometry_msgs/msg/WrenchStamped'},
    )
    until('wrench (/wrench)', OK, 'no publisher on /wrench yet')
    until('left (/lft/wrench)', WARN, 'no publisher on /lft/wrench yet')
    until('/tcp_pose', WARN, 'no publisher on /tcp_pose yet')
    assert 'no publisher' not in node.said()


def test_a_pose_without_a_stamp_is_that_of_its_arrival(
    start: Callable[..., Any], robot: Any, until: Callable[..., Any], stream: Callable[..., Any]
) -> None:
    start(taps='[wrench]', pose_topic='/tcp_pose')
    poses = robot.node.create_publisher(PoseStamped, '/tcp_pose', 500)
    wrenches = robot.node.create_publisher(WrenchStamped, '/wrench', 500)
    pose = PoseStamped()
    pose.header.frame_id, pose.pose.position.x, pose.pose.orientation.w = 'map', 2.0, 1.0
    stream(poses, lambda: pose)
    messages = push()
    stream(wrenches, lambda: next(messages))
    (first, *_) = robot.poll(lambda: perceived(robot), 'a contact')
    found = json.loads(robot.call('show', memory_id=first).memory.pose)
    assert found['frame_id'] == 'map' and found['position'] == [2.0, 0.0, 0.0]
    _, _, counts = until('/tcp_pose', OK, 'zero stamp replaced')
    assert counts['received'] == counts['zero stamp replaced']


ZONE = """
regions: {kitchen: {frame: map, box: [[0, 0], [4, 3]]}}
no_record: {zones: [kitchen]}
"""


def test_in_a_no_record_zone_nothing_is_kept_and_that_is_counted(
    start: Callable[..., Any],
    robot: Any,
    until: Callable[..., Any],
    stream: Callable[..., Any],
    tmp_path: Path,
) -> None:
    rules = tmp_path / 'places.yaml'
    rules.write_text(ZONE, encoding='utf-8')
    said, pose = String(data='wipe the quixotic table'), PoseStamped()
    pose.header.frame_id, pose.pose.position.x, pose.pose.orientation.w = 'map', 2.0, 1.0
    node = start(
        taps='[wrench, task]',
        pose_topic='/tcp_pose',
        regions_file=rules,
        **{'task.topic': '/task', 'task.type': 'std_msgs/msg/String'},
    )
    forces = push()
    stream(robot.node.create_publisher(WrenchStamped, '/wrench', 500), lambda: next(forces))
    texts: list[String] = []

    def say() -> String:
        texts.append(said)
        return said

    stream(robot.node.create_publisher(String, '/task', 500), say)
    until('wrench (/wrench)', WARN, 'there are no-record zones, and no pose comes')
    refused = robot.call('learn', insight='the quixotic door jams')
    assert (refused.success, refused.error_code) == (False, 'conflict')
    assert 'the place of the sensor in its frame is unknown' in refused.message
    stream(robot.node.create_publisher(PoseStamped, '/tcp_pose', 500), lambda: pose)
    until('task (/task)', OK, 'no-record zone ')
    until('wrench (/wrench)', OK, 'no-record zone ')

    def learn() -> str:
        return str(robot.call('learn', insight='the quixotic door jams').message)

    words = 'learn keeps nothing now: the sensor is in the no-record zone kitchen'
    robot.until(lambda: learn() == words, words)
    diagnosed(robot, lambda _, values: int(values['withheld']) > 100)
    assert robot.call('query_records').total_count == 0
    said, before = String(data='dust the lamp'), len(texts)
    robot.until(lambda: texts[before + 20 :], 'the last word of before to lie in the zone')
    pose.pose.position.x = 4.5
    robot.poll(
        lambda: robot.call('learn', insight='the door opens').success, 'the robot to be out'
    )
    robot.poll(lambda: perceived(robot), 'a contact')
    robot.poll(lambda: robot.call('query_records').total_count >= 3, 'the instruction')
    assert robot.call('query_records', where='{"content": "dust the lamp"}').total_count == 1
    node.stop()
    files = node.db.parent.glob('memory.db*')
    assert not any(b'quixotic' in file.read_bytes() for file in files)


def test_taps_are_told_to_processes_without_ros(
    start: Callable[..., Any], robot: Any, stream: Any
) -> None:
    node = start(taps='["wrench"]')
    publisher = robot.node.create_publisher(WrenchStamped, '/wrench', 10)
    stream(publisher, WrenchStamped)

    def ask() -> Any:
        try:
            (tap,) = ask_node(node.db).taps
        except (Unavailable, ValueError):
            return None
        return tap if tap.rate and tap.counts.get('zero stamp replaced') else None

    tap = robot.until(ask, 'the tap to be told of')
    assert (tap.title, tap.topic) == ('wrench (/wrench)', '/wrench')
    assert tap.counts['received'] >= tap.counts['zero stamp replaced']
    node.stop(signal.SIGKILL)
    with pytest.raises(Unavailable, match='no node is running on this store'):
        ask_node(node.db)
