"""The parts of `break_stores.py`: what each does in its rounds, and what they came to."""

from __future__ import annotations

import errno
import functools
import itertools
import random
import shutil
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import calls
import damage
import disk
import erasures
import histories
import rounds as one_round
import salvaging
from histories import Life

CALLS_A_ROUND = 100
ERRORS = (
    ('I/O errors (EIO) at a call', disk.FAIL, errno.EIO),
    ('a full disk (ENOSPC) at one call', disk.FAIL, errno.ENOSPC),
    ('a disk that is full from a call on', disk.FULL, errno.ENOSPC),
)
OF_LIFE = 40
"""Rounds with one life: making it costs as much as some rounds."""


@dataclass
class Tally:
    """Count the rounds of a part, and what was wrong in them."""

    part: str
    rounds: int = 0
    unit: str = 'rounds'
    wrong: Counter[str] = field(default_factory=Counter)
    figures: Counter[str] = field(default_factory=Counter)

    def add(self, kind: str = '', detail: str = '', seed: int = 0, number: int = 0) -> None:
        """Count a round, and print at once what is wrong in it."""
        self.rounds += 1
        if kind:
            self.wrong[kind] += 1
            again = f'--part {self.part} --seed {seed} --round {number}'
            print(f'{self.part}: {kind} ({again}): {detail}', flush=True)


Rounds = Iterator[tuple[int, int, random.Random]]


def list_rounds(seed: int, rounds: int, only: Sequence[int] | None, each: int) -> Rounds:
    """Yield the seed of a life, the number of a round, and what it draws from."""
    for number in range(rounds) if only is None else only:
        chance = random.Random(f'{seed} round {number}')
        yield seed + number // each, number, chance


def run_disk_part(
    tally: Tally, folder: Path, seed: int, rounds: int, only: Sequence[int] | None
) -> None:
    """Live lives whose process or disk is struck at a call on a file, or power cut."""
    library, last = disk.Disk(), None
    for life_seed, number, chance in list_rounds(seed, rounds, only, OF_LIFE):
        if life_seed != last:
            last, life = life_seed, make_life(life_seed, tally.part)
            reference = find_reference(life, folder.parent)
            within = reference.base.parent  # the paths of its journal are those of this folder
            for half in reference.find_halves():
                tally.add('half', half, seed, number)
        if tally.part == 'kills':
            mode = chance.choice([disk.KILL, disk.KILL_HALFWAY])
            place = chance.randint(1, reference.calls)
            found = one_round.kill(library, reference, within, place, mode)
            what = {
                disk.KILL: 'at a call',
                disk.KILL_HALFWAY: 'at a call, halfway where it writes',
            }[mode]
            tally.figures[f'killed {what}'] += found.struck
        elif tally.part == 'cuts':
            found = one_round.cut(reference, within, chance)
            tally.figures[f'power cuts with durability {life.durability}'] += 1
        else:
            what, mode, error = chance.choice(ERRORS)
            most = reference.calls_with_reads if mode == disk.FAIL else reference.calls
            found = one_round.fail(
                library, reference, within, chance.randint(1, most), mode, error
            )
            tally.figures[what] += found.struck
        tally.add(found.kind, found.detail, seed, number)


@functools.lru_cache(maxsize=8)
def find_reference(life: Life, folder: Path) -> one_round.Reference:
    """Return a life that nobody disturbed: those of kills, cuts and errors are mostly the same."""
    within = folder / f'life of {life.seed}, {life.durability}, {life.old}'
    return one_round.live_undisturbed(disk.Disk(), life, within)


