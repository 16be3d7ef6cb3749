"""What a new statement is to an older one."""

from __future__ import annotations

import pytest

from robot_memory.text.relations import (
    Relation,
    are_limits,
    hints_at_change,
    is_of_another_person,
    is_stricter,
    may_correct,
    may_restate,
    relate,
)

SAME, CORRECTS, OTHER = Relation.SAME, Relation.CORRECTS, Relation.OTHER


@pytest.mark.parametrize(
    ('old', 'new', 'similarity', 'relation'),
    [
        ('The tank holds 1.5 kg of sand', 'The tank holds 1500 g of sand', 0.9, SAME),
        ('After lunch Bo oils the hinge', 'Bo oils the hinge after lunch', 0.95, SAME),
        ('The lift is full', 'Okay, just so you know, the elevator is full', 0.7, SAME),
        ('The tank holds 1.5 kg of sand', 'The tank holds 15 kg of sand', 0.95, CORRECTS),
        ('The tank holds 1.5 kg of sand', 'The tank holds 15 l of water', 0.9, OTHER),
        ('Bo oiled the hinge of the gate', 'Bo painted the hinge of the gate', 0.95, OTHER),
        ('The spoon lies in the sink', 'The ladle lies in the sink', 0.95, OTHER),
        ('小王擦了窗户', '小王拆了窗户', 0.95, OTHER),
        ('The hammer hangs in hall 2', 'The hammer was moved to hall 5', 0.7, CORRECTS),
        ('The mixer is called Otto', "From today the mixer's name is Max", 0.6, CORRECTS),
        ('Use pump A for the tank', 'Pump A is broken, use pump C for the tank', 0.7, CORRECTS),
        ('水壶放在窗台上', '水壶搬到厨房了', 0.6, CORRECTS),
        ('The jug stands on the sill', '水壶现在搬到厨房了', 0.5, CORRECTS),
        ('Lift at most 5 kg with the arm', 'Lift at most 4 kg with the arm', 0.9, CORRECTS),
        ('Do not go faster than 1 m/s here', 'Do not go faster than 2 m/s here', 0.9, CORRECTS),
        ('Come no closer than 1 m to Bo', 'Keep at least 2 m away from Bo', 0.6, CORRECTS),
        ('Press 3 is at 50 degrees', 'Press 4 is now at 60 degrees', 0.8, OTHER),
        ('The hammer hangs in hall 2', 'Was the hammer moved to hall 5?', 0.7, OTHER),
        ('The hammer hangs in hall 2', 'We plan to move the hammer to hall 5', 0.7, OTHER),
        ('The hammer hangs in hall 2', 'Another hammer now hangs in hall 5', 0.7, OTHER),
        ('水壶放在窗台上', '打算把水壶搬到厨房', 0.6, OTHER),
        ('Route E leads to the lift', 'Line E goes to the lift', 0.7, OTHER),
        ('The jug stands on the sill', 'The dog was moved to the clinic', 0.1, OTHER),
    ],
)
def test_how_a_statement_stands_to_an_older_one(
    old: str, new: str, similarity: float, relation: Relation
) -> None:
    assert relate(old, new, similarity) is relation


def test_of_limits_the_stricter_is_known() -> None:
    low, high = 'Drive at most 0.5 m/s', 'Drive at most 80 cm/s'
    assert (is_stricter(low, high), is_stricter(high, low)) == (True, False)
    near, far = 'Stay at least 0.5 m away', 'Stay at least 2 m away'
    assert (is_stricter(far, near), is_stricter(near, far)) == (True, False)
    assert is_stricter('Never touch the stove', 'Never touch the oven')
    assert are_limits(low, far)
    assert not are_limits(low, 'The cup is red')


def test_what_has_no_sign_of_a_correction_is_not_compared() -> None:
    assert may_correct('The hammer was moved')
    assert not may_correct('The hammer is heavy')
    assert not may_correct('Should the hammer be moved?')


def test_what_often_stands_where_something_changed_hints_at_it() -> None:
    for text in (
        'Jo left, ask Kim',
        'It was moved',
        'The 5 was wrong: 6',
        '钥匙收进柜子了',
        '门坏了',
    ):
        assert hints_at_change(text), text
    for text in ('The hammer is heavy', 'Ask Kim', '钥匙在柜子里'):
        assert not hints_at_change(text), text


def test_texts_that_begin_with_two_persons_are_of_two() -> None:
    assert is_of_another_person('奶奶喜欢喝绿茶。', 'Grandpa drinks no green tea any more.')
    assert not is_of_another_person('Ben waters the plants.', 'Lucy waters them now, not Ben.')
    assert not is_of_another_person('The trainee is called Marvin.', 'His name is Marlon.')


@pytest.mark.parametrize(
    ('old', 'new', 'odds', 'may'),
    [
        ('The corridor is clear', 'Nothing stands in the corridor', 0.6, False),
        ('The corridor is clear', 'Nothing stands in the corridor', 1.6, True),
        ('Aisle 5 is wide enough for it', "Aisle 5 isn't wide enough for it", 3.5, False),
        ('Half the rack is taken', 'Of 24 places in the rack a dozen are taken', 3.0, True),
        ('Give her 10 mg of it', 'Give her 10 µg of it', 3.5, False),
        ('Lena locks the gate', 'It is Lena who locks the gate', 0.6, True),
        ('Lena locks the gate', 'Omar locks the gate', 3.5, False),
        ('The gripper slipped', '夹爪滑了', 3.5, False),
    ],
)
def test_what_a_model_calls_the_same_may_be(old: str, new: str, odds: float, may: bool) -> None:
    assert may_restate(old, new, odds) is may


@pytest.mark.parametrize(
    ('old', 'new', 'odds', 'may'),
    [
        ('Lena locks the gate', 'It is Lena who locks the gate', 1.4, False),
        ('Lena locks the gate', 'It is Lena who locks the gate', 1.6, True),
        ('Only Gus may open the bull pen', 'The bull pen is for nobody but Gus', 1.6, False),
        ('Only Gus may open the bull pen', 'The bull pen is for nobody but Gus', 3.0, True),
        ('Take half the rack', 'Of 24 places in the rack take a dozen', 3.5, False),
        ('Wear gloves for the blades', 'Wear goggles for the blades', 2.4, False),
        ('进实验室前要先洗手。', '进实验室前要先换鞋。', 2.4, False),
    ],
)
def test_of_a_rule_a_model_must_be_surer(old: str, new: str, odds: float, may: bool) -> None:
    assert may_restate(old, new, odds, 2) is may
