"""The goals of an action become trials of a skill, each once, and never in part."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import recordings
from robots import Robot
from rosbags.rosbag2 import StoragePlugin, Writer
from strikes import DEFINITIONS, KIND, SETTINGS, Server

from robot_memory.core.errors import InvalidArgument
from robot_memory.ingest.bag_import import ImportPlan, ImportReport
from robot_memory.ingest.outcomes import OutcomeRunner
from robot_memory.ingest.stamps import LOGGED
from robot_memory.ingest.tap import make_tap

SUCCEEDED, CANCELED, ABORTED = 4, 5, 6
WITHOUT_INTROSPECTION = {
    'situation': 'brass disc on the oiled tray',
    'numbers': [],
    'params': ['speed: goal.speed m/s', 'speed: feedback.speed m/s'],
    'results': ['slide: topic.data m'],
    'result_topic': 'slide',
    'result_type': 'std_msgs/msg/Float64',
}


def write(path: Path, server: Server) -> Path:
    """Write what a server published as a recording; its definitions of actions are not used."""
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        connections = {}
        for topic, kind, at, raw in server.messages:
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, msgdef=' ', rihs01=' ')
            writer.write(connections[topic], at, raw)
    return path


def run(
    robot: Robot, path: Path, server: Server, **settings: Any
) -> tuple[ImportReport, dict[str, int], list[str]]:
    """Import what a server published; return the counts of the tap, and what was told."""
    plan = ImportPlan(taps={'strike': {**SETTINGS, **settings}})
    report, told = recordings.run(robot.memory, write(path, server), plan)
    return report, report.taps['strike (/strike)'], told


def list_trials(robot: Robot) -> list[tuple[str, Any]]:
    """Return text and context of the trials, the oldest first."""
    rows = robot.rows("SELECT content, context FROM memories WHERE status = 'active' ORDER BY id")
    return [(content, json.loads(context)) for content, context in rows]


def make_runner(**settings: Any) -> OutcomeRunner:
    tap = make_tap('strike', {**SETTINGS, **settings})
    return OutcomeRunner(tap, '', lambda name: f'/{name.lstrip("/")}', print, LOGGED, None)


def test_a_goal_with_its_result_is_a_trial_with_all_its_fields(
    robot: Robot, tmp_path: Path
) -> None:
    server = Server()
    server.request(1)
    server.tell_status(g1=2)
    server.tell_status(g1=SUCCEEDED)
    server.answer(1, SUCCEEDED, 0.41)
    report, counts, told = run(robot, tmp_path / 'bag', server)
    assert (report.kept, counts) == (1, {'received': 1, 'events': 1}), told
    ((content, context),) = list_trials(robot)
    assert content == (
        'strike: brass disc on the oiled tray; distance 0.4 m; speed 1 m/s; tool soft; '
        'slide 0.41 m; succeeded'
    )
    assert context['trial']['key'] == '00000000-0000-0000-0000-000000000001'
    assert context['sense']['topic'] == '/strike'
    assert context['sense']['recording'] == 'bag'


def test_success_is_what_the_server_says_of_the_goal(robot: Robot, tmp_path: Path) -> None:
    server = Server()
    for number, status in ((1, SUCCEEDED), (2, ABORTED), (3, CANCELED)):
        server.request(number)
        server.tell_status(**{f'g{number}': status})
        server.answer(number, status, 0.4)
    _, counts, _ = run(robot, tmp_path / 'bag', server)
    assert counts == {'received': 3, 'events': 3}
    successes = [context.get('task', {}).get('success') for _, context in list_trials(robot)]
    assert successes == [True, False, None]


def test_a_canceled_goal_without_a_result_is_no_trial(robot: Robot, tmp_path: Path) -> None:
    server = Server()
    server.request(1)
    server.tell_status(g1=CANCELED)
    _, counts, _ = run(robot, tmp_path / 'bag', server)
    assert counts == {'received': 1, 'without result': 1, 'canceled': 1}
    assert not list_trials(robot)


def test_a_rejected_goal_is_no_trial(robot: Robot, tmp_path: Path) -> None:
    server = Server()
    server.request(1, accepted=False)
    _, counts, _ = run(robot, tmp_path / 'bag', server)
    assert counts == {'rejected': 1}


def test_a_goal_is_recorded_once_however_often_it_is_told(robot: Robot, tmp_path: Path) -> None:
    server = Server()
    server.request(1)
    server.tell_status(g1=SUCCEEDED)
    server.answer(1, SUCCEEDED, 0.41)
    server.answer(1, SUCCEEDED, 0.41)
    server.tell_status(g1=SUCCEEDED, g2=2)
    assert run(robot, tmp_path / 'bag', server)[1] == {
        'received': 1,
        'events': 1,
        'not ended': 1,
    }
    _, counts, _ = run(robot, tmp_path / 'again', server)
    assert counts == {'received': 1, 'known': 1, 'not ended': 1}
    assert len(list_trials(robot)) == 1


def test_what_somebody_reported_by_the_goal_s_id_stays_as_it_is(
    robot: Robot, tmp_path: Path
) -> None:
    key = '00000000-0000-0000-0000-000000000001'
    robot.record_outcome('strike', success='true', key=key)
    server = Server()
    server.request(1)
    server.answer(1, ABORTED, 0.7)
    _, counts, _ = run(robot, tmp_path / 'bag', server)
    assert counts == {'received': 1, 'known': 1}
    assert [content for content, _ in list_trials(robot)] == ['strike: succeeded']


def test_without_introspection_feedback_and_a_result_topic_tell_as_much(
    robot: Robot, tmp_path: Path
) -> None:
    server = Server()
    server.tell_status(g1=2)
    server.tell_feedback(1, 0.9, [])
    server.tell_feedback(1, 1.2, [])
    server.tell_status(g1=SUCCEEDED)
    server.measure(0.43)
    _, counts, told = run(robot, tmp_path / 'bag', server, **WITHOUT_INTROSPECTION)
    assert counts == {'received': 1, 'events': 1}
    assert [content for content, _ in list_trials(robot)] == [
        'strike: brass disc on the oiled tray; speed 1.2 m/s; slide 0.43 m; succeeded'
    ]
    absent = '/strike/_action/send_goal/_service_event'
    assert f'{absent} ({KIND}_SendGoal_Event) is not in the recording' in told


def test_a_goal_of_which_params_are_unknown_is_counted_not_recorded(
    robot: Robot, tmp_path: Path
) -> None:
    server = Server()
    server.tell_status(g1=2)
    server.tell_status(g1=SUCCEEDED)
    _, counts, _ = run(robot, tmp_path / 'bag', server)
    assert counts == {'received': 1, 'no goal': 1}
    assert not list_trials(robot)


def test_a_goal_that_ended_before_is_no_trial_and_takes_no_measurement(
    robot: Robot, tmp_path: Path
) -> None:
    server = Server()
    server.tell_status(g1=SUCCEEDED, g2=2)
    server.tell_feedback(2, 1.0, [])
    server.tell_status(g1=SUCCEEDED, g2=SUCCEEDED)
    server.measure(0.4)
    _, counts, _ = run(robot, tmp_path / 'bag', server, **WITHOUT_INTROSPECTION)
    assert counts == {'received': 1, 'ended before': 1, 'events': 1}
    ((content, _),) = list_trials(robot)
    assert content.endswith('slide 0.4 m; succeeded')


def test_a_failure_without_a_measurement_is_recorded_as_a_failure(
    robot: Robot, tmp_path: Path
) -> None:
    server = Server()
    server.request(1)
    server.tell_status(g1=ABORTED)
    _, counts, _ = run(robot, tmp_path / 'bag', server)
    assert counts == {'received': 1, 'without result': 1, 'events': 1}


def test_a_measurement_is_of_the_last_moment_of_the_goal_or_of_the_first_after_it(
    robot: Robot, tmp_path: Path
) -> None:
    server = Server()
    server.measure(0.1)
    server.tell_status(g1=2)
    server.tell_feedback(1, 1.0, [])
    server.measure(0.2)
    server.measure(0.3)
    server.tell_status(g1=SUCCEEDED)
    server.measure(0.4)
    server.tell_status(g2=2)
    server.tell_feedback(2, 1.0, [])
    server.tell_status(g2=SUCCEEDED)
    server.measure(0.5)
    server.measure(0.6)
    server.tell_status(g3=2)
    server.tell_feedback(3, 1.0, [])
    server.tell_status(g3=SUCCEEDED)
    server.skip(60)
    server.measure(0.7)
    _, counts, _ = run(robot, tmp_path / 'bag', server, **WITHOUT_INTROSPECTION)
    assert counts == {'received': 3, 'events': 3, 'without result': 1}
    results = [context['trial'].get('results') for _, context in list_trials(robot)]
    assert results == [
        {'slide': {'value': 0.3, 'unit': 'm'}},
        {'slide': {'value': 0.5, 'unit': 'm'}},
        None,
    ]


def test_a_measurement_that_could_be_of_two_goals_is_of_none(robot: Robot, tmp_path: Path) -> None:
    server = Server()
    server.tell_status(g1=2, g2=2)
    server.tell_feedback(1, 1.0, [])
    server.tell_feedback(2, 1.5, [])
    server.measure(0.4)
    server.tell_status(g1=SUCCEEDED, g2=ABORTED)
    _, counts, _ = run(robot, tmp_path / 'bag', server, **WITHOUT_INTROSPECTION)
    assert counts == {
        'received': 2,
        'could be of several goals': 1,
        'without result': 2,
        'events': 2,
    }


def test_fields_in_arrays_are_read_by_their_number(robot: Robot, tmp_path: Path) -> None:
    server = Server()
    server.request(1)
    server.tell_feedback(1, 1.0, [0.1, 0.3])
    server.tell_status(g1=SUCCEEDED)
    server.request(2)
    server.tell_feedback(2, 1.0, [])
    server.tell_status(g2=SUCCEEDED)
    results = ['half: feedback.path.1 m']
    _, counts, _ = run(robot, tmp_path / 'bag', server, results=results)
    assert counts == {'received': 2, 'events': 2, 'without result': 1}
    assert [one['trial'].get('results') for _, one in list_trials(robot)] == [
        {'half': {'value': 0.3, 'unit': 'm'}},
        None,
    ]


def test_a_value_that_is_not_finite_is_counted_not_recorded(robot: Robot, tmp_path: Path) -> None:
    server = Server()
    server.request(1, speed=float('nan'))
    server.tell_status(g1=SUCCEEDED)
    server.answer(1, SUCCEEDED, 0.4)
    _, counts, _ = run(robot, tmp_path / 'bag', server)
    assert counts == {'received': 1, 'unusable value': 1}


def test_trials_that_the_store_refuses_are_counted_and_end_nothing(
    robot: Robot, tmp_path: Path
) -> None:
    robot.record_outcome('strike', params={'speed': '1 N'}, success='true')
    server = Server()
    server.request(1)
    server.answer(1, SUCCEEDED, 0.4)
    server.request(2)
    server.answer(2, SUCCEEDED, 0.4)
    _, counts, _ = run(robot, tmp_path / 'bag', server)
    assert counts == {'received': 2, 'refused': 2}


def test_unreadable_messages_are_counted_and_end_nothing(robot: Robot, tmp_path: Path) -> None:
    server = Server()
    server.request(1)
    topic, kind, at, raw = server.messages[-1]
    server.messages.append((topic, kind, at + 1, raw[:30]))
    server.tell_status(g1=SUCCEEDED)
    server.answer(1, SUCCEEDED, 0.4)
    report, counts, told = run(robot, tmp_path / 'bag', server)
    assert counts == {'received': 1, 'events': 1}
    events = report.taps['strike (/strike/_action/send_goal/_service_event)']
    assert events == {'received': 3, 'unreadable': 1}
    assert any('cannot read a message' in line for line in told)


def test_a_trial_is_of_the_session_that_was_open(robot: Robot, tmp_path: Path) -> None:
    session = robot.start_session(context={'env': {'sim_or_real': 'sim'}}).session_id
    server = Server()
    server.request(1)
    server.answer(1, SUCCEEDED, 0.4)
    run(robot, tmp_path / 'bag', server, session=session)
    ((content, _),) = list_trials(robot)
    assert content.endswith('simulated; succeeded')


@pytest.mark.parametrize(
    ('settings', 'words'),
    [
        ({'type': 'std_msgs/msg/String', 'detector': 'outcome'}, 'package/action/Name'),
        ({'params': ['goal.speed']}, 'NAME: SOURCE.FIELD UNIT'),
        ({'params': ['speed: bag.speed m/s']}, 'goal, result, feedback, topic'),
        ({'params': ['speed: goal.speed parsec']}, "unknown unit 'parsec'"),
        ({'params': ['speed: topic.data m/s']}, 'result_topic and result_type'),
        ({'params': ['distance: goal.speed m']}, 'distance is in numbers and in params'),
        ({'situation': 'a {thing}'}, 'goal.object'),
        ({'wait_s': -1.0}, 'wait_s'),
        ({'gap_s': 1.0}, 'wait_s'),
    ],
)
def test_settings_that_mean_nothing_are_refused_in_words_that_say_what_is_accepted(
    settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidArgument) as refused:
        make_tap('strike', {**SETTINGS, **settings})
    assert words in str(refused.value) and 'strike' in str(refused.value)


@pytest.mark.parametrize(
    ('settings', 'words'),
    [
        ({'params': ['speed: goal.velocity m/s']}, 'tool, object, surface, distance, speed'),
        ({'params': ['tool: goal.tool']}, 'name, fingers'),
        ({'results': ['path: feedback.path m']}, 'name one by its number'),
        ({'type': 'strike_interfaces/action/Push'}, 'strike_interfaces/action/Push.action'),
        ({'type': 'no_such_package/action/Push'}, 'AMENT_PREFIX_PATH|no_such_package'),
        (
            {**WITHOUT_INTROSPECTION, 'result_type': 'strike_interfaces/msg/Slide'},
            'strike_interfaces/msg/Slide.msg',
        ),
    ],
)
def test_fields_and_types_that_are_not_there_are_refused_with_those_that_are(
    settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(InvalidArgument, match=words):
        make_runner(**settings)


def test_definitions_are_found_where_the_workspace_is_sourced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / 'share').symlink_to(DEFINITIONS)
    monkeypatch.setenv('AMENT_PREFIX_PATH', f'/nowhere:{tmp_path}')
    assert len(make_runner(definitions='').list_handlers()) == 3


def test_the_skill_has_the_name_of_the_action_where_none_is_given() -> None:
    assert make_tap('a', {**SETTINGS, 'topic': '/arm/strike'}).detector_settings.skill == 'strike'
    assert make_tap('a', {**SETTINGS, 'skill': 'hit'}).detector_settings.skill == 'hit'


def test_only_topics_whose_fields_are_read_are_subscribed_to() -> None:
    topics = {one.topic: one.optional for one in make_runner().list_handlers()}
    hidden = '/strike/_action'
    assert topics == {
        f'{hidden}/status': False,
        f'{hidden}/send_goal/_service_event': False,
        f'{hidden}/get_result/_service_event': False,
    }
    topics = {
        one.topic: one.optional for one in make_runner(**WITHOUT_INTROSPECTION).list_handlers()
    }
    assert topics == {
        f'{hidden}/status': False,
        f'{hidden}/feedback': True,
        f'{hidden}/send_goal/_service_event': True,
        '/slide': False,
    }
