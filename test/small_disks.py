"""Disks of a few megabytes, to be filled: processes that a test starts have them mounted."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest


def run_on_small_disk(folder: Path, *words: str, script: str) -> list[str]:
    """Run it where the folder is a disk of 16 MB; return the lines that it prints."""
    mount = 'mount -t tmpfs -o size=16m tmpfs "$1" && shift && exec "$@"'
    command = ['unshare', '-rm', 'sh', '-c', mount, 'sh', str(folder)]
    if shutil.which('unshare') is None or subprocess.run([*command, 'true']).returncode:
        pytest.skip('no small disk can be mounted here: unshare -rm is missing or not allowed')
    ran = subprocess.run(
        [*command, sys.executable, '-c', script, str(folder), *words],
        capture_output=True,
        text=True,
        env={'PYTHONPATH': ':'.join(sys.path), 'HOME': str(folder)},
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout.splitlines()


def fill_disk(folder: Path) -> Path:
    """Fill the disk of a folder; return the file that does."""
    path = folder / 'filler'
    with open(path, 'wb', buffering=0) as filler:
        try:
            while filler.write(bytes(4096)):
                pass
        except OSError:
            pass
    return path
