"""What a process of a bench takes, which is counted apart from that of all others."""

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


def read_megabytes(field: str, pid: int | str = 'self') -> float:
    """
    Return a size of a process from /proc, of this one unless another is named.

    VmRSS is what is in memory, RssFile how much of it is mapped files, VmHWM VmRSS at its peak.
    """
    status = Path(f'/proc/{pid}/status').read_text().split()
    return round(int(status[status.index(f'{field}:') + 1]) / 1024, 1)


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
