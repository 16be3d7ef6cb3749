"""Whose clock a message is dated by."""

from __future__ import annotations

import dataclasses
import struct
from pathlib import Path

import recordings
from recordings import run
from robots import Robot

from robot_memory.core.fields import NANOSECONDS
from robot_memory.ingest.bag_import import ImportPlan
from robot_memory.ingest.stamps import LIVE, LOGGED, MessageStamper

NOW = 1_772_000_000 * NANOSECONDS


def header(stamp_ns: int) -> bytes:
    """Return the beginning of a serialized message with a stamp."""
    return b'\x00\x01\x00\x00' + struct.pack('<iI', *divmod(stamp_ns, NANOSECONDS))


def test_a_stamp_of_the_header_stands() -> None:
    stamps = MessageStamper(True, LIVE)
    assert stamps.date(header(5), NOW) == 5
    assert stamps.replaced == 0 and stamps.name_source(5, 5) == ''


def test_zero_stamps_are_replaced_by_the_arrival_and_counted() -> None:
    stamps = MessageStamper(True, LOGGED)
    assert [stamps.date(header(0), NOW + at) for at in (0, 0, 7)] == [NOW, NOW + 1, NOW + 7]
    assert stamps.replaced == 3
    assert stamps.name_source(NOW + 2, NOW + 3) == 'log_time'
    assert stamps.name_source(NOW + 8, NOW + 9) == ''


def test_a_zero_stamp_stays_where_the_stream_has_another_clock() -> None:
    stamps = MessageStamper(True, LIVE)
    stamps.date(header(NOW // 2), NOW)
    assert stamps.date(header(0), NOW) == 0
    stamps.date(header(NOW), NOW + 1000)
    assert stamps.date(header(0), NOW + 2000) == NOW + 2000


def test_a_zero_stamp_stays_under_simulated_time() -> None:
    stamps = MessageStamper(True, dataclasses.replace(LIVE, replaces_zero=lambda: False))
    assert stamps.date(header(0), NOW) == 0 and stamps.replaced == 0
    without_header = MessageStamper(False, dataclasses.replace(LIVE, replaces_zero=lambda: False))
    assert without_header.date(b'', NOW) == NOW


def test_what_comes_before_the_simulated_clock_runs_has_no_stamp() -> None:
    stamps = MessageStamper(False, dataclasses.replace(LIVE, replaces_zero=lambda: False))
    assert [stamps.date(b'', at) for at in (0, 0, 7)] == [0, 0, 7]
    assert stamps.name_source(0, 1) == ''


def test_a_live_stamp_within_a_minute_of_the_arrival_is_by_this_hosts_clock() -> None:
    stamps = MessageStamper(True, LIVE)
    assert stamps.date(header(NOW - 59 * NANOSECONDS), NOW) and stamps.is_local
    assert stamps.date(header(NOW - 61 * NANOSECONDS), NOW) and not stamps.is_local


def test_no_stamp_of_a_recording_or_a_simulation_is_by_this_hosts_clock() -> None:
    simulated = dataclasses.replace(LIVE, replaces_zero=lambda: False)
    for arrival in (LOGGED, simulated):
        stamps = MessageStamper(True, arrival)
        assert stamps.date(header(NOW), NOW) == NOW and not stamps.is_local


def test_events_in_a_recording_without_stamps_are_dated_by_the_log_and_marked(
    robot: Robot, tmp_path: Path, made: Path
) -> None:
    bare = [
        (topic, kind, at, raw[:4] + bytes(8) + raw[12:])
        for topic, kind, at, raw in recordings.messages_of(made)
        if topic == '/wrench'
    ]
    bag = recordings.sqlite3(tmp_path / 'bag', bare)
    imported, _ = run(robot.memory, bag, ImportPlan(taps={'wrench': {}}))
    counts = imported.taps['wrench (/wrench)']
    assert counts['zero stamp replaced'] == counts['received'] == len(bare)
    assert imported.kept == 2
    shown = robot.show(robot.query_records(where={'kind': 'perception'}).records[0].memory_id)
    assert shown.metadata['stamped_by'] == 'log_time'
    first, last = bare[0][2], bare[-1][2]
    assert shown.memory.stamp is not None and first <= shown.memory.stamp <= last
    again, _ = run(robot.memory, bag, ImportPlan(taps={'wrench': {}}))
    assert (again.kept, again.known) == (0, 2)
