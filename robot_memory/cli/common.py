"""Helpers of all commands: open the memory, print a response, print a note."""

from __future__ import annotations

import dataclasses
import json
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from robot_memory.cli.options import PROGRAM, Options
from robot_memory.core.errors import NotFound, RobotMemoryError
from robot_memory.core.settings import Settings, find_store_path, is_store_named
from robot_memory.embedding import find_model
from robot_memory.memory import Memory
from robot_memory.storage.store_files import has_log
from robot_memory.text.controls import escape_controls

NOT_SET_UP = f'the embedding model is not installed; run `{PROGRAM} index`'


def open_memory(settings: Settings, with_model: bool = True, *, loads: bool = True) -> Memory:
    """Open the store for one command; without the model if no vectors are needed."""
    used = settings if with_model else dataclasses.replace(settings, model='none')
    memory = Memory(used, resident=False, loads_models=loads)
    if loads:  # a short command waits for both models: they load side by side
        memory.second.start()
    return memory


def require_store(settings: Settings, *, stored: bool = False) -> Path:
    """
    Return the file of the store; raise NotFound where there is none, or an empty file.

    What only reads begins with it: of a mistyped path it would make a store. The default store is
    not mistyped: where there is none yet, it is made and answers as an empty one, unless
    something must be `stored`.
    """
    path = find_store_path(settings)
    is_new = not (path.exists() or path.is_symlink())
    if is_new and not (stored or is_store_named(settings)):
        return path
    create = f'create it with {PROGRAM} learn or start the node'
    if not path.exists():
        raise NotFound(f'no store at {path}; select another with --db, or {create}')
    if path.is_file() and not (path.stat().st_size or has_log(path)):
        raise NotFound(
            f'{path} is an empty file (0 bytes), which holds no store; select another with --db, '
            f'or {create}'
        )
    return path


def is_set_up(settings: Settings) -> bool:
    """
    Return whether the model can be loaded now.

    The first load on a machine converts the default model for several seconds, which a short
    command would interrupt each time. Errors of an explicitly set model are left to the loader.
    """
    with suppress(RobotMemoryError):
        own = settings.model == 'none' or settings.embedder
        return bool(own) or find_model(settings.model) is not None
    return True


def print_note(text: str) -> None:
    """Print a line to stderr."""
    line = escape_controls(' '.join(text.split()))
    print(f'{PROGRAM}: {line}', file=sys.stderr, flush=True)


def show_answer(values: Any, text: str, options: Options, *, painted: bool = False) -> None:
    """
    Print a response, with its controls shown; JSON is indented only on a terminal.

    A painted text may have styles: whoever made it has shown the controls of what stands in it.
    """
    if options.json:
        text = json.dumps(values, ensure_ascii=False, indent=2 if sys.stdout.isatty() else None)
    print(text if painted and not options.json else escape_controls(text), flush=True)
