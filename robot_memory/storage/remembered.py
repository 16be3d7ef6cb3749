"""
What one write transaction needs again and again, looked up once.

While it lasts nobody else writes, so that what was found stays true but for what the transaction
itself changes: who changes that notes it anew, or forgets it. No part of such a transaction may be
rolled back alone, for what was new in it would be remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

_Value = TypeVar('_Value')

_KNOWN: ContextVar[dict[tuple[str, Hashable], Any] | None] = ContextVar('remembered', default=None)


@contextmanager
def remember() -> Iterator[None]:
    """Remember in the block, which lies within one write transaction."""
    token = _KNOWN.set({})
    try:
        yield
    finally:
        _KNOWN.reset(token)


def is_on() -> bool:
    """Say whether a block remembers."""
    return _KNOWN.get() is not None


def get(table: str, name: Hashable) -> Any:
    """Return what is remembered under a name of a table, None where nothing is."""
    known = _KNOWN.get()
    return None if known is None else known.get((table, name))


def look_up(table: str, name: Hashable, find: Callable[[], _Value]) -> _Value:
    """Return what is remembered under a name; else what `find` does, remembered too."""
    known: _Value | None = get(table, name)
    return note(table, name, find()) if known is None else known


def note(table: str, name: Hashable, value: _Value) -> _Value:
    """Remember a value under a name of a table, where there is a block; return it."""
    known = _KNOWN.get()
    if known is not None:
        known[table, name] = value
    return value


def forget(table: str) -> None:
    """Remember nothing of a table any more."""
    known = _KNOWN.get() or {}
    for key in [key for key in known if key[0] == table]:
        del known[key]
