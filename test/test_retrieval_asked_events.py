"""Questions about events are read, and answered from their table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from narrowing import require
from robots import START, MovableClock, Robot
from waiting import HANG_SECONDS

from robot_memory.ingest.results import LearnedText
from robot_memory.ingest.sessions import SessionFinder
from robot_memory.ingest.tap import make_tap
from robot_memory.ingest.writer import EventWriter
from robot_memory.lifecycle.perceptions import Perception, store_perception
from robot_memory.storage.tables.event_keys import Identity

HOUR = 3_600_000_000_000
T0 = START * 1000
RULE = 'Never push harder than 5 N on the glass'


def feel(robot: Robot, hours_ago: float, force: float, **more: Any) -> int:
    """Store a push; return its memory's id."""
    onset = T0 - round(hours_ago * HOUR)
    text = more.pop('text', f'Contact for 1.0 s: push, peak {force} N')
    session_id = more.pop('session_id', None)
    sense = {'topic': '/wrench', 'detector': 'contact', 'kind': 'push', **more}
    params = {'peak_force': {'value': force, 'unit': 'N'}}
    identity = Identity('', '/wrench', 'contact', onset, onset, onset + 10**9)
    context = {'sense': sense, 'params': params}
    given = {'context': context, 'identity': identity, 'session_id': session_id}
    perception = Perception(text, 'tactile', stamp=onset, **given)
    return store_perception(robot.memory, perception).memory_id


@pytest.fixture
def pushes(open_robot: Callable[..., Robot]) -> tuple[Robot, dict[str, int]]:
    """A robot that felt pushes now and yesterday; it is about seven in the morning in UTC."""
    robot = open_robot(time_zone='UTC')
    ids = {
        'hard yesterday': feel(robot, 24, 9.5),
        'light yesterday': feel(robot, 25, 2.0),
        'today': feel(robot, 1, 6.0),
        'light today': feel(robot, 2, 1.5),
    }
    return robot, ids


def test_the_hardest_of_a_day_stands_first_with_what_was_read(
    pushes: tuple[Robot, dict[str, int]],
) -> None:
    robot, ids = pushes
    answer = robot.recall('What was the hardest push yesterday?')
    assert answer.memories[0].id == ids['hard yesterday']
    assert [event.memory_id for event in require(answer.events)] == [ids['hard yesterday']]
    assert 'push' in require(answer.read_as)
    assert not answer.no_match
    assert robot.recall('昨天最用力的一次推是什么时候？').memories[0].id == ids['hard yesterday']


def test_a_bound_and_an_order_of_time_are_read(pushes: tuple[Robot, dict[str, int]]) -> None:
    robot, ids = pushes
    answer = robot.recall('last contact over 5 N')
    assert answer.memories[0].id == ids['today']
    answer = robot.recall('contacts over 500 g yesterday')
    assert not answer.events  # a mass is no force


def test_a_count_is_answered_with_the_figure_and_its_events(
    pushes: tuple[Robot, dict[str, int]],
) -> None:
    robot, ids = pushes
    answer = robot.recall('How many contacts were there today?')
    assert require(answer.aggregate).value == 2
    assert set(require(answer.aggregate_ids)) == {ids['today'], ids['light today']}


def test_shares_rates_and_differences_are_answered(
    pushes: tuple[Robot, dict[str, int]],
) -> None:
    robot, _ = pushes
    feel(robot, 1.5, 3.0, kind='slide')
    share = robot.recall('What percentage of the contacts today were pushes?').aggregate
    assert require(share).value == pytest.approx(2 / 3)
    rate = robot.recall('How many contacts per day were there on average this week?').aggregate
    assert require(rate).value == pytest.approx(2.5)
    apart = robot.recall(
        'How much harder was the push at 05:13 today than the one at 05:13 yesterday?'
    ).aggregate
    assert (require(apart).value, require(apart).unit) == (4.0, 'N')


def test_a_context_tells_the_faults_of_a_window_in_which_nothing_passes(
    pushes: tuple[Robot, dict[str, int]],
) -> None:
    robot, _ = pushes
    sense = {'detector': 'state', 'kind': 'emergency stop', 'fault': True, 'topic': '/state'}
    stop = feel(robot, 26, 0.0, text='Emergency stop for 12 s: button at the door', **sense)
    answer = robot.get_context('Were there any changes of scene yesterday?')
    assert answer.no_match
    assert f'mem_{stop}' in answer.context
    assert 'No memories' not in answer.context


