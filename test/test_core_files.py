"""Files that a user names are written whole, and never over the store or what is there."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from pathlib import Path

import prepared
import pytest
from robots import Robot, check_file

import robot_memory.cli
from robot_memory.core.errors import Conflict, InvalidArgument, RobotMemoryError, Unavailable
from robot_memory.core.files import SHARED, measure_file, write_file

SOURCE = Path(robot_memory.cli.__file__).parents[2]


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return prepared.run(
        [sys.executable, '-m', 'robot_memory', *arguments, '--db', 'memory.db', '--model', 'none'],
        capture_output=True,
        text=True,
        cwd=folder,
        env={'PYTHONPATH': str(SOURCE), 'PATH': '/usr/bin:/bin', 'HOME': str(folder)},
    )


def write(
    path: Path, text: str = 'new', force: bool = False, guarded: tuple[Path, ...] = ()
) -> None:
    with write_file(path, force=force, guarded=guarded) as file:
        file.write(text.encode())


def parts(folder: Path) -> list[Path]:
    return list(folder.glob('.robot_memory-*'))


@pytest.fixture
def folder(robot: Robot, tmp_path: Path) -> Path:
    """The folder of a store that a process has open, with its log, and of other names of it."""
    robot.learn('the red cup is wet')
    robot.save_perception('a contact was felt', 'tactile', stamp={'sec': 1, 'nanosec': 0})
    os.symlink('memory.db', tmp_path / 'link.jsonl')
    os.link(tmp_path / 'memory.db', tmp_path / 'hard.jsonl')
    (tmp_path / 'sub').mkdir()
    os.symlink(tmp_path, tmp_path / 'same')
    return tmp_path


@pytest.mark.parametrize(
    'output',
    [
        'memory.db',
        'memory.db-wal',
        'memory.db-shm',
        'memory.db-journal',
        'link.jsonl',
        'hard.jsonl',
        'sub/../memory.db',
        'same/memory.db-wal',
    ],
)
@pytest.mark.parametrize('command', [('export', 'all'), ('plot', '2')], ids=lambda words: words[0])
def test_no_command_writes_over_the_stores_own_files(
    robot: Robot,
    folder: Path,
    command: tuple[str, ...],
    output: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(folder)
    for force in ((), ('--force',)):
        here = ('--db', 'memory.db', '--model', 'none')
        assert robot_memory.cli.run([*command, '--output', output, *force, *here]) == 1
        told = capsys.readouterr()
        assert told.out == ''
        assert told.err.startswith('robot-memory: [invalid_argument]')
        assert output in told.err and told.err.count('\n') == 1
    assert robot.learn('the blue cup is dry').status == 'created'
    assert not parts(folder)
    assert check_file(folder / 'memory.db') == {1, 2, 3}


@pytest.mark.parametrize(
    ('command', 'output'), [(('export', 'all'), 'all.jsonl.gz'), (('plot', '2'), 'two.png')]
)
def test_an_existing_file_is_replaced_only_with_force(
    folder: Path, command: tuple[str, ...], output: str
) -> None:
    path = folder / output
    path.write_text('mine')
    os.link(path, folder / 'other_name')
    ran = run(folder, *command, '--output', output)
    assert (ran.returncode, ran.stdout) == (1, '')
    assert '[conflict]' in ran.stderr and 'pass --force' in ran.stderr
    assert path.read_text() == 'mine'
    ran = run(folder, *command, '--output', output, '--force')
    assert (ran.returncode, ran.stderr) == (0, '')
    assert path.read_bytes()[:2] in (b'\x1f\x8b', b'\x89P')
    assert (folder / 'other_name').read_text() == 'mine'
    assert not parts(folder)


@pytest.mark.parametrize('force', [False, True])
@pytest.mark.parametrize('target', ['there', 'nowhere'])
def test_a_link_is_not_followed(tmp_path: Path, force: bool, target: str) -> None:
    (tmp_path / 'there').write_text('mine')
    link = tmp_path / 'link'
    os.symlink(target, link)
    with pytest.raises(InvalidArgument, match='symbolic link'):
        write(link, force=force)
    assert link.is_symlink() and (tmp_path / 'there').read_text() == 'mine'
    assert not (tmp_path / 'nowhere').exists() and not parts(tmp_path)


def test_a_file_or_link_that_appears_meanwhile_is_left_alone(tmp_path: Path) -> None:
    path, other = tmp_path / 'out', tmp_path / 'other'
    other.write_text('mine')
    with pytest.raises(Conflict, match='exists'), write_file(path):
        path.write_text('theirs')
    assert path.read_text() == 'theirs'
    path.unlink()
    with pytest.raises(InvalidArgument, match='link'), write_file(path, force=True):
        path.symlink_to(other)
    assert other.read_text() == 'mine' and not parts(tmp_path)


def test_a_name_that_is_a_guarded_file_by_the_end_is_refused(tmp_path: Path) -> None:
    path, store = tmp_path / 'out', tmp_path / 'store'
    store.write_text('store')
    refused = pytest.raises(InvalidArgument, match='file of the store')
    with refused, write_file(path, force=True, guarded=[store]):
        os.link(store, path)
    assert path.read_text() == store.read_text() == 'store'


@pytest.mark.parametrize(
    ('name', 'error'),
    [
        ('', InvalidArgument),
        ('folder', InvalidArgument),
        ('pipe', InvalidArgument),
        ('..', InvalidArgument),
        ('none/out', Unavailable),
        ('file/out', Unavailable),
        ('x' * 300, Unavailable),
    ],
)
def test_what_is_no_ordinary_file_is_refused_in_words(
    tmp_path: Path, name: str, error: type[RobotMemoryError]
) -> None:
    (tmp_path / 'folder').mkdir()
    (tmp_path / 'file').write_text('mine')
    os.mkfifo(tmp_path / 'pipe')
    before = sorted(tmp_path.iterdir())
    with pytest.raises(error):
        write(tmp_path / name if name else Path(), force=True)
    assert sorted(tmp_path.iterdir()) == before


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / 'out'
    path.write_text('mine')
    with pytest.raises(AttributeError), write_file(path, force=True) as file:
        file.no_such_method()  # type: ignore[attr-defined]
    assert path.read_text() == 'mine'
    assert list(tmp_path.iterdir()) == [path]


def test_a_private_file_is_its_owners_alone(tmp_path: Path) -> None:
    write(tmp_path / 'private')
    assert stat.S_IMODE((tmp_path / 'private').stat().st_mode) == 0o600
    with write_file(tmp_path / 'shared', mode=SHARED) as file:
        file.write(b'')
    umask = os.umask(0)
    os.umask(umask)
    assert stat.S_IMODE((tmp_path / 'shared').stat().st_mode) == 0o666 & ~umask


def test_a_file_that_is_gone_has_no_size(tmp_path: Path) -> None:
    path = tmp_path / 'memory.db-wal'
    assert measure_file(path) == 0
    path.write_bytes(b'12345')
    assert measure_file(path) == 5
