"""Recordings in every form, made from the demonstration's, and those of the shared data."""

from __future__ import annotations

import json
import os
import runpy
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import CompressionFormat, CompressionMode, Reader, StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_typestore

from robot_memory.ingest.bag_import import ImportPlan, ImportReport, import_recording
from robot_memory.ingest.messages import TYPES, decode, read_frame, read_stamp
from robot_memory.memory import Memory

ROOT = Path(__file__).resolve().parents[1]
DATA = Path(os.environ.get('ROBOT_MEMORY_DATA', ROOT.parent / 'shared/data'))
RECORD = runpy.run_path(str(ROOT / 'scripts' / 'make_recording.py'))['record']
Message = tuple[str, str, int, bytes]
Messages = list[Message]
ALL = ImportPlan()
WEIGHT_N = 30.0


def shared(path: str) -> Path:
    """Return a file or folder of the shared data, or skip the test aloud."""
    found = DATA / path
    if not found.exists():
        pytest.skip(f'{found} is not here; ROBOT_MEMORY_DATA names the shared data')
    return found


def messages_of(path: Path) -> Messages:
    """Return topic, type, time and serialized message of all that a rosbag2 holds."""
    with Reader(path) as reader:
        return [(c.topic, c.msgtype, at, raw) for c, at, raw in reader.messages()]


def readings_of(path: Path) -> Iterator[tuple[str, Any]]:
    """Yield topic and reading of every message in a rosbag2 that some detector takes."""
    for topic, kind, at, raw in messages_of(path):
        if kind in TYPES:
            message = decode(raw, kind)
            stamp = read_stamp(raw) if TYPES[kind].stamped else at
            yield topic, TYPES[kind].read(message, stamp, read_frame(message))


def run(memory: Memory, path: Path, plan: ImportPlan = ALL) -> tuple[ImportReport, list[str]]:
    """Import a recording; return what came of it, and the lines that were told."""
    told: list[str] = []
    return import_recording(memory, path, plan, told.append, lambda done, total: None), told


def events_of(memory: Memory) -> list[tuple[Any, ...]]:
    """Return what tells the events in a store apart, in the order of their onsets."""
    with memory.db.read() as connection:
        rows = connection.execute(
            'SELECT t.name, j.name, e.onset, e.peak, e."end", m.content, m.status'
            ' FROM events AS e JOIN memories AS m ON m.id = e.memory_id'
            ' JOIN event_names AS t ON t.id = e.topic JOIN event_names AS j ON j.id = e.subject'
            " WHERE m.status = 'active' ORDER BY e.onset, t.name"
        )
        return list(rows)


def write2(path: Path, messages: Messages, plugin: StoragePlugin, **options: Any) -> Path:
    """Write a rosbag2."""
    types = get_typestore(Stores.LATEST)
    writer = Writer2(path, version=9, storage_plugin=plugin)
    if 'mode' in options:
        writer.set_compression(options['mode'], CompressionFormat.ZSTD)
    with writer:
        connections = {}
        for topic, kind, at, raw in messages:
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=types)
            writer.write(connections[topic], at, raw)
    return path


def sqlite3(path: Path, messages: Messages) -> Path:
    """Write a rosbag2 in sqlite3."""
    return write2(path, messages, StoragePlugin.SQLITE3)


def each_message_compressed(path: Path, messages: Messages) -> Path:
    """Write a rosbag2 in sqlite3 whose every message is compressed."""
    return write2(path, messages, StoragePlugin.SQLITE3, mode=CompressionMode.MESSAGE)


def each_file_compressed(path: Path, messages: Messages) -> Path:
    """Write a rosbag2 in sqlite3 whose file is compressed."""
    return write2(path, messages, StoragePlugin.SQLITE3, mode=CompressionMode.FILE)


