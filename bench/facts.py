"""
Facts and questions of the benchmark, and vectors that need no model.

Each fact is made from its number alone, so that any process can make any of them again. Needs
numpy, and nothing of this package: the peer is told the same.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import random
from typing import Any

import numpy as np
from numpy.typing import NDArray

OBJECTS = (
    'cup plate bottle cube cylinder drawer door handle valve crate tray bowl wrench screwdriver '
    'pallet'
).split()
SORTS = (
    'red blue green white black steel glass ceramic wooden plastic rubber wet dry heavy fragile'
).split()
ACTIONS = (
    'grasp push lift rotate open place slide insert pour wipe dock scan follow stack release'
).split()
PLACES = (
    'kitchen counter|assembly bench|loading dock|corridor end|charging station|upper shelf|'
    'wet floor|ramp|elevator|lab'
).split('|')
RESULTS = (
    'succeeded slipped stalled jammed collided overshot drifted vibrated worked tilted'
).split()
MANNERS = (
    'slowly gently firmly crosswise sideways upright backwards quickly carefully blindly '
    'smoothly steadily briefly early late'
).split()
TOOLS = (
    'gripper suction camera torch brush magnet hook tongs clamp probe roller scraper nozzle lamp '
    'spatula'
).split()
PEOPLE = 'Anna Ben Chen Dara Emil Fatma Goro Hana Ivan Jana Kemal Lena Milo Nora Omar'.split()
NAMES = [
    (first + second).capitalize()
    for first, second in itertools.product(
        'ka ri to me su na vo li de ba fu gi ho ja ke lo mi ne pa ru'.split(),
        'ran tel mos vik dun lar ben gor sil tam nek pol rus fid hab jor kel wim zan dor'.split(),
    )
]
"""Names of machines and places, as a site has some hundreds of them."""

TARGET = (5.0, 5.0, 5.0)
NEAR = {'field': 'spatial.object_position', 'target': list(TARGET)}
IN_RANGE = {'params.force.value': {'$gte': 10, '$lt': 11}, 'robot.id': 'arm-3'}
DIMENSION = 384


def make_fact(number: int) -> tuple[str, dict[str, Any]]:
    """
    Return a fact and its context, about 90 characters; those of odd numbers have no number.

    A number makes a text easy to tell from all others; without one it has many near it.
    """
    dice = random.Random(number)
    action, sort, thing, place, result = (
        dice.choice(words) for words in (ACTIONS, SORTS, OBJECTS, PLACES, RESULTS)
    )
    force = round(dice.uniform(2, 30), 1)
    if number % 2:
        first, second, manner, tool, person = (
            dice.choice(words) for words in (NAMES, NAMES, MANNERS, TOOLS, PEOPLE)
        )
        text = (
            f'Trial {first} {second}: {action} the {sort} {thing} at the {place}, {manner} '
            f'with the {tool}; it {result}, says {person}'
        )
    else:
        text = (
            f'Trial {number}: {action} the {sort} {thing} at the {place} with {force} newtons, '
            f'speed {dice.randint(1, 99)} percent; it {result}'
        )
    return text, {
        'params': {'force': {'value': force, 'unit': 'N'}},
        'spatial': {'object_position': [round(dice.uniform(0, 10), 3) for _ in range(3)]},
        'robot': {'id': f'arm-{number % 7}', 'type': 'UR5e'},
        'task': {'name': action, 'success': dice.random() < 0.1, 'steps': number % 50},
    }


def make_question(number: int) -> str:
    """Return a question that many facts answer."""
    dice = random.Random(-1 - number)
    action, sort, thing, place = (
        dice.choice(words) for words in (ACTIONS, SORTS, OBJECTS, PLACES)
    )
    return f'how to {action} a {sort} {thing} near the {place}'


def measure_distance(context: dict[str, Any]) -> float:
    """Return how far from TARGET a fact's object was."""
    return math.dist(context['spatial']['object_position'], TARGET)


def is_in_range(context: dict[str, Any]) -> bool:
    """Say whether IN_RANGE lets a fact pass."""
    force: float = context['params']['force']['value']
    return 10 <= force < 11 and context['robot']['id'] == 'arm-3'


def make_vector(text: str) -> NDArray[np.float32]:
    """Return a unit vector made from the words, shape (384,): it leaves a model's time out."""
    made = np.zeros(DIMENSION, np.float32)
    for word in text.lower().split():
        digest = hashlib.blake2b(word.encode(), digest_size=8).digest()
        made[int.from_bytes(digest[:4], 'little') % DIMENSION] += 1 if digest[4] & 1 else -1
    made /= math.sqrt(float(made @ made)) or 1.0
    return made
