"""What the cross-encoder says of known facts, and what learn makes of it."""

from __future__ import annotations

import math

import pytest
from authorities import OPERATOR, PLANNER, calling
from narrowing import require
from robots import Robot

from robot_memory.core.records import Record
from robot_memory.embedding.cross_encoder import has_cross_encoder
from robot_memory.lifecycle.verdicts import (
    NO_VERDICTS,
    SURE,
    Verdict,
    Verdicts,
    judge_statement,
)
from robot_memory.search.neighbours import open_neighbours
from robot_memory.storage.indexes import duplicates

CORRECTIONS = [
    ('The pallet jack is in bay 4.', 'The pallet jack was moved to bay 7.'),
    ('Deliveries come to the back door.', 'Deliveries come to the side gate from now on.'),
    ('Anna sits at desk 12.', 'Anna has moved to desk 20.'),
    ('备用钥匙在抽屉里。', '备用钥匙改放到柜子里了。'),
    ('焊接班七点上班。', '焊接班改到八点上班了。'),
]
LOOK_ALIKES = [
    ('The pallet jack is in bay 4.', 'The hand truck was moved to bay 7.'),
    ('The robot charges by the loading dock.', 'The forklift charges in the east hall now.'),
    ('Anna sits at desk 12.', 'Anna has a lamp on desk 12.'),
    ('备用钥匙在抽屉里。', '备用电池改放到柜子里了。'),
    ('焊接班七点上班。', '喷漆班改到八点上班了。'),
]


@pytest.fixture
def judged(thinking_robot: Robot) -> Robot:
    """A memory whose model has a cross-encoder."""
    if not has_cross_encoder(thinking_robot.memory.embedder.get_if_loaded()):
        pytest.skip('the default model is not that of the cross-encoder')
    return thinking_robot


@pytest.mark.parametrize(('old', 'new'), CORRECTIONS)
def test_a_plain_correction_replaces_the_old_fact(judged: Robot, old: str, new: str) -> None:
    first = require(judged.learn(old).memory_id)
    assert judged.learn(new).replaces == first


@pytest.mark.parametrize(('old', 'new'), LOOK_ALIKES)
def test_a_fact_of_another_thing_replaces_nothing(judged: Robot, old: str, new: str) -> None:
    judged.learn(old)
    assert judged.learn(new).replaces is None


def test_what_a_person_says_in_a_conversation_is_judged_too(judged: Robot) -> None:
    old, new = CORRECTIONS[0]
    first = require(judged.learn(old).memory_id)
    judged.save_conversation(f'Please remember: {new}', 'OK')
    assert judged.rows('SELECT replaced_id FROM replacements') == [(first,)]


def test_a_known_text_a_question_and_a_store_without_facts_are_not_judged(judged: Robot) -> None:
    old, _ = CORRECTIONS[0]
    vectors = judged.memory.embed_passage(old)
    assert judge_statement(judged.memory, old, 'default', vectors) == NO_VERDICTS
    judged.learn(old)
    assert judge_statement(judged.memory, old, 'default', vectors) == NO_VERDICTS
    question = 'Was the pallet jack moved to bay 7?'
    vectors = judged.memory.embed_passage(question)
    assert judge_statement(judged.memory, question, 'default', vectors) == NO_VERDICTS


def test_of_two_facts_that_are_read_the_one_of_the_highest_score_is_replaced(
    judged: Robot,
) -> None:
    other = require(judged.learn('The sample fridge is in lab 4.').memory_id)
    first = require(judged.learn('The centrifuge is in lab 2.').memory_id)
    new = 'We carried the centrifuge over to lab 4 for good.'
    found = judge_statement(judged.memory, new, 'default', judged.memory.embed_passage(new)).found
    assert found[first].replaced
    assert found[first].score > found[other].score
    assert Verdicts(found).sort([(other, 0.9), (7, 0.8), (first, 0.5)]) == [
        (first, 0.5),
        (other, 0.9),
        (7, 0.8),
    ]
    assert judged.learn(new).replaces == first


