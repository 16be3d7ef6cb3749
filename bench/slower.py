"""What became slower since another run of the bench."""

from __future__ import annotations

from typing import Any

SLOWER = 1.2
"""What takes so many times as long as before is named."""
_TIMES, _RATES = ('ms', '_s', 'seconds'), ('per_s', 'a_second')


def list_slower(before: Any, now: Any, path: str = '') -> list[tuple[str, float, float]]:
    """Return the paths of times that grew and of rates that fell, each before and now."""
    if isinstance(before, dict) and isinstance(now, dict):
        return [
            one
            for key in now
            if key in before
            for one in list_slower(before[key], now[key], f'{path}/{key}' if path else key)
        ]
    both = [one for one in (before, now) if isinstance(one, int | float) and one > 0]
    if len(both) < 2:
        return []
    was, is_now = map(float, both)
    if path.endswith(_RATES):
        return [(path, was, is_now)] if was > SLOWER * is_now else []
    return [(path, was, is_now)] if path.endswith(_TIMES) and is_now > SLOWER * was else []


def format_slower_than(paired: dict[str, Any]) -> str:
    """Return which calls take longer than in another checkout, in words if none does."""
    found = [
        f'{name}: {middle:.2f} of the rate of {paired["other"]} ({low:.2f} to {high:.2f})'
        for name, (low, middle, high) in paired['ratios'].items()
        if middle * SLOWER < 1
    ]
    if not found:
        return f'\nNo call takes over {SLOWER} times as long as in {paired["other"]}.'
    return '\n'.join((f'\nSlower than in {paired["other"]}, in turns', '', *found))


def format_slower(before: dict[str, Any], now: dict[str, Any]) -> str:
    """Return what became slower since the run before, in words if nothing did."""
    found = list_slower(before, now)
    if not found:
        return f'\nNothing takes over {SLOWER} times as long as in the run before.'
    lines = [f'{path}: {was:.4g} before, {is_now:.4g} now' for path, was, is_now in found]
    return '\n'.join(('\nSlower than in the run before', '', *lines))
