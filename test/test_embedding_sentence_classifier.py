"""What sentences are for: rules and what lasts, by the classifiers that come with the package."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from robot_memory.api import RobotMemory
from robot_memory.embedding.sentence_classifier import (
    DIMENSION,
    Trait,
    count_ngrams,
    hash_ngrams,
    load_classifier,
    pack,
    unpack,
)
from robot_memory.lifecycle import reclassification

PLANNER = Path(__file__).parents[1] / 'bench' / 'planner'

RULES = (
    'After ten in the evening the vacuum stays off',
    'Anything over 12 kilos is lifted by two people',
    '超过十二公斤的东西两个人抬',
    '离人至少半米',
    '最大速度0.25米每秒',
    'Maximum payload is 5 kg',
    'Maximum payload of the gripper is 3 kg',
    'At most 15 N on the blue cup',
    'Keep at least 50 cm away from Li',
    'Must never push faster than 1.3 m/s',
    '电机电流不准超过2安',
)
DESCRIPTIONS = (
    'The screw is at least 5 mm long',
    'It must have been the pump that leaked',
    '这根轴最多用了三年',
    'Last winter we never got over 12 degrees in here',
)
LASTING = (
    'I am severely allergic to peanuts',
    'The spare fuses live in the drawer under the lathe',
    '请把速度降到0.2 m/s',
    '奶奶的老花镜放在钢琴上',
)
PASSING = (
    'Good morning, how are you today?',
    'Bring me the red cup',
    '今天真热啊',
    '把那个递给我',
)


@pytest.fixture(scope='module')
def robot(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RobotMemory]:
    """Open a store with the default model."""
    with RobotMemory(tmp_path_factory.mktemp('classifier') / 'memory.db') as opened:
        if not opened.wait_for_model():
            pytest.skip(f'no default model: {opened.memory.embedder.reason}')
        opened.memory.reindexer.adopt_model()
        yield opened


def test_the_classifier_is_of_the_default_model(robot: RobotMemory) -> None:
    """Else it is never asked: its weights are trained anew with every change of the model."""
    embedder = robot.memory.embedder.get_if_loaded()
    assert embedder is not None
    assert load_classifier().model == embedder.name


@pytest.mark.parametrize('text', RULES)
def test_rules_in_plain_words_are_constraints(robot: RobotMemory, text: str) -> None:
    inferred = robot.learn(text, collection='rules').auto_inferred
    assert inferred is not None
    assert inferred.category == inferred.tags[0] == 'constraint'


@pytest.mark.parametrize('text', DESCRIPTIONS)
def test_descriptions_are_none(robot: RobotMemory, text: str) -> None:
    inferred = robot.learn(text, collection='descriptions').auto_inferred
    assert inferred is not None
    assert 'constraint' not in inferred.tags


@pytest.mark.parametrize('text', LASTING)
def test_what_lasts_is_stored_beside_its_turn(robot: RobotMemory, text: str) -> None:
    assert len(robot.save_conversation(text, 'OK', collection='people').memory_ids) == 3


@pytest.mark.parametrize('text', PASSING)
def test_what_passes_is_not(robot: RobotMemory, text: str) -> None:
    assert len(robot.save_conversation(text, 'OK', collection='people').memory_ids) == 2


def test_an_update_is_judged_as_a_new_text_is(robot: RobotMemory) -> None:
    learned = robot.learn('The lamp over the bench is green', collection='updates')
    assert learned.memory_id is not None
    updated = robot.update(learned.memory_id, RULES[0])
    assert updated.auto_inferred is not None
    assert updated.auto_inferred.category == 'constraint'


def test_reclassifying_changes_nothing_that_the_same_rules_inferred(robot: RobotMemory) -> None:
    for text in (*RULES, *DESCRIPTIONS):
        robot.learn(text, collection='again')
    robot.save_conversation(' '.join(LASTING[:2]), 'OK', collection='again')
    assert reclassification.preview(robot.memory) == []


def test_without_a_model_patterns_decide(tmp_path: Path) -> None:
    with RobotMemory(tmp_path / 'memory.db', model='none') as memory:
        inferred = memory.learn('The arm must never exceed 15 N').auto_inferred
        assert inferred is not None
        assert inferred.category == 'constraint'
        assert len(memory.save_conversation('I prefer tea.', 'OK').memory_ids) == 3


def test_packed_vectors_point_where_they_did() -> None:
    vectors = np.random.default_rng(7).normal(size=(50, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert (unpack(pack(vectors)) * vectors).sum(axis=1).min() > 0.9995


def test_ngrams_of_a_text_are_a_row_of_length_one() -> None:
    texts = ['Keep 5 cm away', '离人5厘米', '?']
    rows = count_ngrams(texts)
    assert rows.shape == (3, DIMENSION)
    assert np.linalg.norm(rows, axis=1) == pytest.approx(1)
    for row, text in zip(rows, texts, strict=True):
        assert set(np.flatnonzero(row)) == set(hash_ngrams(text))
    assert hash_ngrams('Keep 5 cm away') == hash_ngrams('keep 12.5 cm away')


@pytest.mark.parametrize('trait', list(Trait))
def test_no_sentence_that_is_counted_was_trained_with(trait: Trait) -> None:
    """Hold the halves apart that say how well the classifiers do."""
    trained = [row['text'] for row in _read(PLANNER / 'training' / f'{trait.value}.jsonl')]
    hands = ['third', 'fifth', 'sixth', 'seventh', 'eighth', 'ninth', 'tenth', 'eleventh']
    hands += [
        'twelfth',
        'thirteenth',
        'fourteenth',
        'fifteenth',
        'sixteenth',
        'seventeenth',
        'eighteenth',
        'nineteenth',
    ]
    counted = [f'rules/{hand}' for hand in hands]
    counted += ['constraints_seventh', 'constraints_ninth']
    counted += [f'people_{hand}' for hand in ('other', 'third', 'fourth', 'fifth')]
    if trait is not Trait.ALWAYS:  # which is trained on the rules of the hands that are used up
        counted.append('rules/other')
    report = {row['text'] for name in counted for row in _read(PLANNER / f'{name}.jsonl')}
    for name in ('people', 'constraints'):
        rows = _read(PLANNER / f'{name}.jsonl')
        report |= {row['text'] for row in rows if row['half'] == 'report2'}
    others = _read(PLANNER / 'constraints_other.jsonl')
    report |= {row['text'] for row in others if row['half'] == 'report'}
    assert len(report) > 600
    assert len(set(trained)) == len(trained)
    assert report.isdisjoint(trained)


def _read(path: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in path.read_text(encoding='utf-8').splitlines()]
