"""Messages made for a pipeline, and a pipeline fed with them: times are seconds since a start."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recordings import Message
from rosbags.typesys import Stores, get_typestore

from robot_memory.ingest.handlers import ReceivedMessage
from robot_memory.ingest.pipeline import Pipeline

START_NS = 1_771_993_800 * 10**9  # 2026-02-25 04:30 UTC
SECOND = 10**9
STORE = get_typestore(Stores.LATEST)
TYPES = STORE.types


def to_ns(seconds: float) -> int:
    """Return an instant of the test as nanoseconds since 1970 UTC."""
    return START_NS + round(seconds * SECOND)


def make_header(seconds: float, frame: str) -> Any:
    """Return a header of that time."""
    stamp = TYPES['builtin_interfaces/msg/Time'](*divmod(to_ns(seconds), SECOND))
    return TYPES['std_msgs/msg/Header'](stamp, frame)


def pack(topic: str, kind: str, seconds: float, message: Any) -> Message:
    """Return a message as it comes at that time."""
    return topic, kind, to_ns(seconds), bytes(STORE.serialize_cdr(message, kind))


def feed(pipeline: Pipeline, messages: Sequence[Message], sizes: Sequence[int] = ()) -> None:
    """Hand a pipeline messages by their times: so many at once, then the rest."""
    handlers = {one.topic: one for one in pipeline.list_handlers()}
    ordered = sorted(messages, key=lambda one: one[2])
    received = [ReceivedMessage(handlers[topic], raw, at) for topic, _, at, raw in ordered]
    at = 0
    for size in sizes:
        pipeline.receive(received[at : at + size])
        at += size
    pipeline.receive(received[at:])
