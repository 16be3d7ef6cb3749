"""What a command does with the memory; each opens it, answers, and closes it."""

from __future__ import annotations

import dataclasses
import json
import sys
import time
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from typing import Any

from robot_memory.cli.options import Options
from robot_memory.cli.parser import PROGRAM
from robot_memory.cli.text import Paint, counted, render, table
from robot_memory.embedding import find_model
from robot_memory.errors import NotFound, RobotMemoryError, Unavailable
from robot_memory.fields import plain
from robot_memory.memory import Memory
from robot_memory.settings import Settings, store_path
from robot_memory.store import vectors
from robot_memory.store.report import report
from robot_memory.tool import Tool

_WITHOUT_MEANING = ('forget', 'start_session', 'query_records')
"""The tools that no model can help."""

_NOT_SET_UP = f'the model is not set up on this machine; `{PROGRAM} index` does it'
_PROGRESS_SECONDS = 0.1


def run_tool(
    tool: Tool[Any, Any], arguments: Mapping[str, Any], settings: Settings, options: Options
) -> None:
    """Call a tool, with the model if it is loaded in time, and print the answer."""
    if tool.name in _WITHOUT_MEANING:
        with Memory(dataclasses.replace(settings, model='none'), resident=False) as memory:
            _answer(tool, memory, arguments, options)
        return
    ready = _is_set_up(settings)
    used = settings if ready else dataclasses.replace(settings, model='none')
    with Memory(used, resident=False) as memory:
        memory.embedder.wait(options.wait)
        if not tool.read_only:
            memory.adopt_model()
        _answer(tool, memory, arguments, options)
        reason = _why_words_only(memory) if ready else _NOT_SET_UP
        if reason and settings.model != 'none':
            print(f'{PROGRAM}: by words alone: {reason}', file=sys.stderr)


def _answer(
    tool: Tool[Any, Any], memory: Memory, arguments: Mapping[str, Any], options: Options
) -> None:
    response = tool.run(memory, arguments)
    show(plain(response), render(tool.name, response, Paint(sys.stdout)), options)
