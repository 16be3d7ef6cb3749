"""Which clock epochs are trusted, and what corrects the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from robot_memory.core.clock import DAY, MAX_STEP, ClockReading, is_synchronised, read_boot_id
from robot_memory.core.epochs import Epoch, Judgement, judge

RELEASED = 1_764_547_200_000_000  # 2025-12-01
TODAY = RELEASED + 300 * DAY
HOUR = DAY // 24
GAP = 30 * DAY


def epoch(
    wall: int,
    length: int = HOUR,
    *,
    boot: int = 0,
    boot_id: str = 'a',
    segment: int = 0,
    evidence: str = '',
) -> Epoch:
    first = ClockReading(wall, boot, boot_id)
    return Epoch(first, replace(first, wall=wall + length, boot=boot + length), segment, evidence)


def judged(*epochs: Epoch) -> list[Judgement]:
    return judge(epochs, GAP, RELEASED)


def spans(epochs: Sequence[Epoch]) -> list[tuple[int, int]]:
    """Return begin and end of each epoch, corrected."""
    return [
        (one.first.wall + found.offset, one.last.wall + found.offset)
        for one, found in zip(epochs, judge(epochs, GAP, RELEASED), strict=True)
    ]


def test_the_first_plausible_clock_of_a_store_is_trusted() -> None:
    assert [found.trusted for found in judged(epoch(TODAY))] == [True]


def test_a_clock_before_the_release_is_suspect_until_the_same_boot_is_set_right() -> None:
    booted = epoch(0, boot=0)
    (found,) = judged(booted)
    assert (found.trusted, found.uncertain) == (False, True)
    right = epoch(TODAY, boot=HOUR)
    first, second = judged(booted, right)
    assert second.trusted and not first.trusted and not first.uncertain
    assert first.offset == TODAY - HOUR


def test_what_an_earlier_boot_left_keeps_its_order_and_is_uncertain() -> None:
    epochs = [epoch(TODAY), epoch(5 * HOUR, boot_id='b'), epoch(HOUR, boot_id='c')]
    epochs.append(epoch(TODAY + 10 * DAY, boot_id='d'))
    found = judge(epochs, GAP, RELEASED)
    assert [one.uncertain for one in found] == [False, True, True, False]
    assert spans(epochs)[1:3] == [
        (TODAY + 10 * DAY - 2 * HOUR, TODAY + 10 * DAY - HOUR),
        (TODAY + 10 * DAY - HOUR, TODAY + 10 * DAY),
    ]


def test_a_clock_a_year_ahead_for_an_hour_is_suspect_and_poisons_nothing() -> None:
    before, ahead = epoch(TODAY), epoch(TODAY + 366 * DAY, boot=2 * HOUR)
    after = epoch(TODAY + 3 * HOUR, boot=3 * HOUR)
    found = judged(before, ahead, after)
    assert [one.trusted for one in found] == [True, False, True]
    assert found[1].offset == -(366 * DAY - 2 * HOUR)


def test_a_vouched_clock_that_contradicts_an_older_one_makes_the_older_suspect() -> None:
    poisoned = epoch(TODAY + 366 * DAY, evidence='kernel', boot_id='b')
    right = epoch(TODAY + DAY, evidence='kernel', boot_id='c')
    found = judged(epoch(TODAY), poisoned, right)
    assert [one.trusted for one in found] == [True, False, True]
    assert 'contradicts' in found[1].reason


def test_without_evidence_a_clock_set_back_is_the_suspect_one() -> None:
    found = judged(epoch(TODAY), epoch(TODAY - 2 * DAY, boot_id='b'))
    assert [one.trusted for one in found] == [True, False]


def test_a_clock_long_after_the_last_trusted_one_is_suspect_unless_vouched_for() -> None:
    late = epoch(TODAY + 31 * DAY, boot_id='b')
    assert not judged(epoch(TODAY), late)[1].trusted
    assert judged(epoch(TODAY), replace(late, evidence='operator'))[1].trusted
    assert judged(epoch(TODAY), epoch(TODAY + 29 * DAY, boot_id='b'))[1].trusted


def test_a_suspect_clock_that_fits_between_trusted_ones_keeps_its_time() -> None:
    late = epoch(TODAY + 40 * DAY, boot_id='b')
    end = epoch(TODAY + 50 * DAY, boot_id='c', evidence='kernel')
    assert judged(epoch(TODAY), late, end)[1] == Judgement(
        False, 'it is too long after the last trusted time', 0, True
    )


def test_a_clock_behind_a_later_one_of_its_boot_that_is_vouched_for_is_corrected() -> None:
    behind = epoch(TODAY + 10 * DAY, boot_id='b')
    right = epoch(TODAY + 20 * DAY, boot=HOUR, boot_id='b', evidence='kernel')
    first, second, third = judged(epoch(TODAY), behind, right)
    assert (first.trusted, second.trusted, third.trusted) == (True, False, True)
    assert second.offset == 10 * DAY - HOUR


def test_an_adjustment_within_the_allowed_step_is_no_contradiction() -> None:
    found = judged(epoch(TODAY), epoch(TODAY + HOUR - MAX_STEP, boot_id='b'))
    assert [one.trusted for one in found] == [True, True]


@pytest.mark.parametrize(
    ('reading', 'goes_on'),
    [
        (ClockReading(TODAY + DAY, DAY, 'a'), True),
        (ClockReading(TODAY + DAY + MAX_STEP, DAY, 'a'), True),
        (ClockReading(TODAY + DAY + MAX_STEP + 1, DAY, 'a'), False),
        (ClockReading(TODAY, -1, 'a'), False),
        (ClockReading(TODAY + DAY, DAY, 'b'), False),
        (ClockReading(TODAY + DAY, DAY, 'a', 'time:[2]'), False),
    ],
)
def test_an_epoch_ends_at_a_step_a_rollback_and_another_boot(
    reading: ClockReading, goes_on: bool
) -> None:
    assert epoch(TODAY, 0).goes_on(reading) is goes_on


def test_boottime_that_goes_back_begins_another_segment() -> None:
    one = epoch(TODAY, boot=5 * HOUR)
    back = Epoch.begin(ClockReading(TODAY + DAY, HOUR, 'a'), one)
    assert back.segment == 1 and back.boot != one.boot
    assert Epoch.begin(ClockReading(TODAY + DAY, 7 * HOUR, 'a'), one).segment == 0


def test_the_kernel_vouches_for_an_epoch_from_its_first_yes_on() -> None:
    one = epoch(TODAY)
    yes = replace(one.last, synchronised=True)
    assert one.extend(yes).evidence == 'kernel'
    assert one.extend(yes).extend(replace(yes, synchronised=False)).evidence == 'kernel'


def test_the_clocks_of_this_machine_can_be_read() -> None:
    assert read_boot_id() == read_boot_id()
    assert is_synchronised() in (True, False)


@dataclass(frozen=True)
class Boot:
    """A boot of so many true microseconds after a pause, its clock set wrong or right in turn."""

    pause: int
    lengths: tuple[int, ...]
    errors: tuple[int, ...]


ERRORS = st.one_of(st.just(0), st.integers(-40 * 365 * DAY, 40 * 365 * DAY))
BOOTS = st.lists(
    st.integers(1, 4).flatmap(
        lambda steps: st.builds(
            Boot,
            st.integers(0, 20 * DAY),
            st.tuples(*[st.integers(1, 5 * DAY)] * steps),
            st.tuples(*[ERRORS] * steps),
        )
    ),
    min_size=1,
    max_size=6,
)


def live(boots: list[Boot]) -> list[tuple[Epoch, int]]:
    """Return each epoch with its true beginning; who is right may have the kernel's word."""
    now = TODAY
    found = []
    for number, boot in enumerate(boots):
        now += boot.pause
        uptime = 0
        for length, error in zip(boot.lengths, boot.errors, strict=True):
            evidence = 'kernel' if not error else ''
            one = epoch(now + error, length, boot=uptime, boot_id=str(number), evidence=evidence)
            found.append((one, now))
            now, uptime = now + length, uptime + length
    return found


@given(BOOTS)
def test_a_boot_that_was_ever_right_is_corrected_exactly(boots: list[Boot]) -> None:
    history = live(boots)
    found = judge([one for one, _ in history], GAP, RELEASED)
    closed = {one.boot for one, _ in history if one.evidence}
    for (one, true), judgement in zip(history, found, strict=True):
        if one.evidence:
            assert judgement.trusted and judgement.offset == 0
        elif one.boot in closed and not judgement.trusted:
            assert not judgement.uncertain
            assert one.first.wall + judgement.offset == true
        elif one.boot in closed:
            assert abs(one.first.wall - true) <= MAX_STEP


@given(BOOTS)
def test_no_epoch_is_taken_for_older_than_what_is_known_to_be_before_it(
    boots: list[Boot],
) -> None:
    history = live(boots)
    epochs = [one for one, _ in history]
    told = spans(epochs)
    found = judge(epochs, GAP, RELEASED)
    for place, (judgement, (_, end)) in enumerate(zip(found, told, strict=True)):
        if judgement.uncertain:
            assert all(end >= told[other][0] for other in range(place) if found[other].uncertain)
            assert all(
                end <= told[other][0]
                for other in range(place + 1, len(told))
                if epochs[other].evidence
            )
