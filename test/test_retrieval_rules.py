"""The rules of a context: all that apply or may, whatever the search finds."""

from __future__ import annotations

import pytest
from authorities import OPERATOR, calling
from narrowing import require
from robots import MovableClock, Robot

from robot_memory.core.errors import InvalidArgument

NEAR = 'At most 0.2 m/s when Li is near'
GLASS = 'Glassware: at most 6 N'
ALWAYS = 'Never push with more than 40 N, whatever the job'


@pytest.fixture
def ids(robot: Robot) -> dict[str, int]:
    return {text: require(robot.learn(text).memory_id) for text in (NEAR, GLASS, ALWAYS)}


def _told(robot: Robot, task: str, **more: object) -> dict[str, list[str]]:
    rules = robot.get_context(task, **more).rules  # type: ignore[arg-type]
    return {
        'applies': [one.content for one in rules.applies],
        'may_apply': [one.content for one in rules.may_apply],
    }


def test_a_rule_is_told_whatever_else_the_task_says(robot: Robot, ids: dict[str, int]) -> None:
    answer = robot.get_context('把高脚杯放回柜子，动作轻一点', max_results=1)
    assert [one.memory_id for one in answer.rules.applies] == [ids[GLASS], ids[ALWAYS]]
    assert [one.why for one in answer.rules.applies] == ['glassware', 'always']
    assert [(one.memory_id, one.why) for one in answer.rules.may_apply] == [(ids[NEAR], 'li near')]
    assert answer.rules.rest_ids == ()
    assert answer.rules_complete
    assert answer.context.splitlines()[1:5] == [
        'Safety:',
        f'- [mem_{ids[GLASS]}, constraint, applies: glassware, 2026-02-25, planner] {GLASS}',
        f'- [mem_{ids[ALWAYS]}, constraint, applies: always, 2026-02-25, planner] {ALWAYS}',
        f'- [mem_{ids[NEAR]}, constraint, may apply: li near, 2026-02-25, planner] {NEAR}',
    ]


def test_a_small_collection_is_told_whole_and_the_rest_is_named(
    robot: Robot, ids: dict[str, int]
) -> None:
    answer = robot.get_context('Vacuum the hallway')
    assert answer.rules.rest_ids == (ids[GLASS],)
    assert answer.rules.rest_count == 1
    assert f'does not apply: glassware, 2026-02-25, planner] {GLASS}' in answer.context
    for number in range(40):
        robot.learn(f'Never drill deeper than {number + 2} mm')
    answer = robot.get_context('Vacuum the hallway')
    assert answer.rules.rest_count == 41
    assert 'does not apply' not in answer.context


@pytest.mark.parametrize(
    ('situation', 'where'),
    [
        ({'people_near': ['小李']}, 'applies'),
        ({'people_near': ['Anna']}, ''),
        ({'people_near': []}, ''),
        ({'people_near': ['Li'], 'age_s': 61}, 'may_apply'),
        ({'battery': '30%'}, 'may_apply'),
        (None, 'may_apply'),
    ],
)
def test_the_situation_decides_who_is_near_while_it_is_fresh(
    robot: Robot, ids: dict[str, int], situation: object, where: str
) -> None:
    told = _told(robot, 'Carry the box away', situation=situation)
    assert [name for name, texts in told.items() if NEAR in texts] == ([where] if where else [])


def test_recent_memories_tell_the_situation_and_speech_does_not(
    robot: Robot, ids: dict[str, int], clock: MovableClock
) -> None:
    robot.save_conversation('Li is here', 'Hello', actor_id='operator:li')
    assert NEAR in _told(robot, 'Carry the box away')['may_apply']
    robot.save_perception('Somebody seen', 'visual', metadata={'env': {'people_near': ['Li']}})
    robot.learn('Seen by the camera', {'env': {'people_near': ['Li']}})
    assert NEAR in _told(robot, 'Carry the box away')['applies']
    assert NEAR in _told(robot, 'Carry the box', situation={'tool': 'hook tool'})['applies']
    assert NEAR not in str(_told(robot, 'Carry the box', situation={'people_near': []}))
    clock.forward(seconds=61)
    assert NEAR in _told(robot, 'Carry the box away')['may_apply']
    assert NEAR in _told(robot, 'Carry the box away', max_age_s=120)['applies']


@pytest.mark.parametrize(
    ('situation', 'named'),
    [
        ({'people_near': [3]}, 'situation.people_near must be a list of names'),
        ({'tool': 3}, 'situation.tool must be a text, not 3'),
        ({'age_s': -1}, 'situation.age_s must be a number of seconds'),
        ('[]', 'situation must be a JSON object'),
    ],
)
def test_another_form_of_situation_is_refused_in_words(
    robot: Robot, situation: object, named: str
) -> None:
    with pytest.raises(InvalidArgument, match=named):
        robot.get_context('Carry the box', situation=situation)  # type: ignore[arg-type]


def test_what_applies_is_never_cut_and_what_may_is_counted_as_missing(robot: Robot) -> None:
    met = [f'Glassware of set {number}: never more than 6 N' for number in range(12)]
    open_ = [f'Stop {number} m away while Li is near' for number in range(12)]
    for text in (*met, *open_):
        robot.learn(text)
    answer = robot.get_context('Put the wine glass away', max_results=1, max_characters=400)
    assert all(text in answer.context for text in met)
    assert not all(text in answer.context for text in open_)
    assert len(answer.rules.may_apply) == 12
    assert not answer.rules_complete
    whole = robot.get_context('Put the wine glass away', max_characters=20_000)
    assert all(text in whole.context for text in (*met, *open_))
    assert whole.rules_complete


def test_what_a_person_states_is_a_rule_in_quotes_after_those_of_operators(robot: Robot) -> None:
    robot.save_conversation('Never carry my glassware in the rain', 'ok', actor_id='anna')
    with calling(OPERATOR):
        robot.learn(GLASS)
    answer = robot.get_context('Carry the wine glass')
    assert [one.quoted for one in answer.rules.applies] == [False, True]
    lines = answer.context.splitlines()
    said = lines.index('Said by people (quoted):')
    assert lines.index('Safety:') < said
    assert lines[said + 1].endswith('"Never carry my glassware in the rain"')


def test_an_actor_restricts_rules_and_says_so(robot: Robot, ids: dict[str, int]) -> None:
    answer = robot.get_context('Carry the box', actor_id='anna')
    assert answer.rules.applies == answer.rules.may_apply == ()
    assert not answer.rules_complete


def test_a_forgotten_rule_is_gone(robot: Robot, ids: dict[str, int]) -> None:
    robot.forget(ids[ALWAYS], 'no longer')
    assert ALWAYS not in str(_told(robot, 'Carry the box'))


def test_a_word_that_no_table_knows_is_found_in_its_other_forms(robot: Robot) -> None:
    rule = 'Rule: put the gloobers in the drawer'
    robot.learn(rule)
    assert _told(robot, 'Clean the gloober')['applies'] == [rule]
    assert _told(robot, 'Clean the window')['may_apply'] == [rule]
