"""
Print what suggest takes with many trials of a skill and many memories in the store.

Without a model, unless `--with-model`: embedding is left out. Times are of the calling thread's
processor and of the clock, medians with the middle nine tenths; `record_outcome` and `learn` are
called in turn.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from near_things import fill

from robot_memory.api import RobotMemory

SITUATIONS = [
    f'{colour} {thing} on the {place}'
    for colour in ('red', 'blue', 'brass', 'oiled')
    for thing in ('disc', 'puck', 'box', 'cup')
    for place in ('table', 'tray', 'mat', 'bench')
]
RULES = ('Never strike faster than 1.7 m/s', 'Angle at most 80 degrees', 'Near Li at most 0.5 m/s')
WANT = {'result': 'slide', 'value': '0.5 m', 'tolerance': '5 cm'}


def measure(calls: Sequence[Callable[[], object]]) -> str:
    """Call each once, and return the milliseconds of the processor and of the clock."""
    spent, passed = [], []
    for call in calls:
        cpu, wall = time.thread_time(), time.perf_counter()
        call()
        spent.append(1000 * (time.thread_time() - cpu))
        passed.append(1000 * (time.perf_counter() - wall))
    return f'{describe(spent)} of processor, {describe(passed)} passed'


def describe(times: Sequence[float]) -> str:
    """Return the median and the middle nine tenths."""
    cuts = statistics.quantiles(times, n=20)
    return f'p50 {statistics.median(times):.2f} ms ({cuts[0]:.2f} to {cuts[-1]:.2f})'


def record(robot: RobotMemory, chance: random.Random) -> None:
    """Record a trial of a push that slides as far as its speed and angle say."""
    situation = chance.choice(SITUATIONS)
    speed, angle = chance.uniform(0.2, 2), chance.uniform(5, 85)
    far = speed * (0.2 + 0.05 * (SITUATIONS.index(situation) % 8)) + angle / 1000
    robot.record_outcome(
        'strike',
        situation,
        params={'speed': f'{speed:.3f} m/s', 'angle': f'{angle:.1f} deg'},
        results={'slide': f'{chance.gauss(far, 0.02):.3f} m'},
        success='true' if abs(far - 0.5) < 0.1 else 'false',
    )


def suggest(robot: RobotMemory, chance: random.Random) -> None:
    """Ask what to try next."""
    robot.suggest('strike', chance.choice(SITUATIONS), want=WANT)


def main() -> None:
    """Fill a store, and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--trials', type=int, default=10_000)
    parser.add_argument('--memories', type=int, default=0)
    parser.add_argument('--with-model', action='store_true')
    parser.add_argument('--calls', type=int, default=200)
    options = parser.parse_args()
    chance = random.Random(17)
    model = '' if options.with_model else 'none'
    with (
        tempfile.TemporaryDirectory() as folder,
        RobotMemory(Path(folder) / 'memory.db', model=model, durability='normal') as robot,
    ):
        if options.with_model:
            robot.wait_for_model()
        if options.memories:
            fill(robot.memory, options.memories)
        for rule in RULES:
            robot.learn(rule)
        for _ in range(options.trials):
            record(robot, chance)
        print(f'{options.trials} trials, {options.memories} other memories')
        print(f'load {os.getloadavg()[0]:.2f}')
        suggest(robot, chance)
        print('suggest:', measure([lambda: suggest(robot, chance)] * options.calls))
        learned: list[float] = []
        recorded: list[float] = []
        for number in range(options.calls):
            text = f'Part {number} of lot {chance.randrange(10**6)} has a scratch'
            for times, call in (
                (learned, lambda said=text: robot.learn(said)),
                (recorded, lambda: record(robot, chance)),
            ):
                cpu = time.thread_time()
                call()
                times.append(1000 * (time.thread_time() - cpu))
        print(f'learn: {describe(learned)} of processor')
        print(f'record_outcome: {describe(recorded)} of processor')
        print(f'suggest after each trial: {measure_after(robot, chance, options.calls)}')
        print(f'load {os.getloadavg()[0]:.2f}')


def measure_after(robot: RobotMemory, chance: random.Random, count: int) -> str:
    """Return what suggest takes where each call has a new trial to take up."""
    spent = []
    for _ in range(count):
        record(robot, chance)
        cpu = time.thread_time()
        suggest(robot, chance)
        spent.append(1000 * (time.thread_time() - cpu))
    return f'{describe(spent)} of processor'


if __name__ == '__main__':
    main()
