"""Commands that a person types or says, as `/search red cup`: their table and their reading."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from robot_memory.core.errors import InvalidArgument
from robot_memory.core.json_text import format_value

SLASHES = '/／'  # the second is the full-width one that Chinese keyboards type
_RECORD = re.compile(r'(?:mem_)?(\d{1,18})', re.IGNORECASE)
_NUMBER = re.compile(r'\d{1,9}')


class CommandType(str, Enum):
    """What a command asks for; the value is the word that it is called by."""

    SAVE = 'save'
    SEARCH = 'search'
    FORGET = 'forget'
    RECALL = 'recall'
    STATUS = 'status'
    MODE = 'mode'
    HELP = 'help'
    ANALYZE = 'analyze'
    SAGE_STATUS = 'SAGE-STATUS'


@dataclass(frozen=True)
class Command:
    """Describe one command: `takes` is its usage behind the name, `read` makes its parameters."""

    type: CommandType
    takes: str
    help: str
    read: Callable[[str], dict[str, Any] | None]

    @property
    def name(self) -> str:
        """Return the word that it is called by."""
        return self.type.value

    @property
    def usage(self) -> str:
        """Return how it is written."""
        return f'/{self.name} {self.takes}'.rstrip()


def parse_command(text: str) -> tuple[CommandType, dict[str, Any]]:
    """
    Read a command into its type and its parameters; those not given are left out.

    Case does not matter, and the slash may be left out. The parameters are
    save {title}, search {query}, forget {all: True} or {memory_id} or {session_id},
    recall {limit} or {session_id}, mode {on}, help {command}, analyze {analysis, days}; what
    forget and recall take for a session is any other text, and may be none. Raise InvalidArgument
    with the known commands, or with the usage of the one that was meant.
    """
    name, _, rest = ' '.join(text.split()).partition(' ')
    command = find_command(name)
    params = command.read(rest)
    if params is None:
        wrong = f'not with {format_value(rest)}' if rest else 'missing arguments'
        raise InvalidArgument(f'usage: {command.usage}; {wrong}. {command.help}')
    return command.type, params


def is_save(text: str) -> bool:
    """Say whether a command, by its first word, stores something; one that is unknown does not."""
    words = text.split()
    return bool(words) and words[0].lstrip(SLASHES).lower() == CommandType.SAVE.value


def find_command(name: str) -> Command:
    """Return a command by its name, with or without the slash; raise InvalidArgument."""
    wanted = name.lstrip(SLASHES).replace('_', '-').lower()
    for command in COMMANDS:
        if command.name.lower() == wanted:
            return command
    known = ', '.join(f'/{command.name}' for command in COMMANDS)
    raise InvalidArgument(f'unknown command {format_value(name)}; accepted: {known}')


def format_help(name: str | None = None) -> str:
    """Return what the commands do, one line each, or what the named one does."""
    commands = COMMANDS if name is None else (find_command(name),)
    width = max(len(command.usage) for command in commands)
    return '\n'.join(f'{command.usage:{width}}  {command.help}' for command in commands)


def _parse_nothing(rest: str) -> dict[str, Any] | None:
    return None if rest else {}


def _parse_optional(name: str) -> Callable[[str], dict[str, Any]]:
    return lambda rest: {name: rest} if rest else {}


def _parse_required(name: str) -> Callable[[str], dict[str, Any] | None]:
    return lambda rest: {name: rest} if rest else None


def _parse_forget(rest: str) -> dict[str, Any]:
    if rest.lower() == 'all':
        return {'all': True}
    record = _RECORD.fullmatch(rest)
    return {'memory_id': int(record[1])} if record else _parse_optional('session_id')(rest)


def _parse_recall(rest: str) -> dict[str, Any]:
    if _NUMBER.fullmatch(rest):
        return {'limit': int(rest)}
    return _parse_optional('session_id')(rest)


def _parse_mode(rest: str) -> dict[str, Any] | None:
    return {'': {}, 'on': {'on': True}, 'off': {'on': False}}.get(rest.lower())


def _parse_help(rest: str) -> dict[str, Any]:
    return {'command': find_command(rest).name} if rest else {}


def _parse_analyze(rest: str) -> dict[str, Any] | None:
    words = rest.split()
    params: dict[str, Any] = {}
    if words and _NUMBER.fullmatch(words[-1]):
        params['days'] = int(words.pop())
    if words:
        params['analysis'] = words.pop()
    return None if words else params


COMMANDS = (
    Command(
        CommandType.SAVE,
        '[title]',
        'Save the conversation of the open session under a title.',
        _parse_optional('title'),
    ),
    Command(CommandType.SEARCH, '<query>', 'Search memories.', _parse_required('query')),
    Command(
        CommandType.FORGET,
        '[all|session_id|mem_12]',
        'Soft-delete the open session, another session, one memory, or all unprotected memories.',
        _parse_forget,
    ),
    Command(
        CommandType.RECALL,
        '[count|session_id]',
        'Show recent turns, or the turns of a session.',
        _parse_recall,
    ),
    Command(CommandType.STATUS, '', 'Show memory statistics.', _parse_nothing),
    Command(
        CommandType.MODE,
        '[on|off]',
        'Switch automatic mode on or off, or show its state.',
        _parse_mode,
    ),
    Command(CommandType.HELP, '[command]', 'List the commands, or describe one.', _parse_help),
    Command(
        CommandType.ANALYZE,
        '[type] [days]',
        'Analyze the memories of the last days.',
        _parse_analyze,
    ),
    Command(
        CommandType.SAGE_STATUS,
        '',
        'Show component status, errors and timings.',
        _parse_nothing,
    ),
)
