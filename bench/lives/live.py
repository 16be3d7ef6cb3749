"""One life of one arm: trial after trial, in one process or in several."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import tempfile
import time
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from lives.arms import Arm, Setting
from lives.draw import VARIANTS, Drawn, draw_life, load_phrases
from lives.registry import ARMS
from lives.worlds import World, load_world

Lived = dict[str, Any]


@dataclass(frozen=True)
class Life:
    """Name a life: what is lived, and who lives it."""

    skill: str
    variant: str
    seed: int
    arm: str
    phrases: str
    table: Path

    @property
    def key(self) -> str:
        """What its results are kept under."""
        return '|'.join((self.table.parent.name, self.variant, str(self.seed), self.arm))


def live(life: Life) -> Lived:
    """Return the success of each trial, 0 or 1, its probability as said, and the seconds taken."""
    variant = VARIANTS[life.variant]
    edges = (0, *variant.restarts, variant.trials)
    begin = time.monotonic()
    folder = Path(tempfile.mkdtemp(prefix='lives-'))
    try:
        parts = [
            _live_part(life, folder, first, last, apart=len(edges) > 2)
            for first, last in itertools.pairwise(edges)
        ]
    finally:
        # The rival may be about to end only now.
        shutil.rmtree(folder, ignore_errors=True)
    lived: Lived = {name: [one for part in parts for one in part[name]] for name in parts[0]}
    return {**lived, 'seconds': round(time.monotonic() - begin, 2)}


def live_trials(arm: Arm, world: World, trials: list[Drawn]) -> Lived:
    """Return what comes of trials, one after the other."""
    success: list[int] = []
    probability: list[float | None] = []
    for drawn in trials:
        trial = drawn.tell_truth() if arm.is_told_truth else drawn.trial
        params = arm.choose(trial)
        choice = world.find_choice(params)
        outcome = world.roll_out(drawn.physics, choice, drawn.start, trial.want)
        success.append(int(outcome.success))
        probability.append(None if arm.probability is None else round(arm.probability, 4))
        arm.learn(trial, params, outcome)
    return {'success': success, 'probability': probability}


def _live_part(life: Life, folder: Path, first: int, last: int, *, apart: bool) -> Lived:
    """Live from one trial to another; `apart`: in a process of its own, that ends unannounced."""
    if not apart:
        return _live_here(life, folder, first, last)
    answer = folder / f'part-{first}.json'
    process = get_context('spawn').Process(
        target=_live_and_vanish, args=(life, folder, first, last, answer)
    )
    process.start()
    process.join()
    if process.exitcode:
        raise RuntimeError(f'{life.key}: the process ended with {process.exitcode}')
    found: Lived = json.loads(answer.read_text('utf-8'))
    return found


def _live_and_vanish(life: Life, folder: Path, first: int, last: int, answer: Path) -> None:
    lived = _live_here(life, folder, first, last, close=False)
    answer.write_text(json.dumps(lived), 'utf-8')
    os._exit(0)


def _live_here(life: Life, folder: Path, first: int, last: int, *, close: bool = True) -> Lived:
    world = load_world(life.skill, life.table)
    phrases = load_phrases(life.phrases, life.skill)
    trials = draw_life(world, phrases, VARIANTS[life.variant], life.seed)[first:last]
    arm = ARMS[life.arm](Setting(folder, world))
    try:
        return live_trials(arm, world, trials)
    finally:
        if close:
            arm.close()
