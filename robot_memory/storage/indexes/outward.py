"""
The way outward from a target in the grid of positions, under several paths at once.

All cubes of the grid within a reach are looked into by one statement, whatever the number of
positions; then what lies within twice as many, and so on. A cube that is crowded is divided.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import apsw
import numpy as np
import numpy.typing as npt

from robot_memory.storage.indexes.cell_arrays import (
    Numbers,
    Steps,
    find_steps,
    join_steps,
    measure,
    measure_farthest,
    split_cells,
)
from robot_memory.storage.indexes.cells import BITS, HALF, PER_UNIT

_FEW = 12
"""How many cells on and back from the target's a cube reaches that the first reach is told by."""
_FIRST_REACH = 0.35
"""Of the side of that cube: a dozen are there if those of three paths are spread evenly."""
_FIRST = 12
"""Positions that a first look is after; each further one is after twice as many."""
_FARTHER = 4
"""How much farther a look reaches than the last, where it is not known what is there."""
_MOST_CUBES = 64
_MOST_ROWS = 512
"""Rows of a statement, at least: where a cube alone has more, crowded ones are divided."""
_CROWD = 64
_SURVEYED = 32
_NEARBY = np.indices((3, 3, 3)).reshape(3, 27).T
_CORNERS = np.indices((2, 2, 2)).reshape(3, 8).T
_ROUNDED = 1e-12
"""What distances of a cube and of what is in it may be off from each other, of themselves."""
_AROUND = (
    '(SELECT cell FROM places WHERE path_id = r.column1 AND cell >= r.column2'
    ' ORDER BY cell LIMIT 1 OFFSET ?)',
    '(SELECT cell FROM places WHERE path_id = r.column1 AND cell < r.column2'
    ' ORDER BY cell DESC LIMIT 1 OFFSET ?)',
)
_ENDS = ', '.join(
    '(SELECT cell FROM places WHERE path_id = r.column1 AND cell BETWEEN r.column2 AND r.column3'
    f' ORDER BY cell {order})'
    for order in ('LIMIT 1', 'DESC LIMIT 1', f'LIMIT 1 OFFSET {_CROWD}')
)
"""The first cell of a cube, the last, and one that is there where it is crowded."""
_INSIDE = (
    'SELECT r.column4, p.cell, p.memory_id FROM r CROSS JOIN places AS p'
    ' ON p.path_id = r.column1 AND p.cell BETWEEN r.column2 AND r.column3 LIMIT ?'
)


@dataclass(frozen=True)
class _Cubes:
    """Cubes to look into: distances, least corners (n, 3), levels, and numbers of paths."""

    away: Numbers
    steps: Steps
    level: Steps
    path: Steps

    def __len__(self) -> int:
        return len(self.away)

    def __getitem__(self, chosen: npt.NDArray[Any] | list[int] | slice) -> _Cubes:
        return _Cubes(self.away[chosen], self.steps[chosen], self.level[chosen], self.path[chosen])

    def __add__(self, other: _Cubes) -> _Cubes:
        return _Cubes(
            np.concatenate((self.away, other.away)),
            np.concatenate((self.steps, other.steps)),
            np.concatenate((self.level, other.level)),
            np.concatenate((self.path, other.path)),
        )

    @property
    def last(self) -> Steps:
        """Return the last step of each along each axis (n, 3)."""
        last: Steps = self.steps + ((1 << self.level) - 1)[:, None]
        return last


