"""Rules that hold in any task: said by meaning where no table knows their words."""

from __future__ import annotations

from pathlib import Path

import pytest
from narrowing import require

from robot_memory.api import RobotMemory
from robot_memory.embedding.kept_ratings import load_rule_scopes
from robot_memory.embedding.sentence_classifier import Trait, load_classifier
from robot_memory.lifecycle.classification import classify_text, select_statements
from robot_memory.retrieval.rule_scope import GUESS_LEAD, KNOWN_LEAD, SURE_LEAD, widen
from robot_memory.text import tokenizer
from robot_memory.text.categories import PROTECTED, classify
from robot_memory.text.rules.conditions import Condition, Judged, is_guess, names_known
from robot_memory.text.rules.people import list_nicknames
from robot_memory.text.rules.reader import read_rule
from robot_memory.text.statements import list_sentences

ALWAYS = (
    'Rule: leave three tenths of your strength unused.',
    '规则：力气永远留三成余量，别用到满。',
)
"""Of these the words read a condition that no table knows."""
ABOUT = (
    'Rule: the harpsichord is tuned by Sven alone.',
    '规则：酵头只能用木勺搅。',
)
ANYWHERE = (
    'A good helper looks first and reaches second.',
    'A quiet robot is a welcome robot.',
    'Slow is smooth and smooth is what we like here.',
    'One job at a time is plenty.',
    'Half your reach is reach enough.',
    'Ask twice, act once.',
    '干什么都留点劲。',
    '活儿要一件一件来才踏实。',
    '说话声音小一点，大家都舒服。',
    '东西轻拿轻放，总没错。',
    '慢一点没人怪你。',
)
"""Of these the trait of a rule holds not surely, that of one in any task does: some are chosen."""
TOLD = (
    'The arm moved gently all day.',
    '机器人今天动作很轻。',
    'The robot speaks in short sentences.',
)
TASK = 'Bring the newspaper to the sofa'


@pytest.fixture(scope='module')
def robot(tmp_path_factory: pytest.TempPathFactory):  # type: ignore[no-untyped-def]
    """Open a store with the default model."""
    with RobotMemory(tmp_path_factory.mktemp('scope') / 'memory.db') as opened:
        embedder = opened.wait_for_model() and opened.memory.embedder.get_if_loaded()
        if not embedder or embedder.name != load_classifier().model:
            pytest.skip(f'no default model: {opened.memory.embedder.reason}')
        opened.memory.reindexer.adopt_model()
        yield opened


@pytest.mark.parametrize('text', ALWAYS)
def test_a_rule_about_the_robot_itself_applies_whatever_its_words(
    robot: RobotMemory, text: str
) -> None:
    assert read_rule(text)
    rule = robot.learn(text, collection=text).memory_id
    rules = robot.get_context(TASK, collection=text).rules
    assert [(one.memory_id, one.why) for one in rules.applies] == [(rule, 'always')]


def test_what_holds_in_any_task_is_a_rule_at_a_lower_threshold(robot: RobotMemory) -> None:
    classifier, chosen = load_classifier(), []
    for text in ANYWHERE:
        vector = robot.memory.embed_passage(text)
        assert vector is not None
        rule, always = (
            classifier.rate(trait, [text], vector.first[None])[0]
            for trait in (Trait.RULE, Trait.ALWAYS)
        )
        if -0.35 < rule < 0.1 and always >= 0:  # what patterns take for no rule must pass by 0.1
            chosen.append(text)
            inferred = require(robot.learn(text, collection=text).auto_inferred)
            assert inferred.category == 'constraint'
    assert chosen


@pytest.mark.parametrize('text', TOLD)
def test_what_is_told_of_the_robot_is_none(robot: RobotMemory, text: str) -> None:
    inferred = robot.learn(text, collection=text).auto_inferred
    assert inferred is not None
    assert inferred.category != 'constraint'


@pytest.mark.parametrize('text', ABOUT)
def test_a_rule_about_a_thing_that_no_table_knows_stays_open(
    robot: RobotMemory, text: str
) -> None:
    rule = robot.learn(text, collection=text).memory_id
    rules = robot.get_context(TASK, collection=text).rules
    assert [one.memory_id for one in rules.may_apply] == [rule]


def test_a_rule_is_rated_once(robot: RobotMemory) -> None:
    text = ALWAYS[0]
    robot.learn(text, collection='once')
    robot.get_context(TASK, collection='once')
    digest = tokenizer.hash_content(text)
    assert load_rule_scopes().get([digest, b'unknown']).keys() == {digest}


def test_without_a_model_the_words_decide(tmp_path: Path) -> None:
    with RobotMemory(tmp_path / 'memory.db', model='none') as memory:
        rule = memory.learn(ALWAYS[0]).memory_id
        assert [one.memory_id for one in memory.get_context(TASK).rules.may_apply] == [rule]


