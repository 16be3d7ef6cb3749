"""A puck that is struck: what the example loops act on, in place of a robot."""

from __future__ import annotations

import random

FRICTION = {'brass disc on the oiled tray': 0.05, 'plastic disc on wood': 0.2}
"""What the words do not say, and only trials tell."""
GOAL_M, TOLERANCE_M = 0.4, 0.08


class Table:
    """Strike discs on surfaces that come in turns; how far they slide is measured with noise."""

    def __init__(self, seed: int) -> None:
        """Begin with a seed."""
        self._chance = random.Random(seed)

    def find_situation(self) -> str:
        """Return what lies there, in words."""
        return self._chance.choice(list(FRICTION))

    def strike(self, situation: str, speed: float) -> float:
        """Return how far the disc slides in metres, struck with a speed in m/s."""
        slide = speed**2 / (2 * 9.81 * FRICTION[situation])
        return max(0.0, slide * self._chance.gauss(1.0, 0.03))

    def try_out(self) -> float:
        """Return a speed to try where nothing is known yet."""
        return self._chance.uniform(0.4, 1.8)


def is_good(slide: float) -> bool:
    """Say whether a slide ends near enough to the goal."""
    return abs(slide - GOAL_M) <= TOLERANCE_M
