"""Who said it: what one person wants is not another's, and what one restricts nobody lifts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from robots import MovableClock, Robot

from robot_memory.core.errors import InvalidArgument
from robot_memory.text.statements import extract_statements

ANNA, BOB = 'operator:anna', 'operator:bob'


def persona(robot: Robot, actor: str) -> list[str]:
    found = robot.query_records(actor_id=actor, where={'strategy_name': 'persona'}).records
    return [record.record_content for record in found]


def test_two_people_may_state_the_same(robot: Robot) -> None:
    first = robot.save_conversation('I am allergic to peanuts.', 'ok', actor_id=ANNA)
    second = robot.save_conversation('I am allergic to peanuts!', 'ok', actor_id=BOB)
    again = robot.save_conversation('I am allergic to peanuts.', 'ok', actor_id=BOB)
    assert first.memory_ids[-1] != second.memory_ids[-1] == again.memory_ids[-1]
    assert len(persona(robot, ANNA)) == len(persona(robot, BOB)) == 1


def test_what_holds_of_the_world_is_known_whoever_says_it(robot: Robot) -> None:
    context = {'actor_id': ANNA}
    kept = robot.learn('The dock stands in the hall', context=context)
    twin = robot.learn('The dock stands in the hall', context={'actor_id': BOB})
    assert (twin.status, twin.existing_id) == ('duplicate', kept.memory_id)


def test_an_end_of_a_session_merges_nobodys_preferences_with_anothers(robot: Robot) -> None:
    session = robot.start_session().session_id
    said = {
        ANNA: 'I prefer jasmine tea with honey and lemon at breakfast',
        BOB: 'I prefer jasmine tea with honey and milk at supper',
        'operator:dora': 'I prefer jasmine tea with sugar and lemon at supper',
        'operator:carl': 'I prefer the soft gripper',
    }
    for actor, text in said.items():
        robot.save_conversation(text, 'ok', session_id=session, actor_id=actor)
    robot.end_session(session)
    assert {actor: persona(robot, actor) for actor in said} == {
        actor: [text] for actor, text in said.items()
    }


@pytest.mark.parametrize('tool', ['query_records', 'search_memory', 'get_context'])
def test_an_empty_actor_does_not_lift_the_restriction(robot: Robot, tool: str) -> None:
    given = {} if tool == 'query_records' else {'query': 'tea'}
    with pytest.raises(InvalidArgument, match='actor_id must have 1 to 128 characters'):
        getattr(robot, tool)(actor_id='', **given)


def test_what_was_said_again_is_the_newest(robot: Robot, clock: MovableClock) -> None:
    for gripper in ('soft', 'hard', 'soft'):
        clock.forward(days=1)
        robot.start_session()
        robot.save_conversation(f'I prefer the {gripper} gripper.', 'ok', actor_id=ANNA)
    told = robot.get_context('which gripper does the operator prefer?')
    facts = [one for one in told.results if one.metadata['type'] == 'fact']
    assert [one.content for one in facts] == [
        'I prefer the soft gripper.',
        'I prefer the hard gripper.',
    ]
    assert facts[1].metadata['newer'] == facts[0].metadata['memory_id']
    assert 'newer' not in facts[0].metadata


@pytest.mark.parametrize(
    ('one', 'other', 'question'),
    [
        ((ANNA, 'My favourite tea is green tea.'), (BOB, 'My favourite tea is black tea.'), 'tea'),
        ((ANNA, 'Never touch the stove'), (ANNA, 'Never touch the oven'), 'what not to touch'),
        ((ANNA, 'Bring the tray to table 4'), (ANNA, 'Bring the tray to table 9'), 'tray'),
    ],
)
def test_nothing_is_called_newer_that_replaces_nothing(
    robot: Robot, clock: MovableClock, one: tuple[str, str], other: tuple[str, str], question: str
) -> None:
    for actor, text in (one, other):
        clock.forward(days=1)
        robot.start_session()
        robot.save_conversation(text, 'ok', actor_id=actor)
    assert 'newer and differs' not in robot.get_context(question).context
    assert all(found.newer is None for found in robot.recall(question, n=10).memories)


@pytest.mark.parametrize(
    ('text', 'category'),
    [
        ('Do not touch the red cup', 'constraint'),
        ('Is the cup hot? Do not touch it', 'constraint'),
        ('You may not enter the lab', 'constraint'),
        ('Nobody may touch the red button', 'constraint'),
        ('Stay out of the kitchen!', 'constraint'),
        ('Stop when I raise my hand.', 'constraint'),
        ('只能用左臂拿热的东西', 'constraint'),
        ('不能碰炉子', 'constraint'),
        ('The blue cup is mine', 'preference'),
        ('我不吃花生', 'preference'),
    ],
)
def test_what_people_forbid_and_own_is_stated(text: str, category: str) -> None:
    assert [one.found.category for one in extract_statements(text)] == [category]


@pytest.mark.parametrize(
    'text',
    [
        'I must admit the hall is nice',
        'You must be tired of the hall',
        'I have never been to the hall before',
        'I have to leave now, bye',
        'It never works',
        'Call me a taxi',
        'Call me later',
        "Don't worry about the cup",
        '别担心',
        '我要一杯咖啡',
    ],
)
def test_small_talk_states_nothing_and_is_no_rule(robot: Robot, text: str) -> None:
    assert extract_statements(text) == []
    robot.save_conversation(text, 'You must never do that, I was told.')
    assert 'Safety:' not in robot.get_context(text).context


def test_as_many_are_found_as_pass_the_threshold(robot: Robot) -> None:
    for number in range(3):
        robot.learn(f'The red cup on shelf {number} is heavy')
    for number in range(30):
        robot.save_conversation(f'How strong is the grip force on red cup {number}', 'I see')
    asked = 'grip force red cup'
    every = robot.search_memory(asked, n=100, threshold=0).result
    least = every[9].score
    passing = sum(one.score >= least for one in every)
    for n in (1, 3, 10, 100):
        found = robot.search_memory(asked, n=n, threshold=least).result
        assert [one.score for one in found] == [one.score for one in every[: min(n, passing)]]


def test_a_strategy_of_a_site_tells_no_more_than_was_asked_for(
    open_robot: Callable[..., Robot], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / 'all_of_them.py').write_text(
        'from sage_mcp.retrieval import BaseStrategy\n'
        'class Everything(BaseStrategy):\n'
        '    name = "everything"\n'
        '    def retrieve(self, query, max_results):\n'
        '        return [{"content": f"memory {i}", "score": 1.0,'
        ' "metadata": {"memory_id": i}} for i in range(1, 20)] + [{"content": "a page"}]\n'
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    robot = open_robot(strategies=('all_of_them:Everything',))
    robot.save_conversation('I like green tea.', 'ok', actor_id=ANNA)
    robot.save_conversation('I like black tea.', 'ok', actor_id=BOB)
    hers = {record.memory_id for record in robot.query_records(actor_id=ANNA).records}
    told = robot.get_context('tea', 50, 'everything', actor_id=ANNA)
    assert {one.metadata['memory_id'] for one in told.results} == hers
    anyones = robot.get_context('tea', 50, 'everything')
    assert len(anyones.results) == len(robot.query_records(limit=100).records) + 1


def test_a_command_keeps_to_its_collection(robot: Robot) -> None:
    for collection in ('a', 'b'):
        robot.save_conversation(f'It is {collection}', 'ok', collection=collection)
    robot.sage_command('/forget', collection='a')
    assert 'It is a' not in robot.sage_command('/recall', collection='a').text
    shown = robot.sage_command('/recall', collection='b').text
    assert 'It is b' in shown
    assert robot.sage_memory('save', title='B', collection='b').result['turns'] == 2


def test_a_combining_operator_is_refused(robot: Robot) -> None:
    with pytest.raises(InvalidArgument, match=r'unknown operator .*\$or'):
        robot.query_records(where={'$or': [{'category': 'gotcha'}]})
