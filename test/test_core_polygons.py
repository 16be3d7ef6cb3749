"""Polygons: what is in them, how far away they are, and which ones cross themselves."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_memory.core.polygons import contains, find_fault, list_edges, measure_distance

Corners = list[tuple[float, float]]
SQUARE: Corners = [(0.0, 0.0), (4.0, 0.0), (4.0, 3.0), (0.0, 3.0)]
COORDINATES = st.floats(-10, 10, allow_nan=False)


@st.composite
def stars(draw: st.DrawFn) -> Corners:
    """Return a polygon whose corners are seen from the origin in a row: it cannot cross itself."""
    number = draw(st.integers(3, 12))
    radii = draw(st.lists(st.floats(0.5, 9), min_size=number, max_size=number))
    return [
        (
            radius * math.cos(2 * math.pi * at / number),
            radius * math.sin(2 * math.pi * at / number),
        )
        for at, radius in enumerate(radii)
    ]


def count_turns(corners: Corners, x: float, y: float) -> int:
    """Return how often a polygon goes around a point, by the angles under which it is seen."""
    whole = 0.0
    for (ax, ay), (bx, by) in list_edges(corners):
        turned = math.atan2(by - y, bx - x) - math.atan2(ay - y, ax - x)
        whole += (turned + math.pi) % (2 * math.pi) - math.pi
    return round(whole / (2 * math.pi))


@given(stars(), COORDINATES, COORDINATES)
def test_what_is_inside_is_what_the_polygon_goes_around(
    corners: Corners, x: float, y: float
) -> None:
    assert find_fault(corners) == ''
    if measure_distance(corners, (x, y)) > 0:
        assert count_turns(corners, x, y) == 0
    elif not any(
        math.dist(a, (x, y)) + math.dist((x, y), b) - math.dist(a, b) < 1e-9
        for a, b in list_edges(corners)
    ):
        assert count_turns(corners, x, y) == 1


@given(stars(), st.floats(0, 1), st.integers(0, 11))
def test_the_edge_belongs_to_a_polygon(corners: Corners, share: float, number: int) -> None:
    (ax, ay), (bx, by) = list(list_edges(corners))[number % len(corners)]
    assert contains(corners, (ax + share * (bx - ax), ay + share * (by - ay)))


@given(stars(), COORDINATES, COORDINATES)
def test_the_distance_is_that_of_the_nearest_point_of_the_edge(
    corners: Corners, x: float, y: float
) -> None:
    steps = 200
    nearest = min(
        math.dist((x, y), (ax + (bx - ax) * at / steps, ay + (by - ay) * at / steps))
        for (ax, ay), (bx, by) in list_edges(corners)
        for at in range(steps + 1)
    )
    longest = max(math.dist(a, b) for a, b in list_edges(corners))
    found = measure_distance(corners, (x, y))
    assert found <= nearest + 1e-9
    if not contains(corners, (x, y)):
        assert nearest - found <= longest / steps


@given(stars(), st.data())
def test_a_polygon_with_two_corners_exchanged_is_refused_where_edges_cross(
    corners: Corners, data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(corners) - 1))
    exchanged = [*corners]
    other = (at + 1) % len(corners)
    exchanged[at], exchanged[other] = exchanged[other], exchanged[at]
    if len(corners) == 4:
        assert 'meets the edge' in find_fault(exchanged)
    elif len(corners) == 3:
        assert find_fault(exchanged) == ''


@pytest.mark.parametrize(
    'corners',
    [
        [(0, 0), (4, 3), (4, 0), (0, 3)],
        [(0, 0), (4, 0), (4, 3), (2, 0), (0, 3)],
        [(0, 0), (2, 0), (1, 0)],
        [(0, 0), (4, 0), (2, 0), (2, 2)],
        [(0, 0), (1, 0), (1, 1), (0, 0), (2, 2)],
        [(0, 0), (4, 0), (4, 1), (1, 1), (1, 0), (0, 1)],
    ],
    ids=['bow tie', 'corner on an edge', 'no area', 'folds back', 'corner twice', 'edge on edge'],
)
def test_a_polygon_that_crosses_or_touches_itself_is_told(corners: Corners) -> None:
    assert find_fault([(float(x), float(y)) for x, y in corners])


def test_a_square_is_a_polygon() -> None:
    assert find_fault(SQUARE) == find_fault(SQUARE[::-1]) == ''
    assert contains(SQUARE, (4.0, 3.0)) and not contains(SQUARE, (4.001, 3.0))
    assert measure_distance(SQUARE, (7.0, 7.0)) == 5.0
