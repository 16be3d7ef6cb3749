"""How often and how well a memory was observed, and how that is told."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo


@dataclass(frozen=True)
class Evidence:
    """
    Hold what the occasions of a memory come to; instants are microseconds since 1970 UTC.

    An occasion is its first statement and each time that its text was said again. `count`,
    `tries` and `successes` are of those outside of simulation, the `simulated_` ones of those in
    it. A try is an occasion whose context has `task.success`.
    """

    count: int
    first_at: int
    last_at: int
    tries: int
    successes: int
    simulated_count: int
    simulated_tries: int
    simulated_successes: int

    @property
    def is_repeated(self) -> bool:
        """Say whether there is more than one occasion."""
        return self.count + self.simulated_count > 1


def describe_evidence(evidence: Evidence, now: int, zone: ZoneInfo) -> str:
    """
    Return evidence in words: '7 times, 5 of 6 succeeded, last yesterday'.

    Empty where there is no more than one occasion, real and without an outcome.
    """
    real = _count(evidence.count, evidence.tries, evidence.successes)
    simulated = _count(
        evidence.simulated_count, evidence.simulated_tries, evidence.simulated_successes
    )
    last = f'last {_describe_day(evidence.last_at, now, zone)}' if evidence.is_repeated else ''
    if not evidence.count:
        return ', '.join(filter(None, ('simulated', simulated, last)))
    simulated = 'also simulated' + (f', {simulated}' if simulated else '')
    observed = ', '.join(filter(None, (real, last)))
    return '; '.join(filter(None, (observed, simulated if evidence.simulated_count else '')))


def _count(count: int, tries: int, successes: int) -> str:
    often = f'{count} times' if count > 1 else ''
    return ', '.join(filter(None, (often, f'{successes} of {tries} succeeded' if tries else '')))


def _describe_day(at: int, now: int, zone: ZoneInfo) -> str:
    """Return the day of an instant beside that of another: today, yesterday, or its date."""
    day, today = (datetime.fromtimestamp(each / 1e6, zone).date() for each in (at, now))
    return {0: 'today', 1: 'yesterday'}.get((today - day).days, day.isoformat())