def test_a_median_and_a_spread_are_answered(pushes: tuple[Robot, dict[str, int]]) -> None:
    robot, _ = pushes
    median = robot.recall('What is the median force of the contacts today?').aggregate
    assert require(median).value == 3.75
    spread = robot.recall('standard deviation of the force of the contacts today').aggregate
    assert require(spread).value == pytest.approx(2.25)


@pytest.mark.parametrize(
    ('question', 'wanted'),
    [
        ('Which pushes were over 1.8 but under 7 N?', ['today', 'light yesterday']),
        ('有没有大于1.8牛但小于7的推力？', ['today', 'light yesterday']),
        ('Which push had a peak force closest to 5 N?', ['today']),
        ('哪次推的力最接近2.2牛？', ['light yesterday']),
        ('Which pushes were harder than the push at 05:13 today?', ['hard yesterday']),
        ('Which pushes were softer than the one at 05:13 yesterday?', ['light today']),
        ('哪几次推比昨天05:13那次更用力？', ['today', 'hard yesterday']),
        (
            'Which was harder, the push at 05:13 today or the one at 05:13 yesterday?',
            ['today', 'light yesterday'],
        ),
        ('今天05:13那次推和昨天05:13那次推，哪个更轻？', ['light yesterday', 'today']),
        (
            'Was the push at 05:13 today harder than the one at 05:13 yesterday?',
            ['today', 'light yesterday'],
        ),
        ('今天05:13那次推比昨天05:13那次轻吗？', ['light yesterday', 'today']),
        ("Which pushes of today were softer than yesterday's hardest?", ['today', 'light today']),
        ('Which push was nearest to 04:30 today?', ['light today', 'today']),
        ('今天离04:30最近的推是哪次？', ['light today', 'today']),
        ('Which push was nearest in time to the tool change?', ['light yesterday']),
        ('离换工具最近的一次推是哪次？', ['light yesterday']),
    ],
)
def test_events_are_compared_with_values_and_with_each_other(
    pushes: tuple[Robot, dict[str, int]], question: str, wanted: list[str]
) -> None:
    robot, ids = pushes
    feel(robot, 25.4, 0.0, kind='tool_change', text='Changed the tool', detector='task')
    answer = robot.recall(question)
    assert [event.memory_id for event in require(answer.events)] == [ids[name] for name in wanted]
    assert not answer.no_match


@pytest.mark.parametrize(
    ('question', 'figure'),
    [
        ('On how many days did you feel a push?', 2),
        ('有几天发生过推力？', 2),
        ('On how many days did you feel a push over 7 N?', 1),
        ('On how many different days did you feel a push under 1 N?', 0),
    ],
)
def test_the_days_of_events_are_counted(
    pushes: tuple[Robot, dict[str, int]], question: str, figure: int
) -> None:
    robot, _ = pushes
    assert require(robot.recall(question).aggregate).value == figure


def test_of_two_days_the_one_with_more_is_found(pushes: tuple[Robot, dict[str, int]]) -> None:
    robot, ids = pushes
    more = feel(robot, 26, 3.0)
    answer = robot.recall('Were there more pushes on 24 February or on 25 February?')
    assert require(answer.aggregate).value == 3
    wanted = {more, ids['hard yesterday'], ids['light yesterday']}
    assert {event.memory_id for event in require(answer.events)} <= wanted
    fewer = robot.recall('24日和25日哪天的推更少？')
    assert require(fewer.aggregate).value == 2


def test_what_no_known_event_is_compared_with_is_said(
    pushes: tuple[Robot, dict[str, int]],
) -> None:
    robot, _ = pushes
    assert robot.recall('Which pushes were harder than the collision on Monday?').no_match


def test_events_between_two_others_are_found(
    pushes: tuple[Robot, dict[str, int]],
) -> None:
    robot, ids = pushes
    feel(robot, 24.5, 3.0, kind='collision', text='Collision for 1.0 s, peak 3.0 N')
    feel(robot, 1.5, 1.0, kind='tap', text='Tap for 1.0 s, peak 1.0 N')
    answer = robot.recall('Which push came between the collision and the last tap?')
    assert answer.memories[0].id in (ids['hard yesterday'], ids['light today'])
    assert robot.recall('Which push was the hardest after the tap?').memories[0].id == ids['today']


