"""
Clock epochs, and the judgement which of them told the right time.

A clock epoch is a stretch in which one clock ran on without a step. `judge` is a pure function of
the list of a store's epochs; docs/schema.md has its rules. All instants and durations are in
microseconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from robot_memory.core.clock import MAX_STEP, ClockReading


@dataclass(frozen=True)
class Epoch:
    """
    A stretch in which one clock ran on: its first and its last reading.

    `segment` counts how often CLOCK_BOOTTIME went back within the boot id. `evidence` says who
    vouches for the clock: 'kernel', 'operator', 'earlier release', or nobody ('').
    """

    first: ClockReading
    last: ClockReading
    segment: int = 0
    evidence: str = ''

    @property
    def boot(self) -> tuple[str, str, int]:
        """Return what epochs have in common between which CLOCK_BOOTTIME measures the time."""
        return self.first.boot_id, self.first.time_namespace, self.segment

    def goes_on(self, reading: ClockReading) -> bool:
        """Say whether a reading is one of this epoch's clock, with no step since its last one."""
        return reading.continues(self.last)

    def covers(self, reading: ClockReading) -> bool:
        """Say whether a reading is one of this epoch's clock, and no new evidence for it."""
        return self.goes_on(reading) and self._find_evidence(reading) == self.evidence

    def extend(self, reading: ClockReading) -> Epoch:
        """Return the epoch with a later reading; what the kernel has vouched for stays so."""
        return replace(self, last=reading, evidence=self._find_evidence(reading))

    def _find_evidence(self, reading: ClockReading) -> str:
        return 'kernel' if reading.synchronised and not self.evidence else self.evidence

    @staticmethod
    def begin(reading: ClockReading, before: Epoch | None) -> Epoch:
        """Return the epoch that a reading opens after the one `before`."""
        segment = 0
        if before is not None and reading.same_boot(before.last):
            segment = before.segment + (reading.boot < before.last.boot)
        return Epoch(reading, reading, segment, 'kernel' if reading.synchronised else '')


@dataclass(frozen=True)
class Judgement:
    """
    What is known of an epoch's clock: whether it is trusted, why, and how far it was off.

    `offset` is what corrects an instant of this clock; `uncertain`: no trusted clock tells it.
    """

    trusted: bool
    reason: str
    offset: int = 0
    uncertain: bool = False

    def says(self, other: Judgement) -> bool:
        """Say whether another says the same of the epoch's times, for whatever reason."""
        return replace(self, reason=other.reason) == other


def judge(epochs: Sequence[Epoch], max_gap: int, released: int) -> list[Judgement]:
    """
    Judge every epoch of a store, in the order in which they were opened.

    An epoch that begins more than `max_gap` after the last trusted one, or before the instant
    `released`, is suspect unless somebody vouches for it. Of two that contradict each other the
    newer one that somebody vouches for is right.
    """
    contradicted = _find_contradicted(epochs)
    unvouched = [
        bool(reason) or not epoch.evidence
        for epoch, reason in zip(epochs, contradicted, strict=True)
    ]
    reasons = _find_suspects(epochs, contradicted, unvouched, max_gap, released)
    exact = [
        _measure_offset(epochs, reasons, unvouched, place) if reason else 0
        for place, reason in enumerate(reasons)
    ]
    return [
        Judgement(not reason, reason or _say_trusted(epoch), offset, known is None)
        for epoch, reason, known, offset in zip(
            epochs, reasons, exact, _place_uncertain(epochs, exact), strict=True
        )
    ]


def _say_trusted(epoch: Epoch) -> str:
    if epoch.evidence == 'kernel':
        return 'the kernel says that the clock is synchronised'
    if epoch.evidence == 'operator':
        return 'confirmed by an operator'
    if epoch.evidence:
        return f'accepted by an {epoch.evidence}'
    return 'it follows a trusted clock'


