"""What the readers of all recording files share: channels, messages, and parts of a file."""

from __future__ import annotations

from dataclasses import dataclass
from mmap import mmap
from typing import NamedTuple, TypeAlias

Buffer: TypeAlias = 'bytes | mmap'


class RecordedMessage(NamedTuple):
    """
    Hold when a message was recorded, in nanoseconds, and its content as it was serialized.

    A large content is not copied from its chunk.
    """

    recorded_ns: int
    topic: str
    type: str
    raw: bytes | memoryview


class Damaged(Exception):
    """Say that bytes are not what they should be."""


@dataclass(frozen=True)
class Channel:
    """Say what the messages of a channel are: `form` is how they are serialized."""

    topic: str
    type: str
    form: str


@dataclass(frozen=True)
class Piece:
    """
    Name a part of a file that has messages: a chunk record, or messages outside of chunks.

    The latter are `plain`, and have the number 0. A chunk that is `cut` has no end. `messages` is
    None where it is not known how many there are.
    """

    number: int
    offset: int
    length: int
    begin_ns: int
    end_ns: int
    messages: int | None = None
    plain: bool = False
    cut: bool = False


def describe_part(piece: Piece) -> str:
    """Return where in its file a damaged piece is."""
    where = f'chunk {piece.number}' if piece.number else 'a part'
    return f'{"the missing end of " if piece.cut else ""}{where} at byte {piece.offset:,}'
