from typing import Any

import numpy as np
import pytest

from robot_memory.skills.learning import Evidence, compute_likelihood, learn_scales
from robot_memory.skills.process import Scales
from robot_memory.skills.warping import Warp


def make(results: Any, speeds: Any, simulated: Any = None) -> Any:
    distances = np.stack([np.zeros((len(speeds),) * 2), (speeds[:, None] - speeds) ** 2])
    known = np.zeros(len(speeds), bool) if simulated is None else simulated
    return Evidence('slide', distances, results, np.ones(len(speeds)), known)


def test_the_slope_of_the_likelihood_is_that_of_its_differences() -> None:
    chance = np.random.default_rng(0)
    speeds = chance.uniform(0, 2, 15)
    evidence = make(np.sin(speeds), speeds, chance.random(15) < 0.4)
    centred = evidence.results - evidence.results.mean()
    logs = np.log([0.8, 0.05, 0.5, 2.0, 1.1])
    _, slope = compute_likelihood(Scales.from_logs(logs, Warp()), evidence, centred)
    for place in range(len(logs)):
        step = np.zeros(len(logs))
        step[place] = 1e-5
        high, low = (
            compute_likelihood(Scales.from_logs(logs + sign * step, Warp()), evidence, centred)[0]
            for sign in (1, -1)
        )
        assert slope[place] == pytest.approx((high - low) / 2e-5, rel=1e-4, abs=1e-6)


def test_noise_that_grows_with_the_result_is_even_on_the_scale_of_a_root() -> None:
    chance = np.random.default_rng(1)
    speeds = chance.uniform(0.2, 2, 80)
    slides = speeds**2 * np.exp(0.25 * chance.standard_normal(80))
    assert learn_scales(make(slides, speeds)).warp.power < 1
    even = 3 + speeds + 0.1 * chance.standard_normal(80)
    assert learn_scales(make(even - even.mean(), speeds)).warp.power == 1


@pytest.mark.parametrize('factor', [1.0, 4.0])
def test_simulated_trials_are_noisier_witnesses_by_a_ratio_that_is_learned(factor: float) -> None:
    chance = np.random.default_rng(2)
    speeds = chance.uniform(0, 2, 160)
    simulated = chance.random(160) < 0.5
    spread = np.where(simulated, 0.1 * factor, 0.1)
    results = np.sin(2 * speeds) - 1 + spread * chance.standard_normal(160)
    ratio = learn_scales(make(results, speeds, simulated)).simulated
    assert ratio > 4 if factor > 1 else 1 <= ratio < 2


def test_results_that_are_all_equal_are_learned_from() -> None:
    scales = learn_scales(make(np.ones(10), np.linspace(0, 1, 10)))
    assert np.isfinite(scales.to_logs()).all()
