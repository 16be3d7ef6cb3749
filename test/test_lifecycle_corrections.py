"""Corrections: the current memory first, with what it replaced, by whom and when."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from authorities import OPERATOR, PLANNER, calling
from narrowing import require
from robots import MovableClock, Robot

from robot_memory.archive.reader import import_archive
from robot_memory.tools.query_records import RecordView

OLD = 'The screwdriver is kept in drawer 3 of the bench'
NEW = 'The screwdriver was moved to the tool wall, no longer in drawer 3 of the bench'
QUESTION = 'where is the screwdriver kept?'
LIMIT = 'Drive at most 0.8 m/s in the corridor'
STRICTER = 'Drive at most 0.5 m/s in the corridor'


def link(robot: Robot, old: str = OLD, new: str = NEW) -> tuple[int, int]:
    """Learn a statement and its correction; return their ids."""
    first = require(robot.learn(old).memory_id)
    return first, require(robot.learn(new).memory_id)


@pytest.mark.parametrize('resident', [True, False])
@pytest.mark.parametrize('text', ['5', 'hello', '抽屉'])
def test_a_text_of_one_word_is_learned(
    open_robot: Callable[..., Robot], resident: bool, text: str
) -> None:
    robot = open_robot(resident=resident)
    robot.learn('hello there')
    assert robot.learn(text).status == 'created'


def list_links(robot: Robot) -> list[tuple[int | None, int | None]]:
    """Return what each hit of the question replaces, and what it is replaced by."""
    return [(one.replaces, one.replaced_by) for one in robot.recall(QUESTION, n=5).memories]


def test_the_current_one_is_first_and_says_what_it_replaced(
    thinking_robot: Robot, clock: MovableClock
) -> None:
    robot = thinking_robot
    old, new = link(robot)
    found = robot.recall(QUESTION).memories
    assert [one.id for one in found] == [new, old]
    assert [(one.replaces, one.replaced_by) for one in found] == [(old, None), (None, new)]
    said = require(found[0].replacement)
    assert (said.content, said.replaced_by) == (OLD, 'planner')
    assert said.at == '2026-02-25T06:13:20.000000Z'
    assert [robot.row(each)['status'] for each in (old, new)] == ['active', 'active']
    text = robot.get_context(QUESTION).context
    assert text.index(f'[mem_{new},') < text.index(f'[mem_{old},')
    assert f'(replaces mem_{old} since 2026-02-25, by planner: "{OLD}")' in text
    assert f'(replaced by mem_{new})' in text
    listed = {one.memory_id: one for one in robot.query_records().records}
    assert (listed[new].replaces, listed[old].replaced_by) == (old, new)
    (told,) = [
        one for one in robot.search_memory(QUESTION, n=1).result if one.metadata['type'] == 'fact'
    ]
    assert (told.metadata['memory_id'], told.metadata['replaces']) == (new, old)


def test_what_replaces_a_hit_is_told_though_no_word_of_it_is_asked(robot: Robot) -> None:
    old, new = link(
        robot, 'Tea for Anna stands on shelf 4', 'From today Anna has coffee on shelf 4'
    )
    robot.learn('Tea is green')
    found = robot.recall('tea for Anna stands', n=2).memories
    assert [one.id for one in found] == [new, old]


def test_learn_says_what_a_memory_replaces(thinking_robot: Robot) -> None:
    first = thinking_robot.learn(OLD)
    assert (first.replaces, first.disagrees) == (None, None)
    assert thinking_robot.learn(NEW).replaces == first.memory_id


@pytest.mark.parametrize(
    'other',
    [
        'Should the screwdriver be moved to the tool wall?',
        'We plan to move the screwdriver from drawer 3 to the tool wall',
        'Another screwdriver is kept in drawer 4 of the bench now',
        'The hammer is kept in drawer 3 of the bench',
    ],
)
def test_what_only_looks_alike_replaces_nothing(thinking_robot: Robot, other: str) -> None:
    link(thinking_robot, OLD, other)
    assert thinking_robot.rows('SELECT count(*) FROM replacements') == [(0,)]


def test_limits_disagree_until_an_operator_decides_the_stricter_first(
    thinking_robot: Robot,
) -> None:
    robot = thinking_robot
    wide = require(robot.learn(LIMIT).memory_id)
    answer = robot.learn(STRICTER)
    tight = require(answer.memory_id)
    assert (answer.replaces, answer.disagrees) == (None, wide)
    found = robot.recall('how fast in the corridor?').memories
    assert [one.id for one in found] == [tight, wide]
    assert [one.disagrees for one in found] == [(wide,), (tight,)]
    text = robot.get_context('drive in the corridor').context
    assert f'(disagrees with mem_{wide}; not decided)' in text
    assert text.index(f'[mem_{tight},') < text.index(f'[mem_{wide},')
    with calling(OPERATOR):
        waiting = robot.review().proposals
        assert [(one.action, one.memory_id, one.replacing_id) for one in waiting] == [
            ('replace', wide, tight)
        ]
        robot.review(accept=answer.proposal)
    found = robot.recall('how fast in the corridor?').memories
    assert [(one.replaces, one.replaced_by, one.disagrees) for one in found] == [
        (wide, None, None),
        (None, tight, None),
    ]


def test_the_wider_limit_that_was_said_later_stands_second(thinking_robot: Robot) -> None:
    robot = thinking_robot
    tight, wide = link(robot, STRICTER, LIMIT)
    found = robot.recall('how fast in the corridor?').memories
    assert [one.id for one in found] == [tight, wide]
    proposal = robot.rows('SELECT id FROM proposals')[0][0]
    with calling(OPERATOR):
        robot.review(reject=proposal)
    assert [one.disagrees for one in robot.recall('how fast?').memories] == [None, None]


@pytest.mark.parametrize(
    ('danger', 'other', 'task'),
    [
        (
            'Greta is diabetic',
            'Greta is not in room 7 any more, she is in room 9',
            'Bring Greta a piece of cake',
        ),
        ('Mr Klein has a pacemaker', 'Mr Klein is no longer the foreman', 'Call Mr Klein'),
        ('李师傅有糖尿病', '李师傅不是班长了，现在是赵师傅', '给李师傅一块蛋糕'),
        ('Tom is blind', 'Tom is now in the garden', 'Guide Tom to the stairs'),
        ('Tom is on warfarin', 'Tom is now on the balcony', 'Shave Tom'),
    ],
)
def test_what_may_harm_somebody_is_told_whatever_is_said_later(
    thinking_robot: Robot, danger: str, other: str, task: str
) -> None:
    robot = thinking_robot
    known = require(robot.learn(danger).memory_id)
    assert robot.learn(other).replaces is None
    assert known in [one.memory_id for one in robot.get_context(task).rules.may_apply]


def test_a_lower_authority_replaces_nothing_but_asks(thinking_robot: Robot) -> None:
    robot = thinking_robot
    with calling(OPERATOR):
        old = require(robot.learn(OLD).memory_id)
    with calling(PLANNER):
        answer = robot.learn(NEW)
    assert (answer.replaces, answer.disagrees) == (None, old)
    assert robot.rows('SELECT action, replacing_id, state FROM proposals') == [
        ('replace', answer.memory_id, 'open')
    ]


def test_simulation_replaces_nothing_of_the_real_world(thinking_robot: Robot) -> None:
    robot = thinking_robot
    real = require(robot.learn('The tray holds 12 kg of parts').memory_id)
    simulated = {'env': {'sim_or_real': 'sim'}}
    assert robot.learn('The tray holds 9 kg of parts', context=simulated).replaces is None
    assert robot.learn('The tray holds 10 kg of parts').replaces == real


def test_what_is_stated_again_is_current_again(thinking_robot: Robot, clock: MovableClock) -> None:
    robot = thinking_robot
    old, new = link(robot)
    clock.forward(days=1)
    robot.learn(OLD)
    found = robot.recall(QUESTION).memories
    assert [(one.id, one.replaces) for one in found] == [(old, new), (new, None)]


def test_undo_an_update_and_forgetting_end_a_link(thinking_robot: Robot) -> None:
    robot = thinking_robot
    old, new = link(robot)
    both = [(old, None), (None, new)]
    robot.undo(old, 'it was not')
    assert (old, None) not in list_links(robot)
    robot.update(old, 'The hammer hangs on the wall')
    robot.undo(old, 'it does not')
    robot.learn('From today the screwdriver lies in box 7, no longer on the tool wall')
    last = max(one.id for one in robot.recall(QUESTION).memories)
    robot.forget(last, 'no')
    assert robot.recall(QUESTION).memories[0].replaced_by is None
    robot.undo(last, 'yes')
    assert any(one.replaced_by == last for one in robot.recall(QUESTION).memories)
    assert both[0] not in list_links(robot)


def test_the_past_knows_no_later_replacement(robot: Robot) -> None:
    old, new = link(robot)
    assert [one.replaced_by for one in robot.recall(QUESTION).memories if one.id == old] == [new]
    (then,) = robot.recall(QUESTION, as_of='#1').memories
    assert (then.id, then.replaced_by) == (old, None)
    ((line,),) = robot.rows('SELECT max(id) FROM audit')
    robot.undo(old, 'it was not')
    found = robot.recall(QUESTION, as_of=f'#{line}').memories
    assert [one.replaced_by for one in found if one.id == old] == [new]


def test_an_archive_keeps_the_links(robot: Robot, open_robot: Any, tmp_path: Path) -> None:
    old, new = link(robot)
    link(robot, LIMIT, STRICTER)
    path = tmp_path / 'kept.jsonl'
    path.write_text(robot.export(session_id='all', format='jsonl').content)
    other = open_robot(name='other')
    other.learn('Another store has a text of its own')
    import_archive(other.memory, path)
    import_archive(other.memory, path)
    assert other.rows('SELECT replacing_id, replaced_id, settled FROM replacements') == [
        (new + 1, old + 1, 1),
        (5, 4, 0),
    ]


def list_facts(robot: Robot) -> list[RecordView]:
    return list(robot.query_records(where={'type': 'fact'}).records)


@pytest.mark.parametrize(
    ('of_anna', 'of_joost'),
    [
        ('My cup is the blue one.', 'My cup is the green one.'),
        ('My room is 4.', "I've moved to room 9."),
        ('我的柜子是4号。', '我的柜子现在是9号。'),
    ],
)
def test_what_somebody_says_of_himself_replaces_nothing_of_another(
    thinking_robot: Robot, of_anna: str, of_joost: str
) -> None:
    robot = thinking_robot
    for actor, text in (('Anna', of_anna), ('Joost', of_joost)):
        robot.save_conversation(text, 'OK.', actor_id=actor)
    facts = list_facts(robot)
    assert {one.record_content for one in facts} == {of_anna, of_joost}
    assert not robot.rows('SELECT * FROM replacements')


def test_two_people_may_say_the_same_of_themselves(thinking_robot: Robot) -> None:
    robot = thinking_robot
    for actor in ('Anna', 'Joost'):
        robot.save_conversation('I start work at six.', 'OK.', actor_id=actor)
    facts = list_facts(robot)
    assert [one.actor_id for one in facts] == ['Joost', 'Anna']


def test_a_group_that_speaks_of_itself_is_corrected_by_any_of_it(thinking_robot: Robot) -> None:
    robot = thinking_robot
    robot.save_conversation('我们的会议室是4号。', 'OK.', actor_id='Anna')
    robot.save_conversation('我们的会议室现在是9号。', 'OK.', actor_id='Joost')
    new, old = [one.memory_id for one in list_facts(robot)]
    assert robot.rows('SELECT replacing_id, replaced_id FROM replacements') == [(new, old)]


def list_replacements(robot: Robot) -> list[Any]:
    """Return what replaces what, by id."""
    return robot.rows('SELECT replacing_id, replaced_id FROM replacements')


@pytest.mark.parametrize(
    ('known', 'text'),
    [
        ('Dora feeds the rye and Faisal the wheat', 'Other way round with those'),
        ('They shut the water off on Wednesday', "I'm a day out, it's Thursday."),
        ('阿珍管裱花，美兰管收银', '说反了，她俩正好倒过来'),
        ('消毒水在左边柜子里', '右边右边！'),
    ],
)
def test_what_was_just_said_is_taken_back_without_being_named(
    thinking_robot: Robot, known: str, text: str
) -> None:
    robot = thinking_robot
    robot.learn('The oven is cleaned on Mondays')
    old = require(robot.learn(known).memory_id)
    robot.learn('The kitchen has two sinks', collection='kitchen')
    new = require(robot.learn(text).memory_id)
    assert list_replacements(robot) == [(new, old)]


def test_what_takes_nothing_back_replaces_nothing(thinking_robot: Robot) -> None:
    robot = thinking_robot
    robot.learn('Dora feeds the rye and Faisal the wheat')
    for text in ('The flour comes on Thursday', 'No sugar for Li', '窗户朝北'):
        robot.learn(text)
    assert list_replacements(robot) == []


def test_the_latest_that_has_what_was_wrong_is_taken_back(robot: Robot) -> None:
    old = require(robot.learn('The man from the mill comes on Tuesday').memory_id)
    robot.learn('The dough rests for an hour')
    new = require(robot.learn('Not Tuesday, I misread that. Wednesday').memory_id)
    assert list_replacements(robot) == [(new, old)]


def test_nothing_is_taken_back_after_ten_minutes(robot: Robot, clock: MovableClock) -> None:
    robot.learn('The man from the mill comes on Tuesday')
    clock.now += 601_000_000
    robot.learn('Not Tuesday, I misread that. Wednesday')
    assert list_replacements(robot) == []


def test_a_turn_that_takes_back_a_fact_is_kept_whole(robot: Robot) -> None:
    robot.save_conversation('Please remember that the pills are in the left drawer.', 'I will.')
    saved = robot.save_conversation('Not the left drawer. The right one.', 'All right.')
    (_, _, kept) = saved.memory_ids
    assert robot.row(kept)['content'] == 'Not the left drawer. The right one.'
    ((new, old),) = list_replacements(robot)
    assert (new, robot.row(old)['status']) == (kept, 'active')


def test_a_turn_that_takes_back_a_fact_by_its_meaning_replaces_it(thinking_robot: Robot) -> None:
    robot = thinking_robot
    robot.save_conversation('Please remember that Dora feeds the rye.', 'I will.')
    robot.save_conversation("Sorry, that's the wrong way round. I mixed them up.", 'All right.')
    ((new, _),) = list_replacements(robot)
    assert robot.row(new)['content'] == "Sorry, that's the wrong way round. I mixed them up."


def test_a_rule_is_not_replaced_by_what_takes_it_back(robot: Robot) -> None:
    old = require(robot.learn('Never drive over 0.8 m/s in the corridor').memory_id)
    robot.learn('Not 0.8 m/s, 0.9 in the corridor')
    (link,) = robot.rows('SELECT replaced_id, settled FROM replacements')
    assert tuple(link) == (old, 0)
