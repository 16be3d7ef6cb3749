"""What to try next: from trials, within limits, and refused by what is known."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

import pytest
from amounts import few_or_many
from hypothesis import given
from hypothesis import settings as run_with
from hypothesis import strategies as st
from narrowing import require
from robots import Robot

from robot_memory.core.amounts import make_amount
from robot_memory.core.errors import InvalidArgument, NotFound
from robot_memory.core.fields import to_plain
from robot_memory.core.settings import Settings
from robot_memory.memory import Memory
from robot_memory.text.categories import classify
from robot_memory.text.rules.limits import read_limits
from robot_memory.text.rules.prescribed import prescribes_limit

OILED, WOOD = 'brass disc on the oiled tray', 'plastic disc on wood'
GOAL = {'result': 'slide', 'value': '40 cm', 'tolerance': '10 cm'}


def slide(situation: str, speed: float) -> float:
    return speed**2 / (2 * 9.81 * (0.05 if situation == OILED else 0.2))


@pytest.fixture
def striker(robot: Robot) -> Robot:
    """A robot that struck discs 60 times, on two surfaces."""
    chance = random.Random(7)
    for _ in range(60):
        situation, speed = chance.choice((OILED, WOOD)), chance.uniform(0.4, 2.0)
        far = slide(situation, speed)
        robot.record_outcome(
            'strike',
            situation,
            params={'speed': f'{speed:.3f} m/s', 'gripper': chance.choice(('soft', 'hard'))},
            results={'slide': f'{far:.4f} m'},
            success='true' if abs(far - 0.4) < 0.1 else 'false',
        )
    copy = next(iter(robot.memory.skills._copies.values()))
    with copy.lock:
        copy.skill.learn()
    return robot


@pytest.mark.parametrize('situation', [OILED, WOOD])
def test_a_suggestion_reaches_the_goal_of_each_situation(striker: Robot, situation: str) -> None:
    found = striker.suggest('strike', situation, want=GOAL)
    assert found.params['speed']['unit'] == 'm/s'
    assert abs(slide(situation, found.params['speed']['value']) - 0.4) < 0.1
    assert found.probability is not None and found.probability > 0.5
    low, high = (end['value'] for end in require(found.interval))
    assert low < require(found.predicted)['value'] < high
    assert not found.default_used
    assert found.effective_trials > 1
    best = found.evidence[0]
    assert situation in striker.show(best.memory_id).memory.content
    assert 'trials like this' in found.why


def test_the_same_seed_explores_the_same_and_nothing_is_written(robot: Robot) -> None:
    for speed, far in ((0.5, 0.1), (1.0, 0.9)):
        robot.record_outcome(
            'strike', OILED, params={'speed': f'{speed} m/s'}, results={'slide': f'{far} m'}
        )
    among = {'speed': {'min': '0.2 m/s', 'max': '2 m/s'}}
    before = robot.rows('SELECT count(*), max(id) FROM audit')
    drawn = [
        robot.suggest('strike', OILED, want=GOAL, among=among, explore=1.0, seed=seed)
        for seed in (1, 1, 2, 3, 4)
    ]
    assert drawn[0] == drawn[1]
    assert len({str(one.params) for one in drawn}) > 1
    assert robot.rows('SELECT count(*), max(id) FROM audit') == before


def test_without_among_params_stay_within_what_was_tried_with_success(striker: Robot) -> None:
    found = striker.suggest('strike', OILED, want={'maximise': 'slide'})
    good = striker.query_events(where={'kind': 'trial', 'success': 1}, limit=1000).events
    speeds = [one.value for event in good for one in event.figures if one.name == 'speed']
    assert found.params['speed']['value'] <= max(speeds) + 1e-3


def test_among_allows_values_ranges_and_names(striker: Robot) -> None:
    among = {'speed': ['80 cm/s', '1.9 m/s'], 'gripper': ['hard']}
    found = striker.suggest('strike', OILED, want={'minimise': 'slide'}, among=among)
    assert found.params == {'speed': {'value': 80, 'unit': 'cm/s'}, 'gripper': 'hard'}


def test_the_default_stands_where_nothing_is_known(robot: Robot) -> None:
    for speed in (0.8, 1.2):
        robot.record_outcome(
            'strike', OILED, params={'speed': f'{speed} m/s'}, results={'slide': f'{speed} m'}
        )
    default = {'speed': '0.9 m/s'}
    found = robot.suggest('strike', 'a sponge in the sink', want=GOAL, default=default)
    assert found.default_used
    assert found.probability is None
    assert found.params == {'speed': {'value': 0.9, 'unit': 'm/s'}}
    found = robot.suggest('strike', 'a sponge in the sink', want=GOAL)
    assert (found.params, found.probability, found.default_used) == ({}, None, False)
    found = robot.suggest('pour', default={'angle': '30 deg'})
    assert found.default_used and found.params == {'angle': {'value': 30, 'unit': 'deg'}}


def test_only_trials_of_the_robot_and_of_none_count_for_it(striker: Robot) -> None:
    for _ in range(4):
        striker.record_outcome(
            'grip', params={'force': '5 N'}, results={'slip': '1 mm'}, robot='a', success='true'
        )
        striker.record_outcome(
            'grip', params={'force': '9 N'}, results={'slip': '1 mm'}, robot='b', success='true'
        )
    assert striker.suggest('grip', robot='a').params['force']['value'] == 5
    assert striker.suggest('grip', robot='b').params['force']['value'] == 9
    assert striker.suggest('grip', robot='c', default={'force': '2 N'}).default_used


def test_a_trial_of_low_authority_does_not_count(striker: Robot) -> None:
    with striker.memory.db.write() as connection:
        connection.execute("UPDATE memories SET authority = 'observed' WHERE type = 'perception'")
    striker.memory.skills.drop('default', 'strike')
    found = striker.suggest('strike', OILED, default={'speed': '1 m/s'})
    assert found.default_used
    assert '60 trials of lower authority do not count' in found.why


def test_what_is_forgotten_no_longer_counts_and_counts_again_when_undone(striker: Robot) -> None:
    before = striker.suggest('strike', WOOD, want=GOAL)
    first = before.evidence[0].memory_id
    striker.forget(first, 'measured wrongly')
    ids = {one.memory_id for one in striker.suggest('strike', WOOD, want=GOAL).evidence}
    assert first not in ids
    striker.undo(first)
    ids = {one.memory_id for one in striker.suggest('strike', WOOD, want=GOAL).evidence}
    assert first in ids


def test_lost_rows_change_no_suggestion(striker: Robot, open_robot: Callable[..., Robot]) -> None:
    striker.close()
    alone = open_robot(resident=False)  # nothing is learned in the background between the two
    before = alone.suggest('strike', WOOD, want=GOAL)
    with alone.memory.db.write() as connection:
        connection.execute('DELETE FROM trials WHERE memory_id % 2')
    alone.memory.skills.drop('default', 'strike')
    after = alone.suggest('strike', WOOD, want=GOAL)
    assert before.evidence
    assert [one.memory_id for one in after.evidence] == [one.memory_id for one in before.evidence]


@pytest.mark.parametrize(
    ('arguments', 'words'),
    [
        ({'want': {'maximise': 'force'}}, ['force', 'measured: slide']),
        ({'want': {'result': 'slide', 'value': '1 N', 'tolerance': '1 m'}}, ['N', 'm']),
        ({'want': {'result': 'slide', 'value': '1 m'}}, ['tolerance']),
        ({'want': {'result': 'slide', 'value': '1 m', 'tolerance': '0 m'}}, ['above 0']),
        ({'want': {'goal': 1}}, ['result', 'minimise', 'goal']),
        ({'explore': 0.5}, ['explore', 'among']),
        ({'among': {'power': ['1 W']}}, ['power', 'known: gripper, speed']),
        ({'among': {'speed': ['1 N']}}, ['among.speed is 1 N', 'm/s', 'mem_60']),
        ({'among': {'speed': [1]}}, ['among.speed is 1 without a unit', '"1 m/s"']),
        ({'default': {'speed': 'fast'}}, ["default.speed is the name 'fast'", 'm/s']),
        (
            {'want': {'result': 'slide', 'value': 1, 'tolerance': '1 m'}},
            ['want.value is 1 without a unit', '"1 m"'],
        ),
        ({'among': {'speed': []}}, ['among.speed']),
        ({'among': {'speed': {'min': '2 m/s', 'max': '1 m/s'}}}, ['among.speed', 'min above max']),
        ({'default': {'sped': '1 m/s'}}, ['sped', 'known: gripper, speed']),
        ({'numbers': {'distance': '1 m'}}, ['distance', 'numbers', 'known: none']),
        ({'among': {'speed': ['nan m/s']}}, ['among.speed', 'nan']),
        ({'session_id': 'nowhere'}, ['nowhere']),
    ],
)
def test_what_is_not_known_is_refused_by_what_is(
    striker: Robot, arguments: dict[str, Any], words: list[str]
) -> None:
    with pytest.raises((InvalidArgument, NotFound)) as refused:
        striker.suggest('strike', OILED, **arguments)
    for word in words:
        assert word in str(refused.value)
    with pytest.raises(InvalidArgument, match='skill'):
        striker.suggest(' ')


def test_what_was_never_tried_is_told_as_such_and_never_as_sure(robot: Robot) -> None:
    for angle in (40, 45, 50):
        robot.record_outcome('pour', OILED, params={'angle': f'{angle} deg'}, success='true')
    tried = robot.suggest('pour', OILED, among={'angle': ['45 deg']})
    assert (tried.untried, tried.nearest_params) == (
        False,
        {'angle': {'value': 45, 'unit': 'deg'}},
    )
    assert 'untried' not in tried.why
    found = robot.suggest('pour', OILED, among={'angle': ['53 deg']})
    assert found.untried
    assert found.nearest_params == {'angle': {'value': 50, 'unit': 'deg'}}
    assert f'untried: the nearest trial, mem_{found.nearest_id}, had angle 50 deg (3 deg off)' in (
        found.why
    )
    for one in (tried, found):
        most = (one.effective_trials + 1) / (one.effective_trials + 2)
        assert require(one.probability) == pytest.approx(most, abs=0.01)
    assert require(found.probability) < require(tried.probability) < 0.8


def test_two_successes_of_three_are_two_thirds_also_after_a_correction(robot: Robot) -> None:
    ids = [
        robot.record_outcome('pour', OILED, params={'angle': '50 deg'}, success='true').memory_id
        for _ in range(3)
    ]
    assert robot.suggest('pour', OILED).probability == pytest.approx(0.8)
    robot.forget(ids[0], 'it spilled')
    robot.record_outcome('pour', OILED, params={'angle': '50 deg'}, success='false')
    assert robot.suggest('pour', OILED).probability == pytest.approx(2 / 3, abs=0.01)


def test_a_param_that_never_varied_tells_nothing_of_values_far_from_it(robot: Robot) -> None:
    for _ in range(5):
        robot.record_outcome('drill', params={'depth': '10 mm'}, success='true')
    near = robot.suggest('drill', among={'depth': ['11 mm']})
    assert near.untried and 3 < near.effective_trials < 5
    far = robot.suggest('drill', among={'depth': ['50 mm']}, default={'depth': '5 mm'})
    assert (far.default_used, far.probability, far.untried) == (True, None, True)


def test_a_number_of_the_situation_that_never_varied_tells_something_of_others(
    robot: Robot,
) -> None:
    for place in range(20):
        speed = {'speed': f'{0.2 + 0.02 * place:.2f} m/s'}
        load = {'load': '2 kg'}
        robot.record_outcome('carry', 'box', numbers=load, params=speed, success='true')
    found = [robot.suggest('carry', 'box', numbers={'load': f'{kilos} kg'}) for kilos in (2, 3, 4)]
    assert all(one.params for one in found)
    told = [require(one.probability) for one in found]
    assert told == sorted(told, reverse=True)


def test_a_rule_of_a_planner_is_a_limit_and_that_of_a_person_is_none(striker: Robot) -> None:
    striker.save_conversation('Never strike faster than 0.2 m/s', 'Fine', actor_id='visitor')
    free = striker.suggest('strike', WOOD, want=GOAL)
    assert free.params['speed']['value'] > 1
    rule = striker.learn('Never strike faster than 0.9 m/s').memory_id
    bound = striker.suggest('strike', WOOD, want=GOAL)
    assert bound.params['speed']['value'] <= 0.9
    assert to_plain(bound)['bound_by'] == [
        {
            'param': 'speed',
            'min': None,
            'max': 0.9,
            'unit': 'm/s',
            'memory_id': rule,
            'content': 'Never strike faster than 0.9 m/s',
            'applies': True,
            'why': 'always',
        }
    ]
    assert f'within the limits of mem_{rule}.' in bound.why


def test_where_no_value_is_left_params_are_empty(striker: Robot) -> None:
    striker.learn('Speed at most 0.3 m/s')
    among = {'speed': {'min': '0.5 m/s', 'max': '2 m/s'}}
    found = striker.suggest('strike', WOOD, want=GOAL, among=among, default={'speed': '1 m/s'})
    assert (found.params, found.probability) == ({}, None)
    assert 'no value of speed is allowed' in found.why


def test_a_limit_binds_the_default(striker: Robot) -> None:
    striker.learn('Never tilt by more than 20 degrees')
    found = striker.suggest('pour', default={'angle': '30 deg'})
    assert found.params['angle']['value'] <= 20


def test_a_condition_that_is_not_met_does_not_bind_and_an_unknown_one_does(
    striker: Robot,
) -> None:
    striker.learn('With glass the speed is at most 0.5 m/s')
    assert striker.suggest('strike', WOOD, want=GOAL).params['speed']['value'] > 1
    striker.learn('When Li is near, move no faster than 0.8 m/s')
    assert striker.suggest('strike', WOOD, want=GOAL).params['speed']['value'] <= 0.8


def test_a_rule_that_only_may_apply_binds_and_is_told_as_such(striker: Robot) -> None:
    text = 'When visitors are near, move no faster than 0.8 m/s'
    rule = striker.learn(text).memory_id
    (bound,) = (found := striker.suggest('strike', WOOD, want=GOAL)).bound_by
    assert (bound.memory_id, bound.content, bound.applies) == (rule, text, False)
    assert bound.why == 'visitors near'
    assert f'mem_{rule} (may apply: visitors near)' in found.why
    near = striker.suggest('strike', f'{WOOD}, visitors are near', want=GOAL).bound_by
    assert [one.applies for one in near] == [True]
    assert not striker.suggest('strike', f'{WOOD}, nobody is near', want=GOAL).bound_by


def test_what_holds_elsewhere_or_for_another_load_does_not_bind(robot: Robot) -> None:
    for speed in (0.2, 1.0):
        robot.record_outcome(
            'drive', 'the kitchen', params={'speed': f'{speed} m/s'}, success='true'
        )
    robot.learn('Never drive faster than 0.5 m/s in the corridor')
    robot.learn('When more than 2 kg are carried, drive no faster than 0.3 m/s')
    limits = [{'param': 'speed', 'max': 0.4, 'unit': 'm/s', 'when': 'in the corridor'}]
    robot.learn('House rule 12', context={'limits': limits})
    for situation in ('', 'the kitchen', 'the kitchen, a box of 0.5 kg'):
        assert not robot.suggest('drive', situation).bound_by
    there = robot.suggest('drive', 'the corridor, a box of 3 kg')
    assert sorted(require(one.max) for one in there.bound_by) == [0.3, 0.4, 0.5]
    assert all(one.applies for one in there.bound_by)


def test_of_two_things_whose_weight_is_said_what_all_weigh_is_not_known(robot: Robot) -> None:
    for _ in range(6):
        robot.record_outcome(
            'carry', 'two boxes of 1.5 kg', params={'speed': '0.5 m/s'}, success='true'
        )
    robot.learn('When heavier than 2 kg drive no faster than 0.3 m/s')
    for situation in ('two boxes of 1.5 kg', 'a box of 1.5 kg and a pot of 1 kg'):
        found = robot.suggest('carry', situation)
        assert [(one.max, one.applies) for one in found.bound_by] == [(0.3, False)]
    assert not robot.suggest('carry', 'a box of 1.5 kg').bound_by


def test_a_rule_about_the_object_that_no_param_keeps_is_told_first(striker: Robot) -> None:
    rule = striker.learn('Never heat a disc above 60 °C').memory_id
    found = striker.suggest('strike', WOOD, want=GOAL)
    assert [one.memory_id for one in found.unchecked] in ([rule], [])
    about = striker.learn('Grip the cup with at most 5 N').memory_id
    found = striker.suggest('strike', 'cup on the table', want=GOAL, default={'speed': '1 m/s'})
    assert (about, True) in [(one.memory_id, one.applies) for one in found.unchecked]
    assert found.why.startswith(f'No param keeps mem_{about}')


def test_limits_in_the_context_are_limits_without_words(striker: Robot) -> None:
    limits = [{'param': 'speed', 'max': 70, 'unit': 'cm/s'}]
    learned = striker.learn('House rule 12 for discs', context={'limits': limits})
    assert require(learned.auto_inferred).category == 'constraint'
    assert striker.suggest('strike', WOOD, want=GOAL).params['speed']['value'] <= 0.7
    for wrong in ([{'param': 'speed', 'max': 1, 'unit': 'furlong'}], 'fast', [{'max': 1}], []):
        with pytest.raises(InvalidArgument, match='limits'):
            striker.learn('House rule 13', context={'limits': wrong})


def test_a_limit_with_a_when_that_is_not_met_does_not_bind(striker: Robot) -> None:
    limits = [{'param': 'speed', 'max': 0.5, 'unit': 'm/s', 'when': 'you touch glass'}]
    striker.learn('House rule 12', context={'limits': limits})
    assert striker.suggest('strike', WOOD, want=GOAL).params['speed']['value'] > 0.5
    limits = [{'param': 'speed', 'max': 0.6, 'unit': 'm/s', 'when': 'Li is near'}]
    striker.learn('House rule 14', context={'limits': limits})
    assert striker.suggest('strike', WOOD, want=GOAL).params['speed']['value'] <= 0.6


ENGLISH = (
    'Never exceed {}', 'The {name} must not be more than {}', 'At most {}',
    'Keep the {name} below {}', 'Maximum {name}: {}', 'No more than {}', '{name} limit {}',
    'Do not use more than {}', '{name} up to {} only', 'Use {} at most', 'Stay under {}',
    'Never above {}', 'Must never go over {}', 'The {name} may not exceed {}',
    'You must not use more than {}', '{name} over {} is forbidden', 'Avoid more than {}',
    'Make sure the {name} stays below {}', 'Anything above {} is prohibited',
    'Anything over {} is out of bounds', '{} is plenty, never go past it', 'Refuse more than {}',
    '{} is the most I will allow', 'Keep it under {}', '{name}: {} or less', '{name}: {} tops',
)  # fmt: skip
CHINESE = (
    '不要超过{}', '{name}不得大于{}', '{name}最大{}', '最多{}', '{name}控制在{}以内',
    '禁止超过{}', '{name}不能高于{}', '{name}上限{}', '绝不要超过{}', '{name}不超过{}',
    '{name}不许大于{}', '{name}必须小于{}', '千万别超过{}', '{name}的极限是{}', '{name}应低于{}',
    '超过{}一律禁止', '{name}不能突破{}', '确保{name}绝不大于{}', '避免{name}超过{}',
    '{name}以{}为限', '{name}{}封顶', '{name}不要过{}', '{name}到{}就到头了,再往上不行',
)  # fmt: skip
LOW_ENGLISH = (
    'The {name} must be at least {}',
    'Never below {}',
    'Stay above {}',
    'No less than {}',
    'Keep the {name} above {}',
    'Minimum {name}: {}',
    'Anything below {} is forbidden',
)
LOW_CHINESE = (
    '{name}不得低于{}',
    '{name}至少{}',
    '{name}不能小于{}',
    '保持{}以上',
    '{name}下限{}',
)
KINDS = {
    'speed': ('m/s', ['m/s', 'mm/s', 'km/h'], ['m/s', '米/秒'], ['speed', 'velocity'], ['速度']),
    'grip_force': ('N', ['N', 'kN', 'newtons'], ['N', '牛'], ['grip force', 'force'], ['夹持力']),
    'depth': ('m', ['mm', 'cm', 'm'], ['毫米', '厘米'], ['depth', 'insertion depth'], ['深度']),
    'torque': ('N m', ['Nm', 'N m', 'Ncm'], ['牛米', 'Nm'], ['torque'], ['扭矩']),
    'tilt': ('rad', ['deg', 'rad', 'degrees'], ['弧度'], ['tilt', 'tilt angle'], ['倾斜角度']),
}
IN_SI = {
    'newtons': 'N', '牛': 'N', '米/秒': 'm/s', '毫米': 'mm', '厘米': 'cm', 'Nm': 'N m',
    'Ncm': 'N cm', '牛米': 'N m', 'degrees': 'deg', '弧度': 'rad',
}  # fmt: skip


@st.composite
def rules(draw: st.DrawFn) -> tuple[str, str, float, float]:
    """Draw a rule in either language, the param that it is about, and its bounds in SI units."""
    param = draw(st.sampled_from(sorted(KINDS)))
    _, units, han_units, names, han_names = KINDS[param]
    is_han = draw(st.booleans())
    unit = draw(st.sampled_from(han_units if is_han else units))
    name = draw(st.sampled_from(han_names if is_han else names))
    number = draw(st.sampled_from(('0.2', '0.5', '1', '1.5', '2', '3', '7.25', '12', '40', '150')))
    is_low = draw(st.booleans())
    forms = (LOW_CHINESE if is_low else CHINESE) if is_han else LOW_ENGLISH if is_low else ENGLISH
    form = draw(st.sampled_from(forms))
    text = form.format(f'{number}{draw(st.sampled_from((" ", "")))}{unit}', name=name)
    bound = make_amount(float(number), IN_SI.get(unit, unit)).value
    return (text, param, bound, math.inf) if is_low else (text, param, -math.inf, bound)


@run_with(max_examples=few_or_many(16, 400))
@given(drawn=st.lists(rules(), min_size=1, max_size=3), seed=st.integers(0, 9))
def test_no_suggestion_breaks_a_rule(
    tmp_path_factory: pytest.TempPathFactory, drawn: list[tuple[str, str, float, float]], seed: int
) -> None:
    path = tmp_path_factory.mktemp('rules') / 'memory.db'
    settings = Settings(db_path=str(path), model='none', durability='normal')
    among = {
        name: {'min': f'0.001 {unit}', 'max': f'200 {unit}'} for name, (unit, *_) in KINDS.items()
    }
    with Memory(settings, resident=False) as memory:
        robot, chance = Robot(memory), random.Random(seed)
        for _ in range(6):
            params = {
                name: f'{chance.uniform(0.01, 200):.4g} {unit}'
                for name, (unit, *_) in KINDS.items()
            }
            robot.record_outcome(
                'work', 'a block', params=params, results={'y': chance.random()}, success='true'
            )
        for text, *_ in drawn:
            robot.learn(text)
        for number in range(25):
            want = {('maximise', 'minimise')[number % 2]: 'y'}
            found = robot.suggest(
                'work', 'a block', want=want, among=among, explore=number / 24, seed=number
            )
            for text, param, least, most in drawn:
                if param in found.params:
                    value = found.params[param]
                    si = make_amount(value['value'], value['unit']).value
                    assert least <= si <= most, text


def test_all_of_these_limits_are_taken_for_rules() -> None:
    english, chinese = [(one, 'high') for one in ENGLISH], [(one, 'high') for one in CHINESE]
    english += [(one, 'low') for one in LOW_ENGLISH]
    chinese += [(one, 'low') for one in LOW_CHINESE]
    texts = {
        form.format(f'12 {unit}', name=name): side
        for _, units, han_units, names, han_names in KINDS.values()
        for forms, known, words in ((english, units, names), (chinese, han_units, han_names))
        for form, side in forms
        for unit in known
        for name in words
    }
    wrong = [one for one, side in texts.items() if getattr(read_limits(one)[0], side) is None]
    assert wrong == []
    assert [text for text in texts if classify(text).category != 'constraint'] == []
    assert [text for text in texts if not prescribes_limit(text)] == []