def test_an_outcome_that_the_kind_does_not_have_is_no_error(
    pushes: tuple[Robot, dict[str, int]],
) -> None:
    robot, _ = pushes
    assert robot.recall('Were there any grip failures this week?').read_as


@pytest.mark.parametrize(
    'question', ['What happened yesterday?', 'What did Anna say yesterday?', '昨天发生了什么？']
)
def test_a_day_of_which_nothing_is_stored_is_named(
    open_robot: Callable[..., Robot], clock: MovableClock, question: str
) -> None:
    robot = open_robot(time_zone='UTC')
    robot.learn('Anna moved the red cup')
    assert robot.recall(question).read_as == '2026-02-24; nothing is stored of 2026-02-24'
    assert 'nothing is stored of 2026-02-24' in robot.get_context(question).context
    clock.forward(days=1)
    assert robot.recall(question).read_as == '2026-02-25'
    assert 'nothing is stored' in require(robot.recall(question, collection='other').read_as)


def test_what_was_said_again_on_a_day_is_stored_of_it(
    open_robot: Callable[..., Robot], clock: MovableClock
) -> None:
    robot = open_robot(time_zone='UTC')
    robot.learn('the red cup is on the shelf')
    clock.forward(days=2)
    robot.learn('the red cup is on the shelf')
    clock.forward(days=1)
    assert robot.recall('What happened yesterday?').read_as == '2026-02-27'
    gone = robot.recall('What happened on 26 February?').read_as
    assert gone == '2026-02-26; nothing is stored of 2026-02-26'


def test_an_event_of_a_day_is_stored_of_it(pushes: tuple[Robot, dict[str, int]]) -> None:
    robot, _ = pushes
    answer = robot.recall('How many collisions were there yesterday?')
    assert 'nothing is stored' not in require(answer.read_as)


def test_where_nothing_passes_the_plain_answer_says_so(
    pushes: tuple[Robot, dict[str, int]],
) -> None:
    robot, _ = pushes
    answer = robot.recall('What was the hardest push in the last ten minutes?')
    assert answer.no_match
    assert answer.memories
    assert not answer.events
    text = robot.get_context('What was the hardest push in the last ten minutes?').context
    assert 'no event matches' in text


def test_a_question_for_a_rule_finds_the_rule(pushes: tuple[Robot, dict[str, int]]) -> None:
    robot, _ = pushes
    rule = robot.learn(RULE).memory_id
    answer = robot.recall('Which rule says something about 5 N on the glass?')
    assert answer.memories[0].id == rule
    assert not answer.events


def test_a_statement_that_has_the_words_of_a_question_answers_it(
    pushes: tuple[Robot, dict[str, int]],
) -> None:
    robot, _ = pushes
    rule = robot.learn('A push over 5 N is reset by the shift lead').memory_id
    assert robot.recall('Who gets to reset a push over 5 N?').memories[0].id == rule
    assert (
        robot.search_memory('Who gets to reset a push over 5 N?').result[0].metadata['memory_id']
        == rule
    )
    answer = robot.recall('Which pushes were over 5 N yesterday?')
    assert answer.events


def test_the_words_that_are_left_choose_among_events_in_either_language(
    pushes: tuple[Robot, dict[str, int]],
) -> None:
    robot, _ = pushes
    camera = feel(robot, 3, 1.0, text='Contact for 1.0 s: push on the wrist camera, peak 1.0 N')
    flange = feel(robot, 4, 1.0, text='Contact for 1.0 s: push on the flange 2, peak 1.0 N')
    assert robot.recall('今天腕部相机上有几次接触？').aggregate_ids == (camera,)
    assert robot.recall('How many contacts did flange two have today?').aggregate_ids == (flange,)


def test_what_somebody_said_bounds_a_time(
    pushes: tuple[Robot, dict[str, int]], clock: MovableClock
) -> None:
    robot, _ = pushes
    robot.save_conversation('The red tray is under the table', 'Noted.', actor_id='operator:anna')
    clock.now += 3 * HOUR // 1000
    first = feel(robot, -1, 3.0)
    feel(robot, -2, 4.0)
    answer = robot.recall('Since Anna mentioned the red tray, what was the first push?')
    assert answer.memories[0].id == first
    assert robot.recall('安娜提到红托盘之后第一次推是几点？').memories[0].id == first


