"""Compressed pictures, decoded beside the rest of a recording, give the same store."""

from __future__ import annotations

import io
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pipelines import STORE
from recordings import ALL, Message, Messages, run, split, write2
from robots import MovableClock, Robot
from rosbags.rosbag2 import StoragePlugin

from robot_memory.core.errors import Cancelled
from robot_memory.core.settings import Settings
from robot_memory.ingest.bag_import import ImportReport, import_recording
from robot_memory.ingest.fast_readings import read_image
from robot_memory.ingest.handlers import TopicHandler
from robot_memory.ingest.messages import TYPES, decode, read_frame, read_stamp
from robot_memory.ingest.pictures_ahead import PicturesAhead
from robot_memory.ingest.stamps import LOGGED
from robot_memory.ingest.tap import make_tap
from robot_memory.ingest.threaded_runner import list_cameras, make_runner
from robot_memory.memory import Memory

IMAGE, COMPRESSED = 'sensor_msgs/msg/Image', 'sensor_msgs/msg/CompressedImage'
HANDLER = TopicHandler('camera', '/camera/image_raw', COMPRESSED, False, False, 'camera')
SALTED = ('audit', 'part_digests')
"""Tables that differ between any two stores: their digests have a salt."""


def compress(raw: bytes) -> bytes:
    """Return the picture in a message as a message that holds it as a file."""
    image, file = decode(raw, IMAGE), io.BytesIO()
    read_image(raw, 0).view.image.save(file, 'PNG')
    data = np.frombuffer(file.getvalue(), np.uint8)
    message = STORE.types[COMPRESSED](image.header, 'png', data)
    return bytes(STORE.serialize_cdr(message, COMPRESSED))


@pytest.fixture(scope='module')
def compressed(messages: Messages) -> Messages:
    """Return the messages of a recording whose pictures are files."""
    return [
        (topic, COMPRESSED, at, compress(raw)) if kind == IMAGE else (topic, kind, at, raw)
        for topic, kind, at, raw in messages
    ]


def read_picture(raw: bytes | memoryview, stamp_ns: int) -> Any:
    message = decode(raw, COMPRESSED)
    return TYPES[COMPRESSED].read(message, stamp_ns, read_frame(message))


class CountingCamera:
    """Read pictures, and count how many were read and which threads read them."""

    def __init__(self) -> None:
        self.read_by: list[str] = []

    def read(self, raw: bytes | memoryview, stamp_ns: int) -> Any:
        self.read_by.append(threading.current_thread().name)
        return read_picture(raw, stamp_ns)

    def choose_wanted(self, raws: Sequence[bytes | memoryview]) -> list[bytes | memoryview]:
        return list(raws)


def list_rows(memory: Memory) -> dict[str, list[tuple[Any, ...]]]:
    """Return what is in each table of a store, but for what is drawn at random."""
    with memory.db.read() as connection:
        names = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE '%VIRTUAL%'"
        )
        found = {}
        for (name,) in list(names):
            if name in SALTED or name.startswith(('sqlite_', 'meta', 'clock')):
                continue
            columns = connection.execute('SELECT name FROM pragma_table_info(?)', (name,))
            chosen = ', '.join(f'"{one}"' for (one,) in list(columns) if one != 'salt')
            found[name] = sorted(connection.execute(f'SELECT {chosen} FROM "{name}"'), key=repr)
        return found


def import_into(path: Path, bag: Path, *, resident: bool) -> tuple[ImportReport, Any, list[str]]:
    """Return what an import reports, tells and stores, at a time that stands still."""
    settings = Settings(db_path=str(path), model='none')
    with Memory(settings, resident=resident, clocks=MovableClock()) as memory:
        report, told = run(memory, bag)
        return report, list_rows(memory), told


def list_pictures(compressed: Messages) -> list[Message]:
    return [one for one in compressed if one[1] == COMPRESSED]


def test_the_store_is_the_same_row_for_row(tmp_path: Path, compressed: Messages) -> None:
    bag = split(tmp_path / 'bag', compressed)
    (ahead, rows, told), (alone, others, told_alone) = (
        import_into(tmp_path / f'{name}.db', bag, resident=resident)
        for name, resident in (('ahead', False), ('alone', True))
    )
    assert rows == others
    assert rows['memories'] and rows['parts']
    assert (ahead, told) == (alone, told_alone)


