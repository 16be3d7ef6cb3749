"""Messages as they are on the wire or in a recording, read into what the detectors take."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from rosbags.interfaces import Nodetype
from rosbags.typesys import Stores, get_types_from_msg, get_typestore
from rosbags.typesys.store import Typestore

from robot_memory import detectors
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import NANOSECONDS
from robot_memory.plugins.bases import MessageReading

_STAMP_FIELDS = tuple(
    (Nodetype.NAME, name) for name in ('std_msgs/msg/Header', 'builtin_interfaces/msg/Time')
)
"""What a message that begins with its stamp has for its first field."""
_HEADED = (
    'sensor_msgs/msg/JointState',
    'geometry_msgs/msg/WrenchStamped',
    'sensor_msgs/msg/Image',
    'sensor_msgs/msg/CompressedImage',
    'diagnostic_msgs/msg/DiagnosticArray',
)
"""The types of ours that begin with a header: known without all types of ROS being read."""
_LENGTHS = (struct.Struct('>I'), struct.Struct('<I'))
_STAMPS = (struct.Struct('>iI'), struct.Struct('<iI'))


@dataclass(frozen=True)
class MessageType:
    """
    Say how a type of message is read.

    `read` makes a reading of a message, its stamp in nanoseconds and its frame. A message that is
    `stamped` begins with its stamp; any other is taken to be of when it came.
    """

    detector: str
    stamped: bool
    read: Callable[[Any, int, str], Any]


def _read_joints(message: Any, stamp: int, frame: str) -> detectors.JointReading:
    return detectors.JointReading(
        stamp, frame, tuple(message.name), message.position, message.velocity, message.effort
    )


def _read_wrench(message: Any, stamp: int, frame: str) -> detectors.WrenchReading:
    wrench = getattr(message, 'wrench', message)
    force, torque = wrench.force, wrench.torque
    return detectors.WrenchReading(
        stamp, frame, (force.x, force.y, force.z), (torque.x, torque.y, torque.z)
    )


def _read_image(message: Any, stamp: int, frame: str) -> detectors.ImageReading:
    view = detectors.decode_image(
        message.encoding,
        message.height,
        message.width,
        message.step,
        bool(message.is_bigendian),
        message.data,
    )
    return detectors.ImageReading(stamp, frame, view)


def _read_compressed(message: Any, stamp: int, frame: str) -> detectors.ImageReading:
    return detectors.ImageReading(stamp, frame, detectors.decode_compressed(message.data))


def _read_text(message: Any, stamp: int, _: str) -> detectors.TextReading:
    return detectors.TextReading(stamp, message.data)


def _read_state(message: Any, stamp: int, _: str) -> detectors.StateReading:
    value = message.data
    text = str(bool(value)).lower() if isinstance(value, (bool, np.bool_)) else str(value)
    return detectors.StateReading(stamp, text[:200])


def _read_diagnostics(message: Any, stamp: int, _: str) -> detectors.DiagnosticReading:
    return detectors.DiagnosticReading(
        stamp, [(one.name, one.level, one.message) for one in message.status]
    )


def _read_log(message: Any, stamp: int, _: str) -> detectors.TextReading:
    return detectors.TextReading(stamp, message.msg, message.level, message.name or 'unnamed')


TYPES: dict[str, MessageType] = {
    'sensor_msgs/msg/JointState': MessageType('motion', True, _read_joints),
    'geometry_msgs/msg/WrenchStamped': MessageType('contact', True, _read_wrench),
    'geometry_msgs/msg/Wrench': MessageType('contact', False, _read_wrench),
    'sensor_msgs/msg/Image': MessageType('scene', True, _read_image),
    'sensor_msgs/msg/CompressedImage': MessageType('scene', True, _read_compressed),
    'std_msgs/msg/String': MessageType('text', False, _read_text),
    'rcl_interfaces/msg/Log': MessageType('text', True, _read_log),
    'diagnostic_msgs/msg/DiagnosticArray': MessageType('diagnostics', True, _read_diagnostics),
    'std_msgs/msg/Bool': MessageType('state', False, _read_state),
    **{
        f'std_msgs/msg/{sign}Int{bits}': MessageType('state', False, _read_state)
        for sign in ('', 'U')
        for bits in (8, 16, 32, 64)
    },
}
"""The types that a tap can have, each with its usual detector."""
_OTHERS = {('std_msgs/msg/String', 'state'): MessageType('state', False, _read_state)}


def find_type(kind: str, detector: str) -> MessageType | None:
    """Return how a type is read for a detector; None where that does not take it."""
    usual = TYPES.get(kind)
    if usual is not None and usual.detector == detector:
        return usual
    return _OTHERS.get((kind, detector))


@cache
def load_typestore() -> Typestore:
    """Return the types of ROS 2, and those that were registered."""
    return get_typestore(Stores.LATEST)


def make_plugin_type(name: str, definitions: Mapping[str, str]) -> MessageType:
    """
    Return how a message is read for a plug-in's detector: whole, as MessageReading.

    `definitions` are registered first. Raise InvalidArgument for a type that nobody defines.
    """
    store = load_typestore()
    try:
        for other, text in definitions.items():
            new = get_types_from_msg(text, other)
            store.register({kind: found for kind, found in new.items() if kind not in store.types})
        fields = store.get_msgdef(name).fields
    except Exception as error:  # the parser raises whatever a broken text leads it to
        raise InvalidArgument(f'the definition of {name} cannot be read: {error!r}') from error
    stamped = bool(fields) and fields[0][1] in _STAMP_FIELDS
    return MessageType(
        '', stamped, lambda message, stamp, frame: MessageReading(stamp, frame, name, message)
    )


def decode(raw: bytes | memoryview, kind: str) -> Any:
    """
    Return a serialized message (CDR) as an object with the fields of its type.

    Whatever is wrong with the bytes raises an exception of the reader's choice.
    """
    return load_typestore().deserialize_cdr(bytes(raw), kind)


def read_stamp(raw: bytes | memoryview) -> int:
    """Return the stamp that a serialized message begins with, in nanoseconds, undecoded."""
    sec, nanosec = _STAMPS[raw[1] & 1].unpack_from(raw, 4)
    return int(sec * NANOSECONDS + nanosec)


def has_header(kind: str) -> bool:
    """Say whether messages of a type begin with a std_msgs/Header."""
    if kind in TYPES:
        return kind in _HEADED
    fields = load_typestore().get_msgdef(kind).fields
    return bool(fields) and fields[0][1] == _STAMP_FIELDS[0]


def read_header_frame(raw: bytes | memoryview) -> str:
    """Return the frame of the header that a serialized message begins with, undecoded."""
    (length,) = _LENGTHS[raw[1] & 1].unpack_from(raw, 12)
    return bytes(raw[16 : 16 + length]).rstrip(b'\0').decode(errors='replace')


def to_nanoseconds(stamp: Any) -> int:
    """Return a builtin_interfaces/Time in nanoseconds."""
    return int(stamp.sec * NANOSECONDS + stamp.nanosec)


def read_frame(message: Any) -> str:
    """Return the frame of a message's header; empty where it has none."""
    header = getattr(message, 'header', None)
    return '' if header is None else str(header.frame_id)
