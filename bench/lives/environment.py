"""The environment with MuJoCo, made on demand, and the tables of rollouts that it makes."""

from __future__ import annotations

import ast
import hashlib
import os
import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
CACHE = ROOT / 'bench/.cache/lives'
SKILLS = ('strike', 'insert')
_FOLDER = ROOT / '.venv-lives'
_PINS = ROOT / 'requirements/lives.txt'


def set_up_environment() -> str:
    """Return the Python of .venv-lives, made at the first call and where the pins have changed."""
    python = str(_FOLDER / 'bin/python')
    ready = _FOLDER / 'ready'
    pins = _PINS.read_text('utf-8')
    if not ready.exists() or ready.read_text('utf-8') != pins:
        print('setting up .venv-lives ...', file=sys.stderr, flush=True)
        venv.create(_FOLDER, with_pip=True, clear=True)
        quiet = ['--quiet', '--disable-pip-version-check', '--no-deps']
        subprocess.run([python, '-m', 'pip', 'install', *quiet, '-r', str(_PINS)], check=True)
        ready.write_text(pins, 'utf-8')
    return python


def make_tables(skills: Sequence[str] = SKILLS) -> dict[str, Path]:
    """Return the file of each skill's table; those that the physics does not fit are made anew."""
    found = {skill: _name_folder(skill) / f'{skill}.npz' for skill in skills}
    for skill, path in found.items():
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            (CACHE.parent / '.gitignore').write_text('*\n')
            print(f'rolling out {skill} ...', file=sys.stderr, flush=True)
            command = [set_up_environment(), '-m', 'lives.physics.make', str(path.parent), skill]
            environment = {**os.environ, 'PYTHONPATH': str(HERE.parent)}
            subprocess.run(command, check=True, env=environment)
    return found


def _name_folder(skill: str) -> Path:
    # As it is parsed: another layout or comment is no other physics.
    code = ast.unparse(ast.parse((HERE / f'physics/{skill}.py').read_text('utf-8')))
    made_of = f'{code}{_PINS.read_text("utf-8")}'.encode()
    return CACHE / 'tables' / f'{skill}-{hashlib.sha256(made_of).hexdigest()[:12]}'
