"""How sure a share of successes is."""

from __future__ import annotations

from math import sqrt

_Z = 1.96
"""Standard deviations that 95 % of a normal distribution lie within."""


def compute_wilson(successes: int, tries: int) -> tuple[float, float]:
    """Return the interval in which a share lies with 95 %; 0 to 1 of no tries (Wilson, 1927)."""
    if not tries:
        return 0.0, 1.0
    share, z2 = successes / tries, _Z**2
    middle = (share + z2 / (2 * tries)) / (1 + z2 / tries)
    half = _Z / (1 + z2 / tries) * sqrt(share * (1 - share) / tries + z2 / (4 * tries**2))
    return max(0.0, middle - half), min(1.0, middle + half)
