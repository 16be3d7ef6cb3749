"""What is given to a pipeline: messages, each with what takes it, and where they come from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

from robot_memory.core.fields import NANOSECONDS


@dataclass(frozen=True)
class RecordingOrigin:
    """Name the recording that the messages come from, and when its first message was recorded."""

    name: str
    start_ns: int

    def describe(self, recorded_ns: int) -> dict[str, Any]:
        """Return what the context of a memory says of it, with the offset in seconds."""
        offset_s = max(0, recorded_ns - self.start_ns) / NANOSECONDS
        return {'recording': self.name, 'offset_s': round(offset_s, 6)}


@dataclass(frozen=True)
class TopicHandler:
    """
    Describe a subscription, whose messages are given to the pipeline with this beside them.

    It is of a `tap`, or without one of what places are known by. `takes_blocks`: what comes of its
    messages does not depend on other topics.

    `name` is that of its counts in the report; what is `latched` is wanted from before, too, and
    its publisher need not stay. Of one that is `optional` it is no fault to have no publisher.
    Types of `introspection` are not there before ROS 2 Iron.
    """

    name: str
    topic: str
    type: str
    latched: bool
    optional: bool
    tap: str = ''
    takes_blocks: bool = False
    introspection: bool = False


@dataclass(frozen=True)
class Sensed:
    """
    Say where and when a message was measured: its frame, and its stamp in nanoseconds.

    An empty frame is the robot's. What `is_joints` was measured at the tool, as far as that is
    known.
    """

    frame: str
    stamp_ns: int
    is_joints: bool = False


class ReceivedMessage(NamedTuple):
    """Hold a serialized message, and when it came in nanoseconds."""

    handler: TopicHandler
    raw: bytes | memoryview
    arrival_ns: int


Received: TypeAlias = 'tuple[TopicHandler, bytes | memoryview, int]'
"""What the pipeline takes: a ReceivedMessage, or as much without the names."""
