"""What a process of a bench took, which is counted apart from that of all others."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import NamedTuple


class Measured(NamedTuple):
    """Hold how a process ended, what it printed, its processor seconds and its memory at most."""

    status: int
    said: str
    seconds: float
    most_mb: float


def run_measured(*command: str, folder: Path | None = None) -> Measured:
    """Run a command to its end, in a folder, and return what it took."""
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder
    ) as process:
        assert process.stdout is not None
        said = process.stdout.read()
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    return Measured(process.returncode, said, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)
