"""The reader of the frequent types makes the same readings as the general one."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
import pytest
import recordings
from hypothesis import given, settings
from hypothesis import strategies as st
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

from robot_memory.detectors import ImageReading
from robot_memory.ingest.fast_readings import make_fast_reader
from robot_memory.ingest.messages import TYPES, decode, read_frame, read_stamp
from robot_memory.ingest.recording import Recording

BAGS = (
    'bridge_tasks',
    'cmu_30_63',
    'cmu_exp5_15',
    'cmu_push_wood_patch',
    'kuka_honeypot',
    'ros2bag_killed_on_contact',
    'ros2bag_static_ats_inverror',
    'ur3_first_half',
)
JOINTS = 'sensor_msgs/msg/JointState'
WRENCH = 'geometry_msgs/msg/WrenchStamped'
IMAGE = 'sensor_msgs/msg/Image'


def describe(reading: Any) -> tuple[Any, ...]:
    """Return what a reading holds, in plain values that can be compared."""
    if isinstance(reading, ImageReading):
        view = reading.view
        content = (view.image.mode, view.image.size, view.image.tobytes())
        return (reading.stamp_ns, reading.frame_id, view.width, view.height, content)
    values = [getattr(reading, name) for name in type(reading).__slots__]
    return tuple(
        np.asarray(value, float).tobytes()
        if name not in ('stamp_ns', 'frame_id', 'names')
        else value
        for name, value in zip(type(reading).__slots__, values, strict=True)
    )


def read_both(kind: str, fast: Any, raw: bytes) -> None:
    """Compare the reading of a message with that of the general reader."""
    stamp = read_stamp(raw)
    message = decode(raw, kind)
    wanted = TYPES[kind].read(message, stamp, read_frame(message))
    assert describe(fast(raw, stamp)) == describe(wanted)


@pytest.mark.parametrize('name', BAGS)
def test_messages_and_readings_of_recordings_are_those_of_the_library(name: str) -> None:
    bag = recordings.shared(f'bags/{name}')
    fast = {kind: make_fast_reader(kind) for kind in (JOINTS, WRENCH, IMAGE)}
    told: list[str] = []
    with (
        Recording(bag, told.append) as recording,
        AnyReader([bag], default_typestore=get_typestore(Stores.LATEST)) as library,
    ):
        known = [one for one in library.connections if one.msgtype in TYPES]
        names = {one.topic for one in known}
        wanted = library.messages(known)
        count = 0
        for message in recording.messages(names):
            if message.type not in TYPES:
                continue
            connection, time_ns, raw = next(wanted)
            assert (message.topic, message.type) == (connection.topic, connection.msgtype)
            assert message.recorded_ns == time_ns and message.raw == raw
            reader = fast.get(message.type)
            if reader is not None and (message.type != IMAGE or count % 20 == 0):
                read_both(message.type, reader, bytes(message.raw))
            count += 1
        assert next(wanted, None) is None and count and not told and not recording.losses


FLOATS = st.lists(st.floats(allow_nan=False, width=32), max_size=8)


@given(
    frame=st.text('abcé_/', max_size=9),
    names=st.lists(st.text('jointé', max_size=7), max_size=8),
    values=st.tuples(FLOATS, FLOATS, FLOATS),
)
@settings(max_examples=200, deadline=None, derandomize=True)
def test_any_joint_states_are_read_alike(
    frame: str, names: list[str], values: tuple[list[float], ...]
) -> None:
    store = get_typestore(Stores.LATEST)
    types = store.types
    header = types['std_msgs/msg/Header'](types['builtin_interfaces/msg/Time'](5, 7), frame)
    arrays = [np.array(one, np.float64) for one in values]
    raw = bytes(store.serialize_cdr(types[JOINTS](header, names, *arrays), JOINTS))
    fast = make_fast_reader(JOINTS)
    assert fast is not None
    read_both(JOINTS, fast, raw)
    read_both(JOINTS, fast, raw)


@pytest.mark.parametrize('kind', [JOINTS, WRENCH, IMAGE])
def test_a_message_that_is_cut_off_is_left_to_the_general_reader(kind: str) -> None:
    store = get_typestore(Stores.LATEST)
    types = store.types
    header = types['std_msgs/msg/Header'](types['builtin_interfaces/msg/Time'](5, 7), 'tool0')
    vector = types['geometry_msgs/msg/Vector3'](1.0, 2.0, 3.0)
    made = {
        JOINTS: lambda: types[JOINTS](header, ['a', 'b'], *[np.ones(2)] * 3),
        WRENCH: lambda: types[WRENCH](header, types['geometry_msgs/msg/Wrench'](vector, vector)),
        IMAGE: lambda: types[IMAGE](header, 4, 4, 'mono8', 0, 4, np.zeros(16, np.uint8)),
    }[kind]()
    raw = bytes(store.serialize_cdr(made, kind))
    fast = make_fast_reader(kind)
    assert fast is not None
    read_both(kind, fast, raw)
    for size in range(13, len(raw) - 3):
        with pytest.raises((ValueError, IndexError, struct.error)):
            fast(raw[:size], 0)
