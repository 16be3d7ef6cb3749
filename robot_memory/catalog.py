"""The catalog: the tools that the faces serve, each imported when it is first asked for."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from robot_memory.tool import Tool

NAMES = (
    'learn',
    'recall',
    'explain_recall',
    'save_perception',
    'forget',
    'erase',
    'update',
    'start_session',
    'end_session',
    'query_records',
    'list_timeline',
    'query_events',
    'record_outcome',
    'suggest',
    'skill_report',
    'show',
    'history',
    'undo',
    'save_conversation',
    'get_context',
    'search_memory',
    'get_memory_stats',
    'clear_session',
    'analyze',
    'export',
    'maintain',
    'set_map',
    'set_region',
    'review',
    'trust',
    'sage_memory',
    'sage_command',
    'sage_auto',
    'sage_smart_prompt',
    'sage_system_status',
)
"""Tools in the order in which the faces list them; the module of each has its name."""


@cache
def get_tool(name: str) -> Tool[Any, Any]:
    """Return a tool of `NAMES`; a process that calls one tool imports no other."""
    room = 'robot_memory.sage.tools' if name.startswith('sage_') else 'robot_memory.tools'
    tool: Tool[Any, Any] = getattr(import_module(f'{room}.{name}'), name)
    return tool


@cache
def list_tools() -> tuple[Tool[Any, Any], ...]:
    """Return all tools."""
    return tuple(map(get_tool, NAMES))
