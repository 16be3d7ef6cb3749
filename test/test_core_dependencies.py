"""What is not installed is named, with the command that installs it, by every face."""

from __future__ import annotations

import ast
import configparser
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from waiting import HANG_SECONDS

from robot_memory.core.dependencies import REQUIRED

ROOT = Path(__file__).resolve().parents[1]
MODULES = sorted([*ROOT.glob('robot_memory/**/*.py'), *ROOT.glob('sage_mcp/**/*.py')])
OF_ROS = {
    'action_msgs',
    'ament_index_python',
    'builtin_interfaces',
    'diagnostic_msgs',
    'geometry_msgs',
    'launch',
    'launch_ros',
    'nav_msgs',
    'rcl_interfaces',
    'rclpy',
    'rosidl_runtime_py',
    'sensor_msgs',
    'std_msgs',
    'tf2_msgs',
    'visualization_msgs',
}
BROUGHT_ALONG = {'mcp_types': 'mcp', 'pydantic': 'mcp'}
FACES = {
    'robot-memory': ('-m', 'robot_memory', 'status'),
    'python': ('-c', 'import robot_memory.api'),
    'memory_node': ('-c', 'from robot_memory.ros.start import main; main()'),
}


@pytest.fixture(scope='module')
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the interpreter of an environment without packages."""
    folder = tmp_path_factory.mktemp('bare')
    venv.create(folder, with_pip=False)
    return folder / 'bin/python'


@pytest.fixture(scope='module')
def all_but_apsw(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder that leads to all packages that are installed here, apart from apsw."""
    folder = tmp_path_factory.mktemp('packages')
    for entry in Path(sysconfig.get_path('purelib')).iterdir():
        if not entry.name.startswith(('apsw', 'robot_memory')):
            (folder / entry.name).symlink_to(entry)
    return folder


def last_line(python: Path, arguments: tuple[str, ...], *folders: Path) -> str:
    path = os.pathsep.join(str(folder) for folder in folders)
    ran = subprocess.run(
        [str(python), *arguments],
        capture_output=True,
        text=True,
        # Python 3.10 knows no PYTHONSAFEPATH, and would find the package of the source tree.
        cwd=python.parent,
        env={**os.environ, 'PYTHONPATH': path},
        timeout=HANG_SECONDS,
    )
    assert (ran.returncode, ran.stdout) == (1, '')
    lines = ran.stderr.splitlines()
    assert len(lines) == 1 or 'import robot_memory.api' in arguments
    return lines[-1]


@pytest.mark.parametrize('face', FACES)
def test_a_missing_package_is_named_with_the_command_that_installs_it(
    bare: Path, all_but_apsw: Path, face: str
) -> None:
    if face == 'memory_node':
        pytest.importorskip('rclpy', reason='no ROS 2 here')
        pytest.importorskip('robot_memory.msg', reason='the interfaces are not built: make build')
    import robot_memory

    home = Path(robot_memory.__path__[0]).parent
    line = last_line(bare, FACES[face], home, all_but_apsw)
    assert f'apsw is not installed for {bare}' in line
    assert line.endswith(f'{bare} -m pip install "apsw>=3.53,<4"')


@pytest.mark.parametrize('face', ['robot-memory', 'python'])
def test_all_missing_packages_are_named_at_once(bare: Path, face: str) -> None:
    line = last_line(bare, FACES[face], ROOT)
    for requirement in REQUIRED.values():
        assert f'"{requirement}"' in line


def test_the_requirements_are_those_of_the_metadata() -> None:
    metadata = configparser.ConfigParser()
    metadata.read(ROOT / 'setup.cfg')
    extras = metadata['options.extras_require']
    lines = metadata['options']['install_requires'] + extras['plot'] + extras['mcap']
    wanted = {}
    for line in lines.strip().splitlines():
        requirement, _, marker = line.replace(' ', '').partition(';')
        version = marker.partition('"')[2].strip('"')
        if not version or sys.version_info < tuple(map(int, version.split('.'))):
            wanted[requirement] = line
    assert set(REQUIRED.values()) == set(wanted)


def imported(module: Path) -> set[str]:
    """Return the packages that a module imports; one that another brings is that other."""
    names = set()
    for node in ast.walk(ast.parse(module.read_text(encoding='utf-8'))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names.add(node.module or '')
    packages = {name.partition('.')[0] for name in names}
    return {BROUGHT_ALONG.get(package, package) for package in packages}


def test_every_package_that_is_imported_is_required() -> None:
    known = {name.partition('.')[0] for name in REQUIRED} | {'tomli', 'tomllib', 'backports'}
    known |= {'robot_memory', 'sage_mcp', 'compression', *OF_ROS, *sys.stdlib_module_names}
    known.add('typing_extensions')  # for type checkers, which know it themselves
    assert [(module, lost) for module in MODULES if (lost := imported(module) - known)] == []
