"""Measure this package and its nearest peer with the harness that stands outside of both."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

from scale import ONE_THREAD, Subject

from robot_memory.core.progress import make_progress_bar

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
HARNESS = Path(
    os.environ.get('ROBOT_MEMORY_BENCH', ROOT.parent / 'shared/bench/robotmem_bench.py')
)
PEER = ('robotmem==0.1.3', 'mcp<2')
SQLITE = 'pysqlite3-binary==0.5.1'
"""The SQLite that suits the peer: with 3.51 of 0.5.4 its search by words is 100 times slower."""
_PEER_FOLDER = ROOT / '.venv-peer'
_WANTED = ' '.join((*PEER, SQLITE))
_LINES = 11
"""How many figures the harness prints of a store."""

THIS = Subject('adapter', sys.executable)


def has_peer() -> bool:
    """Say whether the peer's environment is there, as it is to be."""
    ready = _PEER_FOLDER / 'ready'
    return ready.exists() and ready.read_text() == _WANTED


def set_up_peer() -> Subject | None:
    """
    Return the peer in an environment of its own, made at the first call; None where it cannot be.

    Where Python's sqlite3 loads no extensions the peer silently loses its vectors. It is to be
    compared at its best, so it then gets another SQLite, if there is one for this machine.
    """
    python = str(_PEER_FOLDER / 'bin/python')
    if not has_peer():
        print(f'setting up {" ".join(PEER)} ...', file=sys.stderr, flush=True)
        venv.create(_PEER_FOLDER, with_pip=True, clear=True)
        install = [python, '-m', 'pip', 'install', '--quiet', '--disable-pip-version-check']
        if subprocess.run([*install, *PEER]).returncode:
            print('the peer is left out: it could not be installed', file=sys.stderr)
            return None
        loads = hasattr(sqlite3.Connection, 'enable_load_extension')
        if not loads and subprocess.run([*install, SQLITE]).returncode == 0:
            (site,) = _PEER_FOLDER.glob('lib/python3*/site-packages')
            line = 'import sys, pysqlite3; sys.modules["sqlite3"] = pysqlite3\n'
            (site / 'sqlite3_with_extensions.pth').write_text(line)
        (_PEER_FOLDER / 'ready').write_text(_WANTED)
    return Subject('peer_adapter', python)


def run_harness(subjects: dict[str, Subject], size: int) -> dict[str, Any]:
    """Run the harness's speed part on each, by words alone and with vectors of a free embedder."""
    return {
        who: {embed: _run_harness_on(who, subject, size, embed) for embed in ('none', 'hash')}
        for who, subject in subjects.items()
    }


def _run_harness_on(who: str, subject: Subject, size: int, embed: str) -> list[dict[str, Any]]:
    command = [subject.python, str(HARNESS), '--n', str(size), '--embed', embed]
    command += ['--only', 'speed']
    path = ''
    if subject is THIS:
        command += ['--adapter', 'adapter:Adapter', '--imports', 'robot_memory.api']
        path = f'{HERE}{os.pathsep}{os.environ.get("PYTHONPATH", "")}'
    found = []
    environment = {**os.environ, **ONE_THREAD, 'PYTHONPATH': path}
    with (
        make_progress_bar(title=f'{who}, vectors: {embed}', unit='figure', total=_LINES) as bar,
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as ran,
    ):
        assert ran.stdout is not None
        for line in ran.stdout:
            if line.startswith('{'):
                found.append(json.loads(line))
                bar.update()
    return found