LIKELY = (
    'The porcelain vases get both hands and a slow step.',
    'Slow and steady with the porcelain vases, they chip.',
    'Two porcelain vases is one too many for your gripper.',
    'The porcelain vases are for Greta alone to lift.',
    'Porcelain vases are happier at walking pace.',
    'With porcelain vases, slower is better.',
    'Porcelain vases do not like bumps.',
    'Porcelain vases want a calm hand.',
)
"""Some of these are stored as no rule, but may be one."""
DELFT = 'The porcelain vases came from Delft in 1921.'
TASK_OF_VASES = 'Carry the porcelain vases outside.'


@pytest.fixture(scope='module')
def likely(robot: RobotMemory) -> str:
    """A text that is stored as no rule, but may be one, be it learned or said."""
    for text in LIKELY:
        vector = robot.memory.embed_passage(text)
        stated = select_statements(robot.memory, list_sentences(text), [vector])
        if any(one.text == text and one.found.may_be_rule for one in stated):
            return text
    raise AssertionError('of no text the classifier is unsure: write others')


def test_what_may_be_a_rule_is_told_where_its_condition_is_met(
    robot: RobotMemory, likely: str
) -> None:
    learned = robot.learn(likely, collection='likely')
    assert require(learned.auto_inferred).category not in PROTECTED
    robot.learn(DELFT, collection='likely')
    told = robot.get_context(TASK_OF_VASES, collection='likely')
    (rule,) = told.rules.may_apply
    assert (rule.memory_id, rule.why[:14]) == (learned.memory_id, 'may be a rule:')
    assert told.rules.applies == ()
    assert told.context.count(likely) == 1
    unmet = robot.get_context('Water the plants.', collection='likely').rules
    assert (unmet.may_apply, unmet.rest_ids) == ((), ())


def test_what_a_person_says_that_may_be_a_rule_is_told_and_quoted(
    robot: RobotMemory, likely: str
) -> None:
    robot.save_conversation(likely, 'All right.', actor_id='anna', collection='said')
    robot.save_conversation('I have a cat.', 'Nice.', actor_id='anna', collection='said')
    told = robot.get_context(TASK_OF_VASES, collection='said')
    (rule,) = told.rules.may_apply
    assert (rule.content, rule.quoted, rule.why[:14]) == (likely, True, 'may be a rule:')
    (line,) = (line for line in told.context.splitlines() if likely in line)
    assert 'may apply: may be a rule' in line
    assert line.endswith(f'"{likely}"')
    robot.save_conversation(likely, 'Yes.', actor_id='anna', collection='said')
    assert len(robot.get_context(TASK_OF_VASES, collection='said').rules.may_apply) == 1
    unmet = robot.get_context('Water the plants.', collection='said').rules
    assert unmet.may_apply == ()


def test_what_may_be_a_rule_limits_no_param(robot: RobotMemory, likely: str) -> None:
    robot.learn(f'{likely} 0.1 m/s', collection='sides')
    robot.learn('At most 0.5 m/s with porcelain vases.', collection='sides')
    robot.record_outcome(
        skill='carry',
        situation='porcelain vases',
        params={'speed': '0.4 m/s'},
        success='true',
        collection='sides',
    )
    found = robot.suggest(skill='carry', situation='porcelain vases', collection='sides')
    assert {one.max for one in found.bound_by} == {0.5}


def test_what_may_be_a_rule_is_not_told_once_its_text_is_another(
    robot: RobotMemory, likely: str
) -> None:
    told = robot.learn(likely, collection='anew').memory_id
    assert told
    robot.update(told, DELFT, collection='anew')
    assert robot.get_context(TASK_OF_VASES, collection='anew').rules.may_apply == ()
    robot.update(told, likely, collection='anew')
    robot.maintain()
    (rule,) = robot.get_context(TASK_OF_VASES, collection='anew').rules.may_apply
    assert rule.memory_id == told


def test_what_words_say_for_sure_gives_way_to_what_meaning_is_surer_of() -> None:
    marked: Condition = {'thing': ['glassware'], 'words': 'glassware'}
    unknown: Condition = {'word': 'the sluice gate'}
    met, not_met = Judged(True, ('glassware',)), Judged(False, ('glassware',))
    open_to = Judged(None, ('the sluice gate',))
    assert widen(met, marked, -1.0) is met
    assert widen(not_met, marked, None) is not_met
    assert widen(not_met, marked, KNOWN_LEAD - 0.1) is not_met
    assert widen(not_met, marked, KNOWN_LEAD) == Judged(None, ('glassware',))
    assert widen(not_met, marked, SURE_LEAD) == Judged(True, ('always',))
    assert widen(open_to, unknown, -0.1) is open_to
    assert widen(open_to, unknown, 0.1) == Judged(True, ('always',))


