"""What the judge says of the facts that a new one may correct, and what learn makes of it."""

from __future__ import annotations

import pytest
from narrowing import require
from robots import Robot

from robot_memory.core.records import Record
from robot_memory.embedding.correction_judge import has_judge
from robot_memory.lifecycle.verdicts import (
    ALONE,
    NO_VERDICTS,
    WITNESSED,
    Verdict,
    Verdicts,
    judge_statement,
)

CORRECTIONS = [
    ('The pallet jack is in bay 4.', 'The pallet jack was moved to bay 7.'),
    ('The robot charges by the loading dock.', 'The robot charges in the east hall now.'),
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
    """A memory whose model has a judge."""
    if not has_judge(thinking_robot.memory.embedder.get_if_loaded()):
        pytest.skip('the default model is not the one that the judge is of')
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


def test_words_are_a_witness_and_decide_alone_where_nothing_was_judged() -> None:
    old, other = (Record('fact', 'default', text, 'observation', 1.0, id=5) for text in 'ab')
    between = Verdicts({5: Verdict('a', (ALONE + WITNESSED) / 2)})
    assert [between.tell(old, said) for said in (True, False)] == [True, False]
    assert not Verdicts({5: Verdict('a', WITNESSED - 0.1)}).tell(old, True)
    assert Verdicts({5: Verdict('a', ALONE)}).tell(old, False)
    assert not Verdicts({5: Verdict('a', ALONE)}).tell(other, False), 'its text is another by now'
    assert Verdicts({5: Verdict('a', -9.0)}).tell(other, True)
    assert [NO_VERDICTS.tell(old, said) for said in (True, False)] == [True, False]
