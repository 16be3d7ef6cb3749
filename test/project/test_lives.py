"""The bench of skills draws the same trials for all arms, and computes its figures rightly."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / 'bench'))

from lives.arms import Setting
from lives.csv_arms import CsvExact
from lives.draw import VARIANTS, Phrases, draw_life, load_phrases
from lives.intervals import compare_paired, compute_gap, measure_calibration
from lives.live import live_trials
from lives.registry import ARMS, CEILING, FIXED, NO_MEMORY
from lives.worlds import World

SPEEDS = np.linspace(0.2, 1.0, 9)
FRICTION = {'plastic/oil': 0.9, 'plastic/rubber': 0.3, 'brass/oil': 1.2, 'brass/rubber': 0.5}
SWAPS = (('plastic/oil', 'plastic/rubber'), ('brass/oil', 'brass/rubber'))


@pytest.fixture
def world() -> World:
    """Return a world of which the slides are computed, not rolled out."""
    wear = np.array([0.95, 1.0, 1.05])
    table = np.array([[one * speed * wear for speed in SPEEDS] for one in FRICTION.values()])
    bounds = {'goals': (0.15, 0.95), 'tolerance': 0.08}
    return World(
        'strike',
        tuple(FRICTION),
        {'speed': 'm/s'},
        {'slide': 'm'},
        SPEEDS[:, None],
        table[..., None],
        SWAPS,
        bounds,
    )


@pytest.fixture
def phrases() -> Phrases:
    """Return ways of telling of each situation."""
    return {
        one: {
            'en': [f'{one}, told {way}' for way in range(6)],
            'zh': [f'{one}，第{way}种' for way in range(3)],
        }
        for one in FRICTION
    }


def test_a_life_is_the_same_each_time_it_is_drawn(world: World, phrases: Phrases) -> None:
    lives = [draw_life(world, phrases, VARIANTS['english'], 3) for _ in range(2)]
    assert lives[0] == lives[1]
    assert lives[0] != draw_life(world, phrases, VARIANTS['english'], 4)


def test_each_situation_is_told_in_four_ways(world: World, phrases: Phrases) -> None:
    life = draw_life(world, phrases, replace(VARIANTS['english'], trials=400), 0)
    for situation in FRICTION:
        assert len({one.trial.words for one in life if one.physics == situation}) == 4


def test_a_third_is_told_in_chinese_and_the_trials_are_those_of_the_english_life(
    world: World, phrases: Phrases
) -> None:
    mixed = replace(VARIANTS['third in Chinese'], trials=600)
    life = draw_life(world, phrases, mixed, 0)
    chinese = [one for one in life if '种' in one.trial.words]
    assert len(chinese) / len(life) == pytest.approx(1 / 3, abs=0.06)
    english = draw_life(world, phrases, VARIANTS['english'], 0)
    for one, other in zip(life, english, strict=False):
        assert (one.physics, one.start, one.trial.want) == (
            other.physics,
            other.start,
            other.trial.want,
        )


def test_a_change_swaps_the_physics_of_situations_and_not_their_words(
    world: World, phrases: Phrases
) -> None:
    life = draw_life(world, phrases, VARIANTS['change back'], 0)
    for one in life:
        assert (one.trial.words.split(',')[0] != one.physics) == (80 <= one.trial.number < 160)


def test_only_the_ceiling_is_told_the_truth() -> None:
    assert [name for name, arm in ARMS.items() if arm.is_told_truth] == [CEILING]


def test_memory_helps_as_far_as_the_situation_is_known(
    world: World, phrases: Phrases, tmp_path: Path
) -> None:
    life = draw_life(world, phrases, VARIANTS['english'], 0)
    shares = {}
    for name in (NO_MEMORY, FIXED, 'CSV, exact words', CEILING):
        folder = tmp_path / name
        folder.mkdir()
        lived = live_trials(ARMS[name](Setting(folder, world)), world, life)
        shares[name] = np.mean(lived['success'][-53:])
    assert max(shares[NO_MEMORY], shares[FIXED]) < shares['CSV, exact words'] < shares[CEILING]


def test_an_arm_goes_on_from_its_file(world: World, phrases: Phrases, tmp_path: Path) -> None:
    life = draw_life(world, phrases, VARIANTS['english'], 0)
    for name in ('whole', 'parts'):
        (tmp_path / name).mkdir()
    whole = live_trials(CsvExact(Setting(tmp_path / 'whole', world)), world, life)
    parts = [
        live_trials(CsvExact(Setting(tmp_path / 'parts', world)), world, part)
        for part in (life[:50], life[50:])
    ]
    assert whole['success'] == parts[0]['success'] + parts[1]['success']


def test_a_paired_difference_has_an_interval_and_counts_who_is_ahead() -> None:
    found = compare_paired([50, 52, 54, 49], [40, 43, 43, 50])
    assert found.mean == pytest.approx(7.25)
    assert (found.ahead, found.pairs) == (3, 4)
    assert found.low < found.mean < found.high
    same = compare_paired([1.0, 2.0], [1.0, 2.0])
    assert (same.mean, same.low, same.high, same.ahead) == (0, 0, 0, 0)


def test_the_gap_is_between_no_memory_and_the_ceiling() -> None:
    assert compute_gap(40, 20, 60) == pytest.approx(0.5)
    assert compute_gap(40, 60, 60) is None


def test_calibration_is_measured_in_bins_of_at_least_a_hundred() -> None:
    said = np.repeat([0.2, 0.8], 500)
    came = np.concatenate([np.arange(500) % 5 == 0, np.arange(500) % 5 != 0]).astype(float)
    assert measure_calibration(said, came) == pytest.approx(0, abs=0.01)
    assert measure_calibration(said, 1 - came) == pytest.approx(0.6, abs=0.01)
    assert measure_calibration(said[:99], came[:99]) is None


@pytest.mark.parametrize('name', ['tuning', 'reporting'])
def test_phrases_tell_of_every_situation_in_enough_ways(name: str) -> None:
    for skill in ('strike', 'insert'):
        told = load_phrases(name, skill)
        assert len(told) == 8
        assert all(len({*one['en']}) >= 4 and len({*one['zh']}) >= 2 for one in told.values())


def test_tuning_saw_no_phrase_of_the_report() -> None:
    for skill in ('strike', 'insert'):
        said = [
            {
                text
                for one in load_phrases(name, skill).values()
                for way in one.values()
                for text in way
            }
            for name in ('tuning', 'reporting')
        ]
        assert not said[0] & said[1]