def test_events_of_a_place_are_those_of_the_sessions_there(
    pushes: tuple[Robot, dict[str, int]],
) -> None:
    robot, _ = pushes
    robot.start_session(context={'env': {'name': 'demo-hall'}}, title='Morning demo')
    assert robot.recall('Were there any pushes in the demo hall?').no_match
    assert not robot.recall('Were there any pushes today?').no_match


def test_an_event_that_tells_the_time_is_one_of_its_place(
    pushes: tuple[Robot, dict[str, int]],
) -> None:
    robot, _ = pushes
    started = robot.start_session(context={'env': {'name': 'demo-hall'}}, title='Morning demo')
    feel(robot, 24.5, 4.0, session_id=started.session_id)
    after = feel(robot, 24.4, 1.0, kind='tap', text='Contact for 0.1 s: tap, peak 1.0 N')
    answer = robot.recall('After the push in the demo hall, what was the next tap?')
    assert answer.memories[0].id == after


def test_groups_windows_and_two_events_are_compared(open_robot: Callable[..., Robot]) -> None:
    robot = open_robot(time_zone='UTC')
    ids = [feel(robot, hours, 2.0) for hours in (1, 25, 26, 49)]
    feel(robot, 3, 3.0, detector='state', kind='stall', fault=True, text='Stall')
    answer = robot.recall('which day had the most pushes?')
    assert require(answer.aggregate).value == 2
    assert set(require(answer.aggregate_ids)) == set(ids[1:3])
    more = robot.recall('were there more pushes today than yesterday?').aggregate
    assert require(more).value == -1
    span = require(robot.recall('how long was it between the stall and the last push?').aggregate)
    assert (span.value, span.unit) == (2 * 3600 - 1.0, 's')


def test_what_no_table_names_is_found_by_its_meaning(open_robot: Callable[..., Robot]) -> None:
    robot = open_robot('', time_zone='UTC')
    assert robot.memory.embedder.wait(HANG_SECONDS)
    stall = feel(robot, 3, 3.0, detector='state', kind='stall', fault=True, text='Stall')
    feel(robot, 1, 2.0)
    answer = robot.recall('last blocked axle')
    assert answer.memories[0].id == stall
    assert answer.read_as == 'stalls, newest first, 1 of them'
    assert robot.recall('the latest version of the firmware').read_as is None


def test_days_are_told_by_an_event(open_robot: Callable[..., Robot]) -> None:
    robot = open_robot(time_zone='UTC')
    ids = {days: feel(robot, 24 * days, 2.0 + days) for days in (1, 2, 3, 4)}
    feel(robot, 24 * 3 + 1, 3.0, detector='state', kind='stall', fault=True, text='Stall')
    for question, days in (
        ('hardest push the day after the stall', 2),
        ('hardest push on the day of the stall', 3),
        ('hardest push the day before the stall', 4),
        ('堵转两天后最用力的一次推', 1),
    ):
        events = require(robot.recall(question).events)
        assert [event.memory_id for event in events] == [ids[days]], question


def test_events_that_a_question_excludes_are_left_out(
    pushes: tuple[Robot, dict[str, int]],
) -> None:
    robot, _ = pushes
    tap = feel(robot, 3, 1.0, kind='tap', text='Contact for 0.1 s: tap, peak 1.0 N')
    answer = robot.recall('Which contacts were there today, except for pushes?')
    assert [event.memory_id for event in require(answer.events)] == [tap]


def test_what_the_caller_gives_wins_and_off_reads_nothing(
    pushes: tuple[Robot, dict[str, int]],
) -> None:
    robot, ids = pushes
    question = 'What was the hardest push yesterday?'
    plain = robot.recall(question, read='off')
    assert (plain.read_as, plain.events) == (None, None)
    given = robot.recall(question, context_filter={'params.peak_force.value': {'$lt': 2}})
    assert [memory.id for memory in given.memories] == [ids['light today']]
    assert given.read_as is None


def test_search_and_context_read_too(pushes: tuple[Robot, dict[str, int]]) -> None:
    robot, ids = pushes
    question = 'How many contacts were there today?'
    found = robot.search_memory(question)
    assert found.result[0].metadata['aggregate']['value'] == 2
    assert found.result[0].metadata['memory_id'] in (ids['today'], ids['light today'])
    told = robot.get_context(question)
    assert 'Measured: count 2.' in told.context
    assert require(told.aggregate).value == 2


