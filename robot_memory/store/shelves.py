"""
Where the indexes keep a memory: facts and perceptions of a collection together, turns apart.

So a word that is common in talk is not common in facts, and the duplicate check of a fact never
looks at talk.
"""

from __future__ import annotations

from robot_memory.fields import RESERVED

_TURNS = f'{RESERVED}turns'


def of(collection: str, type: str) -> str:
    """Return the shelf of a collection's memories of a type."""
    return turns_of(collection) if type == 'turn' else collection


def turns_of(collection: str) -> str:
    """Return the shelf of a collection's turns."""
    return collection + _TURNS
