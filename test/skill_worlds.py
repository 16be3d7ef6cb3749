"""Skills in a world of one formula, for tests of the learner."""

from __future__ import annotations

import numpy as np

from robot_memory.background.blas import hold_blas
from robot_memory.skills.model import Skill
from robot_memory.skills.trials import Trial


def make_vectors(count: int, seed: int = 0) -> np.ndarray:
    """Return situations that are told in different words, as unit vectors."""
    drawn = np.random.default_rng(seed).standard_normal((count, 32))
    found: np.ndarray = (drawn / np.linalg.norm(drawn, axis=1)[:, None]).astype(np.float32)
    return found


def push(vector: np.ndarray | None, speed: float, slide: float, **more: object) -> Trial:
    """Return a trial of a push by its speed and how far it slid."""
    return Trial(vector, {}, {'speed': speed}, {'slide': slide}, **more)  # type: ignore[arg-type]


def practise(
    skill: Skill,
    vectors: np.ndarray,
    gains: np.ndarray,
    count: int,
    seed: int = 0,
    noise: float = 0.03,
) -> list[float]:
    """Push at random, where the slide is gain x speed; return the surprises."""
    chance = np.random.default_rng(seed)
    found = []
    # As the tools do: threads of BLAS that wait for each other take the cores from other tests.
    with hold_blas():
        for _ in range(count):
            row, speed = int(chance.integers(len(vectors))), float(chance.uniform(0.2, 2))
            slide = gains[row] * speed + noise * float(chance.standard_normal())
            noticed = skill.record(push(vectors[row], speed, slide))
            found.append(noticed.surprise or 0.0)
            if skill.is_due:
                skill.learn()
    return found