def test_what_was_measured_is_dated_by_its_measurement_everywhere(
    open_robot: Callable[..., Robot],
) -> None:
    robot = open_robot(time_zone='Europe/Berlin')
    memory_id = feel(robot, 24 * 40, 9.5)
    local = '2026-01-16T07:13:20.000000+01:00'
    assert robot.recall('contact', read='off').memories[0].measured_at == local
    assert robot.query_records().records[0].measured_at == local
    assert robot.search_memory('contact', threshold=0).result[0].metadata['measured_at'] == local
    assert robot.show(memory_id).memory.measured_at == local
    assert 'measured 2026-01-16 07:13+01:00' in robot.get_context('contact').context
    fact = require(robot.learn('the tray is blue').memory_id)
    assert robot.show(fact).memory.measured_at is None
    feel(robot, 0, 3.0)
    stats = robot.get_memory_stats()
    assert (stats.today, stats.measured_today) == (3, 1)


def test_events_after_a_remembered_one_are_found(
    pushes: tuple[Robot, dict[str, int]], clock: MovableClock
) -> None:
    robot, ids = pushes
    feel(robot, 1.5, 3.0, kind='collision', text='Collision for 1.0 s, peak 3.0 N')
    answer = robot.recall('What was the first push after the collision?')
    assert answer.memories[0].id == ids['today']


def test_the_text_of_a_memory_finds_it_whatever_is_read_in_it(
    pushes: tuple[Robot, dict[str, int]],
) -> None:
    robot, _ = pushes
    text = 'Fast motion for 1.0 s: a push over 5 N yesterday'
    memory_id = feel(robot, 3, 1.0, text=text)
    answer = robot.recall(text, n=1)
    assert answer.read_as
    assert [memory.id for memory in answer.memories] == [memory_id]


def test_a_task_lasts_until_the_next_one_or_the_end_of_its_session(
    robot: Robot, clock: MovableClock
) -> None:
    session = robot.start_session().session_id
    tap = make_tap('task', {'topic': '/task', 'type': 'std_msgs/msg/String'})
    taps = EventWriter(robot.memory, [tap], SessionFinder(robot.memory))
    sense = {'sense': {'topic': '/task'}}
    for text in ('wipe the table', 'insert the peg', 'wipe the table'):
        clock.forward(seconds=10)
        stamp = clock() * 1000
        taps.write('task', LearnedText(text, sense, 'default', stamp, True, event='task'))
    clock.forward(seconds=5)
    robot.end_session(session)
    tasks = robot.query_events(where={'kind': 'task'}).events
    assert [(one.task, one.duration, one.session_id) for one in tasks] == [
        ('wipe the table', 10.0, session),
        ('insert the peg', 10.0, session),
        ('wipe the table', 5.0, session),
    ]
    assert tasks[0].memory_id == tasks[2].memory_id


def test_a_fault_of_the_log_is_an_event_each_time(robot: Robot, clock: MovableClock) -> None:
    tap = make_tap('log', {'topic': '/rosout', 'type': 'rcl_interfaces/msg/Log'})
    taps = EventWriter(robot.memory, [tap], SessionFinder(robot.memory))
    sense = {'sense': {'topic': '/rosout', 'kind': 'fault', 'level': 'error', 'logger': 'arm'}}
    for _ in range(2):
        clock.forward(seconds=10)
        stamp = clock() * 1000
        fault = LearnedText(
            'arm: joint 3 is too hot', sense, 'default', stamp, True, event='fault'
        )
        taps.write('log', fault)
    answer = robot.recall('Did anything go wrong today?')
    assert [event.kind for event in require(answer.events)] == ['fault', 'fault']
    assert answer.memories[0].content == 'arm: joint 3 is too hot'
    assert 'joint 3 is too hot' in robot.get_context('did anything go wrong today?').context
    robot.forget(answer.memories[0].id, 'wrong')
    assert robot.query_events(where={'kind': 'fault'}).events == ()


def test_one_of_each_day_is_answered_in_the_order_of_the_days(
    pushes: tuple[Robot, dict[str, int]],
) -> None:
    robot, ids = pushes
    for question in ('hardest push of each day this week', '昨天和今天各自最猛的一次推'):
        answer = robot.recall(question)
        assert [one.memory_id for one in require(answer.events)] == [
            ids['hard yesterday'],
            ids['today'],
        ]
    answer = robot.recall('the weakest push of today and of yesterday, one each')
    assert [one.memory_id for one in require(answer.events)] == [
        ids['light today'],
        ids['light yesterday'],
    ]