def run_every(
    tally: Tally, folder: Path, seed: int, rounds: int, only: Sequence[int] | None
) -> None:
    """Kill a single write at each of its calls on files in turn, and go on with the next write."""
    library, number = disk.Disk(), 0
    for life_seed in itertools.count(seed):
        life = Life(life_seed, only=life_seed % len(histories.CALLED), begins=seed)
        within = folder / str(life_seed)
        within.mkdir()
        reference = one_round.live_undisturbed(library, life, within)
        first, last = reference.counts[0] + 1, reference.counts[1]
        for place in range(first, last + 1):
            if number >= rounds:
                return
            if only is None or number in only:
                found = one_round.kill(library, reference, within, place)
                tally.add(found.kind, found.detail, seed, number)
                tally.figures['killed at a call'] += found.struck
            number += 1
        name = histories.CALLED[life.only or 0].__name__
        tally.figures[f'killed at each of its calls: {name}'] += 1
        shutil.rmtree(within)


def make_life(seed: int, part: str) -> Life:
    """Return a life: every fifth is one of an upgrade, every third cut has durability normal."""
    chance = random.Random(f'{seed} life')
    normal = part == 'cuts' and chance.random() < 1 / 3
    old = chance.choice(histories.OLD) if chance.random() < 1 / 5 else 0
    return histories.Life(seed, 'normal' if normal else 'full', old)


def run_erasures(
    tally: Tally, folder: Path, seed: int, rounds: int, only: Sequence[int] | None
) -> None:
    """Erase in a store that outlives the rounds; all of them up to one that is asked for."""
    store = erasures.Store(disk.Disk(), folder, seed)
    store.start_others()
    try:
        for number in range(rounds if only is None else max(only) + 1):
            found = store.erase(number, random.Random(f'{seed} round {number}'))
            tally.add(found.kind, found.detail, seed, number)
    finally:
        for wrong in store.stop_others():
            tally.add('ended', wrong, seed, rounds)
        erasures.add_figures(tally.figures, store.figures)


def run_damage(
    tally: Tally, folder: Path, seed: int, rounds: int, only: Sequence[int] | None
) -> None:
    """Damage a store at rest: no text that is told may differ from the one that was stored."""
    store = damage.Damaged(folder, seed)
    for _, number, chance in list_rounds(seed, rounds, only, OF_LIFE):
        tally.add(*store.strike(chance), seed, number)
    tally.figures.update(store.found)


def run_salvage(
    tally: Tally, folder: Path, seed: int, rounds: int, only: Sequence[int] | None
) -> None:
    """Damage stores and salvage them: rows whose pages are whole must be there, unchanged."""
    last = None
    for life_seed, number, chance in list_rounds(seed, rounds, only, OF_LIFE):
        if life_seed != last:
            last, store = life_seed, salvaging.Salvaging(folder / str(life_seed), life_seed)
        kind, detail = store.strike(chance)
        tally.figures.update(store.found)
        store.found.clear()
        tally.add(kind, detail, seed, number)


def run_clocks(
    tally: Tally, folder: Path, seed: int, rounds: int, only: Sequence[int] | None
) -> None:
    """Live lives whose clock jumps."""
    for life_seed, number, chance in list_rounds(seed, rounds, only, 1):
        life = Life(life_seed, begins=seed + number // OF_LIFE)
        found = one_round.jump(life, folder / str(number), chance, tally.figures)
        tally.add(found.kind, found.detail, seed, number)


def run_calls(
    tally: Tally, folder: Path, seed: int, rounds: int, only: Sequence[int] | None
) -> None:
    """Make random requests, `CALLS_A_ROUND` for each round that is asked for."""
    tally.unit = 'calls'

    def add(kind: str, detail: str) -> None:
        tally.add(kind, detail, seed, 0)

    counts = calls.call_all(folder, rounds * CALLS_A_ROUND, seed, add)
    tally.figures.update(counts)


PARTS: dict[str, Callable[[Tally, Path, int, int, Sequence[int] | None], None]] = {
    'kills': run_disk_part,
    'every': run_every,
    'cuts': run_disk_part,
    'errors': run_disk_part,
    'damage': run_damage,
    'salvage': run_salvage,
    'clocks': run_clocks,
    'calls': run_calls,
    'erasures': run_erasures,
}
