"""What is said in a conversation that a bench holds."""

from __future__ import annotations

import random

PEOPLE = ('operator:anna', 'operator:ben')
THINGS = ('red cup', 'blue tray', 'steel plate', 'glass door', 'wet towel', 'green box')
PLACES = ('left shelf', 'charging dock', 'kitchen table', 'lab bench', 'upper drawer')
SAID = (
    'Bring the {thing} from the {place} before {hour}:00.',
    'I prefer the {thing} on the {place} when it is {hour}:00.',
    'Never put the {thing} on the {place} after {hour}:00.',
    'The gripper slipped on the {thing} near the {place} {hour} times, what happened?',
)
ANSWERS = ('I see.', 'I see.', 'OK, not before {hour}:00.', 'The {thing} is near the {place} now.')
"""What a robot answers: half of it is the same each time."""


def fill_form(chance: random.Random, form: str) -> str:
    """Return a form with its blanks filled in."""
    thing, place = chance.choice(THINGS), chance.choice(PLACES)
    return form.format(thing=thing, place=place, hour=chance.randrange(24))
