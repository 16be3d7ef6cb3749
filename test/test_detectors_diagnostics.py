"""Statuses of /diagnostics: each fault is an event with its duration."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import recordings
from robots import Robot
from rosbags.typesys import Stores, get_typestore

from robot_memory.detectors import (
    DiagnosticReading,
    DiagnosticsDetector,
    DiagnosticsSettings,
)

ARM, GRIPPER = 'arm: joint 3', 'gripper'


def at(second: int, *statuses: tuple[str, int, str]) -> DiagnosticReading:
    return DiagnosticReading(second * 10**9, statuses)


def test_each_status_has_its_own_faults() -> None:
    detector = DiagnosticsDetector()
    found = [
        event
        for reading in (
            at(1, (ARM, 0, 'fine'), (GRIPPER, 0, '')),
            at(2, (ARM, 2, 'over 70 degC'), (GRIPPER, 1, 'worn')),
            at(3, (ARM, 2, 'over 71 degC'), (GRIPPER, 3, '')),
            at(4, (ARM, 0, 'fine'), (GRIPPER, 3, '')),
        )
        for event in detector.feed(reading)
    ] + detector.finish()
    assert [event.description for event in found] == [
        'arm: joint 3: over 70 degC, not ended',
        'gripper stale, not ended',
        'arm: joint 3: over 70 degC for 2.0 s',
        'gripper stale for 1.0 s, broken off: the stream ended',
    ]
    assert all(event.data['fault'] for event in found)
    assert {event.subject for event in found} == {'arm: joint 3 error', 'gripper stale'}


def test_the_minimum_level_is_a_setting() -> None:
    detector = DiagnosticsDetector(DiagnosticsSettings(min_level='warn'))
    (event,) = detector.feed(at(1, (GRIPPER, 1, 'worn')))
    assert event.data['value'] == 'warn'


def test_what_cannot_be_followed_is_counted() -> None:
    detector = DiagnosticsDetector(DiagnosticsSettings(max_names=1))
    assert detector.feed(at(1, (ARM, 7, ''), (GRIPPER, 2, ''))) == []
    detector.feed(at(1, (ARM, 0, '')))
    detector.feed(at(1, (ARM, 2, '')))
    assert detector.ignored == Counter(
        {'unknown level': 1, 'too many names': 1, 'late or repeated stamp': 1}
    )


def test_a_recording_of_diagnostics_is_imported(robot: Robot, tmp_path: Path) -> None:
    types = get_typestore(Stores.LATEST).types
    kind = 'diagnostic_msgs/msg/DiagnosticArray'
    store = get_typestore(Stores.LATEST)
    messages = []
    for second, level in ((1, 0), (2, 2), (5, 0)):
        status = types['diagnostic_msgs/msg/DiagnosticStatus'](level, ARM, 'too hot', '', [])
        stamp = types['builtin_interfaces/msg/Time'](second, 0)
        header = types['std_msgs/msg/Header'](stamp, '')
        raw = bytes(store.serialize_cdr(types[kind](header, [status]), kind))
        messages.append(('/diagnostics', kind, second * 10**9, raw))
    recordings.run(robot.memory, recordings.sqlite3(tmp_path / 'bag', messages))
    (record,) = robot.query_records().records
    assert record.record_content == 'arm: joint 3: too hot for 3.0 s'
    sense = record.context['sense']
    assert (sense['kind'], sense['fault'], sense['detector']) == (
        ARM + ' error',
        True,
        'diagnostics',
    )
