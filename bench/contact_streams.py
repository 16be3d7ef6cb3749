"""Wrench streams with known truth: the scenes in which bench/contacts.py tries the detector."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from robot_memory.detectors import WrenchReading

START_NS = 1_700_000_000 * 10**9
NOTHING = (0.0, 0.0, 0.0)
BIAS = 20.0
WEAK_SHARE = 0.9

Floats = NDArray[np.float64]
Shape = tuple[float, float, Callable[[Floats], Floats], Floats]


@dataclass(frozen=True)
class Push:
    """Hold a push as it was: seconds since the start of its stream, N, a unit vector."""

    start: float
    end: float
    peak: float
    direction: tuple[float, ...]


@dataclass
class Stream:
    """Hold readings, and the pushes that are in them."""

    name: str
    readings: list[WrenchReading] = field(default_factory=list)
    pushes: list[Push] = field(default_factory=list)


class Scene:
    """Draw one stream: forces over a rest that drifts and trembles."""

    def __init__(self, name: str, random: np.random.Generator, noise: float) -> None:
        """Begin with a bias of some 20 N and `noise` N a direction."""
        self.name, self.random, self.noise = name, random, noise
        self.rate = int(random.choice([50, 100, 100, 250]))
        self.seconds = 0.0
        self._shapes: list[Shape] = []
        self._pushes: list[Shape] = []
        self._silences: list[tuple[float, float]] = []
        self._bias = random.normal(0, BIAS / math.sqrt(3), 3)

    def wait(self, least: float, most: float) -> None:
        """Let some time pass."""
        self.seconds += self.random.uniform(least, most)

    def draw_direction(self) -> Floats:
        """Return a unit vector of any direction."""
        vector = self.random.normal(0, 1, 3)
        unit: Floats = vector / np.linalg.norm(vector)
        return unit

    def push(self, peak: float, rise: float, hold: float, fall: float) -> None:
        """Add a push that rises, holds and falls within these seconds, in straight lines."""
        direction, start, total = self.draw_direction(), self.seconds, rise + hold + fall

        def shape(seconds: Floats) -> Floats:
            up = np.clip(seconds / rise, 0, 1)
            down = np.clip((total - seconds) / fall, 0, 1)
            ramp: Floats = peak * np.minimum(up, down)
            return ramp

        self._pushes.append((start, start + total, shape, direction))
        self._shapes.append(self._pushes[-1])
        self.seconds += total

    def shift(self, force: float, rise: float = 0.3) -> None:
        """Leave a force behind for good, as hysteresis or a changed load does."""
        self._shapes.append(
            (
                self.seconds,
                math.inf,
                lambda seconds: force * np.clip(seconds / rise, 0, 1),
                self.draw_direction(),
            )
        )

    def drift(self, rate: float) -> None:
        """Let the rest drift for all of the stream, at most `rate` N/s, one way or to and fro."""
        if self.random.random() < 0.5:
            self._shapes.append(
                (0.0, math.inf, lambda seconds: rate * seconds, self.draw_direction())
            )
            return
        period = self.random.uniform(20, 90)
        size = rate * period / (2 * math.pi)
        self._shapes.append(
            (
                0.0,
                math.inf,
                lambda seconds: size * np.sin(2 * math.pi * seconds / period),
                self.draw_direction(),
            )
        )

    def fall_silent(self, least: float, most: float) -> None:
        """Let no reading come for a while; the forces go on."""
        start = self.seconds
        self.wait(least, most)
        self._silences.append((start, self.seconds))

    def record(self, later: tuple[float, float] | None = None) -> Stream:
        """Return the stream; `later` is from when on there is how much noise instead."""
        seconds = np.arange(round(self.seconds * self.rate)) / self.rate
        size = np.full(len(seconds), self.noise)
        if later is not None:
            size[seconds >= later[0]] = later[1]
        force = self._bias + self.random.normal(0, 1, (len(seconds), 3)) * size[:, None]
        for start, end, shape, direction in self._shapes:
            within = (seconds >= start) & (seconds < end)
            force[within] += np.outer(shape(seconds[within] - start), direction)
        heard = np.ones(len(seconds), bool)
        for start, end in self._silences:
            heard &= (seconds < start) | (seconds >= end)
        readings = [
            WrenchReading(START_NS + round(at * 1e9), 'tool0', tuple(values), NOTHING)
            for at, values in zip(seconds[heard].tolist(), force[heard].tolist(), strict=True)
        ]
        pushes = []
        for start, end, shape, direction in self._pushes:
            within = heard & (seconds >= start) & (seconds < end)
            if within.any():
                peak = float(shape(seconds[within] - start).max())
                pushes.append(Push(start, end, peak, tuple(map(float, direction))))
        return Stream(self.name, readings, pushes)


def _draw_noise(random: np.random.Generator, low: float = 0.03, high: float = 0.6) -> float:
    return float(np.exp(random.uniform(math.log(low), math.log(high))))


def _get_onset(noise: float) -> float:
    """Return an onset that any detector needs: what is a push, and what is weak, by the noise."""
    return max(1.0, 8 * noise)


def _push_firmly(scene: Scene, least: float = 1.3, most: float = 8.0) -> None:
    """Add a push that rises and falls at 1 N/s or more, each for 5 s at most."""
    random = scene.random
    peak = _get_onset(scene.noise) * float(np.exp(random.uniform(math.log(least), math.log(most))))
    longest = math.log(min(peak, 5.0))
    rise, fall = np.exp(random.uniform(math.log(0.02), longest, 2))
    scene.push(peak, float(rise), random.uniform(0.3, 3), float(fall))


def plain(random: np.random.Generator) -> Stream:
    """Pushes that rise at 1 N/s or more, in noise of 0.03 to 0.6 N."""
    scene = Scene('plain', random, _draw_noise(random))
    for _ in range(6):
        scene.wait(2, 6)
        _push_firmly(scene)
    scene.wait(2, 4)
    return scene.record()


def noisy(random: np.random.Generator) -> Stream:
    """Pushes in noise of 0.6 N."""
    scene = Scene('noise 0.6 N', random, 0.6)
    for _ in range(6):
        scene.wait(2, 6)
        _push_firmly(scene, most=4.0)
    scene.wait(2, 4)
    return scene.record()


def slow(random: np.random.Generator) -> Stream:
    """Pushes that build up at 0.5 to 1 N/s and end at any rate."""
    scene = Scene('slow', random, _draw_noise(random, high=0.12))
    for _ in range(4):
        scene.wait(4, 8)
        peak = random.uniform(2.0, 6.0)
        fall = peak / np.exp(random.uniform(math.log(0.5), math.log(50)))
        scene.push(peak, peak / random.uniform(0.5, 1.0), random.uniform(0, 3), float(fall))
    scene.wait(3, 5)
    return scene.record()


def drifting(random: np.random.Generator) -> Stream:
    """Pushes that rise at 1 N/s or more over a drift of up to 0.3 N/s."""
    scene = Scene('drift', random, _draw_noise(random))
    scene.drift(random.uniform(0.05, 0.3))
    for _ in range(5):
        scene.wait(4, 10)
        _push_firmly(scene)
    scene.wait(3, 5)
    return scene.record()


def weak(random: np.random.Generator) -> Stream:
    """Touches under the onset, long ones too, between pushes."""
    scene = Scene('weak touches', random, _draw_noise(random))
    for _ in range(4):
        scene.wait(2, 5)
        peak = _get_onset(scene.noise) * random.uniform(0.3, WEAK_SHARE)
        scene.push(peak, peak / random.uniform(1, 20), random.uniform(0.5, 15), 0.2)
        scene.wait(1.5, 5)
        _push_firmly(scene)
    scene.wait(2, 4)
    return scene.record()


def resuming(random: np.random.Generator) -> Stream:
    """Pushes and touches in which the stream stops; it goes on at rest or soon before the next."""
    scene = Scene('resumes', random, _draw_noise(random, high=0.3))
    scene.wait(1.5, 3)
    for _ in range(6):
        begin = scene.seconds
        if random.random() < 0.5:
            _push_firmly(scene)
        else:
            peak = _get_onset(scene.noise) * random.uniform(0.3, WEAK_SHARE)
            scene.push(peak, 0.2, random.uniform(0.5, 6), 0.2)
        end = scene.seconds
        scene.seconds -= 0.3 * (end - begin)
        scene.fall_silent(3, 45)
        scene.seconds = max(scene.seconds, end)
        scene.wait(0.15, 2)
    scene.wait(2, 4)
    return scene.record()


def shifted(random: np.random.Generator) -> Stream:
    """Pushes after which a force of up to 0.4 of the onset stays behind."""
    scene = Scene('rest offsets', random, _draw_noise(random))
    for _ in range(5):
        scene.wait(3, 6)
        _push_firmly(scene)
        scene.seconds -= 0.1
        scene.shift(_get_onset(scene.noise) * random.uniform(0.1, 0.4))
        scene.wait(0.1, 0.2)
    scene.wait(3, 4)
    return scene.record()


def changing(random: np.random.Generator) -> Stream:
    """Noise that grows or falls by up to twenty times, with pushes before and 12 s after."""
    before, after = _draw_noise(random), _draw_noise(random)
    scene = Scene('noise that changes', random, before)
    for noise in (before, after):
        scene.noise = noise
        for _ in range(3):
            scene.wait(3, 5)
            _push_firmly(scene)
        if noise is before:
            scene.wait(1, 2)
            change = scene.seconds
            scene.wait(12, 14)
    scene.wait(2, 4)
    scene.noise = before
    return scene.record((change, after))


def untouched(random: np.random.Generator) -> Stream:
    """Noise and drift, and a tool that is turned slowly: no push at all."""
    scene = Scene('no push', random, _draw_noise(random))
    scene.wait(10, 20)
    if random.random() < 0.5:
        scene.drift(random.uniform(0.05, 0.3))
    else:
        force = random.uniform(3, 12)
        scene.shift(force, force / random.uniform(0.1, 0.3))
    scene.wait(60, 100)
    return scene.record()


SCENES: tuple[Callable[[np.random.Generator], Stream], ...] = (
    plain,
    noisy,
    slow,
    drifting,
    weak,
    resuming,
    shifted,
    changing,
    untouched,
)
