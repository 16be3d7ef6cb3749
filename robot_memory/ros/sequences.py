"""The order of a publisher's messages where two subscriptions bring them for a while."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, field
from typing import Generic, TypeVar

Item = TypeVar('Item')


@dataclass(frozen=True)
class NumberedMessage(Generic[Item]):
    """
    A message with its publisher's identifier and sequence number, None where there is none.

    `in_order` says that its subscription brings all that it ever will of a publisher in order: a
    reliable one beside one of best effort, or any that is alone.
    """

    item: Item
    publisher: bytes
    number: int | None
    in_order: bool


@dataclass
class _Stream(Generic[Item]):
    last: int | None = None
    held: dict[int, Item] = field(default_factory=dict)


class SequenceMerger(Generic[Item]):
    """
    Hand on each message of every publisher once and in order, and count the lost ones.

    What a subscription of best effort brings after a gap is held: the reliable one beside it may
    still bring what is missing.
    """

    def __init__(self) -> None:
        self.lost = 0
        self._streams: dict[bytes, _Stream[Item]] = {}

    @property
    def holds(self) -> bool:
        """Say whether anything is held."""
        return any(stream.held for stream in self._streams.values())

    def accept(self, publisher: bytes, number: int | None) -> bool:
        """Say of a message that comes in order, while nothing is held, whether it is handed on."""
        if number is None or not publisher:
            return True
        stream = self._streams.get(publisher)
        if stream is None:
            stream = self._streams[publisher] = _Stream()
        elif stream.last is not None:
            if number <= stream.last:
                return False
            self.lost += number - stream.last - 1
        stream.last = number
        return True

    def merge(self, messages: Iterable[NumberedMessage[Item]]) -> Iterator[Item]:
        """Yield what can be handed on now, of these messages and of those held before."""
        for message in messages:
            if message.number is None or not message.publisher:
                yield message.item
                continue
            stream = self._streams.setdefault(message.publisher, _Stream())
            if stream.last is not None and message.number <= stream.last:
                continue
            stream.held[message.number] = message.item
            yield from self._hand_on(stream, message.number if message.in_order else None)

    def release(self, keep: Set[bytes] = frozenset()) -> Iterator[Item]:
        """Yield what is held, but of the publishers `keep`, which still bring what is missing."""
        for publisher, stream in self._streams.items():
            if stream.held and publisher not in keep:
                yield from self._hand_on(stream, max(stream.held))

    def _hand_on(self, stream: _Stream[Item], complete_to: int | None) -> Iterator[Item]:
        """Yield held messages up to the number `complete_to`, and those that follow on it."""
        for number in sorted(stream.held):
            follows = stream.last is not None and number == stream.last + 1
            if not follows and (complete_to is None or number > complete_to):
                return
            if stream.last is not None:
                self.lost += number - stream.last - 1
            stream.last = number
            yield stream.held.pop(number)
