"""Detectors of other packages: a tap runs one by its name; what fails is counted and bounded."""

from __future__ import annotations

import json
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import detector_packages
import prepared
import pytest
from detector_packages import BATTERY
from narrowing import require
from recordings import run
from robots import Robot
from waiting import HANG_SECONDS

from robot_memory.core.errors import InvalidArgument
from robot_memory.ingest import make_tap
from robot_memory.ingest.bag_import import ImportPlan
from robot_memory.ingest.parameters import read_parameters
from robot_memory.plugins.timeouts import MAX_FAILURES

PARAMS = """
/**:
  ros__parameters:
    taps: [power]
    power:
      topic: /battery
      detector: battery
      low: 0.16
"""
TAP = {'power': {'topic': '/battery', 'detector': 'battery'}}
ENDLESS = 'threading.Event().wait()'


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Install the package of the tests on the path of this process, and forget it after."""
    folder = detector_packages.install(tmp_path / 'site')
    before = set(sys.modules)
    monkeypatch.syspath_prepend(str(folder))
    yield folder
    for name in set(sys.modules) - before:
        if str(folder) in str(getattr(sys.modules[name], '__file__', '')):
            del sys.modules[name]


@pytest.fixture
def offer(site: Path) -> Callable[..., None]:
    """Offer a detector `bad` that is made from a body."""

    def offer(body: str, head: str = 'types = ("sensor_msgs/msg/BatteryState",)') -> None:
        text = textwrap.indent(textwrap.dedent(body), '    ')
        (site / 'bad_detector.py').write_text(
            'import threading, time\n'
            'from robot_memory.detectors.event import Event\n'
            'from robot_memory.plugins.bases import BaseDetector\n'
            'EVENT = dict(perception_type="visual", description="x", stamp_ns=1, peak_ns=1,\n'
            '             end_ns=1, frame_id="", subject="x", data={}, metadata={})\n'
            f'class Bad(BaseDetector):\n    {head}\n{text}'
        )
        info = site / 'bad-1.dist-info'
        info.mkdir(exist_ok=True)
        (info / 'METADATA').write_text('Metadata-Version: 2.1\nName: bad\nVersion: 1\n')
        (info / 'entry_points.txt').write_text(
            '[robot_memory.detectors]\nbad = bad_detector:Bad\n'
        )

    return offer


def import_with(robot: Robot, path: Path, **settings: Any) -> dict[str, int]:
    """Import a recording through one tap; return its counts."""
    taps = {'power': {**TAP['power'], **settings}}
    report, _ = run(robot.memory, path, ImportPlan(taps=taps))
    return dict(report.taps['power (/battery)'])


def test_a_tap_that_names_a_detector_of_a_package_keeps_its_events(
    robot: Robot, site: Path, tmp_path: Path
) -> None:
    recording = detector_packages.record(tmp_path / 'bag', (*detector_packages.CHARGES, 1.5))
    counts = import_with(robot, recording)
    assert counts == {'received': 8, 'events': 1, 'charge is not 0 to 1': 1}
    (memory,) = robot.recall('battery low', n=1).memories
    assert memory.content == 'Battery low: down to 12 %'
    context = json.loads(memory.context)
    origin = {'topic': '/battery', 'detector': 'battery'}
    assert context['sense'] == {**origin, 'recording': 'bag', 'offset_s': 2.0}
    assert context['params']['charge'] == {'value': 0.12, 'unit': '1'}
    shown = robot.show(memory.id)
    assert shown.metadata['settings'] == {'low': 0.2, 'gap_s': 5.0}
    assert (shown.metadata['detector'], shown.metadata['version']) == ('battery', '1.2')
    assert shown.memory.stamp == 1_700_000_002 * 10**9
    found = robot.recall('', context_filter={'params.charge.value': {'$lt': 0.2}}).memories
    assert [one.id for one in found] == [memory.id]
    assert import_with(robot, recording)['known'] == 1


def test_its_settings_are_parameters_of_the_tap(site: Path, tmp_path: Path) -> None:
    file = tmp_path / 'params.yaml'
    file.write_text(PARAMS)
    assert read_parameters(file)['power.low'] == 0.16
    tap = make_tap('power', {**TAP['power'], 'low': 0.16})
    assert (tap.settings.type, tap.detector_settings.low) == (BATTERY, 0.16)
    file.write_text(PARAMS.replace('low:', 'lo:'))
    with pytest.raises(
        InvalidArgument, match='unknown parameter power.lo; power accepts .*gap_s, low'
    ):
        read_parameters(file)
    with pytest.raises(InvalidArgument, match='low must be at most 1, not 2'):
        make_tap('power', {**TAP['power'], 'low': 2.0})


def test_the_import_command_runs_it(tmp_path: Path) -> None:
    site = detector_packages.install(tmp_path / 'site')
    recording = detector_packages.record(tmp_path / 'bag')
    file = tmp_path / 'params.yaml'
    file.write_text(PARAMS)
    program = (
        f'import sys; sys.path.insert(0, {str(site)!r}); '
        'from robot_memory.__main__ import main; main()'
    )
    options: list[str | Path] = [
        '--params',
        file,
        '--db',
        tmp_path / 'memory.db',
        '--model',
        'none',
    ]
    done = prepared.run(
        [sys.executable, '-c', program, 'import', recording, *options],
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    assert done.returncode == 0, done.stderr
    assert 'power (/battery)' in done.stdout and 'events 1' in done.stdout.replace(': ', ' ')


def test_no_detector_is_imported_that_no_tap_names(
    robot: Robot, site: Path, tmp_path: Path
) -> None:
    (site / 'battery_detector.py').write_text('raise SystemExit("imported")')
    report, told = run(robot.memory, detector_packages.record(tmp_path / 'bag'))
    assert report.kept == 0 and any('no detector accepts its type' in line for line in told)


@pytest.mark.parametrize(
    ('given', 'said'),
    [
        (
            {'detector': 'baterry'},
            'detector must be one of .*text, diagnostics, state, outcome, battery, not .baterry',
        ),
        (
            {'type': 'sensor_msgs/msg/Image'},
            'battery does not support .*Image; accepted: .*Battery',
        ),
        ({'detector': '', 'type': BATTERY}, 'need the detector of a plug-in'),
        ({'detector': ''}, 'type is missing'),
    ],
)
def test_a_tap_that_no_detector_fits_is_refused(
    site: Path, given: dict[str, str], said: str
) -> None:
    with pytest.raises(InvalidArgument, match=said):
        make_tap('power', {**TAP['power'], **given})


@pytest.mark.parametrize(
    ('body', 'head', 'said'),
    [
        ('pass', 'types = ()', 'must list its message types'),
        ('pass', 'settings_type = dict; types = ("x",)', 'must have as settings_type'),
        ('pass', 'types = ("std_msgs/msg/Bool",)', "cannot be made: .*abstract method '?feed"),
        (
            'def feed(self, reading): return ()',
            'types = ("site_msgs/msg/Odd",)',
            'the definition of site_msgs/msg/Odd cannot be read',
        ),
    ],
)
def test_a_detector_that_is_none_is_refused_at_the_start(
    robot: Robot, offer: Callable[..., None], tmp_path: Path, body: str, head: str, said: str
) -> None:
    offer(body, head)
    with pytest.raises(InvalidArgument, match=said):
        import_with(robot, detector_packages.record(tmp_path / 'bag'), detector='bad')


@pytest.mark.parametrize(
    'body',
    [
        'raise KeyError("x")',
        'raise SystemExit(3)',
        'return 5',
        'return [5]',
        'yield Event(**{**EVENT, "perception_type": "smell"})',
        'yield Event(**{**EVENT, "stamp_ns": 2})',
        'yield Event(**{**EVENT, "stamp_ns": 0})',
        'yield Event(**{**EVENT, "description": None})',
        'yield Event(**{**EVENT, "data": {1, 2}})',
        'yield Event(**{**EVENT, "metadata": {"units": 5}})',
        'self.ignored = None; return ()',
        ENDLESS,
    ],
)
def test_one_that_fails_is_counted_and_disabled_after_five_failures(
    open_robot: Callable[..., Robot], offer: Callable[..., None], tmp_path: Path, body: str
) -> None:
    offer(f'def feed(self, reading):\n    {body}')
    limit = 0.05 if body == ENDLESS else HANG_SECONDS
    robot = open_robot(plugin_timeout=limit)
    recording = detector_packages.record(tmp_path / 'bag')
    counts = import_with(robot, recording, detector='bad')
    assert counts == {'received': 7, 'failed': MAX_FAILURES, 'detector disabled': 2}
    (shown,) = require(robot.sage_system_status().errors)['extensions']
    assert (shown['name'], shown['kind'], shown['disabled']) == ('bad', 'detector', True)
    assert shown['failures_in_a_row'] == MAX_FAILURES and shown['last_error']


def test_after_a_timeout_the_tap_goes_on_with_a_new_instance(
    robot: Robot, offer: Callable[..., None], tmp_path: Path
) -> None:
    offer(
        """
        made = []

        def feed(self, reading):
            self.made.append(self) if self not in self.made else None
            if len(self.made) == 1:
                raise TimeoutError
            charge = {'charge': float(reading.message.percentage)}
            stamps = dict.fromkeys(('stamp_ns', 'peak_ns', 'end_ns'), reading.stamp_ns)
            yield Event(**{**EVENT, **stamps, 'data': charge})
        """
    )
    recording = detector_packages.record(tmp_path / 'bag')
    counts = import_with(robot, recording, detector='bad')
    assert counts == {'received': 7, 'failed': 1, 'events': 6}


def test_a_type_that_ros_does_not_know_comes_with_its_definition(
    robot: Robot, offer: Callable[..., None], tmp_path: Path
) -> None:
    offer(
        """
        def feed(self, reading):
            stamps = dict.fromkeys(('stamp_ns', 'peak_ns', 'end_ns'), reading.stamp_ns)
            yield Event(**{**EVENT, **stamps, 'description': f'Slip {reading.message.slip:g}'})
        """,
        'types = ("site_msgs/msg/Slip",)\n'
        '    message_definitions = {types[0]: "std_msgs/Header header\\nfloat64 slip\\n"}',
    )
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    kind = 'site_msgs/msg/Slip'
    types = get_typestore(Stores.LATEST)
    types.register(get_types_from_msg('std_msgs/Header header\nfloat64 slip\n', kind))
    made: Any = types.types
    stamp = made['builtin_interfaces/msg/Time'](sec=1_700_000_000, nanosec=5)
    header = made['std_msgs/msg/Header'](stamp=stamp, frame_id='gripper')
    raw = types.serialize_cdr(made[kind](header=header, slip=0.5), kind)
    with Writer(tmp_path / 'bag', version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topic = writer.add_connection('/battery', kind, typestore=types)
        writer.write(topic, 1_700_000_000 * 10**9, raw)
    assert import_with(robot, tmp_path / 'bag', detector='bad')['events'] == 1
    (memory,) = robot.recall('slip', n=1).memories
    assert memory.content == 'Slip 0.5' and memory.stamp == 1_700_000_000 * 10**9 + 5


def test_the_base_class_needs_the_standard_library_alone() -> None:
    program = (
        'import sys, robot_memory.plugins.bases\n'
        "heavy = {'numpy', 'PIL', 'apsw', 'rosbags', 'rclpy'} & set(sys.modules)\n"
        'sys.exit(str(heavy) if heavy else 0)'
    )
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
