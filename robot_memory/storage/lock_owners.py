"""Which other processes hold SQLite's locks on a store: sqlite.org/walformat.html."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from robot_memory.storage.store_files import INDEX, name_file

_ASK = """
import fcntl, json, struct, sys
found = []
with open(sys.argv[1], 'r+b') as file:
    for place in map(int, sys.argv[2:]):
        asked = struct.pack('hhqqi4x', fcntl.F_WRLCK, 0, place, 1, 0)
        kind, _, _, _, pid = struct.unpack('hhqqi4x', fcntl.fcntl(file, fcntl.F_GETLK, asked))
        if kind != fcntl.F_UNLCK:
            found.append(pid)
print(json.dumps(sorted(set(found))))
"""
"""Prints the processes that lock some bytes of a -shm."""
_READERS, _USERS = ('123', '124', '125', '126', '127'), ('128',)
"""What is locked by who reads (123: of the file alone), and by who has the store open."""


def name_readers(path: Path) -> str:
    """Return the other processes that read from the log of a store, '' where none is known."""
    return name_processes(find_readers(path))


def name_users(path: Path) -> str:
    """Return the other processes that have a store open, '' where none is known."""
    return name_processes(find_users(path))


def find_readers(path: Path) -> list[int]:
    """Return the ids of the other processes that read from the log of a store at this moment."""
    return _find_holders(path, _READERS)


def find_users(path: Path) -> list[int]:
    """Return the ids of the other processes that have a store open."""
    return _find_holders(path, _USERS)


def name_processes(pids: Sequence[int]) -> str:
    """Return processes in words, with their ids and commands, '' for none."""
    return ' and '.join(f'process {pid}{_name_command(pid)}' for pid in pids)


def _find_holders(path: Path, places: Sequence[str]) -> list[int]:
    """Return the processes that hold locks at some places."""
    index = name_file(path, INDEX)
    if not index.exists():
        return []
    # A process of its own: closing a descriptor of the file here would drop SQLite's locks.
    import subprocess  # here: it is seldom asked for

    done = subprocess.run(
        [sys.executable, '-I', '-S', '-c', _ASK, str(index), *places],
        capture_output=True,
        text=True,
        check=False,
    )
    found: list[int] = json.loads(done.stdout) if done.returncode == 0 else []
    return found


def _name_command(pid: int) -> str:
    try:
        words = Path(f'/proc/{pid}/cmdline').read_bytes().split(b'\0')
    except OSError:
        return ''
    text = b' '.join(words).decode('utf-8', 'replace').strip()
    return f' ({text[:100]})' if text else ''
