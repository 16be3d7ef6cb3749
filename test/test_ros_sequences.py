"""Of two subscriptions that bring the same messages, each message is handed on once, in order."""

from __future__ import annotations

from collections.abc import Iterable

from hypothesis import given
from hypothesis import strategies as st

from robot_memory.ros.sequences import NumberedMessage, SequenceMerger


def brought(
    numbers: Iterable[int], *, in_order: bool, publisher: bytes = b'arm'
) -> list[NumberedMessage[int]]:
    return [NumberedMessage(number, publisher, number, in_order) for number in numbers]


def test_what_best_effort_lost_comes_from_the_reliable_subscription_beside_it() -> None:
    merger: SequenceMerger[int] = SequenceMerger()
    assert list(merger.merge(brought([7, 8], in_order=True))) == [7, 8]
    assert list(merger.merge(brought([9, 13, 14], in_order=False))) == [9]
    assert list(merger.merge(brought([10, 11], in_order=True))) == [10, 11]
    assert list(merger.merge(brought([12, 13, 14, 15], in_order=True))) == [12, 13, 14, 15]
    assert list(merger.release()) == [] and merger.lost == 0


def test_what_the_reliable_subscription_came_too_late_for_is_not_held_back() -> None:
    merger: SequenceMerger[int] = SequenceMerger()
    assert list(merger.merge(brought([1, 3], in_order=False))) == []
    assert list(merger.merge(brought([5, 6], in_order=True))) == [1, 3, 5, 6]
    assert merger.lost == 2


def test_what_is_held_comes_at_the_latest_when_the_replaced_subscription_ends() -> None:
    merger: SequenceMerger[int] = SequenceMerger()
    assert list(merger.merge(brought([4, 6], in_order=False))) == []
    assert list(merger.release()) == [4, 6] and merger.lost == 1
    assert list(merger.merge(brought([7, 9], in_order=True))) == [7, 9] and merger.lost == 2


def test_what_a_reliable_subscription_still_brings_is_waited_for() -> None:
    merger: SequenceMerger[int] = SequenceMerger()
    assert list(merger.merge(brought([1], in_order=True))) == [1]
    assert list(merger.merge(brought([4], in_order=False))) == []
    assert list(merger.release(keep={b'arm'})) == []
    assert list(merger.merge(brought([2, 3], in_order=True))) == [2, 3, 4] and merger.lost == 0


def test_each_publisher_counts_for_itself_and_one_without_numbers_passes() -> None:
    merger: SequenceMerger[int] = SequenceMerger()
    assert list(merger.merge(brought([1], in_order=True))) == [1]
    assert list(merger.merge(brought([50], in_order=True, publisher=b'base'))) == [50]
    unnumbered = NumberedMessage(0, b'arm', None, in_order=False)
    assert list(merger.merge([unnumbered, unnumbered])) == [0, 0] and merger.lost == 0


@given(
    lost=st.sets(st.integers(1, 30)),
    turns=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), max_size=30),
)
def test_nothing_is_lost_or_told_twice_whatever_arrives_first(
    lost: set[int], turns: list[tuple[int, int]]
) -> None:
    merger: SequenceMerger[int] = SequenceMerger()
    best_effort = brought([n for n in range(1, 31) if n not in lost], in_order=False)
    reliable = brought(range(1, 31), in_order=True)
    told: list[int] = []
    for first, second in (*turns, (30, 30)):
        told += merger.merge(best_effort[:first])
        told += merger.merge(reliable[:second])
        del best_effort[:first], reliable[:second]
    assert told == list(range(1, 31)) and merger.lost == 0
