"""The import command over folders: one line a recording, settings, and what was done before."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import prepared
import pytest
import recordings
from recordings import Messages


@pytest.fixture(scope='module')
def folder(tmp_path_factory: pytest.TempPathFactory, made: Path, messages: Messages) -> Path:
    """Return a folder with recordings of every form and nothing else but a note."""
    root: Path = tmp_path_factory.mktemp('all')
    shutil.copytree(made, root / 'arm' / 'ur5e')
    recordings.split(root / 'parts', messages)
    loose = root / 'loose'
    loose.mkdir()
    (file,) = recordings.sqlite3(root / 'once', messages).glob('*.db3')
    shutil.copy(file, loose / 'monday.db3')
    shutil.rmtree(root / 'once')
    recordings.rosbag1(loose / 'tuesday', messages)
    (root / '.hidden').mkdir()
    shutil.copy(loose / 'tuesday.bag', root / '.hidden' / 'left_out.bag')
    (root / 'notes.txt').write_text('nothing')
    return root


def import_(db: Path, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
    line = [sys.executable, '-m', 'robot_memory', 'import', *map(str, arguments)]
    options = ['--db', str(db), '--model', 'none']
    return prepared.run([*line, *options], capture_output=True, text=True)


def test_a_folder_is_walked_and_each_recording_has_a_line(tmp_path: Path, folder: Path) -> None:
    db = tmp_path / 'memory.db'
    done = import_(db, folder)
    assert done.returncode == 0, done.stderr
    *lines, total = done.stdout.splitlines()
    assert [line.partition(':')[0] for line in lines] == [
        str(folder / 'arm' / 'ur5e'),
        str(folder / 'loose' / 'monday.db3'),
        str(folder / 'loose' / 'tuesday.bag'),
        str(folder / 'parts'),
    ]
    assert '8 memories stored' in lines[0]
    assert all('0 memories stored, 8 already known' in line for line in lines[1:])
    assert total.startswith('total: 4 recordings, 0 skipped, 0 failed, 80.0 s, 16400 messages, 8 ')

    again = import_(db, folder)
    assert again.returncode == 0
    assert again.stdout.count('imported completely before, skipped') == 4
    forced = import_(db, folder, '--again', '--json')
    assert [one['skipped'] for one in json.loads(forced.stdout)] == [False] * 4
    assert sum(one['known'] for one in json.loads(forced.stdout)) == 32


def test_a_damaged_and_a_broken_recording_do_not_stop_the_others(
    tmp_path: Path, folder: Path
) -> None:
    mixed = tmp_path / 'mixed'
    mixed.mkdir()
    (mixed / 'a.mcap').write_bytes(b'broken' * 1000)
    data = (folder / 'loose' / 'tuesday.bag').read_bytes()
    (mixed / 'b.bag').write_bytes(data[: len(data) // 2])
    shutil.copy(folder / 'loose' / 'monday.db3', mixed / 'c.db3')
    db = tmp_path / 'memory.db'
    done = import_(db, mixed)
    assert done.returncode == 1
    assert 'of 3 recordings, 1 not readable, 1 damaged and read in part' in done.stderr
    assert 'cannot read a.mcap: ' in done.stderr
    assert 'cannot read the missing end of chunk' in done.stderr
    assert 'total: 3 recordings, 0 skipped, 1 failed, ' in done.stdout
    again = import_(db, mixed, '--json')
    assert again.returncode == 1  # what was lost is said again: it may be there by now
    assert [one['skipped'] for one in json.loads(again.stdout)] == [False, True]


def test_a_changed_plan_or_content_is_imported(tmp_path: Path, folder: Path) -> None:
    db, file = tmp_path / 'memory.db', folder / 'loose' / 'monday.db3'
    weak = import_(db, file, '--set', 'wrench.onset_n=12', '--json')
    assert json.loads(weak.stdout)[0]['taps']['wrench (/wrench)']['events'] == 1
    other = import_(db, file, '--json')
    (report,) = json.loads(other.stdout)
    assert not report['skipped'] and report['taps']['wrench (/wrench)']['events'] == 1
    copy = tmp_path / 'copy.db3'
    shutil.copy(file, copy)
    assert json.loads(import_(db, copy, '--json').stdout)[0]['skipped']


def test_settings_are_given_without_a_parameter_file_and_above_one(
    tmp_path: Path, folder: Path
) -> None:
    params = tmp_path / 'params.yaml'
    params.write_text('robot_memory:\n  ros__parameters:\n    taps: [wrench]\n')
    file = folder / 'loose' / 'monday.db3'
    arguments: list[str | Path] = [
        '--params',
        params,
        '--set',
        'wrench.onset_n=12',
        '--set',
        'source=left',
    ]
    done = import_(tmp_path / 'memory.db', file, *arguments, '--json')
    (report,) = json.loads(done.stdout)
    assert list(report['taps']) == ['wrench (/wrench)'] and report['kept'] == 1
    found = prepared.run(
        [
            *[sys.executable, '-m', 'robot_memory', 'query-records', '--json', '--model', 'none'],
            *['--db', str(tmp_path / 'memory.db'), '--where', '{"kind": "perception"}'],
        ],
        capture_output=True,
        text=True,
    )
    assert '"source": "left"' in found.stdout.replace('\\"', '"')


@pytest.mark.parametrize(
    ('setting', 'said'),
    [
        ('wrench.onset=1', 'onset'),
        ('wrnch.onset_n=1', 'no tap wrnch'),
        ('sorce=left', 'source'),
        ('wrench.onset_n', 'NAME=VALUE'),
        ('wrench.onset_n=-1', 'onset_n'),
    ],
)
def test_a_setting_that_does_not_exist_is_refused(
    tmp_path: Path, folder: Path, setting: str, said: str
) -> None:
    done = import_(tmp_path / 'memory.db', folder / 'loose' / 'monday.db3', '--set', setting)
    assert done.returncode == 1 and said in done.stderr


def test_a_folder_without_recordings_is_refused(tmp_path: Path) -> None:
    (tmp_path / 'notes.txt').write_text('nothing')
    done = import_(tmp_path / 'memory.db', tmp_path)
    assert done.returncode == 1 and 'contains no recording; accepted: ' in done.stderr
