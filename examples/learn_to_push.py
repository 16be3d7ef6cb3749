"""
A robot that learns to push: docs/tutorial-skills.md runs it.

A puck is pushed off with a speed and is to come to rest at a distance. What it lies on and how
heavy it is decides how far it goes; the robot is told both in words only. It asks the memory for a
speed before each try (suggest) and reports what came of it (record_outcome). A robot without a
memory tries the same pucks with speeds drawn at random, for comparison.
"""

from __future__ import annotations

import argparse
import random
import uuid
from dataclasses import dataclass
from pathlib import Path

import matplotlib
from matplotlib import pyplot

from robot_memory.api import RobotMemory

GRAVITY = 9.81
AIR_N_S_PER_M = 0.05
STEP_S = 0.002
TOLERANCE_M = 0.08
SLOWEST, FASTEST = 0.3, 2.4
SKILL = 'push'


@dataclass(frozen=True)
class Puck:
    """Hold a puck on a surface: what a robot is told of it, and what it is not."""

    words: tuple[str, ...]
    friction: float
    mass_kg: float

    def push(self, speed: float, chance: random.Random) -> float:
        """Return how far it slides in metres, by steps of dry friction and drag."""
        friction = self.friction * chance.gauss(1.0, 0.03)
        moved = 0.0
        while speed > 0.0:
            moved += speed * STEP_S
            speed -= (friction * GRAVITY + AIR_N_S_PER_M * speed / self.mass_kg) * STEP_S
        return moved


PUCKS = (
    Puck(('brass puck on the oiled tray', 'heavy brass puck, the tray is oiled'), 0.06, 1.2),
    Puck(('plastic puck on the oiled tray', 'light plastic puck, the tray is oiled'), 0.08, 0.1),
    Puck(('brass puck on bare wood', 'heavy brass puck, wooden table'), 0.25, 1.2),
    Puck(('plastic puck on rubber', 'light plastic puck, rubber mat'), 0.45, 0.1),
)


@dataclass(frozen=True)
class Task:
    """Hold what is to be done: which puck, in which words, to come to rest how far away."""

    puck: Puck
    situation: str
    distance: float

    def is_done(self, slide: float) -> bool:
        """Say whether the puck came to rest near enough."""
        return abs(slide - self.distance) <= TOLERANCE_M


def draw_tasks(tries: int, seed: int) -> list[Task]:
    """Return tasks as they come, in no order."""
    chance = random.Random(seed)
    pucks = chance.choices(PUCKS, k=tries)
    return [
        Task(puck, chance.choice(puck.words), round(chance.uniform(0.2, 0.6), 2)) for puck in pucks
    ]


def choose_speed(memory: RobotMemory, task: Task, number: int, default: float) -> float:
    """Ask the memory for a speed; of the first try it knows neither result nor param."""
    tolerance = f'{TOLERANCE_M} m'
    want = {'result': 'slide', 'value': f'{task.distance} m', 'tolerance': tolerance}
    among = {'speed': {'min': f'{SLOWEST} m/s', 'max': f'{FASTEST} m/s'}}
    advice = memory.suggest(
        SKILL,
        task.situation,
        numbers={'distance': f'{task.distance} m'},
        want=want if number else None,
        among=among if number else None,
        default={'speed': f'{default} m/s'},
        world='sim',
    )
    return float(advice.params['speed']['value'])


def learn(memory: RobotMemory, tasks: list[Task], seed: int) -> list[bool]:
    """Push with a memory: ask, push, report; return which tries were good."""
    chance, world = random.Random(seed), random.Random(seed + 1)
    done = []
    for number, task in enumerate(tasks):
        speed = choose_speed(memory, task, number, round(chance.uniform(SLOWEST, FASTEST), 2))
        slide = task.puck.push(speed, world)
        done.append(task.is_done(slide))
        memory.record_outcome(
            SKILL,
            task.situation,
            numbers={'distance': f'{task.distance} m'},
            params={'speed': f'{speed} m/s'},
            results={'slide': f'{slide:.3f} m'},
            success=str(done[-1]).lower(),
            world='sim',
            key=str(uuid.uuid4()),
        )
    return done


def guess(tasks: list[Task], seed: int) -> list[bool]:
    """Push the same pucks without a memory; return which tries were good."""
    chance, world = random.Random(seed), random.Random(seed + 1)
    return [
        task.is_done(task.puck.push(chance.uniform(SLOWEST, FASTEST), world)) for task in tasks
    ]


def draw_curves(curves: dict[str, list[bool]], path: Path) -> None:
    """Draw the share of good tries among the last twenty, over the tries."""
    matplotlib.use('Agg')
    figure, axes = pyplot.subplots(figsize=(7, 4))
    for name, done in curves.items():
        shares = [
            100 * sum(done[max(0, end - 20) : end]) / min(end, 20)
            for end in range(1, len(done) + 1)
        ]
        axes.plot(range(1, len(done) + 1), shares, label=name)
    axes.set(xlabel='try', ylabel='good of the last 20, %', ylim=(0, 100), title='push')
    axes.legend()
    figure.savefig(path, dpi=120, bbox_inches='tight')


def main() -> None:
    """Learn, print the good tries of each twenty, and draw the curve."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--tries', type=int, default=100)
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('--plot', type=Path, default=Path('push.png'))
    options = parser.parse_args()
    tasks = draw_tasks(options.tries, options.seed)
    with RobotMemory() as memory:
        memory.wait_for_model(60)
        curves = {
            'suggest and record_outcome': learn(memory, tasks, options.seed),
            'no memory': guess(tasks, options.seed),
        }
    for name, done in curves.items():
        twenties = [sum(done[first : first + 20]) for first in range(0, len(done), 20)]
        print(f'{name}: good of each 20: {", ".join(map(str, twenties))}')
    draw_curves(curves, options.plot)
    print(f'the curve is in {options.plot}')


if __name__ == '__main__':
    main()
