"""What of a recording cannot be read: where, how much, and of which time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from robot_memory.core.fields import NANOSECONDS


@dataclass(frozen=True)
class Loss:
    """
    Describe a damaged part of a file: `part` in words, its size in bytes.

    `messages` is None where it is not known how many were in it, and `begin_ns` and `end_ns` (of
    recording) are 0 where that is not known. Without a `part` it is the whole file; the `reason`
    says why.
    """

    file: str
    part: str
    bytes: int
    messages: int | None = None
    begin_ns: int = 0
    end_ns: int = 0
    reason: str = ''

    def describe(self, first_ns: int = 0) -> str:
        """Return it in words, the time as seconds from `first_ns`."""
        words = [f'{self.bytes:,} bytes'] if self.bytes else []
        if self.messages is None:
            words.append('an unknown number of messages')
        else:
            words.append(f'{self.messages:,} message{"" if self.messages == 1 else "s"}')
        if self.begin_ns or self.end_ns:
            begin = (self.begin_ns - first_ns) / NANOSECONDS if self.begin_ns else None
            end = (self.end_ns - first_ns) / NANOSECONDS if self.end_ns else None
            words.append(_describe_span(begin, end))
        where = f'{self.part} of {self.file}' if self.part else self.file
        reason = f'{self.reason}; ' if self.reason else ''
        return f'cannot read {where}: {reason}{", ".join(words)} lost'


def _describe_span(begin: float | None, end: float | None) -> str:
    if begin is None:
        return f'until {end:.3f} s'
    return f'from {begin:.3f} s on' if end is None else f'{begin:.3f} s to {end:.3f} s'


def add_up(losses: Iterable[Loss]) -> dict[str, int]:
    """Return the number of damaged parts, their bytes, and the messages as far as known."""
    found = list(losses)
    return {
        'parts': len(found),
        'bytes': sum(loss.bytes for loss in found),
        'messages': sum(loss.messages or 0 for loss in found),
    }
