"""Rows of colours are averaged as Pillow averages the decoded picture, to the last bit."""

from __future__ import annotations

import numpy as np
import pytest

from robot_memory.detectors.colour_rows import ColourRows
from robot_memory.detectors.images import decode_image, shrink


@pytest.mark.parametrize('layout', ['RGB', 'BGR', 'RGBX', 'BGRX'])
@pytest.mark.parametrize('side', [2, 4, 8, 16])
def test_squares_are_averaged_as_in_the_decoded_picture(layout: str, side: int) -> None:
    padded = np.random.default_rng(side).integers(0, 256, (96, 160 * len(layout) + 8), np.uint8)
    padded[:32] = 255
    for rows in (padded[:, :-8], np.ascontiguousarray(padded[:, :-8])):
        source = ColourRows(rows, layout)
        planes = source.average(side)
        assert planes is not None
        assert (planes == np.asarray(source.decode().reduce(side)).transpose(2, 0, 1)).all()


def test_squares_that_pillow_cuts_off_at_the_edge_are_left_to_it() -> None:
    rows = np.random.default_rng(3).integers(0, 256, (90, 160 * 3), np.uint8)
    assert [ColourRows(rows, 'RGB').average(side) for side in (0, 1, 3, 4, 32)] == [None] * 5


@pytest.mark.parametrize('size', [(640, 480), (320, 240), (500, 333), (64, 48), (800, 600)])
def test_a_picture_in_rows_is_averaged_as_one_that_is_decoded(size: tuple[int, int]) -> None:
    width, height = size
    data = np.random.default_rng(width).integers(0, 256, 3 * width * height, np.uint8)
    view = decode_image('rgb8', height, width, 3 * width, False, data)
    shrunk = np.asarray(shrink(view.image, 160))
    assert view.image.size == size
    assert (view.average(160) == shrunk.transpose(2, 0, 1)).all()
