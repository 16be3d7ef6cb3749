import numpy as np
import pytest

from robot_memory.skills.trials import Floats
from robot_memory.skills.whitening import whiten


def make_covariance(rows: int, noise: float) -> Floats:
    places = np.random.default_rng(rows).uniform(-2, 2, (rows, 2))
    apart = np.square(places[:, None] - places[None]).sum(axis=2)
    found: Floats = np.exp(-0.5 * apart) + noise * np.eye(rows)
    return found


@pytest.mark.parametrize('rows', [1, 7, 40, 41, 120, 200, 333])
def test_the_inverse_and_the_determinant_are_those_of_lapack(rows: int) -> None:
    covariance = make_covariance(rows, 0.1)
    whitener, determinant = whiten(covariance)
    assert whitener.T @ whitener == pytest.approx(np.linalg.inv(covariance), abs=1e-9)
    assert determinant == pytest.approx(np.linalg.slogdet(covariance)[1])
    assert (whitener == np.tril(whitener)).all()


def test_no_precision_is_negative_where_the_noise_is_hardly_any() -> None:
    covariance = make_covariance(200, 1e-9)
    whitener, _ = whiten(covariance)
    assert whitener @ covariance @ whitener.T == pytest.approx(np.eye(200), abs=1e-4)


def test_what_rounding_made_indefinite_counts_as_a_little_noisier() -> None:
    covariance = make_covariance(150, -1e-7)
    assert np.linalg.eigvalsh(covariance).min() < 0
    whitener, determinant = whiten(covariance)
    assert np.isfinite(whitener).all()
    assert np.isfinite(determinant)


def test_of_what_is_no_number_nothing_is_known() -> None:
    whitener, determinant = whiten(np.full((3, 3), np.nan))
    assert np.isnan(whitener).all()
    assert np.isnan(determinant)
