"""Regions: what reaches into them, and descriptions that are refused in words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.regions import (
    CHI_SQUARED_99,
    Region,
    find_region,
    parse_region,
    parse_regions,
)

KITCHEN: dict[str, Any] = {
    'frame': '/map',
    'polygon': [[0, 0], [4, 0], [4, 3], [2, 1], [0, 3]],
    'bottom': 0,
    'top': 2.5,
}
METRES = st.floats(-6, 6)


def read_kitchen() -> Region:
    return parse_region('kitchen', KITCHEN)


def make_spread(seed: int, flat: bool) -> np.ndarray[Any, Any]:
    """Return a covariance of a position, without extent along some axis where it is flat."""
    generator = np.random.default_rng(seed)
    root = generator.normal(size=(3, 3)) * 10.0 ** generator.uniform(-3, 0.3, size=3)
    if flat:
        root[:, 0] = 0.0
        root[generator.integers(3), :] = 0.0
    return np.asarray(root @ root.T)


def list_upper(matrix: np.ndarray[Any, Any]) -> tuple[float, ...]:
    return tuple(float(matrix[at]) for at in ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)))


@given(METRES, METRES, METRES, st.integers(0, 10_000), st.booleans())
def test_no_ellipsoid_that_reaches_in_is_taken_for_outside(
    x: float, y: float, z: float, seed: int, flat: bool
) -> None:
    kitchen, spread = read_kitchen(), make_spread(seed, flat)
    values, axes = np.linalg.eigh(spread)
    root = axes * np.sqrt(np.maximum(values, 0) * CHI_SQUARED_99)
    directions = np.random.default_rng(seed).normal(size=(300, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    lengths = np.random.default_rng(seed + 1).uniform(size=(300, 1)) ** (1 / 3) * (1 - 1e-6)
    points = np.array([x, y, z]) + (directions * lengths) @ root.T
    if any(kitchen.contains((px, py, pz)) for px, py, pz in points.tolist()):
        assert kitchen.is_reached((x, y, z), list_upper(spread))


@given(METRES, METRES, METRES, st.integers(0, 10_000))
def test_an_ellipsoid_whose_shadow_stays_outside_is_outside(
    x: float, y: float, z: float, seed: int
) -> None:
    region, spread = (
        Region('b', 'map', ((0, 0), (1, 0), (1, 1), (0, 1)), 0, 1),
        make_spread(seed, False),
    )
    radius = math.sqrt(CHI_SQUARED_99)
    reaches = [radius * math.sqrt(spread[at, at]) for at in range(3)]
    apart = any(
        at + reach < -1e-6 or at - reach > 1 + 1e-6
        for at, reach in zip((x, y, z), reaches, strict=True)
    )
    if apart:
        assert not region.is_reached((x, y, z), list_upper(spread))


def test_one_axis_reaches_in_at_99_percent() -> None:
    box = parse_region('box', {'frame': 'map', 'box': [[0, 0, 0], [1, 1, 1]]})
    reach = 0.1 * math.sqrt(CHI_SQUARED_99)
    spread = (0.01, 0.0, 0.0, 0.01, 0.0, 0.01)
    for axis in range(3):
        for side, sign in ((0.0, -1.0), (1.0, 1.0)):
            position = [0.5, 0.5, 0.5]
            position[axis] = side + sign * (reach - 1e-6)
            x, y, z = position
            assert box.is_reached((x, y, z), spread) and not box.is_reached((x, y, z), None)
            position[axis] = side + sign * (reach + 1e-6)
            x, y, z = position
            assert not box.is_reached((x, y, z), spread)


def test_a_region_without_heights_has_no_limit_there() -> None:
    box = parse_region('box', {'frame': 'map', 'box': [[1, 1], [0, 0]]})
    assert box.contains((1.0, 0.0, 1e6)) and box.contains((0.5, 0.5, -1e6))
    kitchen = read_kitchen()
    assert kitchen.frame == 'map'
    assert kitchen.contains((1.0, 1.0, 2.5)) and not kitchen.contains((1.0, 1.0, 2.6))
    assert not kitchen.contains((2.0, 2.0, 1.0))


@pytest.mark.parametrize(
    ('change', 'words'),
    [
        ({'polygon': [[0, 0], [4, 3], [4, 0], [0, 3]]}, 'crosses or touches itself'),
        ({'polygon': [[0, 0], [4, 3], [4, 0], [0, 0]]}, 'repeated at the end'),
        ({'polygon': [[0, 0], [4, 3]]}, '3 to 256 corners'),
        ({'polygon': [[0, 0], [4, 'x', 3], [4, 4]]}, '3 to 256 corners'),
        ({'polygon': [[0, 0], [4, float('nan')], [4, 4]]}, '3 to 256 corners'),
        ({'polygon': 'square'}, '3 to 256 corners'),
        ({'box': [[0, 0], [1, 1]]}, 'either box or polygon'),
        ({'frame': ''}, 'frame must name a tf frame'),
        ({'frame': '/'}, 'frame must name a tf frame'),
        ({'frame': 7}, 'frame must name a tf frame'),
        ({'bottom': 3}, 'bottom must be less than top, not 3 and 2.5'),
        ({'top': True}, 'top must be a height in metres'),
        ({'hight': 3}, 'unknown key hight'),
    ],
)
def test_a_region_that_is_none_is_refused_in_words(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidArgument, match=f"region 'kitchen': .*{words}"):
        parse_region('kitchen', {**KITCHEN, **change})


@pytest.mark.parametrize(
    ('given', 'words'),
    [
        ([[0, 0, 0], [1, 1]], 'two opposite corners'),
        ([[0, 0], [0, 1]], 'no extent along x'),
        ([[0, 0, 2], [1, 1, 2]], 'no extent along z'),
        ([[0, 0], [1, float('inf')]], 'two opposite corners'),
        (None, 'two opposite corners'),
    ],
)
def test_a_box_that_is_none_is_refused_in_words(given: Any, words: str) -> None:
    with pytest.raises(InvalidArgument, match=words):
        parse_region('bin', {'frame': 'map', 'box': given})
    with pytest.raises(InvalidArgument, match='bottom and top of a box'):
        parse_region('bin', {'frame': 'map', 'box': [[0, 0], [1, 1]], 'top': 1})


@pytest.mark.parametrize('name', ['', '  ', 'x' * 65, 7, None])
def test_a_name_that_is_none_is_refused(name: Any) -> None:
    with pytest.raises(InvalidArgument, match='1 to 64 characters'):
        parse_regions({name: KITCHEN})


def test_names_differ_by_more_than_capital_letters() -> None:
    with pytest.raises(InvalidArgument, match="both 'Kitchen' and 'kitchen'"):
        parse_regions({'Kitchen': KITCHEN, 'kitchen': KITCHEN})
    regions = parse_regions({'Left  Bin': KITCHEN, 'dock': KITCHEN})
    assert find_region(regions, 'left bin', 'in') is regions[0]
    with pytest.raises(InvalidArgument, match=r"in: .*'dok' \(did you mean dock\?\); accepted"):
        find_region(regions, 'dok', 'in')
    with pytest.raises(InvalidArgument, match='must map names to regions'):
        parse_regions(['kitchen'])
