"""Words and meaning make one score that grows with both, on numbers and on arrays."""

from __future__ import annotations

import math

import numpy as np
import pytest

from robot_memory.search.scoring import bm25_idf, coverage, fuse

GRID = np.linspace(0, 1, 21, dtype=np.float32)


def test_idf_is_that_of_lucene_and_falls_with_the_number_of_memories() -> None:
    assert bm25_idf(10, 3) == pytest.approx(math.log(1 + 7.5 / 3.5))
    worth = np.array([bm25_idf(1000, held) for held in (0, 1, 10, 999, 1000)])
    assert (np.diff(worth) < 0).all() and worth[-1] > 0


def test_coverage_is_a_share_even_of_nothing() -> None:
    assert coverage(0.0, 0.0) == 0
    assert coverage(3.0, 6.0) == 0.5
    assert coverage(9.0, 6.0) == 1


def test_the_score_grows_with_the_words_and_with_the_meaning() -> None:
    scores = fuse(GRID[:, None], GRID[None])
    assert (np.diff(scores[:-1], axis=1) > 0).all()
    assert (np.diff(scores, axis=0) > 0).all()
    assert scores.min() == 0 and scores.max() == 1


def test_the_score_is_one_scale_for_every_mode() -> None:
    assert fuse(GRID, np.zeros_like(GRID)) == pytest.approx(GRID)
    assert fuse(0.0, 1.0) == pytest.approx(0.8)
    assert fuse(0.3, 0.0) == pytest.approx(0.3)
    assert fuse(0.4, 0.5) > max(fuse(0.4, 0.0), fuse(0.0, 0.5))
