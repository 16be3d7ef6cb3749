"""
Print how well a change of the world is noticed, and how often one is where there is none.

Lives are those of `run.py`, on its cached tables, but longer, so that each situation is met more
than fifteen times in each of its worlds. A changed situation counts as noticed with the trial of
it after which a change has been told and its trials from before count for less than half; as
undone with the trial of it, after the change back, after which they count for more than half.
Phrases are those for tuning; seeds from 100 on are for tuning, those from 300 on for reporting.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from lives.arms import Setting
from lives.draw import Variant, draw_life, load_phrases
from lives.environment import CACHE, SKILLS, make_tables
from lives.intervals import bootstrap_ratio
from lives.suggest_arm import Suggest
from lives.worlds import World, load_world

from robot_memory.skills.model import Noticed

IN_TIME = 15
"""Trials of a situation within which a change is to be noticed, and to be undone."""
_LIVES = {
    'steady': Variant('steady', trials=500),
    'two pairs': Variant('two pairs', trials=480, changed=(160, 320)),
    'one pair': Variant('one pair', trials=480, changed=(160, 320)),
}


@dataclass
class Fate:
    """
    Hold what became of one changed situation, in trials of it, None where it never happened.

    `met` is how many trials of it there were in the changed world, `met_back` after that.
    """

    met: int = 0
    noticed: int | None = None
    met_back: int = 0
    undone: int | None = None


@dataclass
class Watched:
    """Hold a life: the trials with which a change was told, or one back; and the situations."""

    success: list[int]
    told: list[int]
    told_back: list[int]
    fates: dict[str, Fate]


class Watcher(Suggest):
    """Learn as the arm does, and keep what was noticed; nothing is written."""

    def __init__(self, setting: Setting) -> None:
        """Begin with no trials."""
        super().__init__(setting)
        self.noticed: list[Noticed] = []

    def keep(self, row: object, noticed: Noticed) -> None:
        """Keep what was noticed."""
        self.noticed.append(noticed)


def watch(skill: str, world: World, kind: str, seed: int) -> Watched:
    """Live a life and say what was noticed in it."""
    variant = _LIVES[kind]
    swaps = world.swaps[seed % 2 :][:1] if kind == 'one pair' else world.swaps
    phrases = load_phrases('tuning', skill)
    lived = draw_life(replace(world, swaps=swaps), phrases, variant, seed)
    names = [one.physics for one in draw_life(replace(world, swaps=()), phrases, variant, seed)]
    changed = [name for pair in swaps for name in pair] if variant.changed[0] else []
    watched = Watched([], [], [], {name: Fate() for name in changed})
    arm = Watcher(Setting(Path(), world))
    for drawn in lived:
        params = arm.choose(drawn.trial)
        choice = world.find_choice(params)
        outcome = world.roll_out(drawn.physics, choice, drawn.start, drawn.trial.want)
        watched.success.append(int(outcome.success))
        arm.learn(drawn.trial, params, outcome)
        _note(watched, arm, names, variant.changed)
    return watched


def _note(watched: Watched, arm: Watcher, names: Sequence[str], changed: tuple[int, int]) -> None:
    """Note what was told with the newest trial, and what is thought of its situation."""
    (begin, back), newest = changed, len(watched.success) - 1
    change = arm.noticed[-1].change
    if change is not None:
        (watched.told if change.back is None else watched.told_back).append(newest)
    fate = watched.fates.get(names[newest])
    if fate is None or newest < begin:
        return
    old = [place for place in range(begin) if names[place] == names[newest]]
    outdated = float(arm.skill.history.outdated[old].mean())
    if newest >= back:
        fate.met_back += 1
        if fate.undone is None and outdated < 0.5:
            fate.undone = fate.met_back
        return
    fate.met += 1
    if fate.noticed is None and outdated > 0.5 and any(one >= begin for one in watched.told):
        fate.noticed = fate.met


def watch_all(
    skills: Iterable[str], seeds: Iterable[int], kinds: Sequence[str], file: Path | None
) -> dict[tuple[str, str], dict[int, Watched]]:
    """Return lives by skill and kind, and seed; those of the file are not lived again."""
    found: dict[tuple[str, str], dict[int, Watched]] = {}
    kept = {} if file is None or not file.exists() else _read(file)
    tables = make_tables([*skills])
    for seed in seeds:
        for skill, table in tables.items():
            world = load_world(skill, table)
            for kind in kinds:
                key = f'{skill}|{kind}|{seed}'
                if key not in kept:
                    kept[key] = watch(skill, world, kind, seed)
                    if file is not None:
                        with file.open('a', encoding='utf-8') as opened:
                            opened.write(f'{json.dumps([key, asdict(kept[key])])}\n')
                found.setdefault((skill, kind), {})[seed] = kept[key]
    return found


def _read(file: Path) -> dict[str, Watched]:
    kept = {}
    for line in file.read_text('utf-8').splitlines():
        key, one = json.loads(line)
        one['fates'] = {name: Fate(**fate) for name, fate in one['fates'].items()}
        kept[key] = Watched(**one)
    return kept


def describe_alarms(lives: Mapping[int, Watched], begins: int | None) -> str:
    """Return the alarms in 1,000 trials before anything has changed."""
    false = [sum(begins is None or at < begins for at in one.told) for one in lives.values()]
    trials = [begins or len(one.success) for one in lives.values()]
    return f'false alarms in 1,000 trials {_format(false, [n / 1000 for n in trials], 2)}'


def describe_fates(lives: Mapping[int, Watched]) -> str:
    """Return the shares noticed and undone in time, and the medians of the delays."""
    fates = [[*one.fates.values()] for one in lives.values()]
    counts = [len(one) for one in fates]
    noticed = [sum(_is_in_time(fate.noticed) for fate in one) for one in fates]
    ever = [sum(fate.noticed is not None for fate in one) for one in fates]
    undone = [
        sum(fate.noticed is not None and _is_in_time(fate.undone) for fate in one) for one in fates
    ]
    delays = [fate.noticed for one in fates for fate in one if fate.noticed is not None]
    backs = [
        fate.undone
        for one in fates
        for fate in one
        if fate.undone is not None and fate.noticed is not None
    ]
    return (
        f'noticed within {IN_TIME} trials {_format(noticed, counts)}, delay {_median(delays)}; '
        f'undone within {IN_TIME} of those noticed {_format(undone, ever)}, delay {_median(backs)}'
    )


def _is_in_time(delay: int | None) -> bool:
    return delay is not None and delay <= IN_TIME


def _median(delays: Sequence[int]) -> str:
    return f'{np.median(delays):.0f} trials' if delays else 'none'


def _format(counts: Sequence[float], of: Sequence[float], places: int | None = None) -> str:
    """Return a ratio of sums with its 95 % interval, in % where no places are said."""
    ratio, low, high = bootstrap_ratio(counts, of)
    if places is None:
        return f'{100 * ratio:.0f} % [{100 * low:.0f}, {100 * high:.0f}]'
    return f'{ratio:.{places}f} [{low:.{places}f}, {high:.{places}f}]'


def describe_success(lives: Mapping[int, Watched], window: tuple[int, int]) -> str:
    """Return the success in a window of trials, in %."""
    first, last = window
    counts = [sum(one.success[first:last]) for one in lives.values()]
    return _format(counts, [last - first] * len(counts))


def print_report(found: Mapping[tuple[str, str], Mapping[int, Watched]]) -> None:
    """Print the figures of each skill and kind of life."""
    for (skill, kind), lives in found.items():
        begin, back = _LIVES[kind].changed
        print(f'{skill}, {kind}, {len(lives)} lives: {describe_alarms(lives, begin or None)}')
        last = (_LIVES[kind].trials - 200, _LIVES[kind].trials)
        if not begin:
            print(f'  success in the last 200 trials {describe_success(lives, last)}')
            continue
        print(f'  {describe_fates(lives)}')
        windows = {'before': (begin - 80, begin), 'after': (begin, begin + 80)}
        windows['after the change back'] = (back, back + 80)
        said = [f'{name} {describe_success(lives, one)}' for name, one in windows.items()]
        print(f'  success in the 80 trials {", ".join(said)}')


def main() -> None:
    """Live the lives, and print the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--seeds', type=int, default=20, help='lives of each kind (default 20)')
    parser.add_argument('--first', type=int, default=100, help='the first seed (default 100)')
    parser.add_argument('--skill', action='append', choices=SKILLS, help='skills to watch')
    parser.add_argument('--kind', action='append', choices=[*_LIVES], help='kinds of lives')
    parser.add_argument('--name', help='keep lives under a name, and go on with those kept')
    given: Any = parser.parse_args()
    file = CACHE / f'notice-{given.name}.jsonl' if given.name else None
    seeds = range(given.first, given.first + given.seeds)
    print_report(watch_all(given.skill or SKILLS, seeds, given.kind or [*_LIVES], file))


if __name__ == '__main__':
    main()