def test_what_hints_at_no_change_is_read_with_one_fact_alone(judged: Robot) -> None:
    judged.learn('The centrifuge is in lab 2.')
    judged.learn('The centrifuge is grey.')
    new = 'The centrifuge is loud.'
    found = judge_statement(judged.memory, new, 'default', judged.memory.embed_passage(new)).found
    assert [verdict.replaced for verdict in found.values()] == [False]


RESTATED = [
    (
        'The truck from Gdansk arrives at 14:20.',
        'Expect the Gdansk truck at 14:20 in the afternoon.',
    ),
    ("The left camera's lens is scratched.", 'There is a scratch on the lens of the left camera.'),
    ('阳台的花归妈妈浇。', '妈妈管浇阳台的花。'),
]
WORDED_ALIKE = [
    ('The side door may be opened at night.', 'The side door may not be opened at night.'),
    ('The freezer is full.', 'The fridge is full.'),
    ('阳台的花归妈妈浇。', '浇阳台的花是弟弟的活儿。'),
]


@pytest.mark.parametrize(('old', 'new'), RESTATED)
def test_a_restated_fact_is_an_observation(judged: Robot, old: str, new: str) -> None:
    first = require(judged.learn(old).memory_id)
    found = judged.learn(new)
    assert (found.status, found.existing_id) == ('duplicate', first)


@pytest.mark.parametrize(('old', 'new'), WORDED_ALIKE)
def test_a_fact_that_is_worded_alike_is_none(judged: Robot, old: str, new: str) -> None:
    judged.learn(old)
    assert judged.learn(new).status == 'created'


def test_what_is_replaced_is_not_the_same_however_alike_its_words_are(judged: Robot) -> None:
    old = require(judged.learn('黑山羊在后山吃草').memory_id)
    answer = judged.learn('后山封山了，黑山羊圈在院里喂干草')
    assert (answer.status, answer.disagrees) == ('created', old)  # it is taken for a rule


def test_facts_that_are_surely_another_thing_are_listed_with_their_texts() -> None:
    found = {
        1: Verdict('a', SURE, True, 2.0),
        2: Verdict('b', -2.0, False, -3.0, is_distinct=True),
        3: Verdict('c', SURE - 1, True, -1.0),
        4: Verdict('d', -math.inf, False, -math.inf),  # it was not read
    }
    assert Verdicts(found).list_distinct() == {(1, 'a'): True, (2, 'b'): False}


RESTATED_RULES = [
    (
        'Never leave a lithium battery charging overnight.',
        'Lithium batteries must not be left on the charger overnight.',
    ),
    ('At most 15 N on the blue cup.', 'Never push the blue cup with more than 15 N.'),
    ('你进实验室必须先敲门。', '进实验室之前一定要先敲门。'),
]
OTHER_RULES = [
    (
        'Under no circumstances throw things.',
        "Be honest about what you did and didn't manage.",
    ),
    ('At most 15 N on the blue cup.', 'Never push the blue cup with more than 25 N.'),
    ('Wear gloves when you handle the blades.', 'Wear goggles when you handle the blades.'),
    ('The gate is open after six.', 'Never open the gate after six.'),
]
FACT, RULE = 'Gus opens the bull pen.', 'Only Gus may open the bull pen.'


@pytest.mark.parametrize(('old', 'new'), RESTATED_RULES)
def test_a_restated_rule_is_told_once(judged: Robot, old: str, new: str) -> None:
    first = require(judged.learn(old).memory_id)
    assert judged.learn(new).existing_id == first


@pytest.mark.parametrize(('old', 'new'), OTHER_RULES)
def test_a_rule_is_not_lost_to_another_rule_or_fact(judged: Robot, old: str, new: str) -> None:
    judged.learn(old)
    assert judged.learn(new).status == 'created'


