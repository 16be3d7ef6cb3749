"""The built interfaces: their type hashes, and a package in C++ that depends on them."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from ament_index_python.packages import get_package_prefix, get_package_share_directory

from robot_memory.ros import interfaces, type_hashes

ROOT = Path(__file__).parents[2]
PREFIX = Path(get_package_prefix('robot_memory'))
SHARE = Path(get_package_share_directory('robot_memory'))


def test_every_interface_has_the_type_hash_that_is_listed() -> None:
    if not list(SHARE.glob('msg/*.json')):
        pytest.skip('this ROS has no type hashes (before Iron)')
    listed = (ROOT / type_hashes.PATH).read_text(encoding='utf-8')
    assert listed == type_hashes.render(SHARE), 'after `make interfaces` commit the hashes, too'
    names = {line.split()[0] for line in listed.splitlines() if not line.startswith('#')}
    assert names == {
        f'robot_memory/{path.partition(".")[0]}'
        for path in interfaces.files()
        if path.startswith(('msg/', 'srv/', 'action/'))
    }


def test_a_hash_is_that_of_the_type_and_of_no_type_within(tmp_path: Path) -> None:
    hashes = [
        {'type_name': 'robot_memory/msg/Figure', 'hash_string': 'RIHS01_a'},
        {'type_name': 'robot_memory/msg/Event', 'hash_string': 'RIHS01_b'},
    ]
    (tmp_path / 'msg').mkdir()
    (tmp_path / 'msg/Event.json').write_text(json.dumps({'type_hashes': hashes}))
    assert type_hashes.render(tmp_path).splitlines()[1:] == ['robot_memory/msg/Event RIHS01_b']


def test_a_package_in_cpp_that_depends_on_the_interfaces_builds(tmp_path: Path) -> None:
    source = ROOT / 'test/dependent_package'
    built = subprocess.run(
        [
            *('colcon', '--log-base', 'log', 'build', '--base-paths', source),
            *('--event-handlers', 'console_direct+'),
        ],
        cwd=tmp_path,
        env={**os.environ, 'CMAKE_PREFIX_PATH': os.environ['AMENT_PREFIX_PATH']},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    headers = (tmp_path / 'build/dependent_package/headers.hpp').read_text()
    interface_files = [path for path in interfaces.files() if path.startswith(('msg/', 'srv/'))]
    assert headers.count('#include <robot_memory/msg/') + headers.count('/srv/') >= len(
        interface_files
    )
    asked = subprocess.run(
        [tmp_path / 'install/dependent_package/lib/dependent_package/ask'],
        capture_output=True,
        text=True,
        check=True,
    )
    assert asked.stdout == '-1 tactile 1 12.5\n'
