"""
The commands: those of the tools, and those besides them.

Each is imported when it is run or its help is printed: a command waits for no other's imports.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from robot_memory.catalog import NAMES, get_tool
from robot_memory.cli.options import Options
from robot_memory.core.fields import parse
from robot_memory.core.settings import Settings


@dataclass(frozen=True)
class Command:
    """
    Hold a command: the declaration of its arguments, its help, and what runs it.

    `run` takes the values that were given by their names; what it does not accept it refuses.
    """

    request: type
    help: str
    run: Callable[[dict[str, Any], Settings, Options], None]


_FURTHER = {
    'query_events': ('events', 'query_events', 'QueryEventsCommand'),
    'export': ('archives', 'export', 'ExportCommand'),
    'import': ('recordings', 'import_recordings', 'ImportRequest'),
    'plot': ('plotting', 'plot', 'PlotRequest'),
    'status': ('store', 'report_status', 'NoArguments'),
    'clock': ('store', 'manage_clock', 'ClockRequest'),
    'index': ('store', 'index', 'NoArguments'),
    'model': ('models', 'manage_models', 'ModelRequest'),
    'upgrade': ('store', 'upgrade', 'NoArguments'),
    'backup': ('repairing', 'back_up_store', 'BackupRequest'),
    'doctor': ('repairing', 'examine_installation', 'DoctorRequest'),
    'verify': ('repairing', 'verify_store', 'VerifyRequest'),
    'salvage': ('repairing', 'salvage_store', 'SalvageRequest'),
    'restore': ('repairing', 'restore_store', 'RestoreRequest'),
    'mcp': ('serving', 'serve_mcp', 'McpRequest'),
    'view': ('viewing', 'view', 'ViewRequest'),
    'call': ('calling', 'call', 'CallRequest'),
    'audit': ('auditing', 'audit', 'AuditCommand'),
    'principals': ('principals', 'manage_principals', 'PrincipalsRequest'),
}
"""
Module, function and arguments of the commands besides the tools.

The docstring's first sentence is the help. One with the name of a tool does more than the tool.
"""
COMMANDS = (*(name for name in NAMES if name not in _FURTHER), *_FURTHER)


def get_command(name: str) -> Command:
    """Return a command of `COMMANDS`."""
    if name not in _FURTHER:
        return _get_command_of_tool(name)
    module, function, declaration = _FURTHER[name]
    found = import_module(f'robot_memory.cli.{module}')
    run, request = getattr(found, function), getattr(found, declaration)
    text = get_tool(name).help if name in NAMES else inspect.getdoc(run) or ''
    return Command(request, text, partial(_run_further, run, request, name))


def _get_command_of_tool(name: str) -> Command:
    from robot_memory.cli.tools import run_tool

    tool = get_tool(name)
    return Command(tool.request, tool.help, partial(run_tool, tool))


def _run_further(
    run: Callable[[Any, Settings, Options], None],
    request: type,
    name: str,
    values: dict[str, Any],
    settings: Settings,
    options: Options,
) -> None:
    run(parse(request, values, name), settings, options)