def test_a_rule_takes_the_place_of_a_fact_that_it_restates(judged: Robot) -> None:
    first = require(judged.learn(FACT).memory_id)
    assert judged.learn(RULE).existing_id == first
    row = judged.row(first)
    assert (row['content'], row['category']) == (RULE, 'constraint')
    assert judged.rows('SELECT memory_id, text FROM observations') == [(first, FACT)]


def test_a_rule_stands_beside_a_fact_of_a_higher_authority(judged: Robot) -> None:
    with calling(OPERATOR):
        first = require(judged.learn(FACT).memory_id)
    with calling(PLANNER):
        second = require(judged.learn(RULE).memory_id)
    assert judged.row(first)['content'] == FACT
    assert judged.row(second)['category'] == 'constraint'


def test_what_sounds_like_a_plan_corrects_only_where_the_model_is_sure(judged: Robot) -> None:
    first = require(judged.learn('Lena sleeps with the drapes closed.').memory_id)
    planned = judged.learn('Lena might want the drapes open some day.')
    assert (planned.status, planned.replaces, planned.disagrees) == ('created', None, None)
    assert judged.learn('Lena wants the drapes open at night from now on.').replaces == first


def test_likely_restated_facts_are_listed_unless_they_are_replaced() -> None:
    found = {
        1: Verdict('a', -2.0, False, 1.0),
        2: Verdict('b', -2.0, False, 2.0),
        3: Verdict('c', 2.0, True, 2.0),
        4: Verdict('d', -2.0, False, -3.0),
    }
    assert Verdicts(found).list_restated() == [(2, 'b', 2.0), (1, 'a', 1.0)]


@pytest.mark.parametrize(
    ('said', 'bar', 'is_same'),
    [
        (('The freezer is full.', 3.0), 0.85, True),
        (('The freezer was full.', 3.0), 0.85, False),
        (('The freezer is full.', 3.0), 1.0, False),
    ],
)
def test_what_was_read_counts_for_its_text_and_within_the_bars(
    judged: Robot, said: tuple[str, float], bar: float, is_same: bool
) -> None:
    first = require(judged.learn('The freezer is full.').memory_id)
    text = 'The freezer has run out of space.'
    with judged.memory.db.read() as connection:
        neighbours = open_neighbours(connection, 'default', None, None, None)
        found = duplicates.find(
            connection,
            'default',
            text,
            None,
            False,
            0.8,
            bar,
            neighbours,
            duplicates.Reading(restated=[(first, *said)]),
        )
    assert (found is not None) is is_same
    if found is not None:
        assert (found.method, found.existing_id) == ('cross-encoder', first)
        assert 0.95 < found.similarity < 1


def test_a_verdict_is_of_the_text_that_was_read_and_else_words_decide() -> None:
    old, other = (Record('fact', 'default', text, 'observation', 1.0, id=5) for text in 'ab')
    for replaced in (True, False):
        verdicts = Verdicts({5: Verdict('a', 0.0, replaced, -3.0)})
        assert verdicts.tell(old.id, old.content) is replaced
        assert verdicts.tell(other.id, other.content) is None, 'its text is another by now'
    assert NO_VERDICTS.tell(old.id, old.content) is None


RESTATED_OTHERWISE = [
    ('The glue bottle is empty.', 'There is no glue left in the bottle.'),
    ('The water tank holds twenty litres.', 'Twenty thousand millilitres fit into the tank.'),
]


@pytest.mark.parametrize(('old', 'new'), RESTATED_OTHERWISE)
def test_a_no_or_an_amount_that_is_put_otherwise_parts_nothing(
    judged: Robot, old: str, new: str
) -> None:
    first = require(judged.learn(old).memory_id)
    assert judged.learn(new).existing_id == first


def test_what_only_adds_a_word_stays_with_the_known_fact(judged: Robot) -> None:
    first = require(judged.learn('Grasp the red cup from the left side.').memory_id)
    assert judged.learn('Grasp the red cup slowly from the left side.').existing_id == first