@pytest.mark.parametrize(
    'condition',
    [
        {'days': [6]},
        {'person_near': 'anyone'},
        {'not': {'person_near': 'anyone'}},
        {'tool': 'hook'},
        {'place': 'study'},
        {'hours': [20, 7]},
    ],
)
def test_who_is_near_and_when_is_what_words_say(condition: Condition) -> None:
    for judged in (Judged(None, ('so',)), Judged(False, ('so',))):
        assert widen(judged, condition, 1.0) is judged


def test_of_what_words_only_guess_the_meaning_decides() -> None:
    guess: Condition = {'first': {'thing': ['paper'], 'words': 'book', 'only': 'book'}}
    not_met = Judged(False, ('book',))
    assert widen(not_met, guess, 0.0) == Judged(True, ('always',))
    assert widen(not_met, guess, -GUESS_LEAD) == Judged(None, ('book',))
    assert widen(not_met, guess, -GUESS_LEAD - 0.1) is not_met
    assert widen(not_met, guess, None) is not_met


def test_a_condition_is_a_guess_where_nothing_but_what_is_named_first_states_it() -> None:
    first: Condition = {'first': {'thing': ['glassware']}}
    assert is_guess(first)
    assert is_guess({'all': [first, {'unsure': {'place': 'kitchen'}}]})
    assert not is_guess({'all': [first, {'place': 'kitchen'}]})
    assert not is_guess({'all': [first, {'not': {'place': 'kitchen'}}]})
    assert not is_guess({'word': 'the sluice gate'})
    assert not is_guess({})


def test_a_condition_names_what_is_known_where_a_table_surely_knows_it() -> None:
    assert names_known({'any': [{'word': 'sluice'}, {'place': 'kitchen'}]})
    assert not names_known({})
    assert not names_known({'word': 'the sluice gate'})
    assert not names_known({'all': [{'unsure': {'place': 'kitchen'}}, {'word': 'sluice'}]})


SHELF = (
    'Rule: glassware is carried with both fingers.',
    'Rule: in the lab, wear goggles.',
    'Rule: no drilling after ten at night.',
    'Rule: plants are watered on Mondays.',
    'Rule: boxes over 5 kg are carried low.',
    'Rule: the dog is not to be fed at the table.',
    'Rule: knives go into the block, edge down.',
    'Rule: syringes get their caps back on after each use.',
)


def test_a_rule_that_is_like_the_task_is_not_left_out(robot: RobotMemory) -> None:
    """No word says that a crate of wine holds bottles."""
    for text in SHELF:
        robot.learn(text, collection='like')
    rules = robot.get_context('Carry the crate of wine.', collection='like').rules
    assert [one.content for one in rules.may_apply if one.why == 'like the task'] == [SHELF[0]]


CAUTIONS = (
    'The third step of the cellar stairs is rotten.',
    'Somebody waxed the corridor by the chapel far too well.',
    'The wasps have moved into the compost bin.',
    'Old Ferenc has not been steady on his feet since the operation.',
    'The lamp of the kiln is out, but it is still three hundred degrees inside.',
    'The latch of the goat pen does not catch.',
    'Nobody takes the last key off the board.',
    'The belt of the planer has frayed on the left.',
    'The mandoline lies somewhere in the sink, under all the suds.',
)


def test_what_may_be_a_rule_and_is_like_the_task_is_told(robot: RobotMemory) -> None:
    """No word says that who takes peelings to the heap is at the compost bin."""
    for text in CAUTIONS:
        robot.learn(text, collection='cautions')
    rules = robot.get_context('Take the kitchen peelings out to the heap.', collection='cautions')
    why = {one.content: one.why for one in rules.rules.may_apply}
    assert why[CAUTIONS[2]] == 'may be a rule: like the task'


def test_of_few_rules_none_is_told_to_be_like_the_task(robot: RobotMemory) -> None:
    for text in SHELF[:-1]:
        robot.learn(text, collection='few')
    rules = robot.get_context('Carry the crate of wine.', collection='few').rules
    assert SHELF[0] not in [one.content for one in rules.may_apply]


@pytest.mark.parametrize('request_', ['Please remember that ', 'Keep in mind that ', 'Note: '])
@pytest.mark.parametrize(
    ('asked', 'is_rule'),
    [
        ('Mrs Okafor never finishes her tea.', False),
        ('the speaker crackles above volume seven.', False),
        ('the press must never run empty.', True),
        ('the porcelain vases get both hands and a slow step.', True),
    ],
)
def test_what_is_asked_to_be_remembered_is_a_rule_where_it_is_one_alone(
    robot: RobotMemory, request_: str, asked: str, is_rule: bool
) -> None:
    text = request_ + asked
    found = classify_text(robot.memory, text, robot.memory.embed_passage(text))
    assert (found.category in PROTECTED) is is_rule
    assert not found.may_be_rule or request_ == 'Keep in mind that '


