"""A tap of an action records what came of its goals, live and from what was recorded of it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import prepared
import pytest
import yaml
from diagnostic_msgs.msg import DiagnosticArray
from rclpy.action.client import ActionClient
from rclpy.action.server import ActionServer
from rclpy.qos import qos_profile_system_default
from rclpy.service_introspection import ServiceIntrospectionState
from rosbags.rosbag2 import StoragePlugin, Writer
from std_msgs.msg import Float64
from strikes import KIND, SETTINGS

from robot_memory.api import RobotMemory
from robot_memory.core.errors import Unavailable
from robot_memory.ros.message_types import import_type

SUCCEEDED, ABORTED = 4, 6
TAP = {name: value for name, value in SETTINGS.items() if name != 'definitions'}
OTHERWISE = {
    **TAP,
    'situation': 'brass disc on the oiled tray',
    'numbers': [],
    'params': ['speed: goal.speed m/s', 'speed: feedback.speed m/s'],
    'results': ['slide: topic.data m'],
    'result_topic': '/slide',
    'result_type': 'std_msgs/msg/Float64',
}


@dataclass
class Striker:
    """Serve the action in the tester's node: what it does is what the goal asks of it."""

    robot: Any
    kind: Any
    introspected: bool
    goals: list[Any] = field(default_factory=list)

    def __post_init__(self) -> None:
        node = self.robot.node
        self.server = ActionServer(
            node,
            self.kind,
            'strike',
            self.strike,
        )
        if self.introspected:
            self.server.configure_introspection(
                node.get_clock(), qos_profile_system_default, ServiceIntrospectionState.CONTENTS
            )
        self.slides = node.create_publisher(Float64, '/slide', 10)
        self.client: Any = ActionClient(node, self.kind, 'strike')
        self.robot.until(self.client.server_is_ready, 'the server of the action')

    def strike(self, goal: Any) -> Any:
        self.goals.append(goal.request)
        slide = goal.request.speed**2 / 4
        told = self.kind.Feedback(speed=goal.request.speed)
        goal.publish_feedback(told)
        self.slides.publish(Float64(data=slide))
        if slide > 1:
            goal.abort()
        else:
            goal.succeed()
        return self.kind.Result(slide=slide)

    def ask(self, speed: float) -> int:
        """Send a goal and wait for its result; return how it ended."""
        goal = self.kind.Goal(object='brass disc', surface='the oiled tray', speed=speed)
        goal.distance, goal.tool.name = 0.4, 'soft'
        accepted = self.robot.answer(self.client.send_goal_async(goal))
        status: int = self.robot.answer(accepted.get_result_async()).status
        return status

    def practise(self, is_over: Callable[[], Any], what: str) -> Any:
        """
        Strike with speed 0 until a condition holds, and return its value.

        Nobody says when all of the server's publishers have found who listens; what is heard does.
        """
        asked: list[Any] = []
        ended: list[Any] = []

        def ask() -> None:
            asked.append(self.client.send_goal_async(self.kind.Goal(object='air')))
            asked[-1].add_done_callback(lambda one: ended.append(one.result().get_result_async()))

        timer = self.robot.node.create_timer(0.1, ask)
        value = self.robot.until(is_over, what)
        self.robot.node.destroy_timer(timer)
        self.robot.until(
            lambda: len(ended) == len(asked) and all(one.done() for one in ended),
            'the end of the practice',
        )
        return value

    def wait_for_tap(self, topics: int) -> None:
        """Practise until the tap has heard something on each of its topics."""
        statuses = listen(self.robot)

        def has_heard_all() -> bool:
            heard = {
                one.name
                for one in statuses
                if one.name.startswith('robot_memory: strike ')
                and any(value.key == 'received' for value in one.values)
            }
            return len(heard) == topics

        self.practise(has_heard_all, f'{topics} topics that are heard')
        statuses.clear()
        self.robot.until(lambda: any(map(is_decided, statuses)), 'the last of the practice')

    def close(self) -> None:
        self.client.destroy()
        self.server.destroy()


