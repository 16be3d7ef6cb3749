"""The trials of a life, drawn by its seed alone: every arm meets the same."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from lives.worlds import Want, World

PHRASES = Path(__file__).resolve().parent / 'phrases'
Phrases = Mapping[str, Mapping[str, list[str]]]
"""By situation and language."""


@dataclass(frozen=True)
class Trial:
    """Hold what an arm is told before it acts."""

    number: int
    chance: int
    """Seed of what an arm leaves to chance: the same for all arms."""
    skill: str
    words: str
    """What is said of the situation."""
    numbers: Mapping[str, float]
    want: Want
    units: Mapping[str, str]
    """Of params, results and numbers."""


@dataclass(frozen=True)
class Drawn:
    """Hold a trial with what is hidden: the situation in truth, and the start."""

    trial: Trial
    physics: str
    start: int

    def tell_truth(self) -> Trial:
        """Return the trial with the true situation in place of the words."""
        return replace(self.trial, words=self.physics)


@dataclass(frozen=True)
class Variant:
    """Say how long a life is, how it is told of, and what happens in it."""

    name: str
    trials: int = 160
    chinese: bool = False
    restarts: tuple[int, ...] = ()
    """Trials before which the process starts anew."""
    changed: tuple[int, int] = (0, 0)
    """First trial of the changed world, and the first after it."""

    def is_changed(self, number: int) -> bool:
        """Say whether a trial is in the changed world."""
        return self.changed[0] <= number < self.changed[1]


VARIANTS = {
    one.name: one
    for one in (
        Variant('english'),
        Variant('third in Chinese', chinese=True),
        Variant('restarts', restarts=(40, 80, 120)),
        Variant('change', trials=240, changed=(120, 240)),
        Variant('change back', trials=240, changed=(80, 160)),
    )
}
ENGLISH_WAYS = 4
CHINESE_WAYS = 2
"""Beside the English ones: a third of all."""


def load_phrases(name: str, skill: str) -> Phrases:
    """Read how situations are told of; `name` is tuning or reporting."""
    found: dict[str, dict[str, dict[str, list[str]]]]
    found = json.loads((PHRASES / f'{name}.json').read_text('utf-8'))
    return found[skill]


def draw_life(world: World, phrases: Phrases, variant: Variant, seed: int) -> list[Drawn]:
    """
    Return the trials of a life.

    What is drawn for a trial hangs on the skill, the seed and its number only, so that variants
    differ in what they are about: words, length, or physics.
    """
    kind = zlib.crc32(world.skill.encode())
    ways = _draw_ways(world, phrases, np.random.default_rng([kind, seed, 0]), variant.chinese)
    other = {one: two for pair in world.swaps for one, two in (pair, pair[::-1])}
    units = {**world.params, **world.results, 'goal': next(iter(world.results.values()))}
    lived = []
    for number in range(variant.trials):
        chance = np.random.default_rng([kind, seed, 1, number])
        situation = world.situations[int(chance.integers(len(world.situations)))]
        numbers, want = world.draw_want(chance)
        start = int(chance.integers(world.table.shape[2]))
        way = chance.uniform()
        said = ways[situation][int(way * len(ways[situation]))]
        mine = int(chance.integers(2**31))
        trial = Trial(number, mine, world.skill, said, numbers, want, units)
        physics = other.get(situation, situation) if variant.is_changed(number) else situation
        lived.append(Drawn(trial, physics, start))
    return lived


def _draw_ways(
    world: World, phrases: Phrases, chance: np.random.Generator, chinese: bool
) -> dict[str, list[str]]:
    ways = {}
    for situation in world.situations:
        told = phrases[situation]
        english = chance.permutation(told['en'])[:ENGLISH_WAYS].tolist()
        others = chance.permutation(told['zh'])[:CHINESE_WAYS].tolist()
        ways[situation] = english + others if chinese else english
    return ways