@pytest.mark.parametrize(
    ('text', 'task', 'other'),
    [
        ('Anna is allergic to peanuts.', 'Bring Anna a snack.', 'Bring Li a cup of tea.'),
        ('Oskar is lactose intolerant.', 'Make Oskar a cappuccino.', 'Sweep the floor.'),
        ('小郭对乳胶过敏,给他的手套都是丁腈的。', '把手套递给小郭。', '给老王倒茶。'),
        ('Grandpa can’t have grapefruit.', 'Pour Grandpa a juice.', 'Pour Li a juice.'),
        ('One bite of walnut cake put Rosa in hospital.', 'Bring Rosa dessert.', 'Feed the cat.'),
        ('吃了花生，琪琪的嘴就肿起来。', '给琪琪拿点零食。', '慢慢把门关上。'),
        ('The physio has a latex allergy.', 'Hand the physio the gloves.', 'Feed the cat.'),
        ('护工对乳胶过敏。', '把乳胶手套递给护工。', '慢慢把门关上。'),
        ('主厨对花生过敏。', 'Serve the chef hummus.', 'Hand the gardener a rake.'),
        ("Grandpa's friend can't eat pork.", "Feed Grandpa's friend.", 'Feed the cat.'),
        ('My boss is vegan.', 'Serve my boss a steak.', 'Feed the cat.'),
        ('隔壁阿姨吃素。', '给隔壁阿姨端盘肉。', '慢慢把门关上。'),
    ],
)
def test_what_may_harm_somebody_may_be_a_rule(
    robot: RobotMemory, text: str, task: str, other: str
) -> None:
    robot.learn(text, collection=text)
    for given, told in ((task, [text]), (other, [])):
        rules = robot.get_context(given, collection=text).rules
        assert [one.content for one in rules.may_apply] == told
        assert all(one.why.startswith('may be a rule: ') for one in rules.may_apply)


@pytest.mark.parametrize('text', ['Anna is not allergic to peanuts.', '老王对花生不过敏。'])
def test_what_harms_nobody_is_no_rule_for_it(robot: RobotMemory, text: str) -> None:
    assert not classify_text(robot.memory, text, robot.memory.embed_passage(text)).may_be_rule


@pytest.mark.parametrize('text', ['慢慢把门关上，天天如此', '看看老板在不在', '等等，谢谢'])
def test_what_is_doubled_is_not_always_a_nickname(text: str) -> None:
    assert not {'慢慢', '天天', '看看', '等等', '谢谢'} & list_nicknames(text)
    assert list_nicknames(text + '，豆豆和阿凯来了') >= {'豆豆', '阿凯'}


def test_what_is_a_rule_only_with_its_request_may_be_one(robot: RobotMemory) -> None:
    """Some facts are told to planners for this, but no rule is missed for it."""
    text = 'the speaker crackles above volume seven.'
    for request, may_be_rule in (('Keep in mind that ', True), ('Note: ', False)):
        asked = request + text
        found = classify_text(robot.memory, asked, robot.memory.embed_passage(asked))
        assert found.category not in PROTECTED
        assert found.may_be_rule is may_be_rule


def test_without_a_vector_what_is_asked_to_be_remembered_is_not_judged_by_meaning(
    robot: RobotMemory,
) -> None:
    text = 'Please remember that the porcelain vases get both hands and a slow step.'
    assert classify_text(robot.memory, text, None) == classify(text)


@pytest.mark.parametrize(
    ('hazard', 'task', 'other'),
    [
        ('The third step of the cellar stairs is rotten.', 'Carry the crate down the stairs.',
         'Wash the dishes.'),
        ("The shelf in the props room won't hold more than 10 kg.", 'Put the box on the shelf.',
         'Wash the dishes.'),
        ('The ladder is slippery when wet.', 'Fetch the ladder.', 'Wash the dishes.'),
        ('道具间的架子快塌了。', '把箱子放到架子上。', '洗碗。'),
    ],
)  # fmt: skip
def test_how_a_thing_harms_is_told_where_the_task_is_at_it(
    robot: RobotMemory, hazard: str, task: str, other: str
) -> None:
    learned = robot.learn(hazard, collection=hazard)
    assert require(learned.auto_inferred).category not in PROTECTED
    (rule,) = robot.get_context(task, collection=hazard).rules.may_apply
    assert (rule.memory_id, rule.why[:14]) == (learned.memory_id, 'may be a rule:')
    assert not robot.get_context(other, collection=hazard).rules.may_apply
