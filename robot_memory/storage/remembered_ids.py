"""
Ids of names that one write transaction needs again and again, looked up once.

While it lasts nobody else writes, so that what was found stays true; no part of such a transaction
may be rolled back alone, for names that are new in it would be remembered.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_Ids = dict[tuple[str, Hashable], int]
_IDS: ContextVar[_Ids | None] = ContextVar('remembered_ids', default=None)


@contextmanager
def remember() -> Iterator[None]:
    """Remember ids in the block, which lies within one write transaction."""
    token = _IDS.set({})
    try:
        yield
    finally:
        _IDS.reset(token)


def is_on() -> bool:
    """Say whether a block remembers."""
    return _IDS.get() is not None


def get(table: str, name: Hashable) -> int | None:
    """Return the id of a name in a table, where it is remembered."""
    known = _IDS.get()
    return None if known is None else known.get((table, name))


def note(table: str, name: Hashable, number: int) -> int:
    """Remember the id of a name in a table, where there is a block; return it."""
    known = _IDS.get()
    if known is not None:
        known[table, name] = number
    return number
