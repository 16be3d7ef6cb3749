"""The command of a tool: open the memory, run the tool, print its response."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from datetime import datetime, timezone
from typing import Any
from zoneinfo import ZoneInfo

from robot_memory.cli.common import (
    NOT_SET_UP,
    is_set_up,
    open_memory,
    print_note,
    require_store,
    show_answer,
)
from robot_memory.cli.options import PROGRAM, Options
from robot_memory.cli.responses import render
from robot_memory.cli.text import Paint
from robot_memory.core.coercion import coerce_arguments
from robot_memory.core.errors import NotFound
from robot_memory.core.fields import parse, to_plain
from robot_memory.core.settings import Settings, find_store_path
from robot_memory.memory import Memory
from robot_memory.sage.commands import is_save
from robot_memory.storage.indexes import vectors
from robot_memory.tool import Tool

_WITHOUT_MEANING = (
    'forget',
    'erase',
    'start_session',
    'query_records',
    'show',
    'get_memory_stats',
    'maintain',
)
"""Tools that do not use the embedding model."""
_OF_STORED = (
    'forget',
    'erase',
    'update',
    'undo',
    'clear_session',
    'end_session',
    'maintain',
    'review',
    'trust',
)
"""Tools that write of what is stored alone."""
_SAVES: Mapping[str, Callable[[Mapping[str, Any]], bool]] = {
    'sage_memory': lambda given: given.get('action') == 'save',
    'sage_command': lambda given: is_save(str(given.get('command', ''))),
    'set_region': lambda given: bool(given.get('name')) and not given.get('remove'),
}
"""Tools that read as well, each with what tells of its arguments that it stores something new."""


def run_tool(
    tool: Tool[Any, Any], arguments: Mapping[str, Any], settings: Settings, options: Options
) -> None:
    """Run a tool, using the model if it loads within `wait`, and print the response."""
    is_save_of = _SAVES.get(tool.name)
    stores = not tool.read_only and tool.name not in _OF_STORED
    if not stores or (is_save_of is not None and not is_save_of(arguments)):
        _require_store(tool, arguments, settings)
    elif not find_store_path(settings).exists():
        _parse(tool, arguments)  # a call that is refused makes no store
    asked = settings.model != 'none' and tool.name not in _WITHOUT_MEANING
    loads = asked and is_set_up(settings)
    with open_memory(settings, with_model=loads) as memory:
        if loads:
            _import_readers(tool, arguments)
        memory.wait_for_models(options.wait)
        if not tool.read_only:
            memory.reindexer.adopt_model()
        response = tool.run(memory, arguments)
        text = render(tool.name, response, Paint(sys.stdout))
        show_answer(to_plain(response), text, options, painted=True)
        reason = _explain_missing_vectors(memory) if loads else NOT_SET_UP
        if asked and reason:
            print_note(f'keyword search only: {reason}')


def _require_store(tool: Tool[Any, Any], arguments: Mapping[str, Any], settings: Settings) -> None:
    """Raise NotFound where there is no store, but InvalidArgument first for a wrong argument."""
    try:
        require_store(settings)
    except NotFound:
        _parse(tool, arguments)
        raise


def _parse(tool: Tool[Any, Any], arguments: Mapping[str, Any]) -> None:
    """Raise InvalidArgument for a wrong argument."""
    parse(tool.request, coerce_arguments(tool.declared, arguments, tool.destructive), tool.name)


def _import_readers(tool: Tool[Any, Any], arguments: Mapping[str, Any]) -> None:
    """Import what reads and answers a question that asks for events, while the models load."""
    query = arguments.get('query')
    if 'read' not in tool.declared or not isinstance(query, str):
        return
    from robot_memory.text.questions.question import prepare_question

    question = prepare_question(query)
    if question is not None and question.read(datetime.now(timezone.utc), ZoneInfo('UTC')):
        from robot_memory.retrieval import event_answers  # noqa: F401


def _explain_missing_vectors(memory: Memory) -> str:
    """Return why no vectors were used, or an empty text if they were."""
    embedder = memory.embedder.get_if_loaded()
    if embedder is None:
        return memory.embedder.reason
    with memory.db.read() as connection:
        known = vectors.model_of(connection)
    if known is None or known[0] == embedder.name:
        return ''
    return (
        f'{memory.db.path} has vectors from {known[0]}, but the installed model is '
        f'{embedder.name}; run `{PROGRAM} index` to recompute them'
    )
