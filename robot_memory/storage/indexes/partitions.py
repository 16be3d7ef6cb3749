"""
Where the indexes keep a memory: facts and perceptions of a collection together, turns apart.

So a word that is common in talk is not common in facts, and the duplicate check of a fact never
looks at talk.
"""

from __future__ import annotations

from typing import NamedTuple

import apsw

from robot_memory.core.fields import RESERVED
from robot_memory.storage.indexes import indexed

_TURNS = f'{RESERVED}turns'


def of(collection: str, type: str) -> str:
    """Return the partition of a collection's memories of a type."""
    return turns_of(collection) if type == 'turn' else collection


def turns_of(collection: str) -> str:
    """Return the partition of a collection's turns."""
    return collection + _TURNS


class Partition(NamedTuple):
    """Name a partition, and say whether it is one of turns."""

    name: str
    is_of_turns: bool = False


def split(collection: str) -> tuple[Partition, Partition]:
    """Return the partitions of a collection: that of facts and perceptions, that of turns."""
    return Partition(collection), Partition(turns_of(collection), True)


def is_of_turns(partition: str) -> bool:
    """Say whether a partition is one of turns."""
    return partition.endswith(_TURNS)


def collection_of(partition: str) -> str:
    """Return the collection that a partition is of."""
    return partition.removesuffix(_TURNS)


def size(connection: apsw.Connection, collection: str) -> int:
    """Return how many active memories a collection holds, turns included."""
    sizes = indexed.sizes(connection)
    return sizes.get(collection, 0) + sizes.get(turns_of(collection), 0)
