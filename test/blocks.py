"""Streams of readings, cut into blocks in any way."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, replace
from itertools import cycle
from typing import Any, TypeVar

import numpy as np

from robot_memory.detectors import (
    ContactDetector,
    Event,
    JointReading,
    MotionDetector,
    WrenchReading,
)
from robot_memory.detectors.readings import JointBlock, WrenchBlock

LENGTH = 250
"""How many readings long streams are taken in at once: some tests compare cuts of any length."""

Block = TypeVar('Block')


def feel_blocks(detector: ContactDetector, readings: Iterable[WrenchReading]) -> list[Event]:
    """Return the contacts of a stream that is fed in blocks, in a fraction of the time."""
    blocks = join_blocks(map(WrenchBlock.from_reading, readings), [LENGTH])
    return [event for block in blocks for _, event in detector.feed_block(block)]


def watch_blocks(detector: MotionDetector, readings: Iterable[JointReading]) -> list[Event]:
    """Return the movements and unusual efforts of a stream that is fed in blocks, as above."""
    blocks = join_blocks(map(JointBlock.from_reading, readings), [LENGTH])
    found = [one for block in blocks for _, one in detector.feed_block(block)]
    return [one for one in found if isinstance(one, Event)]


def join_blocks(blocks: Iterable[Block], sizes: Sequence[int]) -> Iterator[Block]:
    """Yield blocks joined to longer ones, of so many each, as far as they fit together."""
    pending: list[Block] = []
    wanted = cycle(sizes)
    size = next(wanted)
    for block in blocks:
        if pending and (len(pending) >= size or _get_form(block) != _get_form(pending[0])):
            yield _join(pending)
            pending, size = [], next(wanted)
        pending.append(block)
    if pending:
        yield _join(pending)


def _get_form(block: Any) -> list[Any]:
    values = [getattr(block, field.name) for field in fields(block)]
    return [one.shape[1:] if isinstance(one, np.ndarray) else one for one in values]


def _join(blocks: list[Any]) -> Any:
    names = [field.name for field in fields(blocks[0])]
    arrays = [name for name in names if isinstance(getattr(blocks[0], name), np.ndarray)]
    joined = {name: np.concatenate([getattr(one, name) for one in blocks]) for name in arrays}
    return replace(blocks[0], **joined)
