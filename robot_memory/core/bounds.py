"""Bounds of numbers, in words."""

from __future__ import annotations


def format_bounds(low: float | None, high: float | None) -> str:
    """Return bounds in words: '1 to 100', 'at least 1', 'at most 5'."""
    least, most = (f'{one or 0:{"d" if isinstance(one, int) else "g"}}' for one in (low, high))
    if low is not None and high is not None:
        return f'{least} to {most}'
    return f'at least {least}' if low is not None else f'at most {most}'


def add_bounds(low: float | None, high: float | None) -> str:
    """Return '; accepted: 1 to 100', or nothing where there are no bounds."""
    return '' if low is None and high is None else f'; accepted: {format_bounds(low, high)}'
