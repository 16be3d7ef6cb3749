"""Ranges of ids as text: "1-250,252", or shorter as steps: "1+249,2"."""

from __future__ import annotations

from collections.abc import Iterable


def find_ranges(ids: Iterable[int]) -> list[tuple[int, int]]:
    """Return the first and the last of each run of ids without a gap, ascending."""
    return join_ranges((one, one) for one in ids)


def join_ranges(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return ranges in order, with those that meet or overlap as one."""
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = found[-1][0], max(high, found[-1][1])
        else:
            found.append((low, high))
    return found


def write_ranges(ids: Iterable[int]) -> str:
    """Return ids as ranges: "1-250,252"."""
    ranges = find_ranges(ids)
    return ','.join(str(low) if low == high else f'{low}-{high}' for low, high in ranges)


def read_ranges(text: str) -> list[tuple[int, int]]:
    """Return the first and the last id of each range; none of an empty text."""
    pairs = (one.partition('-') for one in text.split(',') if one)
    return [(int(low), int(high or low)) for low, _, high in pairs]


def write_steps(ids: Iterable[int]) -> str:
    """Return ids as steps from the end of each range to the next, "+" and what a range adds."""
    return write_range_steps(find_ranges(ids))


def write_range_steps(ranges: Iterable[tuple[int, int]]) -> str:
    """Return ranges that do not overlap as steps."""
    end, steps = 0, []
    for low, high in sorted(ranges):
        steps.append(f'{low - end}+{high - low}' if high > low else str(low - end))
        end = high
    return ','.join(steps)


def read_steps(text: str) -> list[tuple[int, int]]:
    """Return the first and the last id of each range that steps lead to."""
    end, found = 0, []
    for step, _, more in (one.partition('+') for one in text.split(',') if one):
        low = end + int(step)
        end = low + int(more or 0)
        found.append((low, end))
    return found