@dataclass(frozen=True)
class _Targets:
    """Where is searched: ids of paths, and the target under each (p, 3)."""

    connection: apsw.Connection
    paths: Sequence[int | None]
    places: Numbers

    def guess_reach(self) -> float:
        """Return how far the nearest dozen may be, by how close the cells around them stand."""
        homes = join_steps(find_steps(self.places))
        values = ', '.join(['(?, ?)'] * len(homes))
        bound = [part for pair in zip(self.paths, homes, strict=True) for part in pair]
        rows = self.connection.execute(
            f'WITH r AS (VALUES {values}) SELECT r.column2, {", ".join(_AROUND)} FROM r',
            (*bound, _FEW, _FEW),
        )
        apart = [
            int.from_bytes(home, 'big') ^ int.from_bytes(end, 'big')
            for home, *ends in rows
            for end in ends
            if end is not None
        ]
        level = (min(apart).bit_length() + 2) // 3 if apart else BITS
        return math.ldexp(_FIRST_REACH, level) / PER_UNIT

    def make_cubes(self, steps: Steps, level: Steps, path: Steps) -> _Cubes:
        """Return cubes with their distances."""
        away = measure(self.places[path], steps, (1 << level)[:, None])
        return _Cubes(away, steps, level, path)

    def cover(self, reached: float, reach: float) -> _Cubes:
        """Return cubes that hold all that is farther than `reached`, and within `reach`."""
        padded = reach * (1 + 1e-6) if reach < HALF else math.inf
        # The least cubes that are larger than the reach: three along an axis at most.
        level = BITS if padded == math.inf else min(math.frexp(padded * PER_UNIT)[1], BITS)
        level = max(level, 0)
        first, last = (find_steps(self.places + side * padded) >> level for side in (-1, 1))
        at = first[:, None, :] + _NEARBY
        path, number = (at <= last[:, None, :]).all(axis=2).nonzero()
        cubes = self.make_cubes(at[path, number] << level, np.full(len(path), level), path)
        is_open = cubes.away * (1 - _ROUNDED) <= reach
        if reached > 0:
            widths = (1 << cubes.level)[:, None]
            far = measure_farthest(self.places[cubes.path], cubes.steps, widths)
            is_open &= far > reached
        return cubes[is_open]

    def divide(self, cubes: _Cubes) -> _Cubes:
        """Divide the crowded ones among the nearest cubes until the nearest of all is none."""
        while len(cubes):
            order = np.argsort(cubes.away, kind='stable')
            near, rest = cubes[order[:_SURVEYED]], cubes[order[_SURVEYED:]]
            rows = self._ask(near, f'SELECT {_ENDS} FROM r WHERE r.column4 >= 0')
            crowded = [
                number
                for number, (row, level) in enumerate(zip(rows, near.level, strict=True))
                if row[2] is not None and level > 0
            ]
            kept = [number for number, row in enumerate(rows) if row[0] is not None]
            cubes = near[sorted({*kept} - {*crowded})] + rest
            if crowded:
                lows, highs = zip(*(rows[number][:2] for number in crowded), strict=True)
                cubes += self._split(lows, highs, near.path[crowded])
            if not crowded or crowded[0] > 0:
                break
        return cubes

    def _split(self, lows: Sequence[bytes], highs: Sequence[bytes], path: Steps) -> _Cubes:
        """Return the parts of the least cubes that hold the cells from low to high."""
        ends = zip(lows, highs, strict=True)
        apart = [int.from_bytes(low, 'big') ^ int.from_bytes(high, 'big') for low, high in ends]
        level = np.array([(one.bit_length() + 2) // 3 for one in apart])
        steps = split_cells(lows) >> level[:, None] << level[:, None]
        cells = level == 0
        found = self.make_cubes(steps[cells], level[cells], path[cells])
        steps, level, path = steps[~cells], level[~cells] - 1, path[~cells].repeat(8)
        parts = (steps[:, None, :] + (_CORNERS << level[:, None, None])).reshape(-1, 3)
        return found + self.make_cubes(parts, level.repeat(8), path)

    def look(self, cubes: _Cubes, most: int) -> tuple[_Cubes, Numbers, Steps]:
        """
        Look into the nearest cubes, by one statement that brings `most` rows.

        Return the cubes that are still to look into, and distances and ids of what was found.
        """
        order = np.argsort(cubes.away, kind='stable')
        cubes, later = cubes[order[:_MOST_CUBES]], cubes[order[_MOST_CUBES:]]
        if cubes.level[0] == 0:
            # What is in one cell cannot be divided: it is read whole, alone.
            cubes, later, most = cubes[:1], cubes[1:] + later, -1
        rows = self._ask(cubes, _INSIDE, most)
        if len(rows) == most:
            # Of the last one's cube some were not read, and of those behind it.
            whole = rows[-1][0]
            if whole == 0:
                return self.divide(cubes + later), np.empty(0), np.empty(0, int)
            later = cubes[whole:] + later
            rows = [row for row in rows if row[0] < whole]
        if not rows:
            return later, np.empty(0), np.empty(0, int)
        numbers, cells, ids = zip(*rows, strict=True)
        places = self.places[cubes.path[list(numbers)]]
        away = measure(places, split_cells(cells), np.ones((1, 1), int))
        return later, away, np.array(ids)

    def _ask(self, cubes: _Cubes, query: str, *bound: int) -> list[Any]:
        """Return the rows of a query of cubes `r`: path, first cell, last cell, number."""
        paths = [self.paths[path] for path in cubes.path]
        ranges = zip(
            paths, join_steps(cubes.steps), join_steps(cubes.last), range(len(cubes)), strict=True
        )
        # As many as a power of two: few statements to prepare.
        count = 1 << (len(cubes) - 1).bit_length()
        spare = (None, b'', b'', -1) * (count - len(cubes))
        return self.connection.execute(
            f'WITH r AS (VALUES {", ".join(["(?, ?, ?, ?)"] * count)}) {query}',
            (*(part for row in ranges for part in row), *spare, *bound),
        ).fetchall()


def walk_outward(
    connection: apsw.Connection,
    targets: Sequence[tuple[int | None, Sequence[float]]],
    within: float = math.inf,
    wanted: int = _FIRST,
) -> Iterator[tuple[float, int]]:
    """
    Yield (distance at least, id) under some paths, ascending, up to a distance of `within`.

    `targets` are (id of a path, target under it); their distances are compared with each other.
    The first look is after so many as are `wanted`.
    """
    if not targets:
        return
    places = np.array([[*target, 0.0, 0.0, 0.0][:3] for _, target in targets], float)
    search = _Targets(connection, [path for path, _ in targets], places)
    wider = max(1.0, (wanted / _FIRST) ** (1 / 3))
    reached, reach = -1.0, min(search.guess_reach() * wider, within)
    while True:
        cubes = search.cover(reached, reach)
        away, ids = np.empty(0), np.empty(0, int)
        while len(cubes):
            cubes, more, found = search.look(cubes, max(_MOST_ROWS, 8 * wanted))
            new = more > reached
            away, ids = np.concatenate((away, more[new])), np.concatenate((ids, found[new]))
            order = np.argsort(away, kind='stable')
            away, ids = away[order], ids[order]
            bound = min(float(cubes.away.min(initial=math.inf)), reach)
            ready = int(np.searchsorted(away, bound, side='right'))
            yield from zip(away[:ready].tolist(), ids[:ready].tolist(), strict=True)
            away, ids = away[ready:], ids[ready:]
        if reach >= within or reach == math.inf:
            return
        wanted *= 2
        reached = reach
        # What was found beyond the reach already will be found again.
        reach = _FARTHER * max(reach, 1 / PER_UNIT)
        if len(away) >= wanted:
            reach = float(away[wanted - 1])
        reach = min(reach if reach < HALF else math.inf, within)
