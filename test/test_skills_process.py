from typing import Any

import numpy as np
import pytest

from robot_memory.skills.process import Process, Scales

SCALES = Scales(2.0, 0.1, 1.5, np.array([0.7, 1.3]))


def measure(some: Any, others: Any) -> Any:
    return np.stack([(some[:, None, k] - others[None, :, k]) ** 2 for k in range(2)])


def make(count: int = 30, seed: int = 0) -> Any:
    chance = np.random.default_rng(seed)
    places = chance.uniform(-2, 2, (count, 2))
    results = np.sin(places[:, 0]) + places[:, 1] + 0.3 * chance.standard_normal(count)
    noise = np.full(count, 0.1) * chance.uniform(0.5, 3, count)
    return places, results, noise


def test_predictions_are_those_of_scikit_learn() -> None:
    gaussian = pytest.importorskip(
        'sklearn.gaussian_process', reason='scikit-learn is not installed'
    )
    places, results, noise = make()
    asked = np.random.default_rng(1).uniform(-2, 2, (20, 2))
    process = Process(SCALES, measure(places, places), noise, results)
    means, variances = process.predict(measure(asked, places))
    kernel = gaussian.kernels.ConstantKernel(2.0, 'fixed') * gaussian.kernels.RBF(
        1 / np.sqrt(2 * SCALES.rates), 'fixed'
    )
    # Ours goes back to the mean of the results, each by its noise; theirs to 0.
    center = np.average(results, weights=1 / noise)
    theirs = gaussian.GaussianProcessRegressor(kernel, alpha=noise, optimizer=None)
    theirs.fit(places, results - center)
    expected, deviations = theirs.predict(asked, return_std=True)
    assert means == pytest.approx(expected + center, abs=1e-6)
    assert np.sqrt(variances) == pytest.approx(deviations, abs=1e-6)


def test_samples_have_the_mean_and_the_covariance_of_the_posterior() -> None:
    places, results, noise = make(12)
    asked = np.random.default_rng(2).uniform(-2, 2, (4, 2))
    process = Process(SCALES, measure(places, places), noise, results)
    across, among = measure(asked, places), measure(asked, asked)
    generator = np.random.default_rng(3)
    drawn = np.array([process.sample(across, among, generator) for _ in range(4000)])
    means, variances = process.predict(across)
    assert drawn.mean(axis=0) == pytest.approx(means, abs=0.06)
    assert drawn.var(axis=0) == pytest.approx(variances, rel=0.12, abs=0.01)


def test_surprises_are_what_is_left_out_and_predicted_by_the_others() -> None:
    places, results, noise = make(10)
    process = Process(SCALES, measure(places, places), noise, results)
    center = np.average(results, weights=1 / noise)
    kernel = 2.0 * SCALES.compute_likeness(measure(places, places)) + np.diag(noise)
    others = np.arange(1, 10)
    inverse = np.linalg.inv(kernel[np.ix_(others, others)])
    mean = center + kernel[0, others] @ inverse @ (results[others] - center)
    spread = np.sqrt(kernel[0, 0] - kernel[0, others] @ inverse @ kernel[others, 0])
    found = process.compute_surprises()
    assert found[0] == pytest.approx((results[0] - mean) / spread)


def test_noise_that_is_added_later_is_as_if_it_had_been_there() -> None:
    places, results, noise = make()
    more = np.where(np.arange(30) % 4 == 0, 0.7, 0.0)
    later = Process(SCALES, measure(places, places), noise, results)
    later.add_noise(more)
    process = Process(SCALES, measure(places, places), noise + more, results)
    across = measure(np.random.default_rng(4).uniform(-2, 2, (5, 2)), places)
    for one, other in zip(later.predict(across), process.predict(across), strict=True):
        assert one == pytest.approx(other, abs=1e-9)
    assert later.compute_surprises() == pytest.approx(process.compute_surprises(), abs=1e-9)
