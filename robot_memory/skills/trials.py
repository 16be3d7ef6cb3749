"""The trials of a skill as arrays: where each was made, and what came of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Value = float | str
"""Of a number or a param: a figure in the unit that the caller keeps to, or a category's name."""

SUCCESS = ''
"""The result that success is: 1, failure is 0; not the name of a result that is measured."""
NUMBER, PARAM = 'number ', 'param '
"""What the names of columns begin with: a number and a param may have one name."""
_FIXED_SPREAD = 0.25
"""Share of a param that never varied that others are apart by."""
_TABULATED = 512
"""Situations whose distances are kept: 2 MB; of more they are computed where they are needed."""


@dataclass(frozen=True)
class Trial:
    """
    Hold what was tried and what came of it.

    `situation` is the vector of its words, of unit length, shape (dimension,); None where no
    words were said. `success` is None where it is not known.
    """

    situation: NDArray[Any] | None
    numbers: Mapping[str, Value]
    params: Mapping[str, Value]
    results: Mapping[str, float]
    success: bool | None = None
    simulated: bool = False


def list_values(trial: Trial) -> dict[str, Value]:
    """Return the numbers and params of a trial by the names of their columns."""
    return {
        **{f'{NUMBER}{name}': value for name, value in trial.numbers.items()},
        **{f'{PARAM}{name}': value for name, value in trial.params.items()},
    }


@dataclass(frozen=True)
class Points:
    """
    Hold where trials are made, as rows: `situations` (n,) are rows of the vectors, -1 for none.

    `values` (n, columns) are figures, or codes of categories; NaN where there is none.
    """

    situations: Indices
    values: Floats

    def pick(self, rows: Indices) -> Points:
        """Return some of the points."""
        return Points(self.situations[rows], self.values[rows])


class Growing:
    """Append rows to an array at a cost that does not grow with it."""

    def __init__(self, shape: tuple[int, ...], kind: Any, empty: Any) -> None:
        """Begin with no rows of a shape, which hold `empty` until they are set."""
        self._empty = empty
        self._rows = np.full((16, *shape), empty, kind)
        self._count = 0

    @property
    def rows(self) -> NDArray[Any]:
        """The rows that were appended, a view."""
        return self._rows[: self._count]

    def append(self, row: Any) -> None:
        """Append a row."""
        if self._count == len(self._rows):
            more = np.full_like(self._rows, self._empty)
            self._rows = np.concatenate([self._rows, more])
        self._rows[self._count] = row
        self._count += 1

    def drop(self) -> None:
        """Forget the last row."""
        self._count -= 1
        self._rows[self._count] = self._empty

    def widen(self) -> None:
        """Add a column, which is empty in all rows so far."""
        column = np.full((len(self._rows), 1), self._empty, self._rows.dtype)
        self._rows = np.concatenate([self._rows, column], axis=1)


