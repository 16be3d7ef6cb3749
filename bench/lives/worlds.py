"""The worlds that lives are drawn from: tables of rollouts, and what is wanted of a trial."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Want:
    """Say within which bounds a result is to be, -inf for none; a success is within them."""

    result: str
    low: float
    high: float

    def is_met(self, value: float) -> bool:
        """Say whether a result is within the bounds."""
        return self.low <= value <= self.high


@dataclass(frozen=True)
class Outcome:
    """Hold what was measured of a trial."""

    results: Mapping[str, float]
    success: bool


@dataclass(frozen=True)
class World:
    """Hold the rollouts of a skill: what came of each situation, choice of params and start."""

    skill: str
    situations: tuple[str, ...]
    params: Mapping[str, str]
    """Names and units."""
    results: Mapping[str, str]
    """Names and units; a success is judged by the first."""
    choices: Floats
    """Values of the params that are allowed together, shape (choices, params)."""
    table: Floats
    """Shape (situations, choices, starts, results)."""
    swaps: tuple[tuple[str, str], ...]
    """Situations that change places where the world changes."""
    bounds: Mapping[str, Any] = field(default_factory=dict)
    """Of goals and tolerance, or the limit of the first result."""

    def draw_want(self, chance: np.random.Generator) -> tuple[dict[str, float], Want]:
        """Return the numbers that a trial comes with, and what is wanted of it."""
        first = next(iter(self.results))
        drawn = chance.uniform()
        if 'limit' in self.bounds:
            return {}, Want(first, -math.inf, float(self.bounds['limit']))
        low, high = self.bounds['goals']
        goal = round(float(low + drawn * (high - low)), 3)
        tolerance = float(self.bounds['tolerance'])
        return {'goal': goal}, Want(first, goal - tolerance, goal + tolerance)

    def roll_out(self, situation: str, choice: int, start: int, want: Want) -> Outcome:
        """Look up what comes of a choice."""
        row = self.table[self.situations.index(situation), choice, start]
        results = dict(zip(self.results, map(float, row), strict=True))
        return Outcome(results, want.is_met(results[want.result]))

    def name_params(self, choice: int) -> dict[str, float]:
        """Return the params of a choice by name."""
        return dict(zip(self.params, map(float, self.choices[choice]), strict=True))

    def find_choice(self, params: Mapping[str, float]) -> int:
        """Return the allowed choice that params are; the nearest, where they were rounded."""
        wanted = np.array([params[name] for name in self.params])
        spread = np.ptp(self.choices, axis=0)
        off = (((self.choices - wanted) / spread) ** 2).sum(axis=1)
        return int(off.argmin())

    def scale_choices(self) -> Floats:
        """Return the choices with each param from 0 to 1, shape (choices, params)."""
        low = self.choices.min(axis=0)
        scaled: Floats = (self.choices - low) / np.ptp(self.choices, axis=0)
        return scaled

    def find_best_fixed(self) -> int:
        """Return the choice that succeeds most often where nothing is known of a trial."""
        chance = np.random.default_rng(0)
        wants = [self.draw_want(chance)[1] for _ in range(400)]
        first = self.table[..., 0]
        met = np.mean([(first >= one.low) & (first <= one.high) for one in wants], axis=0)
        return int(met.mean(axis=(0, 2)).argmax())


def load_world(skill: str, path: Path) -> World:
    """Read a table of rollouts."""
    with np.load(path) as file:
        head = json.loads(str(file['head']))
        table = file['table'].astype(float)
    return World(
        skill,
        tuple(head['situations']),
        head['params'],
        head['results'],
        np.array(head['choices'], float),
        table,
        tuple((one, other) for one, other in head['swaps']),
        {key: head[key] for key in ('goals', 'tolerance', 'limit') if key in head},
    )