def split(path: Path, messages: Messages) -> Path:
    """Write a rosbag2 of three files, and no metadata."""
    third = len(messages) // 3
    path.mkdir()
    for number, begin in enumerate((2 * third, 0, third)):
        piece = messages[begin:] if begin == 2 * third else messages[begin : begin + third]
        folder = write2(path / f'piece_{number}', piece, StoragePlugin.MCAP)
        (file,) = folder.glob('*.mcap')
        file.rename(path / f'{number}.mcap')
        shutil.rmtree(folder)
    return path


def one_file(path: Path, messages: Messages) -> Path:
    """Write a rosbag2 and name its file alone."""
    (file,) = write2(path, messages, StoragePlugin.MCAP).glob('*.mcap')
    return file


def rosbag1(path: Path, messages: Messages) -> Path:
    """Write a recording of ROS 1."""
    new, old = get_typestore(Stores.LATEST), get_typestore(Stores.ROS1_NOETIC)
    path = path.with_suffix('.bag')
    with Writer1(path) as writer:
        connections: dict[str, Any] = {}
        for topic, kind, at, raw in messages:
            if topic not in connections:
                connections[topic] = writer.add_connection(topic, kind, typestore=old)
            writer.write(connections[topic], at, new.cdr_to_ros1(raw, kind))
    return path


FORMS: tuple[Callable[[Path, Messages], Path], ...] = (
    sqlite3,
    each_message_compressed,
    each_file_compressed,
    split,
    one_file,
    rosbag1,
)


def pushes(bag: str = 'cmu_push_wood_patch') -> list[dict[str, Any]]:
    """Return the pushes that a recording holds: start_ns, end_ns, peak_N."""
    text = (shared(f'bags/{bag}') / 'groundtruth.json').read_text()
    return list(json.loads(text)[bag])


def weigh(made: Path, path: Path) -> Path:
    """Return a recording whose wrench is the weight of a tool that the joints turn."""
    store = get_typestore(Stores.LATEST)
    messages = [one for one in messages_of(made) if one[0] in ('/joint_states', '/wrench')]
    joints: list[tuple[int, Any]] = [
        (at, store.deserialize_cdr(raw, kind))
        for topic, kind, at, raw in messages
        if topic == '/joint_states'
    ]
    positions = np.array([message.position for _, message in joints])
    turned = positions[:, int(np.argmax(np.ptp(positions, axis=0)))]
    times = np.array([at for at, _ in joints], float)
    found = []
    for topic, kind, at, raw in messages:
        if topic == '/wrench':
            message: Any = store.deserialize_cdr(raw, kind)
            angle = float(np.interp(at, times, turned))
            message.wrench.force.x = WEIGHT_N * np.sin(angle)
            message.wrench.force.y = 0.0
            message.wrench.force.z = 8 - WEIGHT_N * np.cos(angle)
            raw = bytes(store.serialize_cdr(message, kind))
        found.append((topic, kind, at, raw))
    return write2(path, found, StoragePlugin.MCAP)


def swing(path: Path, start_ns: int = 10**18, lasts_s: int = 660) -> Path:
    """Return a recording of a joint that swings, and is hit ten seconds before the end."""
    store = get_typestore(Stores.LATEST)
    kind = 'sensor_msgs/msg/JointState'
    header, time = store.types['std_msgs/msg/Header'], store.types['builtin_interfaces/msg/Time']
    random = np.random.default_rng(5)
    found = []
    for step in range(lasts_s * 10):
        seconds = step / 10
        at = start_ns + round(seconds * 1e9)
        effort = random.normal(0, 1) + (50 if 0 <= seconds - lasts_s + 10 < 1 else 0)
        message = store.types[kind](
            header(time(at // 10**9, at % 10**9), 'base'),
            ['elbow'],
            np.array([np.sin(seconds)]),
            np.array([np.cos(seconds)]),
            np.array([effort]),
        )
        found.append(('/joint_states', kind, at, bytes(store.serialize_cdr(message, kind))))
    return write2(path, found, StoragePlugin.MCAP)
