"""
IVF cells: vectors grouped around centroids, so that a probe looks at a few groups only.

It is an inverted file (Jégou et al., IEEE PAMI 2011). It finds what is very near, as a duplicate
is, and is not asked for more: docs/decisions/indexes.md says how much of it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from robot_memory.embedding.quantisation import Plane, Vector
from robot_memory.search.signs import Signs, Words, select_likely

LARGE = 100_000
"""Vectors from which on cells are worth their keep; fewer are compared in a millisecond."""
_SAMPLE = 16
"""Rows of a centroid that it is the mean of, at most."""
_ROUNDS = 5
_PROBES = 20
"""Cells that are looked into; docs/decisions/indexes.md says what that finds."""
_GROWTH = 4
"""Centroids are made anew when there are so many times the rows they were made of."""
_LIKELY = 1024
"""Rows of a probe that are given at most: those whose signs differ least from the query's."""
_BLOCK = 16_384

Rows = NDArray[np.int64]


@dataclass(frozen=True)
class Cells:
    """
    Rows of each IVF cell.

    `centroids` (cells, dimension) are unit vectors, made when there were `trained_on` rows;
    `cell_of_row` has the cells of the first rows, -1 for those without a vector. Later rows are in
    no cell yet. `words` (words, rows) has the signs of `rows`, side by side as these are, where
    they were taken.
    """

    centroids: Vector
    trained_on: int
    cell_of_row: NDArray[np.int32]
    starts: Rows
    rows: NDArray[np.int32]
    words: Words | None = None

    @property
    def covered(self) -> int:
        """Return how many rows it knows of."""
        return len(self.cell_of_row)

    def probe(self, query: Vector, signs: Words | None = None) -> Rows:
        """
        Return rows of the cells nearest to a unit vector, ascending.

        With its `signs`, those of many that are likely near.
        """
        cells = np.argpartition(-(self.centroids @ query), _PROBES - 1)[:_PROBES]
        spans = [slice(self.starts[cell], self.starts[cell + 1]) for cell in cells]
        rows = np.concatenate([self.rows[span] for span in spans])
        if signs is not None and self.words is not None and len(rows) > _LIKELY:
            words = np.concatenate([self.words[:, span] for span in spans], axis=1)
            rows = rows[select_likely(words, signs, _LIKELY)]
        return np.sort(rows).astype(np.int64)


def assign_cells(
    matrix: Plane,
    has_vector: NDArray[np.bool_],
    known: Cells | None,
    changed: Rows,
    signs: Signs | None = None,
) -> Cells:
    """
    Put each row that has a vector into the cell of its nearest centroid.

    `matrix` holds coarse planes, shape (rows, dimension), and `signs` theirs, if they were taken.
    Known cells are kept while there are not many more rows; then only rows that are new or have
    changed are looked at.
    """
    count = int(has_vector.sum())
    cell_of_row = np.full(len(matrix), -1, np.int32)
    if known is None or count > _GROWTH * known.trained_on:
        rows = np.flatnonzero(has_vector)
        cells = max(1 << int(np.ceil(np.log2(max(count, 1)) / 2)), _PROBES)
        centroids, trained_on = _train_centroids(matrix, rows, cells), count
    else:
        centroids, trained_on = known.centroids, known.trained_on
        cell_of_row[: known.covered] = known.cell_of_row
        rows = np.concatenate([changed, np.arange(known.covered, len(matrix))])
        rows = rows[has_vector[rows]]
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        cell_of_row[block] = (matrix[block].astype(np.float32) @ centroids.T).argmax(axis=1)
    cell_of_row[~has_vector] = -1
    order = np.argsort(cell_of_row, kind='stable')
    starts = np.searchsorted(cell_of_row[order], np.arange(len(centroids) + 1))
    ordered = order.astype(np.int32)
    words = None if signs is None else signs.take(ordered)
    return Cells(centroids, trained_on, cell_of_row, starts, ordered, words)


def _train_centroids(matrix: Plane, rows: Rows, count: int) -> Vector:
    """Return centroids by spherical k-means over a sample, the same for the same rows."""
    chance = np.random.default_rng(0)
    sample = np.sort(chance.choice(rows, min(len(rows), _SAMPLE * count), replace=False))
    vectors = _normalize(matrix[sample].astype(np.float32))
    centroids = vectors[chance.choice(len(vectors), count, replace=False)]
    for _ in range(_ROUNDS):
        cell_of_row = (vectors @ centroids.T).argmax(axis=1)
        order = np.argsort(cell_of_row, kind='stable')
        occupied, begins = np.unique(cell_of_row[order], return_index=True)
        centroids[occupied] = np.add.reduceat(vectors[order], begins, axis=0)
        centroids = _normalize(centroids)
    return centroids


def _normalize(vectors: Vector) -> Vector:
    unit: Vector = vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return unit
