"""Events of one stretch are linked: task, session, outcome, pictures, what was at that time."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import recordings
from narrowing import require
from PIL import Image
from recordings import run
from robots import MovableClock, Robot
from test_cli import Cli
from test_tools_query_events import SECOND, T0, see

from robot_memory.ingest.results import LearnedText
from robot_memory.ingest.sessions import SessionFinder
from robot_memory.ingest.tap import make_tap
from robot_memory.ingest.writer import EventWriter
from robot_memory.lifecycle.perceptions import Perception, store_perception
from robot_memory.storage.tables.parts import Part


def relations(answer: Any) -> dict[Any, str]:
    """Return how each linked event of an answer is related, by its id."""
    return {one.event_id: one.relation for one in answer.linked or ()}


def photograph(robot: Robot, at: int, session: str | None = None) -> int:
    """Store a picture as save_perception's callers do; return its memory's id."""
    buffer = io.BytesIO()
    Image.new('RGB', (8, 8), 'red').save(buffer, 'JPEG')
    part = Part('picture', 'image/jpeg', len(buffer.getvalue()), buffer.getvalue())
    seen = Perception('a red cup', 'visual', session_id=session, stamp=at, parts=(part,))
    return store_perception(robot.memory, seen).memory_id


@pytest.fixture
def stretch(robot: Robot, clock: MovableClock) -> dict[str, Any]:
    """A push inside a motion, seen by the camera, in a session with a task that failed."""
    context = {'robot': {'id': 'arm1'}, 'task': {'name': 'insert the peg'}}
    session = robot.start_session(context=context).session_id
    ids: dict[str, Any] = {
        'session': session,
        'push': see(robot, at=T0, peak_force=9.0, session=session),
        'motion': see(
            robot, 'motion', T0 - 2 * SECOND, 5.0, session=session, topic='/js', label=None,
            text='The arm moved elbow_joint 0.5 rad', peak_speed=0.5,
        ),
        'stop': see(robot, 'fault', T0 + round(1.5 * SECOND), 1.0, 'stop', session=session),
        'picture': photograph(robot, T0 - 3 * SECOND, session),
        'later': see(robot, at=T0 + 60 * SECOND, peak_force=1.0, session=session),
        'unknown': see(robot, 'motion', T0, peak_speed=0.1, topic='/other', label=None),
        'stranger': see(robot, 'motion', T0, peak_speed=0.7, arm='arm2', label=None),
    }  # fmt: skip
    ids['outcome'] = robot.learn(
        'The peg jammed at 9 N',
        context={'task': {'name': 'insert the peg', 'success': False}},
        session_id=session,
    ).memory_id
    clock.forward(seconds=90)
    robot.end_session(session, outcome_score=0.2)
    return ids


def test_what_belongs_to_a_push_is_linked_and_nothing_else(
    robot: Robot, stretch: dict[str, Any]
) -> None:
    shown = robot.show(stretch['push'])
    linked = {one.memory_id: one for one in require(shown.linked)}
    told = {memory_id: one.relation for memory_id, one in linked.items()}
    assert told == {
        None: 'during',
        stretch['outcome']: 'outcome',
        stretch['picture']: 'picture',
        stretch['motion']: 'at the same time',
        stretch['unknown']: 'at the same time',
        stretch['stop']: 'shortly after',
    }
    assert linked[None].kind == 'session'
    assert linked[None].text == f'insert the peg, session {stretch["session"]}, outcome score 0.2'
    outcome = linked[stretch['outcome']]
    assert (outcome.event_id, outcome.kind, outcome.label) == (None, 'fact', 'failure')
    assert linked[stretch['motion']].text == 'The arm moved elbow_joint 0.5 rad'
    assert linked[stretch['motion']].duration == 5.0
    assert shown.linked_total == 6


def test_links_go_both_ways(robot: Robot, stretch: dict[str, Any]) -> None:
    assert relations(robot.show(stretch['motion']))[stretch['push']] == 'at the same time'
    assert relations(robot.show(stretch['stop']))[stretch['push']] == 'shortly before'
    assert relations(robot.show(stretch['picture']))[stretch['push']] == 'shortly after'


def test_what_was_done_at_the_hardest_push_is_one_call(
    robot: Robot, stretch: dict[str, Any]
) -> None:
    answer = robot.recall('when was it pushed hardest?')
    assert [one.event_id for one in require(answer.events)] == [stretch['push']]
    assert relations(answer)[stretch['motion']] == 'at the same time'
    table = robot.query_events(order_by='peak_force', descending=True, limit=1)
    assert require(table.linked) == require(answer.linked)
    page = robot.query_events(where={'kind': 'contact'})
    assert page.linked is None and page.linked_total is None


@pytest.mark.parametrize(
    'query',
    [
        'what did the arm do while it was hit hardest?',
        'which motions were there during the hardest contact?',
    ],
)
def test_an_event_is_named_by_being_the_hardest(
    robot: Robot, stretch: dict[str, Any], query: str
) -> None:
    found = [one.event_id for one in robot.recall(query).events or ()]
    assert stretch['motion'] in found and stretch['later'] not in found


def test_what_is_forgotten_or_of_another_session_is_not_linked(
    robot: Robot, stretch: dict[str, Any]
) -> None:
    robot.forget(stretch['motion'], 'wrong calibration')
    assert stretch['motion'] not in relations(robot.show(stretch['push']))
    other = robot.start_session().session_id
    guest = see(robot, 'motion', T0, session=other, topic='/guest', peak_speed=0.3)
    assert guest not in relations(robot.show(stretch['push']))
    assert stretch['push'] not in relations(robot.show(guest))


def test_the_task_of_a_topic_and_its_trial_are_linked(robot: Robot) -> None:
    tap = make_tap('task', {'topic': '/task', 'type': 'std_msgs/msg/String'})
    taps = EventWriter(robot.memory, [tap], SessionFinder(robot.memory))
    sense = {'sense': {'topic': '/task'}}
    for text, at in (('insert the peg', T0), ('park', T0 + 20 * SECOND)):
        taps.write('task', LearnedText(text, sense, 'default', at, event='task'))
    push = see(robot, at=T0 + 5 * SECOND, peak_force=4.0)
    trial = Perception(
        'The peg is in',
        'tactile',
        stamp=T0 + 30 * SECOND,
        context={'task': {'name': 'insert the peg', 'success': True}},
    )
    done = store_perception(robot.memory, trial).memory_id
    shown = robot.show(push)
    linked = {one.kind: one for one in require(shown.linked)}
    assert linked['task'].relation == 'during' and linked['task'].text == 'insert the peg'
    outcome = linked['perception']
    assert (outcome.event_id, outcome.relation, outcome.label) == (done, 'outcome', 'success')
    of_task = robot.show(require(linked['task'].memory_id))
    assert relations(of_task)[push] == 'within'


def test_at_most_ten_are_linked_the_nearest_first_and_it_is_said(robot: Robot) -> None:
    push = see(robot, at=T0, seconds=60.0, peak_force=4.0)
    others = [
        see(robot, 'motion', T0 + n * 3 * SECOND, topic=f'/js{n}', peak_speed=0.1)
        for n in range(20)
    ]
    shown = robot.show(push)
    assert shown.linked_total == 20
    nearest = [one.event_id for one in require(shown.linked)]
    assert len(nearest) == 10 and set(nearest) == set(others[5:15])


def test_events_of_a_recording_are_linked_to_their_session(robot: Robot, made: Path) -> None:
    session = robot.start_session(context={'task': {'name': 'press the button'}}).session_id
    run(robot.memory, made, replace(recordings.ALL, overrides={'session_id': session}))
    (push,) = robot.query_events(where={'label': 'push'}).events
    linked = require(robot.show(push.event_id).linked)
    assert [(one.kind, one.relation) for one in linked] == [
        ('session', 'during'),
        ('scene', 'picture'),
    ]
    assert 'red object appeared' in require(linked[1].text)


def test_the_command_line_shows_what_is_linked(
    tmp_path: Path, robot: Robot, stretch: dict[str, Any]
) -> None:
    cli = Cli(tmp_path)
    cli.environment['ROBOT_MEMORY_DB'] = str(robot.memory.db.path)
    robot.memory.accesses.flush()
    text = cli.done('show', str(stretch['push']))
    assert 'linked: 6 of 6 events' in text
    assert 'at the same time · motion' in text and 'outcome · fact · failure' in text
    hardest = ('query-events', '--order-by', 'peak_force', '--descending', '--limit', '1')
    assert 'linked: 6 of 6 events' in cli.done(*hardest)
    assert 'linked: 6 of 6 events' in cli.done('recall', 'when was it pushed hardest?')
