"""The rows of a CSV file: what was said, tried, and measured, one trial a row."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
from lives.draw import Trial
from lives.worlds import Floats, Outcome, World


class Rows:
    """Keep trials in memory and in a file, from which another process goes on."""

    def __init__(self, path: Path, world: World) -> None:
        """Read what the file has, if it is there."""
        self._path, self._world = path, world
        self._scaled = world.scale_choices()
        self.words: list[str] = []
        self._choices: list[int] = []
        self._values: list[float] = []
        if path.exists():
            with path.open(encoding='utf-8', newline='') as file:
                for words, choice, value, *_ in csv.reader(file):
                    self._add(words, int(choice), float(value))

    def __len__(self) -> int:
        """Return how many trials there are."""
        return len(self.words)

    @property
    def tried(self) -> Floats:
        """The params of each row, from 0 to 1; shape (rows, params)."""
        return self._scaled[self._choices]

    @property
    def choices(self) -> list[int]:
        """The choice of each row."""
        return self._choices

    @property
    def values(self) -> Floats:
        """The first result of each row, shape (rows,)."""
        return np.array(self._values)

    def append(self, trial: Trial, choice: int, outcome: Outcome) -> None:
        """Write a row."""
        value = outcome.results[trial.want.result]
        with self._path.open('a', encoding='utf-8', newline='') as file:
            csv.writer(file).writerow([trial.words, choice, value, int(outcome.success)])
        self._add(trial.words, choice, value)

    def _add(self, words: str, choice: int, value: float) -> None:
        self.words.append(words)
        self._choices.append(choice)
        self._values.append(value)
