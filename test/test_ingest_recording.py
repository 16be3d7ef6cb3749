"""Damaged recordings are read as far as possible, and what is lost is said."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import prepared
import pytest
import recordings
from amounts import few_or_many
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from recordings import Messages, events_of, run
from robots import Robot
from rosbags.rosbag2 import CompressionMode, StoragePlugin

from robot_memory.core.errors import NotFound
from robot_memory.ingest import decompression
from robot_memory.ingest.losses import Loss
from robot_memory.ingest.mcap_records import (
    CHUNK,
    list_records,
    read_chunk_header,
    unpack_chunk,
)
from robot_memory.ingest.recording import Recording
from robot_memory.ingest.stored_messages import RecordedMessage

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

BLOCK = 4096
SECOND = 10**9


def packed_mcap(path: Path, messages: Messages) -> Path:
    """Write an MCAP file with compressed chunks that have checksums, as the recorder does."""
    options = {'mode': CompressionMode.STORAGE}
    (file,) = recordings.write2(path, messages, StoragePlugin.MCAP, **options).glob('*.mcap')
    data = bytearray(file.read_bytes())
    for opcode, begin, end in list_records(bytes(data), 8, len(data) - 8):
        if opcode == CHUNK:
            content = unpack_chunk(bytes(data), read_chunk_header(bytes(data), begin, end))
            data[begin + 24 : begin + 28] = crc32(content).to_bytes(4, 'little')
    file.write_bytes(data)
    return file


def plain_mcap(path: Path, messages: Messages) -> Path:
    """Write an MCAP file with chunks as they are."""
    return recordings.one_file(path, messages)


def db3(path: Path, messages: Messages) -> Path:
    """Write a file in SQLite."""
    (file,) = recordings.sqlite3(path, messages).glob('*.db3')
    return file


KINDS: tuple[Callable[[Path, Messages], Path], ...] = (
    packed_mcap,
    plain_mcap,
    db3,
    recordings.rosbag1,
)


class Whole:
    """Hold a recording without damage, and its messages."""

    def __init__(self, path: Path, messages: list[RecordedMessage]) -> None:
        self.path = path
        self.data = path.read_bytes()
        self.messages = messages

    def __repr__(self) -> str:
        return self.path.name


Read = tuple[list[RecordedMessage], list[Loss], list[str]]


def read(path: Path) -> Read:
    told: list[str] = []
    with Recording(path, told.append) as recording:
        names = {topic.name for topic in recording.topics}
        found = [one for batch in recording.messages(names) for one in batch]
        return found, recording.losses, told


@pytest.fixture(scope='module', params=KINDS, ids=lambda write: str(write.__name__))
def whole(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, messages: Messages
) -> Whole:
    path = request.param(tmp_path_factory.mktemp('whole') / 'bag', messages)
    found, losses, told = read(path)
    assert len(found) == len(messages) and not losses and not told
    return Whole(path, found)


def damage(data: bytes, how: str, where: float) -> bytes:
    """Return the bytes of a file with a block of 4 kB overwritten, or cut off."""
    at = round(where * (len(data) - BLOCK))
    if how == 'cut':
        return data[: at + BLOCK]
    if how == 'zeroed page':
        at = at // BLOCK * BLOCK
        return data[:at] + bytes(BLOCK) + data[at + BLOCK :]
    return data[:at] + random.Random(at).randbytes(BLOCK) + data[at + BLOCK :]


@given(
    how=st.sampled_from(['garbage', 'zeroed page', 'cut']),
    where=st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0.0, 1.0)),
)
@settings(
    max_examples=few_or_many(6, 24),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_what_is_lost_is_said_and_the_rest_is_read(
    whole: Whole, tmp_path: Path, how: str, where: float
) -> None:
    path, data, wanted = whole.path, whole.data, whole.messages
    damaged = tmp_path / f'damaged{path.suffix}'
    damaged.write_bytes(damage(data, how, where))
    try:
        found, losses, told = read(damaged)
    except NotFound:  # nothing is left: of a file in SQLite, without its list of topics
        assert where * len(data) < 1 << 16 and (path.suffix == '.db3' or how == 'cut')
        return
    assert [one.recorded_ns for one in found] == sorted(one.recorded_ns for one in found)
    places = {(one.topic, one.recorded_ns) for one in found}
    missing = [one for one in wanted if (one.topic, one.recorded_ns) not in places]
    assert len(places) == len(found) and len(missing) == len(wanted) - len(found)
    assert not told and (losses or not missing)
    # A picture that was overwritten where there is no checksum cannot be told from a good one.
    altered = set(found) - set(wanted)
    assert all('camera' in one.topic for one in altered) and len(altered) <= 1
    if not any(loss.messages is None for loss in losses):
        assert sum(loss.messages or 0 for loss in losses) == len(missing)
    if how != 'cut':
        assert len(missing) < 500
    for one in missing:
        assert any(_covers(loss, one.recorded_ns) for loss in losses), one.recorded_ns


def _covers(loss: Loss, time_ns: int) -> bool:
    slack = SECOND // 50
    begin = (loss.begin_ns or 0) - slack
    return begin <= time_ns <= (loss.end_ns or 2**63) + slack


@pytest.mark.parametrize('write', KINDS, ids=lambda write: str(write.__name__))
@pytest.mark.parametrize('cut', [1, 40, 400])
def test_a_missing_index_loses_no_message_outside_the_missing_part(
    tmp_path: Path, messages: Messages, write: Callable[[Path, Messages], Path], cut: int
) -> None:
    path = write(tmp_path / 'bag', messages)
    path.write_bytes(path.read_bytes()[:-cut])
    found, losses, told = read(path)
    assert not told
    if path.suffix == '.db3':
        assert losses and len(messages) - len(found) < 50
    else:
        assert len(found) == len(messages) and not losses


def test_messages_outside_of_chunks_are_found_after_damage(
    tmp_path: Path, messages: Messages
) -> None:
    path = tmp_path / 'plain.mcap'
    small = [one for one in messages if 'camera' not in one[0]]
    path.write_bytes(write_without_chunks(small))
    assert read(path)[0:2] == ([RecordedMessage(c, a, b, d) for a, b, c, d in small], [])
    data = path.read_bytes()
    at = len(data) // 2
    path.write_bytes(data[:at] + random.Random(1).randbytes(BLOCK) + data[at + BLOCK :])
    found, losses, _ = read(path)
    assert 0 < len(small) - len(found) < 40 and len(losses) == 1
    assert set(found) < {RecordedMessage(c, a, b, d) for a, b, c, d in small}


def write_without_chunks(messages: Messages) -> bytes:
    """Return an MCAP file as a recorder leaves it that writes neither chunks nor an index."""

    def record(opcode: int, *parts: bytes) -> bytes:
        content = b''.join(parts)
        return bytes([opcode]) + len(content).to_bytes(8, 'little') + content

    def text(value: str) -> bytes:
        return len(value.encode()).to_bytes(4, 'little') + value.encode()

    def number(value: int, size: int) -> bytes:
        return value.to_bytes(size, 'little')

    parts = [b'\x89MCAP0\r\n', record(1, text('ros2'), text('test'))]
    channels: dict[str, bytes] = {}
    for topic, kind, at, raw in messages:
        if topic not in channels:
            key = channels[topic] = number(len(channels) + 1, 2)
            parts.append(record(3, key, text(kind), text('ros2msg'), text('')))
            parts.append(record(4, key, key, text(topic), text('cdr'), number(0, 4)))
        parts.append(record(5, channels[topic], number(0, 4), number(at, 8), number(at, 8), raw))
    parts += [record(15, number(0, 4)), record(2, number(0, 20)), b'\x89MCAP0\r\n']
    return b''.join(parts)


def test_a_compressed_file_that_is_cut_off_is_read_up_to_there(
    tmp_path: Path, messages: Messages
) -> None:
    bag = recordings.each_file_compressed(tmp_path / 'bag', messages)
    (file,) = bag.glob('*.zstd')
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    found, losses, told = read(bag)
    assert found and not told
    assert {loss.file for loss in losses} >= {file.name}


def test_a_message_that_unpacks_to_too_much_is_the_only_one_that_is_lost(
    tmp_path: Path, messages: Messages, monkeypatch: pytest.MonkeyPatch
) -> None:
    (topic, kind, at, _), *_ = messages
    bomb = (topic, kind, at, zstd.compress(bytes(1 << 20)))
    bag = recordings.sqlite3(tmp_path / 'bag', [*messages, bomb])
    monkeypatch.setattr(decompression, 'MOST_UNPACKED', 1 << 19)
    found, losses, told = read(bag)
    assert len(found) == len(messages)
    (loss,) = losses
    assert (loss.part, loss.messages) == (f'a message on {topic}', 1)
    assert told == [loss.describe()]
    assert 'more than 524,288 bytes unpacked' in told[0]


def test_events_outside_the_lost_part_are_stored(
    open_robot: Callable[..., Robot], tmp_path: Path, made: Path, messages: Messages
) -> None:
    wanted = open_robot(name='wanted')
    run(wanted.memory, made)
    path = packed_mcap(tmp_path / 'bag', messages)
    path.write_bytes(damage(path.read_bytes(), 'garbage', 0.5))
    robot = open_robot()
    imported, told = run(robot.memory, path)
    (loss,) = imported.losses
    assert imported.lost == {'parts': 1, 'bytes': loss.bytes, 'messages': loss.messages}
    assert [line.partition(' of ')[0] for line in told] == [f'cannot read {loss.part}']
    reach = 2 * SECOND
    outside = [
        row
        for row in events_of(wanted.memory)
        if row[4] < loss.begin_ns - reach or row[2] > loss.end_ns + reach
    ]
    assert outside and set(outside) <= set(events_of(robot.memory))


def test_pushes_outside_the_lost_part_of_a_real_recording_are_found(
    robot: Robot, tmp_path: Path
) -> None:
    (file,) = recordings.shared('bags/cmu_push_wood_patch').glob('*.mcap')
    path = tmp_path / file.name
    path.write_bytes(damage(file.read_bytes(), 'garbage', 0.5))
    imported, told = run(robot.memory, path)
    assert imported.losses and len(told) >= 1
    contacts = [row for row in events_of(robot.memory) if 'contact' in row[5] or 'push' in row[5]]
    pushes = recordings.pushes()
    lost = [push for push in pushes if any(_meets(loss, push) for loss in imported.losses)]
    found = [
        push
        for push in pushes
        if any(row[2] <= push['end_ns'] and row[4] >= push['start_ns'] for row in contacts)
    ]
    assert len(lost) < 20 and len(found) >= len(pushes) - len(lost)


def _meets(loss: Loss, push: dict[str, int]) -> bool:
    return push['end_ns'] >= loss.begin_ns and push['start_ns'] <= (loss.end_ns or 2**63)


def test_the_command_fails_where_anything_was_lost(tmp_path: Path, messages: Messages) -> None:
    path = packed_mcap(tmp_path / 'bag', messages)
    path.write_bytes(damage(path.read_bytes(), 'garbage', 0.5))
    line = [sys.executable, '-m', 'robot_memory', 'import', str(path)]
    options = ['--db', str(tmp_path / 'memory.db'), '--model', 'none']
    done = prepared.run([*line, *options, '--json'], capture_output=True, text=True)
    assert done.returncode == 1
    assert 'of 1 recording, 1 damaged and read in part' in done.stderr
    assert 'cannot read chunk' in done.stderr
    (report,) = json.loads(done.stdout)
    assert report['lost']['messages'] > 0 and report['losses'][0]['bytes'] > 0
    again = prepared.run([*line, *options], capture_output=True, text=True)
    assert again.returncode == 1 and '; damaged in 1 place: ' in again.stdout