def test_broken_pictures_are_counted_as_without_it(tmp_path: Path, compressed: Messages) -> None:
    broken = [
        (
            topic,
            kind,
            at,
            raw[: 60 + number % 50] if kind == COMPRESSED and not number % 3 else raw,
        )
        for number, (topic, kind, at, raw) in enumerate(compressed)
    ]
    bag = write2(tmp_path / 'bag', broken, StoragePlugin.MCAP)
    (ahead, rows, told), (alone, others, told_alone) = (
        import_into(tmp_path / f'{name}.db', bag, resident=resident)
        for name, resident in (('ahead', False), ('alone', True))
    )
    assert (ahead, told, rows) == (alone, told_alone, others)
    assert ahead.taps['camera.image_raw (/camera/image_raw)']['unreadable']


@pytest.fixture
def pictures() -> Iterator[PicturesAhead]:
    with PicturesAhead() as found:
        yield found


def test_a_picture_is_read_once_in_a_thread_beside(
    pictures: PicturesAhead, compressed: Messages
) -> None:
    raws = [raw for *_, raw in list_pictures(compressed)[:4]]
    camera = CountingCamera()
    pictures.begin([(HANDLER, raw, 0) for raw in raws], {'camera': camera})
    for raw in raws:
        found = replace(pictures.take(raw), stamp_ns=read_stamp(raw))
        wanted = read_picture(raw, read_stamp(raw))
        assert (found.stamp_ns, found.frame_id) == (wanted.stamp_ns, wanted.frame_id)
        assert (found.view.average(160) == wanted.view.average(160)).all()
        assert pictures.take(raw) is None
    assert len(camera.read_by) == 4
    assert all(name.startswith('pictures') for name in camera.read_by)


def test_no_more_pictures_are_held_than_those_of_a_batch(
    pictures: PicturesAhead, compressed: Messages
) -> None:
    raws = [raw for *_, raw in list_pictures(compressed)]
    for at in range(0, 40, 4):
        batch = [(HANDLER, raw, 0) for raw in raws[at : at + 4]]
        pictures.begin(batch, {'camera': CountingCamera()})
        assert len(pictures) == 4
    pictures.begin([], {})
    assert not len(pictures)


def test_other_messages_are_not_read_ahead(pictures: PicturesAhead, compressed: Messages) -> None:
    (_, _, _, raw), *_ = list_pictures(compressed)
    pictures.begin([(HANDLER, raw, 0)], {})
    assert pictures.take(raw) is None


def test_a_cancelled_import_leaves_no_thread(tmp_path: Path, made: Path) -> None:
    def stop(done: int, total: int) -> None:
        if done > total / 3:
            raise Cancelled('enough')

    with Memory(Settings(db_path=str(tmp_path / 'm.db'), model='none'), resident=False) as memory:
        before = set(threading.enumerate())
        report = import_recording(memory, made, ALL, lambda _: None, stop)
        assert report.is_cancelled and report.messages
        assert set(threading.enumerate()) == before


def test_an_import_that_fails_leaves_no_thread(tmp_path: Path, made: Path) -> None:
    def fail(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with Memory(Settings(db_path=str(tmp_path / 'm.db'), model='none'), resident=False) as memory:
        before = set(threading.enumerate())
        with pytest.raises(KeyboardInterrupt):
            import_recording(memory, made, ALL, lambda _: None, fail)
        assert set(threading.enumerate()) == before


def test_only_compressed_pictures_are_read_ahead(robot: Robot) -> None:
    kinds = {'raw': IMAGE, 'file': COMPRESSED, 'force': 'geometry_msgs/msg/WrenchStamped'}
    taps = [make_tap(name, {'topic': f'/{name}', 'type': kind}) for name, kind in kinds.items()]
    extensions = robot.memory.extensions
    runners = {
        tap.name: make_runner(tap, print, LOGGED, extensions, None, threaded=False) for tap in taps
    }
    assert set(list_cameras(runners)) == {'file'}
