import numpy as np
import pytest

from robot_memory.skills.warping import POWERS, Warp, list_warps


@pytest.mark.parametrize('power', POWERS)
def test_a_result_comes_back_from_its_place_on_the_scale(power: float) -> None:
    results = np.array([0.0, 0.1, 1.0, 7.0])
    warp = Warp.fit(power, results)
    assert warp.invert(warp.apply(results)) == pytest.approx(results)


def test_slopes_are_those_of_the_scale() -> None:
    results = np.array([0.5, 2.0])
    warp = Warp.fit(0.5, results)
    slopes = (warp.apply(results + 1e-6) - warp.apply(results - 1e-6)) / 2e-6
    assert warp.sum_slopes(results) == pytest.approx(np.log(slopes).sum(), rel=1e-5)


def test_there_is_no_root_of_results_below_0() -> None:
    assert list_warps(np.array([-1.0, 2.0])) == [Warp()]
    assert len(list_warps(np.array([1.0, 2.0]))) == len(POWERS)
