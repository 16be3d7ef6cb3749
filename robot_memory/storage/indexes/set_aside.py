"""
Indexes that are damaged, so that reads do without them until they are made anew.

A read that is told what is damaged (`Damaged`) is done again, with that set aside. What is being
made anew in the file (`tables.mending`) is set aside in every transaction.
"""

from __future__ import annotations

import contextvars
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

WORDS, VECTORS, CONTEXTS = 'words', 'vectors', 'contexts'
GROUP_OF = {
    **dict.fromkeys(
        (f'memories_fts_{part}' for part in ('data', 'idx', 'docsize', 'config')), WORDS
    ),
    **dict.fromkeys(('indexed', 'collections', 'forms', 'form_vectors', 'other_vectors'), VECTORS),
    **dict.fromkeys(
        ('facets', 'facet_paths', 'places', 'place_paths', 'placed', 'place_frames'), CONTEXTS
    ),
    'counts': 'counts',
    'event_hours': 'hours',
    'rule_conditions': 'rules',
}
"""The derived tables, each with the group that is made anew as one."""
AVOIDED: contextvars.ContextVar[frozenset[str]] = contextvars.ContextVar(
    'avoided', default=frozenset()
)
"""The groups that a read is to do without."""


def list_tables(group: str) -> list[str]:
    """Return the tables of a group."""
    return [table for table, other in GROUP_OF.items() if other == group]


@contextmanager
def avoid(groups: Iterable[str]) -> Iterator[None]:
    """Have reads in the block do without some groups more."""
    before = AVOIDED.get()
    AVOIDED.set(before.union(groups))
    try:
        yield
    finally:
        AVOIDED.set(before)


@contextmanager
def use_all() -> Iterator[None]:
    """Have reads in the block use all groups, which are made for them alone."""
    before = AVOIDED.get()
    AVOIDED.set(frozenset())
    try:
        yield
    finally:
        AVOIDED.set(before)


def is_avoided(group: str) -> bool:
    """Say whether a read is to do without a group."""
    return group in AVOIDED.get()
