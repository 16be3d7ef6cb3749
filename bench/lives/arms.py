"""
The arms: each chooses params for a trial, and learns what came of it.

An arm is made anew in each process of a life, with the folder of that life: what it wants to know
later must be in there.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

import numpy as np
from lives.draw import Trial
from lives.process import NamedProcess
from lives.regression import compute_success
from lives.rows import Rows
from lives.worlds import Outcome, World

Params = Mapping[str, float]


@dataclass(frozen=True)
class Setting:
    """Hold what an arm may use: the folder of its life, and the world's declaration."""

    folder: Path
    world: World
    """Only its choices and names may be looked at, but by the controls."""


class Arm:
    """Choose and learn."""

    is_told_truth: ClassVar[bool] = False
    """Whether `words` are the true situation for it."""
    is_slow: ClassVar[bool] = False
    """Whether a quick run has it in few lives only."""
    probability: float | None = None
    """Of success, said with the last choice; None where the arm says none."""

    def __init__(self, setting: Setting) -> None:
        """Go on from what is in the folder."""
        self.folder, self.world = setting.folder, setting.world

    def choose(self, trial: Trial) -> Params:
        """Return params among those that are allowed, and set `probability`."""
        raise NotImplementedError

    def learn(self, trial: Trial, params: Params, outcome: Outcome) -> None:
        """Take in what came of the params."""

    def close(self) -> None:
        """End what was started."""

    def choose_at_random(self, trial: Trial) -> int:
        """Return the choice that all arms fall back to where they know nothing."""
        return int(np.random.default_rng(trial.chance).integers(len(self.world.choices)))


class NoMemory(Arm):
    """Choose at random."""

    def choose(self, trial: Trial) -> Params:
        """Return any of the allowed params."""
        return self.world.name_params(self.choose_at_random(trial))


class BestFixed(Arm):
    """Choose what is best on the whole in hindsight: a control, no memory."""

    def __init__(self, setting: Setting) -> None:
        """Look it up in the table."""
        super().__init__(setting)
        self._best = self.world.find_best_fixed()

    def choose(self, trial: Trial) -> Params:
        """Return the same each time."""
        return self.world.name_params(self._best)


class ArmWithRows(Arm, ABC):
    """Keep each trial as a row of a CSV file."""

    def __init__(self, setting: Setting) -> None:
        """Read the file."""
        super().__init__(setting)
        self.rows = Rows(self.folder / 'trials.csv', self.world)
        self.scaled = self.world.scale_choices()

    def choose(self, trial: Trial) -> Params:
        """Return what the rows say, or anything where there are none."""
        self.probability = None
        choice = self.find(trial) if len(self.rows) else None
        return self.world.name_params(self.choose_at_random(trial) if choice is None else choice)

    @abstractmethod
    def find(self, trial: Trial) -> int | None:
        """Return a choice, None where no row is about the trial; there is one row at least."""

    def learn(self, trial: Trial, params: Params, outcome: Outcome) -> None:
        """Write a row."""
        self.rows.append(trial, self.world.find_choice(params), outcome)


class LastValue(ArmWithRows):
    """Repeat what came to what is wanted when last the same words were said."""

    def find(self, trial: Trial) -> int | None:
        """Return the choice of the last row that suits."""
        for words, choice, value in zip(
            reversed(self.rows.words),
            reversed(self.rows.choices),
            reversed(self.rows.values),
            strict=True,
        ):
            if words == trial.words and trial.want.is_met(float(value)):
                return choice
        return None


class SituationKnown(ArmWithRows):
    """Be told the true situation, and learn with a Gaussian process: the ceiling of memory."""

    is_told_truth = True

    def __init__(self, setting: Setting) -> None:
        """Know no scales yet."""
        super().__init__(setting)
        self._process = NamedProcess()

    def find(self, trial: Trial) -> int | None:
        """Return the choice that most probably succeeds."""
        rows = self.rows
        mean, spread = self._process.predict(
            rows.tried, rows.words, np.sqrt(rows.values), self.scaled, trial.words
        )
        # Slides grow with the square of speed, and searches with that of the way: roots are even.
        low, high = (
            math.copysign(math.sqrt(abs(one)), one) for one in (trial.want.low, trial.want.high)
        )
        chances = compute_success(mean, spread, replace(trial.want, low=low, high=high))
        best = int(chances.argmax())
        self.probability = float(chances[best])
        return best
