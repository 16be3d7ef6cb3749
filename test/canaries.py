"""Memories of every kind with words that no other text has, to be erased and looked for."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from narrowing import require
from robots import MovableClock, Robot

from robot_memory.core.settings import Settings
from robot_memory.lifecycle.perceptions import Perception, store_perception
from robot_memory.memory import Memory
from robot_memory.storage.tables.event_keys import Identity

SECOND = 10**9


class Words:
    """Make words that no text has, and know which were told of which memory."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.of: dict[int, list[str]] = {}

    def make(self) -> str:
        """Return a new word of ten letters."""
        return ''.join(self._chance.choices('abcdefghijklmnopqrstuvwxyz', k=10))

    def tell(self, memory_id: int, *words: str) -> int:
        """Note words of a memory; return it."""
        self.of.setdefault(memory_id, []).extend(words)
        return memory_id


def learn(robot: Robot, words: Words, at: int) -> int:
    one, two = words.make(), words.make()
    learned = robot.learn(f'the {one} cup is red', {'note': {two: two}})
    return words.tell(require(learned.memory_id), one, two)


def forget(robot: Robot, words: Words, at: int) -> int:
    kept = learn(robot, words, at)
    why = words.make()
    robot.forget(kept, f'it was {why}')
    return words.tell(kept, why)


def update(robot: Robot, words: Words, at: int) -> int:
    kept = learn(robot, words, at)
    new = words.make()
    robot.update(kept, f'the {new} cup is blue')
    return words.tell(kept, new)


def observe(robot: Robot, words: Words, at: int) -> int:
    one, two = words.make(), words.make()
    text = f'the {one} cup is red'
    kept = require(robot.learn(text).memory_id)
    assert robot.learn(text, {'note': two, 'task': {'success': True}}).observed
    return words.tell(kept, one, two)


def perceive(robot: Robot, words: Words, at: int) -> int:
    one, two, three = words.make(), words.make(), words.make()
    seen = robot.save_perception(f'a {one} was seen', 'visual', {'series': [two, *range(3000)]})
    short = robot.save_perception(f'a {three} was seen', 'visual', {'series': three})
    words.tell(short.memory_id, three)
    return words.tell(seen.memory_id, one, two)


def say(robot: Robot, words: Words, at: int) -> int:
    one, two = words.make(), words.make()
    robot.save_conversation(f'where is {one}', f'near {two}')
    ((question,), (answer,)) = robot.rows(
        'SELECT memory_id FROM turns ORDER BY memory_id DESC LIMIT 2'
    )
    words.tell(question, two)
    return words.tell(answer, one)


def detect(robot: Robot, words: Words, at: int) -> int:
    one, onset = words.make(), at * SECOND
    found = store_perception(
        robot.memory,
        Perception(
            f'a push of {at} N',
            'tactile',
            stamp=onset,
            context={
                'sense': {'topic': '/wrench', 'detector': 'contact', 'source': 'cell'},
                'task': {'name': one},
                'params': {one: {'value': at, 'unit': 'N'}},
            },
            identity=Identity('cell', '/wrench', 'contact', onset, onset, onset + SECOND),
        ),
    )
    return words.tell(found.memory_id, one)


DEEDS = (learn, forget, update, observe, perceive, say, detect)


def open_operator(path: Path, clock: MovableClock, **more: Any) -> Memory:
    chosen = Settings(
        db_path=str(path), model='none', python_role='operator', durability='normal', **more
    )
    return Memory(chosen, resident=False, clocks=clock)


def live(robot: Robot, words: Words, chance: random.Random, number: int, at: int) -> None:
    for place in range(number):
        chance.choice(DEEDS)(robot, words, at + place)


def fold(robot: Robot) -> None:
    """Fold all that may be."""
    robot.memory.change_settings(
        Settings(**{**vars(robot.memory.settings), 'perception_limit_mb': 0.001})
    )
    robot.memory.folder.run()
