"""Polygons in the plane: whether they cross themselves, what is in them, how far away they are."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TypeAlias

Point: TypeAlias = tuple[float, float]
"""x and y, in metres where nothing else is said."""
Edge: TypeAlias = tuple[Point, Point]
SLACK = 1e-9
"""What is as near as this to an edge lies on it: coordinates are rounded."""


def list_edges(corners: Sequence[Point]) -> Iterator[Edge]:
    """Yield the edges of a polygon, the last one back to the first corner."""
    for at, corner in enumerate(corners):
        yield corner, corners[(at + 1) % len(corners)]


def find_fault(corners: Sequence[Point]) -> str:
    """Return in words why corners are those of no simple polygon, empty where they are."""
    if len(set(corners)) < len(corners):
        twice = next(one for at, one in enumerate(corners) if one in corners[:at])
        return f'the corner {_format(twice)} is there twice'
    edges = list(list_edges(corners))
    for first in range(len(edges)):
        for second in range(first + 1, len(edges)):
            is_next = second == first + 1 or (first == 0 and second == len(edges) - 1)
            if is_next and len(edges) > 2:
                meets = _fold_back(edges[first], edges[second])
            else:
                meets = _meet(edges[first], edges[second])
            if meets:
                return (
                    f'the edge {_format_edge(edges[first])} meets the edge '
                    f'{_format_edge(edges[second])}'
                )
    return ''


def contains(corners: Sequence[Point], point: Point) -> bool:
    """Say whether a point lies in a polygon or on its edge, by the rule of even and odd."""
    x, y = point
    is_inside = False
    for (ax, ay), (bx, by) in list_edges(corners):
        if _measure_to_edge(((ax, ay), (bx, by)), point) <= SLACK:
            return True
        if (ay > y) != (by > y) and x < ax + (y - ay) * (bx - ax) / (by - ay):
            is_inside = not is_inside
    return is_inside


def measure_distance(corners: Sequence[Point], point: Point) -> float:
    """Return how far a point is from a polygon; 0: it lies in it."""
    if contains(corners, point):
        return 0.0
    return min(_measure_to_edge(edge, point) for edge in list_edges(corners))


def _measure_to_edge(edge: Edge, point: Point) -> float:
    (ax, ay), (bx, by) = edge
    dx, dy = bx - ax, by - ay
    square = dx * dx + dy * dy
    along = ((point[0] - ax) * dx + (point[1] - ay) * dy) / square if square else 0.0
    share = min(1.0, max(0.0, along))
    return math.hypot(ax + share * dx - point[0], ay + share * dy - point[1])


def _turn(a: Point, b: Point, c: Point) -> float:
    """Return twice the area of a triangle; above 0: it turns left."""
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def _is_on(a: Point, b: Point, point: Point) -> bool:
    return (
        _turn(a, b, point) == 0
        and min(a[0], b[0]) <= point[0] <= max(a[0], b[0])
        and min(a[1], b[1]) <= point[1] <= max(a[1], b[1])
    )


def _meet(one: Edge, other: Edge) -> bool:
    """Say whether two edges have a point in common."""
    (a, b), (c, d) = one, other
    sides = _turn(a, b, c), _turn(a, b, d), _turn(c, d, a), _turn(c, d, b)
    if (sides[0] > 0) != (sides[1] > 0) and (sides[2] > 0) != (sides[3] > 0) and all(sides):
        return True
    return _is_on(a, b, c) or _is_on(a, b, d) or _is_on(c, d, a) or _is_on(c, d, b)


def _fold_back(one: Edge, other: Edge) -> bool:
    """Say whether two edges with a common corner have more than that in common."""
    (common,) = set(one) & set(other)
    a, b = (edge[0] if edge[1] == common else edge[1] for edge in (one, other))
    return _is_on(common, a, b) or _is_on(common, b, a)


def _format(point: Point) -> str:
    return f'[{point[0]:g}, {point[1]:g}]'


def _format_edge(edge: Edge) -> str:
    return f'{_format(edge[0])} to {_format(edge[1])}'
