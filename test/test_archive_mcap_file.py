"""Memories in an MCAP file, read back as Foxglove reads it: by the library that defines MCAP."""

from __future__ import annotations

import base64
import io
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import recordings
from narrowing import require
from PIL import Image
from robots import Robot

from robot_memory.catalog import get_tool
from robot_memory.core.errors import Conflict, InvalidArgument

mcap_reader = pytest.importorskip('mcap.reader', reason='the extra mcap is not installed')
Told = dict[str, list[tuple[int, dict[str, Any]]]]


def read(path: Path) -> Told:
    """Return the messages of a file by topic; each is what its schema says."""
    found: Told = defaultdict(list)
    with path.open('rb') as file:
        reader = mcap_reader.make_reader(file, validate_crcs=True)
        for schema, channel, message in reader.iter_messages():
            assert channel.message_encoding == 'json' and schema.encoding == 'jsonschema'
            value = json.loads(message.data)
            jsonschema.validate(value, json.loads(schema.data))
            found[channel.topic].append((message.log_time, value))
    return found


def export(robot: Robot, path: Path) -> Told:
    get_tool('export_file').run(robot.memory, {'session_id': 'all', 'path': str(path)})
    return read(path)


def test_texts_are_logs_and_rules_stand_out(robot: Robot, tmp_path: Path) -> None:
    kept = require(robot.learn('The blue cup is "on" the <b>shelf</b>\u202e').memory_id)
    rule = require(robot.learn('Never exceed 15 N of grip force on glass').memory_id)
    gone = require(robot.learn('The lamp is broken').memory_id)
    robot.forget(gone, reason='mended')
    logs = [value for _, value in export(robot, tmp_path / 'cell.mcap')['/memory/log']]
    assert [one['line'] for one in logs] == [kept, rule]
    assert [one['level'] for one in logs] == [2, 3]
    assert logs[0]['message'] == robot.show(kept).memory.content
    assert logs[1]['name'] == 'fact/constraint'


def test_places_are_entities_in_their_frame(robot: Robot, tmp_path: Path) -> None:
    spatial = {'object_position': [1.25, 0.5, 0.4], 'frame_id': 'map'}
    fact = require(robot.learn('The cup is here', context={'spatial': spatial}).memory_id)
    robot.learn('This is nowhere')
    pose = {'position': [1.0, 2.0, 0.5], 'orientation': [0.0, 0.0, 1.0, 0.0], 'frame_id': 'odom'}
    seen = require(
        robot.save_perception(
            'a push', 'tactile', stamp={'sec': 1_780_000_000, 'nanosec': 5}, pose=pose
        ).memory_id
    )
    places = export(robot, tmp_path / 'cell.mcap')['/memory/places']
    entities = {one['entities'][0]['id']: (at, one['entities'][0]) for at, one in places}
    assert set(entities) == {f'memory/{fact}', f'memory/{seen}'}
    at, one = entities[f'memory/{seen}']
    assert at == 1_780_000_000 * 10**9 + 5
    assert one['timestamp'] == {'sec': 1_780_000_000, 'nsec': 5}
    assert one['frame_id'] == 'odom'
    assert one['arrows'][0]['pose']['orientation'] == {'x': 0.0, 'y': 0.0, 'z': 1.0, 'w': 0.0}
    _, one = entities[f'memory/{fact}']
    assert one['frame_id'] == 'map' and one['arrows'] == []
    assert one['spheres'][0]['pose']['position'] == {'x': 1.25, 'y': 0.5, 'z': 0.4}
    assert one['texts'][0]['text'] == 'The cup is here'


def test_figures_pictures_and_signals_of_a_recording(
    robot: Robot, made: Path, tmp_path: Path
) -> None:
    recordings.run(robot.memory, made)
    told = export(robot, tmp_path / 'cell.mcap')
    contacts = [value for _, value in told['/memory/figures/contact']]
    assert all(one['figures']['peak_force'] > 0 for one in contacts)
    assert contacts[0]['units']['peak_force'] == 'N'
    pictures = [(topic, one) for topic in told if '/pictures/' in topic for one in told[topic]]
    for _, (_, one) in pictures:
        with Image.open(io.BytesIO(base64.b64decode(one['data']))) as picture:
            assert picture.format == one['format'].upper()
    assert pictures
    samples = [one for topic in told if '/signals/' in topic for one in told[topic]]
    memory_id = samples[0][1]['memory_id']
    onset = require(robot.show(memory_id).memory.stamp)
    forces = [value for _, value in samples if 'force' in value['values']]
    assert set(forces[0]['values']['force']) == {'x', 'y', 'z'}
    assert forces[0]['units']['force']['x'] == 'N'
    own = [at for at, value in samples if value['memory_id'] == memory_id]
    assert min(own) <= onset <= max(own), 'the onset is in the signal'


def test_a_file_is_the_same_each_time_and_is_not_replaced(robot: Robot, tmp_path: Path) -> None:
    robot.learn('The blue cup is on the shelf')
    export(robot, tmp_path / 'one.mcap')
    export(robot, tmp_path / 'two.mcap')
    assert (tmp_path / 'one.mcap').read_bytes() == (tmp_path / 'two.mcap').read_bytes()
    with pytest.raises(Conflict, match='exists'):
        export(robot, tmp_path / 'one.mcap')


def test_an_empty_store_is_an_empty_file_and_text_is_no_mcap(robot: Robot, tmp_path: Path) -> None:
    assert not export(robot, tmp_path / 'cell.mcap')
    with pytest.raises(InvalidArgument, match='format must be one of json, markdown, text, jsonl'):
        robot.export('all', format='mcap')


def run(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, '-m', 'robot_memory', 'export', 'all', *words]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_command_line_exports(robot: Robot, tmp_path: Path) -> None:
    robot.learn('The blue cup is on the shelf')
    store = str(robot.memory.db.path)
    path = tmp_path / 'cell.mcap'
    done = run('--db', store, '--output', str(path))
    assert done.returncode == 0, done.stderr
    assert len(read(path)['/memory/log']) == 1
    refused = run('--db', store, '--format', 'mcap')
    assert refused.returncode == 1
    assert "format must be one of json, markdown, text, jsonl, not 'mcap'" in refused.stderr


WITHOUT = """
import sys
class Hidden:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name.partition('.')[0] == 'mcap':
            raise ModuleNotFoundError(f'No module named {name!r}', name=name)
sys.meta_path.insert(0, Hidden)
from robot_memory.cli import main
sys.exit(main())
"""


def test_without_the_package_it_is_said_how_to_get_it(robot: Robot, tmp_path: Path) -> None:
    robot.learn('The blue cup is on the shelf')
    command = [sys.executable, '-c', WITHOUT, 'export', 'all', '--db']
    words = [str(robot.memory.db.path), '--output', str(tmp_path / 'cell.mcap')]
    done = subprocess.run([*command, *words], capture_output=True, text=True)
    assert done.returncode == 1
    assert 'mcap is not installed' in done.stderr and '-m pip install "mcap' in done.stderr
    assert done.stderr.count('\n') == 1
    assert not list(tmp_path.glob('*cell.mcap*'))
