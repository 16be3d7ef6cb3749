"""Caches of what was read of texts that callers give: bounded in number and in length."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from inspect import signature
from typing import Any, ParamSpec, TypeVar, cast

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
        plain: Any = function
        if len(signature(function).parameters) == 1:

            def call_one(text: Any) -> R:
                found: R = (keep if len(text) <= LONGEST else plain)(text)
                return found

            one: Any = wraps(function)(call_one)
            return cast('Callable[P, R]', one)

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            length = 0
            for argument in args:
                if isinstance(argument, str):
                    length += len(argument)
            found: R = (function if length > LONGEST else keep)(*args, **kwargs)
            return found

        return call

    return decorate