@pytest.fixture
def serve(robot: Any, strike_type: Any) -> Iterator[Callable[..., Striker]]:
    made: list[Striker] = []

    def begin(introspected: bool) -> Striker:
        made.append(Striker(robot, strike_type, introspected))
        return made[-1]

    yield begin
    for one in made:
        one.close()


def listen(robot: Any) -> list[Any]:
    """Return a list that grows by what comes on /diagnostics."""
    heard: list[Any] = []
    robot.node.create_subscription(
        DiagnosticArray, '/diagnostics', lambda message: heard.extend(message.status), 10
    )
    return heard


def is_decided(status: Any) -> bool:
    """Say whether no goal waits for a measurement, which could be of the next one then."""
    counts = {one.key: int(one.value) for one in status.values if one.value.isdecimal()}
    decided = sum(counts.get(name, 0) for name in ('events', 'no goal', 'unusable value'))
    return status.name == 'robot_memory: strike (/strike)' and counts.get('received') == decided


def write_params(folder: Path, tap: dict[str, Any]) -> Path:
    path = folder / 'params.yaml'
    settings = {name: value for name, value in tap.items() if value != []}
    parameters = {'taps': ['strike'], 'strike': settings}
    path.write_text(yaml.safe_dump({'/**': {'ros__parameters': parameters}}))
    return path


def trials(robot: Any, count: int) -> list[str]:
    """Wait until so many trials are stored; return their texts, the oldest first."""

    def stored() -> Any:
        reply = robot.call('query_records', where='{"sense.detector": "trial"}', limit=1000)
        found = [one.record_content for one in reply.records]
        return select(found) if len(select(found)) >= count else None

    found: list[str] = robot.poll(stored, f'{count} trials')
    assert len(found) == count
    return found


def select(contents: list[str]) -> list[str]:
    """Return those that are no practice, the oldest first."""
    return [one for one in contents if 'speed 0 m/s' not in one][::-1]


def test_goals_are_recorded_from_introspection_and_none_is_touched(
    start: Callable[..., Any], robot: Any, serve: Callable[..., Striker], tmp_path: Path
) -> None:
    striker = serve(introspected=True)
    node = start('--params-file', write_params(tmp_path, TAP))
    striker.wait_for_tap(topics=3)
    heard = record(robot)
    assert [striker.ask(speed) for speed in (1.2, 3.0, 1.4)] == [
        SUCCEEDED,
        ABORTED,
        SUCCEEDED,
    ]
    before = 'strike: brass disc on the oiled tray; distance 0.4 m; '
    wanted = [
        f'{before}speed 1.2 m/s; tool soft; slide 0.36 m; succeeded',
        f'{before}speed 3 m/s; tool soft; slide 2.25 m; failed',
        f'{before}speed 1.4 m/s; tool soft; slide 0.49 m; succeeded',
    ]
    assert trials(robot, 3) == wanted
    assert [goal.speed for goal in striker.goals if goal.speed] == [1.2, 3.0, 1.4]
    robot.until_known()
    called = robot.node.get_client_names_and_types_by_node('robot_memory', '/')
    published = robot.node.get_publisher_names_and_types_by_node('robot_memory', '/')
    assert not [name for name, _ in (*called, *published) if name.startswith('/strike')]
    assert node.stop() == 0
    import_what_was_heard(tmp_path, heard, wanted)


def record(robot: Any) -> list[tuple[str, str, int, bytes]]:
    """Return a list that grows by all that is published on the hidden topics."""
    heard: list[tuple[str, str, int, bytes]] = []
    for topic, kind in (
        ('status', 'action_msgs/msg/GoalStatusArray'),
        ('send_goal/_service_event', f'{KIND}_SendGoal_Event'),
        ('get_result/_service_event', f'{KIND}_GetResult_Event'),
    ):
        name = f'/strike/_action/{topic}'

        def note(raw: bytes, name: str = name, kind: str = kind) -> None:
            heard.append((name, kind, robot.node.get_clock().now().nanoseconds, raw))

        robot.node.create_subscription(import_type(kind), name, note, 100, raw=True)
    return heard


