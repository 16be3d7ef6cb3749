"""The recording of the demo is small, always the same, and holds what it is said to hold."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
import recordings

from robot_memory.detectors import ContactDetector, Event, MotionDetector, SceneDetector

highlevel = pytest.importorskip('rosbags.highlevel')

SCRIPT = runpy.run_path(str(Path(__file__).parents[2] / 'scripts' / 'make_recording.py'))


@pytest.fixture(scope='module')
def recording(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = SCRIPT['record'](tmp_path_factory.mktemp('one') / 'demo')
    return made


@pytest.fixture(scope='module')
def events(recording: Path) -> dict[str, list[Event]]:
    """The events that the three detectors, as they come, find in the recording."""
    motion, contact, scene = MotionDetector(), ContactDetector(), SceneDetector()
    events: dict[str, list[Event]] = {'proprioceptive': [], 'tactile': [], 'visual': []}
    detectors: dict[str, Any] = {
        '/joint_states': motion,
        '/wrench': contact,
        '/camera/image_raw': scene,
    }
    for topic, reading in recordings.readings_of(recording):
        for event in detectors[topic].feed(reading):
            events[event.perception_type].append(event)
    assert not motion.finish() + contact.finish() + scene.finish()
    assert not motion.ignored + contact.ignored + scene.ignored
    return events


def test_the_recording_is_small_and_names_its_topics(recording: Path) -> None:
    assert sum(file.stat().st_size for file in recording.iterdir()) < 15e6
    with highlevel.AnyReader([recording]) as reader:
        assert {c.topic: (c.msgtype, c.msgcount) for c in reader.connections} == {
            '/joint_states': ('sensor_msgs/msg/JointState', 2000),
            '/wrench': ('geometry_msgs/msg/WrenchStamped', 2000),
            '/camera/image_raw': ('sensor_msgs/msg/Image', 100),
        }
        assert reader.duration == pytest.approx(20e9, rel=0.01)


def test_the_same_recording_is_written_every_time(recording: Path, tmp_path: Path) -> None:
    again = SCRIPT['record'](tmp_path / 'demo')
    for file in recording.iterdir():
        assert (again / file.name).read_bytes() == file.read_bytes()


def test_the_recording_holds_three_motions_two_contacts_and_three_pictures(
    events: dict[str, list[Event]],
) -> None:
    assert {kind: len(found) for kind, found in events.items()} == {
        'proprioceptive': 3,
        'tactile': 2,
        'visual': 3,
    }


def test_the_motions_are_found_when_the_script_moves(events: dict[str, list[Event]]) -> None:
    for motion, (begin, end, *_) in zip(events['proprioceptive'], SCRIPT['MOVES'], strict=True):
        assert begin <= (motion.stamp_ns - SCRIPT['START_NS']) / 1e9 < begin + 0.25
        assert end - 0.25 < (motion.end_ns - SCRIPT['START_NS']) / 1e9 <= end


def test_a_soft_push_comes_before_a_hard_tap(events: dict[str, list[Event]]) -> None:
    soft, hard = events['tactile']
    assert (soft.data['kind'], hard.data['kind']) == ('push', 'tap')
    assert soft.data['peak_force'] == pytest.approx(6.0, rel=0.06)
    assert hard.data['peak_force'] == pytest.approx(18.0, rel=0.03)
    assert hard.description.startswith('Hard contact')
    assert '-z' in hard.description


def test_a_red_object_appears_and_disappears(events: dict[str, list[Event]]) -> None:
    first, came, went = events['visual']
    assert 'for the first time' in first.description
    assert 'a red object appeared' in came.description
    assert 'a red object disappeared' in went.description


def test_a_folder_that_exists_is_left_as_it_is_and_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = tmp_path / 'ur5e'
    mine.mkdir()
    monkeypatch.setattr('sys.argv', ['make_recording', '--out', str(mine)])
    assert SCRIPT['main']() == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f'{mine} exists' in line
    assert '--out' in line
    assert list(mine.iterdir()) == []


def test_a_folder_that_cannot_be_made_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / 'file'
    file.touch()
    monkeypatch.setattr('sys.argv', ['make_recording', '--out', str(file / 'ur5e')])
    assert SCRIPT['main']() == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert f'cannot write {file / "ur5e"}' in line
