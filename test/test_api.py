"""The Python face as a user of the installed package sees it: typed, and documented."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from waiting import HANG_SECONDS

from robot_memory.api import RobotMemory
from robot_memory.fields import fields_of
from robot_memory.tools import TOOLS

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope='module')
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package as `pip install .` leaves it, without its dependencies."""
    folder = tmp_path_factory.mktemp('site')
    source = tmp_path_factory.mktemp('source')
    for name in ('setup.py', 'setup.cfg', 'pyproject.toml', 'package.xml', 'README.md', 'LICENSE'):
        (source / name).write_bytes((ROOT / name).read_bytes())
    for name in ('robot_memory', 'sage_mcp'):  # pip builds inside of the source
        (source / name).symlink_to(ROOT / name)
    pip = [sys.executable, '-m', 'pip', 'install', '--quiet', '--no-deps', '--no-index']
    subprocess.run(
        [*pip, '--no-build-isolation', '--target', folder, source],
        check=True,
        timeout=HANG_SECONDS,
    )
    return folder


def check_types(code: str, site: Path, folder: Path) -> str:
    """Return what mypy --strict says of a user's file."""
    (folder / 'user.py').write_text(code)
    done = subprocess.run(
        [sys.executable, '-m', 'mypy', '--strict', '--no-incremental', 'user.py'],
        cwd=folder,
        env={'MYPYPATH': '', 'PATH': '', 'PYTHONPATH': str(site)},
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )
    return done.stdout


def test_a_users_file_is_type_checked(site: Path, tmp_path: Path) -> None:
    good = check_types(
        'from robot_memory.api import RobotMemory\n'
        "with RobotMemory('cell_1.db', model='none') as memory:\n"
        "    made: int | None = memory.learn('x', {'task': {'success': True}}).memory_id\n"
        "    found = memory.recall('x', n=3, context_filter={'task.success': True})\n"
        '    reveal_type(found.memories[0].confidence)\n'
        '    for one in found.memories:\n'
        '        text: str = one.content\n',
        site,
        tmp_path,
    )
    assert 'Revealed type is "float"' in good or 'Revealed type is "builtins.float"' in good
    assert 'error' not in good, good


@pytest.mark.parametrize(
    ('line', 'error'),
    [
        ("memory.lern('x')", '"RobotMemory" has no attribute "lern"'),
        ("memory.recall('x', nn=5)", 'Unexpected keyword argument "nn" for "recall"'),
        ('memory.recall(42)', 'incompatible type "int"; expected "str"'),
        ("memory.recall('x').memories[0].confidense", 'has no attribute "confidense"'),
        ("memory.learn('x', context=[1])", 'incompatible type "list[int]"'),
    ],
)
def test_mistakes_are_found_before_they_run(
    line: str, error: str, site: Path, tmp_path: Path
) -> None:
    code = f"from robot_memory.api import RobotMemory\nmemory = RobotMemory('x.db')\n{line}\n"
    assert error in check_types(code, site, tmp_path)


def test_the_installed_package_says_that_it_is_typed_and_its_version(site: Path) -> None:
    assert (site / 'robot_memory/py.typed').exists()
    assert (site / 'sage_mcp/py.typed').exists()


@pytest.mark.parametrize('tool', TOOLS, ids=lambda tool: tool.name)
def test_help_describes_every_argument(tool) -> None:
    method = getattr(RobotMemory, tool.name)
    fields = fields_of(tool.request)
    assert list(inspect.signature(method).parameters) == ['self', *(one.name for one in fields)]
    text = inspect.getdoc(method)
    assert text.startswith(tool.summary)
    for field in (*fields, *fields_of(tool.response)):
        assert f'{field.name}: ' in text
