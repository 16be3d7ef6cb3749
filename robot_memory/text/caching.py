"""Caches of what was read of texts that callers give: bounded in number and in length."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

LONGEST = 300
"""Characters of a text whose result is kept, as those of a fact; longer ones seldom come again."""
P = ParamSpec('P')
R = TypeVar('R')


def cache_texts(most: int) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """
    Keep the latest results of a function of texts, so many at most.

    Of arguments longer than LONGEST together none is kept: what a caller sends could otherwise
    take any amount of memory.
    """

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        keep: Any = lru_cache(maxsize=most)(function)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            length = 0
            for one in args:
                if isinstance(one, str):
                    length += len(one)
            found: R = (function if length > LONGEST else keep)(*args, **kwargs)
            return found

        return call

    return decorate
