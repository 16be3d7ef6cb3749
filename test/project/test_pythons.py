"""`make test-pythons`: all of .ci/run on each Python that is here, in a folder of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sources import ROOT
from waiting import HANG_SECONDS

VERSION = f'{sys.version_info.major}.{sys.version_info.minor}'
OTHERS = [f'3.{minor}' for minor in range(10, 15) if f'3.{minor}' != VERSION]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A tree whose .ci/run says what it was given, and fails where the file `broken` is."""
    (tmp_path / 'scripts').mkdir()
    (tmp_path / '.ci').mkdir()
    shutil.copy(ROOT / 'scripts/test-pythons', tmp_path / 'scripts')
    run = tmp_path / '.ci/run'
    run.write_text(
        '#!/bin/sh\necho "given $PYTHON $ROBOT_MEMORY_BUILD $TESTS"\ntest ! -e broken\n'
    )
    run.chmod(0o755)
    return tmp_path


def run(checkout: Path, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [checkout / 'scripts/test-pythons'],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
    )


def test_a_python_is_tested_in_a_folder_of_its_own_and_the_absent_are_named(
    checkout: Path,
) -> None:
    ran = run(checkout, PYTHONS=sys.executable, TESTS='test/test_detectors_text.py')
    assert ran.returncode == 0, ran.stderr
    folder = checkout / '.pythons' / VERSION
    assert f'given {sys.executable} {folder} test/test_detectors_text.py' in ran.stdout
    assert f'Python {VERSION}: passed' in ran.stdout
    assert [line for line in ran.stdout.splitlines() if line.endswith('absent')] == [
        f'==> Python {version}: absent' for version in OTHERS
    ]


def test_the_pythons_on_the_path_and_of_pyenv_are_found(checkout: Path) -> None:
    (checkout / 'bin').mkdir()
    (checkout / f'pyenv/versions/{VERSION}.99/bin').mkdir(parents=True)
    wrong = next(version for version in OTHERS)
    # A name that lies, as pyenv's own commands do for versions that are not chosen.
    (checkout / f'bin/python{wrong}').symlink_to(sys.executable)
    (checkout / f'pyenv/versions/{VERSION}.99/bin/python{VERSION}').symlink_to(sys.executable)
    path = f'{checkout / "bin"}:/usr/bin:/bin'
    ran = run(checkout, PATH=path, PYENV_ROOT=str(checkout / 'pyenv'), PYTHONS='')
    assert ran.returncode == 0, ran.stderr
    assert f'Python {VERSION}: passed' in ran.stdout
    assert f'{checkout}/bin/python{wrong}' not in ran.stdout


def test_one_python_that_fails_fails_the_whole(checkout: Path) -> None:
    (checkout / 'broken').touch()
    ran = run(checkout, PYTHONS=sys.executable)
    assert ran.returncode == 1
    assert f'Python {VERSION}: FAILED' in ran.stdout


def test_an_interpreter_that_does_not_run_is_named(checkout: Path) -> None:
    ran = run(checkout, PYTHONS=str(checkout / 'python3.12'))
    assert ran.returncode == 2
    assert f'{checkout / "python3.12"} does not run' in ran.stderr
