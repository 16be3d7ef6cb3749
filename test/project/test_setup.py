"""scripts/setup and scripts/env say in their first second what is wrong and what mends it."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest
from waiting import HANG_SECONDS

ROOT = Path(__file__).resolve().parents[2]
UNUSABLE = ',;:^\'"`$\\#&|<>*?[](){}\n'


def environment() -> dict[str, str]:
    """Return the environment of a shell in which neither ROS nor ours was sourced."""
    ours = ('AMENT_PREFIX_PATH', 'PYTHON', 'ROBOT_MEMORY_BUILD', 'ROS_DISTRO', 'VIRTUAL_ENV')
    return {name: value for name, value in os.environ.items() if name not in ours}


def checkout(folder: Path, made: Mapping[str, str] | None = None) -> Path:
    """Make a checkout that has no more than scripts need, and what a build noted in it."""
    folder.mkdir(parents=True)
    shutil.copytree(ROOT / 'scripts', folder / 'scripts')
    shutil.copytree(ROOT / 'requirements', folder / 'requirements')
    if made is not None:
        for name in ('.venv', 'install'):
            (folder / name).mkdir()
        (folder / 'install/local_setup.bash').touch()
        (folder / '.venv/mode').write_text('wheels\n')
        lines = [f'{name}={value}\n' for name, value in made.items()]
        (folder / '.venv/made').write_text(''.join(lines))
    return folder


def made_here(folder: Path, **other: str) -> dict[str, str]:
    version = f'{sys.version_info.major}.{sys.version_info.minor}'
    usual = {'mode': 'wheels', 'version': version, 'place': str(folder), 'distro': ''}
    return {**usual, 'python': sys.executable, **other}


def run(folder: Path, *command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(folder / command[0]), *command[1:]],
        capture_output=True,
        text=True,
        env=environment(),
        cwd=folder.parent,
        timeout=HANG_SECONDS,
    )


def said_until(words: str, folder: Path, **more: str) -> list[str]:
    """Return what scripts/setup says until a line with these words; then end it."""
    lines = []
    with subprocess.Popen(
        [str(folder / 'scripts/setup')],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**environment(), **more},
        start_new_session=True,
    ) as setup:
        assert setup.stdout is not None
        for line in setup.stdout:
            lines.append(line.strip())
            if words in line:
                os.killpg(setup.pid, signal.SIGKILL)
                return lines
    raise AssertionError(f'never said {words!r}: {lines}')


@pytest.mark.parametrize('character', UNUSABLE)
def test_a_path_that_cannot_be_built_in_is_refused_before_anything_is_made(
    tmp_path: Path, character: str
) -> None:
    folder = checkout(tmp_path / f'robot{character}memory')
    before = sorted(folder.iterdir())
    ran = run(folder, 'scripts/setup')
    assert ran.returncode == 1
    assert str(folder) in ran.stderr
    assert 'move this folder to' in ran.stderr
    assert ran.stdout == ''
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize('name', ['机器人 memory', 'Gerät +1', 'a_b-c.d=e@2%~!'])
def test_a_path_with_spaces_and_letters_of_any_script_is_built_in(
    tmp_path: Path, name: str
) -> None:
    said_until('making .venv with', checkout(tmp_path / name))


def test_the_environment_is_entered_in_a_path_with_spaces(tmp_path: Path) -> None:
    if not (ROOT / 'install/local_setup.bash').exists():
        pytest.skip('there is no script of colcon without `make build`')
    folder = tmp_path / '机器人 memory'
    checkout(folder, made_here(folder))
    for name in ('local_setup.bash', '_local_setup_util_sh.py'):
        text = (ROOT / 'install' / name).read_text()
        (folder / 'install' / name).write_text(text.replace(str(ROOT), str(folder)))
    (folder / '.venv/bin').mkdir()
    (folder / '.venv/bin/python').symlink_to(sys.executable)
    ran = run(folder, 'scripts/env', 'printenv', 'COLCON_PREFIX_PATH')
    assert (ran.returncode, ran.stderr) == (0, '')
    assert str(folder / 'install') in ran.stdout


def test_a_sourced_ros_is_refused_in_a_path_that_its_cmake_files_cannot_read(
    tmp_path: Path,
) -> None:
    pytest.importorskip('rclpy', reason='no ROS 2 here')
    folder = checkout(tmp_path / '机器人')
    ran = subprocess.run(
        [str(folder / 'scripts/setup')],
        capture_output=True,
        text=True,
        env={**environment(), 'ROS_DISTRO': 'here', 'AMENT_PREFIX_PATH': sys.prefix}
        | {'PYTHON': sys.executable},
        timeout=HANG_SECONDS,
    )
    assert ran.returncode == 1
    assert f'ROS 2 here cannot build in {folder}' in ran.stderr


def test_a_moved_checkout_says_so_and_how_to_mend_it(tmp_path: Path) -> None:
    folder = checkout(tmp_path / 'new', made_here(tmp_path / 'old'))
    ran = run(folder, 'scripts/env', 'robot-memory', 'status')
    assert ran.returncode == 1
    (line,) = ran.stderr.splitlines()
    assert f'moved from {tmp_path / "old"}' in line
    assert '`make build`' in line
    first, *_ = said_until('making .venv with', folder)
    assert f'moved from {tmp_path / "old"}' in first


def test_a_checkout_that_a_link_leads_to_was_not_moved(tmp_path: Path) -> None:
    folder = checkout(tmp_path / 'real', made_here(tmp_path / 'real'))
    (tmp_path / 'link').symlink_to(folder)
    assert run(tmp_path / 'link', 'scripts/env', 'true').returncode == 0


def test_the_python_that_was_named_once_is_used_until_another_is_named(tmp_path: Path) -> None:
    mine = tmp_path / 'my-python'
    mine.symlink_to(sys.executable)
    folder = tmp_path / 'here'
    checkout(folder, made_here(folder, python=str(mine)))
    assert f'making .venv with {mine} ' in said_until('making .venv with', folder)[-1]


def test_another_python_is_said_before_all_is_built_anew(tmp_path: Path) -> None:
    folder = tmp_path / 'here'
    checkout(folder, made_here(folder, version='3.9'))
    first, *_ = said_until('making .venv with', folder, PYTHON=sys.executable)
    assert '.venv has Python 3.9' in first
    assert sys.executable in first
    assert 'built anew' in first


def test_other_pinned_packages_are_said_before_all_is_built_anew(tmp_path: Path) -> None:
    folder = tmp_path / 'here'
    checkout(folder, made_here(folder))
    first, *_ = said_until('making .venv with', folder)
    assert 'the pinned packages are not those of .venv' in first


def test_a_python_that_is_gone_is_said_and_another_is_taken(tmp_path: Path) -> None:
    folder = tmp_path / 'here'
    checkout(folder, made_here(folder, python=str(tmp_path / 'gone')))
    assert (
        f'{tmp_path / "gone"}, which .venv was made with, is gone'
        in (said_until('making .venv with', folder)[0])
    )


def test_without_a_build_the_environment_says_to_build(tmp_path: Path) -> None:
    ran = run(checkout(tmp_path / 'fresh'), 'scripts/env', 'robot-memory', 'status')
    assert (ran.returncode, ran.stderr) == (
        1,
        'robot_memory: nothing is built here yet: run `make build` first\n',
    )


def test_in_a_build_no_interface_file_is_parsed_twice(tmp_path: Path) -> None:
    pytest.importorskip('rosidl_parser')
    program = (
        'import sys\n'
        'from rosidl_parser.definition import IdlLocator, Message\n'
        'from rosidl_parser.parser import parse_idl_file\n'
        'content = parse_idl_file(IdlLocator(*sys.argv[1:])).content\n'
        'print(content.get_elements_of_type(Message)[0].structure.members[0].name)\n'
    )
    kept = tmp_path / 'kept'
    kept.mkdir()
    hooks = {'PYTHONPATH': str(ROOT / 'scripts/build_hooks'), 'ROBOT_MEMORY_PARSED_IDL': str(kept)}

    def parse(member: str) -> str:
        text = f'module m {{ module msg {{ struct A {{ float {member}; }}; }}; }};'
        (tmp_path / 'A.idl').write_text(text)
        environment = {**os.environ, **hooks}
        environment['PYTHONPATH'] += os.pathsep + os.environ.get('PYTHONPATH', '')
        return subprocess.run(
            [sys.executable, '-c', program, str(tmp_path), 'A.idl'],
            capture_output=True,
            text=True,
            env=environment,
            check=True,
            timeout=HANG_SECONDS,
        ).stdout.strip()

    assert parse('first') == 'first'
    [parsed] = kept.iterdir()
    assert parse('second') == 'second'
    [other] = set(kept.iterdir()) - {parsed}
    shutil.copy(other, parsed)
    assert parse('first') == 'second', 'what was parsed is not taken from where it is kept'
