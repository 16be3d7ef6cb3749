"""What a person's turn states, and what it does not."""

from __future__ import annotations

import pytest
from robots import Robot

from robot_memory.text.statements import (
    MOST,
    drop_request,
    extract_statements,
    list_sentences,
)


def categories(text: str) -> list[str]:
    return [statement.found.category for statement in extract_statements(text)]


@pytest.mark.parametrize(
    ('text', 'category'),
    [
        ('I prefer the small gripper over the big one', 'preference'),
        ('I really like quiet places', 'preference'),
        ("I'm allergic to peanuts", 'preference'),
        ('Call me Anna', 'preference'),
        ('My favourite colour is green', 'preference'),
        ('Never touch the blue cup!', 'constraint'),
        ('Please always put the box on the left', 'constraint'),
        ("Don't go into the kitchen after 10 pm", 'constraint'),
        ('We decided to use the left bin', 'decision'),
        ("Let's use the soft gripper", 'decision'),
        ('我喜欢人少、安静的地方', 'preference'),
        ('请不要碰红色杯子', 'constraint'),
        ('我们决定用左边的箱子', 'decision'),
    ],
)
def test_a_sentence_that_states_something_is_a_statement(text: str, category: str) -> None:
    assert categories(text) == [category]


@pytest.mark.parametrize(
    'text',
    [
        'Should I never do that?',
        'How can I optimise Docker images?',
        'Pick up the red cup, please.',
        'I need the red cup now',
        "I'd like to know where the cup is",
        '如何使用Python装饰器？',
        '什么是容器化？',
        '帮我规划一个3天行程。',
    ],
)
def test_questions_and_errands_state_nothing(text: str) -> None:
    assert extract_statements(text) == []


def test_what_is_to_be_remembered_keeps_the_category_of_its_words() -> None:
    (statement,) = extract_statements("Remember that the red cup is Anna's")
    assert statement.text == "Remember that the red cup is Anna's"
    assert statement.found.category not in ('preference', 'constraint', 'decision')


def test_only_the_sentences_that_state_are_taken_as_they_were_said() -> None:
    text = 'Hello! I prefer tea over coffee. Where is it? Never mind. We decided on the left bin.'
    assert [statement.text for statement in extract_statements(text)] == [
        'I prefer tea over coffee.',
        'We decided on the left bin.',
    ]


def test_a_clause_before_a_question_counts() -> None:
    (statement,) = extract_statements('完美!我女朋友更喜欢现代艺术,有什么地方可以推荐吗?')
    assert statement.text == '我女朋友更喜欢现代艺术'


def test_a_long_sentence_is_cut_and_a_dictation_ends() -> None:
    (statement,) = extract_statements('Never ' + 'ever ' * 200 + 'do it')
    assert len(statement.text) <= 300
    assert len(extract_statements('Never do it. ' * 50)) == MOST


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


@pytest.mark.parametrize(
    'text',
    [
        'The spare key hangs behind the boiler.',
        'My grandson Paul is five.',
        'Our cleaner comes on Thursdays.',
        'The old pump was replaced by a new one; the lift has no light.',
        'I am severely allergic to peanuts',
        'Pull with 20 N but not more than 30 N',
        'Speak slowly with my mother.',
        '备用钥匙挂在锅炉后面。',
        '保洁阿姨周四来。',
        '我左耳听不见。',
        '请把速度降到 0.2 m/s',
    ],
)
def test_what_lasts_is_kept(text: str) -> None:
    assert extract_statements(text)


@pytest.mark.parametrize(
    'text',
    [
        'My phone is ringing.',
        'See you on Monday.',
        'In the film the robot always lies.',
        'Turn left at the second door.',
        "What doesn't kill you makes you stronger, said Nietzsche.",
        'It is Friday at last!',
        '等我两分钟。',
        '电话响了。',
        '俗话说，心急吃不了热豆腐。',
    ],
)
def test_what_passes_is_not_kept(text: str) -> None:
    assert extract_statements(text) == []


@pytest.mark.parametrize(
    'text',
    ['Please call me Dr. Chen.', 'Use max. 1.2 Nm on the housing screws, i.e. the small ones.'],
)
def test_an_abbreviation_ends_no_sentence(text: str) -> None:
    assert [one.text for one in extract_statements(text)] == [text]


def test_a_cut_is_said() -> None:
    (statement,) = extract_statements('Never ' + 'ever ' * 200 + 'do it')
    assert statement.text.endswith('...')


def test_a_statement_and_its_turn_are_told_once(robot: Robot) -> None:
    robot.save_conversation('I prefer green tea.', 'Noted', actor_id='operator:anna')
    robot.save_conversation('Never touch the blue cup', 'Yes', actor_id='operator:anna')
    for query in ('green tea', 'touch the blue cup'):
        texts = [one.content for one in robot.recall(query, n=10).memories]
        assert len(texts) == len(set(texts))
        context = robot.get_context(query).context
        assert max(context.count('I prefer green tea.'), context.count('Never touch')) == 1


def test_who_spoke_is_part_of_the_search(robot: Robot) -> None:
    for actor in ('operator:bob', 'operator:anna', 'operator:carl'):
        name = actor[9:]
        robot.save_conversation(f'I prefer the {name[0]} brand of tea.', 'Noted', actor_id=actor)
    for actor in ('Bob', 'Anna'):
        first = robot.recall(f'Which tea did {actor} ask for?').memories[0]
        assert first.actor_id == f'operator:{actor.lower()}'


@pytest.mark.parametrize(
    ('text', 'rest'),
    [
        ('Please remember: the jack is in bay 7.', 'the jack is in bay 7.'),
        ('Remember that Li is near.', 'Li is near.'),
        ('Please make a note: the key is blue.', 'the key is blue.'),
        ('Write this down, the code is 4471.', 'the code is 4471.'),
        ('The key is blue, keep that in mind.', 'The key is blue'),
        ('The code is 4471, so write that down!', 'The code is 4471'),
        ('请记住，钥匙在抽屉里。', '钥匙在抽屉里。'),
        ('存个备忘，钥匙在抽屉里。', '钥匙在抽屉里。'),
        ('钥匙在抽屉里，你记一下。', '钥匙在抽屉里'),
        ('钥匙在抽屉里，这个你替我记住。', '钥匙在抽屉里'),
        ('Tom remembers Li.', 'Tom remembers Li.'),
        ('He took notes of that.', 'He took notes of that.'),
        ('Remember', 'Remember'),
        ('记住', '记住'),
    ],
)
def test_a_request_to_remember_is_dropped_from_what_it_opens_or_ends(text: str, rest: str) -> None:
    assert drop_request(text) == rest


@pytest.mark.parametrize(
    ('text', 'told'),
    [
        ('Can you remember that Anna is allergic to nuts?', 'Anna is allergic to nuts'),
        ('Did I tell you that Greta is diabetic?', 'Greta is diabetic'),
        ('Do you know that the bridge is closed?', 'the bridge is closed'),
        ('你能记住园丁对花粉过敏吗？', '园丁对花粉过敏'),
        ('你知道我孙子对花生过敏吧？', '我孙子对花生过敏'),
    ],
)
def test_what_is_asked_in_order_to_tell_it_is_told(text: str, told: str) -> None:
    assert [one.statement.text for one in list_sentences(text)] == [told]


@pytest.mark.parametrize(
    'text',
    [
        'Can you remember where the keys are?',
        'Do you know what time it is?',
        'Do you know that?',
        '你知道钥匙在哪吧？',
    ],
)
def test_what_is_only_asked_is_not_told(text: str) -> None:
    assert list_sentences(text) == []
