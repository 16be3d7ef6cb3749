"""The reader of the frequent types makes the same readings as the general one."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest
import recordings
from hypothesis import given, settings
from hypothesis import strategies as st
from rosbags.highlevel import AnyReader
from rosbags.typesys import Stores, get_typestore

from robot_memory.detectors import ImageReading, JointReading, WrenchReading
from robot_memory.detectors.readings import JointBlock, WrenchBlock
from robot_memory.ingest.fast_readings import UNUSUAL, BlockReader, read_image
from robot_memory.ingest.messages import TYPES, decode, has_header, read_frame, read_stamp
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


def describe(reading: Any) -> list[Any]:
    """Return what a reading or a block holds, in plain values that can be compared."""
    if isinstance(reading, ImageReading):
        view = reading.view
        content = (view.image.mode, view.image.size, view.image.tobytes())
        return [reading.stamp_ns, reading.frame_id, view.width, view.height, content]
    values = [getattr(reading, field.name) for field in fields(reading)]
    return [one.tobytes() if isinstance(one, np.ndarray) else one for one in values]


def read_generally(kind: str, raw: bytes) -> Any:
    """Return what the general reader makes of a message, as a block where there are any."""
    message = decode(raw, kind)
    reading = TYPES[kind].read(message, read_stamp(raw), read_frame(message))
    if isinstance(reading, JointReading):
        return JointBlock.from_reading(reading)
    return WrenchBlock.from_reading(reading) if isinstance(reading, WrenchReading) else reading


def read_image_both(raw: bytes) -> None:
    """Compare the reading of an image with that of the general reader."""
    assert describe(read_image(raw, read_stamp(raw))) == describe(read_generally(IMAGE, raw))


def read_both(kind: str, raws: Sequence[bytes | memoryview]) -> None:
    """Compare the blocks of messages, each reading of them, with the general reader's."""
    found: dict[int, Any] = {}
    for positions, block in BlockReader(kind).read(raws):
        assert block is not None
        for number, position in enumerate(positions):
            values = {
                field.name: getattr(block, field.name)[number : number + 1]
                for field in fields(block)
                if isinstance(getattr(block, field.name), np.ndarray)
            }
            found[position] = describe(replace(block, **values))
    assert list(map(found.get, range(len(raws)))) == [
        describe(read_generally(kind, bytes(raw))) for raw in raws
    ]


@pytest.mark.parametrize('name', BAGS)
def test_messages_and_readings_of_recordings_are_those_of_the_library(name: str) -> None:
    bag = recordings.shared(f'bags/{name}')
    told: list[str] = []
    with (
        Recording(bag, told.append) as recording,
        AnyReader([bag], default_typestore=get_typestore(Stores.LATEST)) as library,
    ):
        known = [one for one in library.connections if one.msgtype in TYPES]
        names = {one.topic for one in known}
        wanted = library.messages(known)
        count = 0
        for batch in recording.messages(names):
            for message in batch:
                if message.type not in TYPES:
                    continue
                connection, time_ns, raw = next(wanted)
                assert (message.topic, message.type) == (connection.topic, connection.msgtype)
                assert message.recorded_ns == time_ns and message.raw == raw
                if message.type == IMAGE and count % 20 == 0:
                    read_image_both(bytes(message.raw))
                count += 1
            for kind in (JOINTS, WRENCH):
                for topic in names:
                    chosen = [one.raw for one in batch if (one.topic, one.type) == (topic, kind)]
                    if chosen:
                        read_both(kind, chosen)
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
    other = types['std_msgs/msg/Header'](types['builtin_interfaces/msg/Time'](5, 8), 'base')
    second = bytes(store.serialize_cdr(types[JOINTS](other, ['a'], *arrays), JOINTS))
    read_both(JOINTS, [raw, raw, second, raw, second, second])


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
    if kind == IMAGE:
        read_image_both(raw)
    else:
        read_both(kind, [raw])
    for size in range(13, len(raw) - 3):
        if kind == IMAGE:
            with pytest.raises(UNUSUAL):
                read_image(raw[:size], 0)
        else:
            ((_, block),) = BlockReader(kind).read([raw[:size]])
            assert block is None


def test_joints_of_publishers_that_take_turns_are_in_a_block_each() -> None:
    store = get_typestore(Stores.LATEST)
    types = store.types
    raws = []
    for number in range(9):
        stamp = types['builtin_interfaces/msg/Time'](5, number)
        names = ['finger'] if number % 2 else ['shoulder', 'elbow']
        values = [np.full(len(names), float(number))] * 3
        message = types[JOINTS](types['std_msgs/msg/Header'](stamp, ''), names, *values)
        raws.append(bytes(store.serialize_cdr(message, JOINTS)))
    found = BlockReader(JOINTS).read(raws)
    assert sorted(list(positions) for positions, _ in found) == [[0, 2, 4, 6, 8], [1, 3, 5, 7]]
    read_both(JOINTS, raws)


@pytest.mark.parametrize('kind', TYPES)
def test_the_types_of_ours_with_a_header_are_those_of_the_library(kind: str) -> None:
    first = get_typestore(Stores.LATEST).get_msgdef(kind).fields[0]
    assert has_header(kind) == (first[1][1] == 'std_msgs/msg/Header')


def test_the_first_picture_waits_for_no_types_of_ros() -> None:
    program = (
        'import sys; from robot_memory.ingest.messages import has_header; '
        f'print(has_header({IMAGE!r}), "rosbags.typesys.stores.latest" in sys.modules)'
    )
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, check=True)
    assert done.stdout.split() == [b'True', b'False']