def _find_suspects(
    epochs: Sequence[Epoch],
    contradicted: Sequence[str],
    unvouched: Sequence[bool],
    max_gap: int,
    released: int,
) -> list[str]:
    """Return why each epoch is suspect, '' for the trusted ones."""
    reasons = list(contradicted)
    trusted_until: int | None = None
    for place, epoch in enumerate(epochs):
        if not reasons[place] and not epoch.evidence:
            offset = _find_offset(epochs, unvouched, place)
            if offset is None:
                reasons[place] = _suspect(epoch.first.wall, trusted_until, max_gap, released)
            elif abs(offset) > MAX_STEP:
                reasons[place] = 'it differs from a trusted clock of the same boot'
        if not reasons[place]:
            trusted_until = max(trusted_until or 0, epoch.last.wall)
    return reasons


def _find_contradicted(epochs: Sequence[Epoch]) -> list[str]:
    """Return a reason for those that end later than a newer one begins that is vouched for."""
    reasons = [''] * len(epochs)
    latest = None
    for place in reversed(range(len(epochs))):
        epoch = epochs[place]
        if latest is not None and epoch.last.wall > latest + MAX_STEP:
            reasons[place] = 'a newer trusted clock contradicts it'
        elif epoch.evidence:
            latest = epoch.first.wall
    return reasons


def _suspect(begins: int, trusted_until: int | None, max_gap: int, released: int) -> str:
    """Return why a clock that nobody vouches for is suspect, '' where it is not."""
    if begins < released:
        return 'it is before this release was made'
    if trusted_until is not None and begins < trusted_until - MAX_STEP:
        return 'it is before the last trusted time'
    if trusted_until is not None and begins > trusted_until + max_gap:
        return 'it is too long after the last trusted time'
    return ''


def _measure_offset(
    epochs: Sequence[Epoch], reasons: Sequence[str], unvouched: Sequence[bool], place: int
) -> int | None:
    """Return what corrects a suspect epoch: a clock that is vouched for, else a trusted one."""
    offset = _find_offset(epochs, unvouched, place)
    return _find_offset(epochs, reasons, place) if offset is None else offset


def _find_offset(epochs: Sequence[Epoch], left_out: Sequence[object], place: int) -> int | None:
    """
    Return by how much the next other epoch of the same boot, else the previous, is ahead of one.

    Those `left_out` do not count; None where no other is left.
    """
    epoch = epochs[place]
    # The epochs of a boot follow each other, so the search ends with its first stranger.
    for other in range(place + 1, len(epochs)):
        if epochs[other].boot != epoch.boot:
            break
        if not left_out[other]:
            return epochs[other].first.lead - epoch.last.lead
    for other in reversed(range(place)):
        if epochs[other].boot != epoch.boot:
            break
        if not left_out[other]:
            return epochs[other].last.lead - epoch.first.lead
    return None


def _place_uncertain(epochs: Sequence[Epoch], exact: Sequence[int | None]) -> list[int]:
    """
    Return every offset: the exact ones, and those that only keep the order of the epochs.

    An epoch whose own time fits between its neighbours keeps it; else it is placed as late as
    they allow, so that nothing is taken for older than it is.
    """
    offsets = list(exact)
    after: int | None = None
    for place in reversed(range(len(epochs))):
        offset = offsets[place]
        if offset is None and after is not None:
            before = _end_of_known(epochs, exact, place)
            fits = before <= epochs[place].first.wall and epochs[place].last.wall <= after
            offset = offsets[place] = 0 if fits else after - epochs[place].last.wall
        if offset is not None:
            begins = epochs[place].first.wall + offset
            after = begins if after is None else min(after, begins)
    end = 0
    found = []
    for epoch, known in zip(epochs, offsets, strict=True):
        offset = max(0, end - epoch.first.wall) if known is None else known
        end = max(end, epoch.last.wall + offset)
        found.append(offset)
    return found


def _end_of_known(epochs: Sequence[Epoch], exact: Sequence[int | None], place: int) -> int:
    """Return when the last epoch before a place ended whose time is known, 0 without one."""
    ends = (
        epochs[other].last.wall + offset
        for other in reversed(range(place))
        if (offset := exact[other]) is not None
    )
    return next(ends, 0)
