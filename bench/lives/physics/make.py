"""
Roll out every situation by params by start once, into a table: `python -m lives.physics.make`.

Run by the Python of .venv-lives, with bench/ as the folder. What is in the folder already is kept:
a run that was broken off goes on where it was.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
from lives.physics import insert, strike
from numpy.typing import NDArray

Rows = NDArray[np.float32]
_AT_ONCE = 2
"""Processes: the machines that this is for have two cores."""


def list_choices(skill: str) -> list[tuple[float, ...]]:
    """Return the values of the params that are allowed together."""
    if skill == 'strike':
        return [(speed,) for speed in strike.SPEEDS]
    return list(itertools.product(insert.OFFSETS, insert.OFFSETS))


def roll_out_strikes(place: int) -> Rows:
    """Return the slides of a situation, shape (speeds, starts, 1)."""
    situation = strike.list_situations()[place]
    disturbances = [strike.draw_disturbance(place, start) for start in range(strike.STARTS)]
    return np.array(
        [
            [[strike.strike(situation, speed, one)] for one in disturbances]
            for (speed,) in list_choices('strike')
        ],
        np.float32,
    )


def roll_out_insertions(place: int) -> Rows:
    """Return search and force of a situation, shape (offsets, starts, 2)."""
    situation = insert.list_situations()[place]
    disturbances = [insert.draw_disturbance(place, start) for start in range(insert.STARTS)]
    return np.array(
        [
            [insert.insert(situation, (x, y), one) for one in disturbances]
            for x, y in list_choices('insert')
        ],
        np.float32,
    )


ROLL_OUTS: dict[str, Callable[[int], Rows]] = {
    'strike': roll_out_strikes,
    'insert': roll_out_insertions,
}
HEADS: dict[str, dict[str, Any]] = {
    'strike': {
        'situations': strike.list_situations(),
        'params': {'speed': 'm/s'},
        'results': {'slide': 'm'},
        'goals': strike.GOALS,
        'tolerance': strike.TOLERANCE,
        'swaps': strike.SWAPS,
    },
    'insert': {
        'situations': insert.list_situations(),
        'params': {'dx': 'mm', 'dy': 'mm'},
        'results': {'search': 's', 'force': 'N'},
        'limit': insert.LIMIT,
        'swaps': insert.SWAPS,
    },
}


def make_table(skill: str, folder: Path) -> None:
    """Write <skill>.npz, from the parts that are made and those that are missing."""
    parts = [folder / f'{skill}-{place}.npy' for place in range(len(HEADS[skill]['situations']))]
    missing = [(skill, place, path) for place, path in enumerate(parts) if not path.exists()]
    with get_context('spawn').Pool(_AT_ONCE) as pool:
        for place in pool.imap_unordered(_make_part, missing):
            print(f'{skill}: {HEADS[skill]["situations"][place]}', file=sys.stderr, flush=True)
    head = json.dumps({**HEADS[skill], 'choices': list_choices(skill)})
    table = np.stack([np.load(path) for path in parts])
    made = folder / f'{skill}.making.npz'
    np.savez_compressed(made, table=table, head=np.array(head))
    os.replace(made, folder / f'{skill}.npz')


def _make_part(job: tuple[str, int, Path]) -> int:
    skill, place, path = job
    rows = ROLL_OUTS[skill](place)
    made = path.with_suffix('.making.npy')
    np.save(made, rows)
    os.replace(made, path)
    return place


if __name__ == '__main__':
    for name in sys.argv[2:]:
        make_table(name, Path(sys.argv[1]))
