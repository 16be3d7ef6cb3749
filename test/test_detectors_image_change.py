"""The figures that pictures are compared by are those of NumPy, only quicker."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from robot_memory.detectors.image_change import CellGrid, find_median


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40))
def test_the_median_is_that_of_all_values(values: list[float]) -> None:
    assert find_median(np.array(values)) == np.median(values)


@given(st.integers(0, 2**32 - 1), st.integers(1, 60), st.integers(1, 60), st.sampled_from([1, 3]))
def test_the_brightness_is_the_mean_of_all_levels(
    seed: int, rows: int, columns: int, colours: int
) -> None:
    levels = np.random.default_rng(seed).integers(0, 256, (colours, rows, columns), np.uint8)
    assert CellGrid(levels).brightness == levels.mean()