def import_what_was_heard(
    folder: Path, heard: list[tuple[str, str, int, bytes]], wanted: list[str]
) -> None:
    """Assert that a recording of the topics comes to the same trials."""
    bag, connections = folder / 'bag', {}
    with Writer(bag, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        for topic, kind, at, raw in heard:
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, msgdef=' ', rihs01=' ')
            writer.write(connections[topic], at, raw)
    command = [sys.executable, '-m', 'robot_memory', 'import', bag]
    store = folder / 'imported.db'
    command += ['--params', folder / 'params.yaml', '--db', store]
    ran = prepared.run(command, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    with RobotMemory(db_path=str(store), model='none') as memory:
        found = memory.query_records(limit=1000).records
    assert select([one.record_content for one in found]) == wanted


def test_where_introspection_is_off_feedback_and_a_result_topic_tell_as_much(
    start: Callable[..., Any], robot: Any, serve: Callable[..., Striker], tmp_path: Path
) -> None:
    striker = serve(introspected=False)
    node = start('--params-file', write_params(tmp_path, OTHERWISE))
    striker.wait_for_tap(topics=3)
    striker.ask(1.2)
    wanted = 'strike: brass disc on the oiled tray; speed 1.2 m/s; slide 0.36 m; succeeded'
    assert trials(robot, 1) == [wanted]
    striker.ask(3.0)
    assert trials(robot, 2)[1].endswith('speed 3 m/s; slide 2.25 m; failed')
    assert node.stop() == 0


def test_where_goals_cannot_be_seen_diagnostics_say_so_and_what_to_do(
    start: Callable[..., Any], robot: Any, serve: Callable[..., Striker], tmp_path: Path
) -> None:
    striker = serve(introspected=False)
    tap = {**TAP, 'wait_s': 0.1}
    node = start('--params-file', write_params(tmp_path, tap))
    heard = listen(robot)
    (status, *_) = striker.practise(
        lambda: [one for one in heard if 'configure_introspection' in one.message],
        'a warning on /diagnostics',
    )
    assert status.name == 'robot_memory: strike (/strike)'
    assert 'no goal' in status.message
    robot.until(
        lambda: [one for one in heard if 'no publisher on /strike/_action/send' in one.message],
        'what is missing',
    )
    assert node.stop() == 0


def test_a_goal_that_ended_before_a_restart_is_not_recorded_again(
    start: Callable[..., Any], robot: Any, serve: Callable[..., Striker], tmp_path: Path
) -> None:
    striker = serve(introspected=False)
    params = write_params(tmp_path, OTHERWISE)
    node = start('--params-file', params)
    striker.wait_for_tap(topics=3)
    striker.ask(1.2)
    assert len(trials(robot, 1)) == 1
    assert node.stop() == 0
    robot.until_gone('query_records')
    start('--params-file', params, db_path=node.db)
    striker.wait_for_tap(topics=3)
    striker.ask(1.4)
    first, second = trials(robot, 2)
    assert 'speed 1.2 m/s; slide 0.36 m' in first and 'speed 1.4 m/s; slide 0.49 m' in second


@pytest.mark.usefixtures('strike_type')
def test_a_type_that_this_ros_does_not_have_is_named() -> None:
    assert import_type(f'{KIND}_SendGoal_Event').__name__ == 'Strike_SendGoal_Event'
    for kind in (f'{KIND}_Cancel_Event', 'no_such_package/action/Push_SendGoal_Event'):
        with pytest.raises(Unavailable, match=kind):
            import_type(kind)