def test_days_that_are_listed_are_counted_without_those_between(
    open_robot: Callable[..., Robot],
) -> None:
    robot = open_robot(time_zone='UTC')
    for hours, force in ((1, 5.0), (24, 6.0), (25, 7.0), (48, 8.0)):
        feel(robot, hours, force)
    count = robot.recall('How many pushes were there today and the day before yesterday?')
    assert require(count.aggregate).value == 2
    mean = robot.recall('average force of the pushes today and the day before yesterday')
    assert require(mean.aggregate).value == 6.5


def test_what_is_known_of_another_time_only_is_no_match(
    pushes: tuple[Robot, dict[str, int]],
) -> None:
    robot, _ = pushes
    feel(robot, 3, 4.0, text='Contact for 1.0 s: push at the elbow, peak 4 N')
    assert robot.recall('Was there a push at the elbow today?').events
    answer = robot.recall('Was there a push at the elbow yesterday?')
    assert answer.no_match
    assert not answer.events
    assert len(require(robot.recall('Which pushes were there yesterday?').events)) == 2


def test_of_other_joints_or_colours_than_those_known_there_is_nothing(
    open_robot: Callable[..., Robot],
) -> None:
    robot = open_robot(time_zone='UTC')
    sense = {'detector': 'state', 'kind': 'stall', 'fault': True, 'topic': '/state'}
    stall = feel(robot, 3, 0.0, text='Stall for 3 s: joint 2', **sense)
    assert robot.recall('did joint 5 ever stall?').no_match
    found = robot.recall('二轴堵转过吗？')
    assert found.memories[0].id == stall
    assert not found.no_match


def test_the_figure_is_meant_whose_name_the_question_has(
    open_robot: Callable[..., Robot],
) -> None:
    robot = open_robot(time_zone='UTC')
    ids = []
    for hours, tool, wrist in ((1, 0.9, 0.2), (2, 0.3, 1.4)):
        onset = T0 - hours * HOUR
        speeds = {
            'tool_speed': {'value': tool, 'unit': 'm/s'},
            'wrist_speed': {'value': wrist, 'unit': 'rad/s'},
        }
        sense = {'topic': '/joint_states', 'detector': 'motion', 'kind': 'motion'}
        perception = Perception(
            f'Motion with at most {tool} m/s',
            'proprioceptive',
            stamp=onset,
            context={'sense': sense, 'params': speeds},
            identity=Identity('', '/joint_states', 'motion', onset, onset, onset + 10**9),
        )
        ids.append(store_perception(robot.memory, perception).memory_id)
    assert robot.recall('fastest motion today').memories[0].id == ids[0]
    assert robot.recall('fastest motion of the wrist today').memories[0].id == ids[1]
    assert robot.recall('今天腕部转得最快的一次运动').memories[0].id == ids[1]


def test_of_the_newest_few_one_is_asked_for(pushes: tuple[Robot, dict[str, int]]) -> None:
    robot, ids = pushes
    answer = robot.recall('Of the last two pushes, which was the hardest?')
    assert [event.memory_id for event in require(answer.events)] == [ids['today']]
    answer = robot.recall('Of the last three pushes, which was the hardest?')
    assert require(answer.events)[0].memory_id == ids['hard yesterday']


def test_of_several_shifts_the_one_with_more_is_told(
    open_robot: Callable[..., Robot], clock: MovableClock
) -> None:
    robot = open_robot(time_zone='UTC')
    ids = []
    for title, forces in (('Early shift', (3.0, 4.0)), ('Late shift', (5.0,)), ('Other', (6.0,))):
        session = robot.start_session(title=title).session_id
        clock.forward(seconds=60)
        ids += [feel(robot, one / 100, one, session_id=session) for one in forces]
        clock.forward(seconds=60)
        robot.end_session(session)
    answer = robot.recall('Did the early shift or the late shift have more pushes?')
    assert require(answer.aggregate).value == 2
    assert set(require(answer.aggregate_ids)) == set(ids[:2])
    answer = robot.recall('hardest push of the early or the late shift')
    assert require(answer.events)[0].memory_id == ids[2]