@dataclass
class Trials:
    """Hold the trials of a skill in the order in which they were made."""

    names: list[str] = field(default_factory=list)
    """Of the columns of values."""
    categories: dict[str, dict[str, int]] = field(default_factory=dict)
    """Codes by name, of each column that holds categories."""
    results: dict[str, Growing] = field(default_factory=dict)
    """Each result of all trials, NaN where it was not measured."""

    def __post_init__(self) -> None:
        """Begin with no trials."""
        self._rows: dict[bytes, int] = {}
        self._vectors: Growing | None = None
        self._apart = np.zeros((17, 17))
        self._apart[0, 1:] = self._apart[1:, 0] = 1
        self._situations = Growing((), np.int64, -1)
        self._values = Growing((0,), float, np.nan)
        self._simulated = Growing((), bool, False)
        self._counts, self._means, self._squares = np.zeros((3, 0))
        self._spreads: tuple[Floats, Floats] | None = None

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._situations.rows)

    @property
    def vectors(self) -> NDArray[Any]:
        """The vectors of all situations that were told, shape (situations, dimension)."""
        return np.zeros((0, 1), np.float32) if self._vectors is None else self._vectors.rows

    @property
    def apart(self) -> Floats | None:
        """
        One minus the cosines of situations, the first of no words; None where they are too many.

        Shape (1 + situations, 1 + situations); it must not be changed.
        """
        count = 1 + len(self._rows)
        return self._apart[:count, :count] if count <= len(self._apart) else None

    def measure_from(self, situation: int) -> Floats:
        """
        Return one minus the cosines of a situation and all, shape (1 + situations,).

        The first is of no words, as is the situation -1: these are as far from each other one as
        situations that have nothing alike.
        """
        if (known := self.apart) is not None:
            kept: Floats = known[situation + 1].copy()
            return kept
        apart = np.ones(1 + len(self._rows))
        if situation >= 0:
            apart[1:] -= self.vectors @ self.vectors[situation]
        else:
            apart[0] = 0
        found: Floats = np.clip(apart, 0, 2)
        return found

    @property
    def points(self) -> Points:
        """Where the trials were made."""
        return Points(self._situations.rows, self._values.rows)

    @property
    def simulated(self) -> NDArray[np.bool_]:
        """Which are simulated, shape (trials,)."""
        return self._simulated.rows

    def find_spreads(self) -> tuple[Floats, Floats]:
        """
        Return standard deviations and means of the columns of values, shapes (columns,).

        Of categories they are NaN and 0, of a number of the situation that never varied 1 and the
        number. A param that never varied has a spread of a share of it, at most 1: in metres a
        depth of 10 mm and one of 50 mm would else be alike. They are computed once for each number
        of trials, and must not be changed.
        """
        if self._spreads is None:
            spreads = np.sqrt(self._squares / np.maximum(self._counts, 1))
            fixed = _FIXED_SPREAD * np.abs(self._means)
            is_param = np.array([name.startswith(PARAM) for name in self.names], bool)
            fixed = np.where(is_param & (fixed > 0), np.minimum(fixed, 1.0), 1.0)
            spreads = np.where(spreads == 0, fixed, spreads)
            centers = self._means.copy()
            for column, name in enumerate(self.names):
                if name in self.categories:
                    spreads[column], centers[column] = np.nan, 0.0
            self._spreads = spreads, centers
        return self._spreads

    def get_result(self, name: str) -> Floats:
        """Return a result of all trials, shape (trials,); NaN where it was not measured."""
        if name not in self.results:
            return np.full(len(self), np.nan)
        return self.results[name].rows

    def append(self, trial: Trial) -> None:
        """Add a trial."""
        self._add_columns(trial)
        values = self.encode_all(trial)
        measured = dict(trial.results)
        if trial.success is not None:
            measured[SUCCESS] = float(trial.success)
        for name in measured.keys() - self.results.keys():
            self.results[name] = Growing((), float, np.nan)
            for _ in range(len(self)):
                self.results[name].append(np.nan)
        for name, column in self.results.items():
            column.append(measured.get(name, np.nan))
        self._situations.append(self.add_situation(trial.situation))
        self._values.append(values)
        self._note_spread(values)
        self._simulated.append(trial.simulated)

    def add_situation(self, vector: NDArray[Any] | None) -> int:
        """Return the row of a situation's vector, a new one where it was never told."""
        if vector is None:
            return -1
        said = np.ascontiguousarray(vector, np.float32)
        if self._vectors is None:
            self._vectors = Growing(said.shape, np.float32, 0)
        key = said.tobytes()
        if key not in self._rows:
            self._rows[key] = len(self._rows)
            self._vectors.append(said)
            self._tabulate(said)
        return self._rows[key]

    def _tabulate(self, vector: NDArray[Any]) -> None:
        """Note how far the newest situation is from all."""
        row = len(self._rows)
        if row > _TABULATED:
            return
        if row == len(self._apart):
            more = np.ones((2 * row - 1, 2 * row - 1))
            more[:row, :row] = self._apart
            self._apart = more
        distances = np.clip(1 - (self.vectors @ vector).astype(float), 0, 2)
        self._apart[row, 1 : row + 1] = self._apart[1 : row + 1, row] = distances

    @contextmanager
    def place(self, vector: NDArray[Any] | None) -> Iterator[int]:
        """Give the row of a situation that is asked about; one that is new is forgotten after."""
        known = len(self._rows)
        row = self.add_situation(vector)
        try:
            yield row
        finally:
            if len(self._rows) > known and self._vectors is not None:
                self._rows.popitem()
                self._vectors.drop()

    def encode_all(self, trial: Trial) -> Floats:
        """Return the values of a trial by column, shape (columns,); NaN where it has none."""
        given = list_values(trial)
        return np.array([self.encode(name, given.get(name)) for name in self.names], float)

    def encode_column(self, name: str, values: Sequence[Value | None]) -> Floats:
        """Return values as figures of one column, as `encode` does each, shape (values,)."""
        kinds = {*map(type, values)}
        if name not in self.categories and not any(issubclass(one, str) for one in kinds):
            return np.array(values, float)
        return np.array([self.encode(name, one) for one in values], float)

    def encode(self, name: str, value: Value | None) -> float:
        """Return a value as a figure of the column with a name; NaN where it has none."""
        if value is None:
            return np.nan
        codes = self.categories.get(name)
        if codes is None:
            return float(value) if not isinstance(value, str) else np.nan
        return float(codes.get(str(value), -1))

    def _note_spread(self, values: Floats) -> None:
        """Take in the values of a trial, as Welford (1962) does; codes of categories as well."""
        known = ~np.isnan(values)
        self._counts += known
        apart = np.where(known, values - self._means, 0.0)
        self._means += apart / np.maximum(self._counts, 1)
        self._squares += apart * np.where(known, values - self._means, 0.0)
        self._spreads = None

    def _add_columns(self, trial: Trial) -> None:
        """Make room for the names and categories that a trial is the first to have."""
        for name, value in list_values(trial).items():
            if name not in self.names:
                self.names.append(name)
                self._values.widen()
                self._counts, self._means, self._squares = (
                    np.append(one, 0.0) for one in (self._counts, self._means, self._squares)
                )
                if isinstance(value, str):
                    self.categories[name] = {}
            if name in self.categories:
                codes = self.categories[name]
                codes.setdefault(str(value), len(codes))
