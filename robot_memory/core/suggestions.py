"""Names near to one that does not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

_LIKENESS = 0.6


def find_near(name: Any, names: Iterable[str], most: int = 3) -> list[str]:
    """
    Return up to `most` of some names that are like one, the nearest first.

    Dotted paths are compared as a whole and by their last step: `context.task.success` is near to
    `task.success`.
    """
    if not isinstance(name, str) or not name:
        return []
    wanted, last = name.casefold(), name.casefold().rpartition('.')[2]
    scored = []
    for one in names:
        other = one.casefold()
        same_end = bool(last) and last == other.rpartition('.')[2]
        likeness = difflib.SequenceMatcher(None, wanted, other).ratio()
        if same_end or likeness >= _LIKENESS:
            scored.append((-(likeness + same_end), one))
    return [one for _, one in sorted(scored)[:most]]


def suggest(name: Any, names: Iterable[str]) -> str:
    """Return ' (did you mean ...?)' for the nearest of some names, or nothing."""
    near = find_near(name, names, 1)
    return f' (did you mean {near[0]}?)' if near else ''
