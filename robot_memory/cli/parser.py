"""
Builds the argument parser from the declarations.

It only converts numbers; validation is left to the declarations, so that every interface reports
the same errors.
"""

from __future__ import annotations

import argparse
import functools
import re
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from robot_memory.cli.commands import COMMANDS, get_command
from robot_memory.cli.options import PROGRAM, Options
from robot_memory.core.fields import Field, get_fields
from robot_memory.core.settings import Settings
from robot_memory.core.suggestions import find_near, suggest
from robot_memory.core.version import get_version
from robot_memory.text.controls import escape_controls

_NAMES = {'db_path': '--db'}
_OPTION = re.compile(r'--?(?P<name>[^\W\d_][^=]*)')
_NO_COMMAND = re.compile(r"argument COMMAND: invalid choice: '(?P<name>.*)' \(choose from ", re.S)
_PATHS = ('db_path', 'model', 'params', 'output', 'file', 'backup', 'folder')
_IN_EVERY_HELP = ('db_path', 'model', 'json', 'wait')
_ALSO_POSITIONAL = ('query', 'memory_id', 'session', 'request', 'action', 'model_name', 'backup')
_FREE_TEXTS = {'QUERY', 'INSIGHT', 'REQUEST', 'PROMPT', 'TASK'}
_REPEATABLE = ('set',)
_EPILOG = (
    'Pass JSON as one argument: \'{"task": {"success": true}}\'. Exit status: 0 success, 1 '
    'refused or failed (one line on stderr), 2 usage error.'
)


class _Parser(argparse.ArgumentParser):
    """Tell what is wrong with a line without obeying what stands in it."""

    def error(self, message: str) -> NoReturn:
        """Print the usage and the message, and exit with 2."""
        super().error(escape_controls(message))


class CommandParser(_Parser):
    """Parse one command; its arguments are added when they are first needed, as few are."""

    add_all: Callable[[], None] | None = None

    def parse_known_args(self, *given: Any, **named: Any) -> Any:
        """Parse, with all arguments added; exit where a word is left over."""
        self.complete()
        parsed, left = super().parse_known_args(*given, **named)
        if left:
            self.refuse(left)
        return parsed, left

    def refuse(self, left: Sequence[str]) -> NoReturn:
        """Say of words that nothing takes what would be taken."""
        option = next(filter(None, map(_OPTION.match, left)), None)
        if option:
            self.error(f'no option {option.group()}{_suggest(option, self)}; see --help')
        texts = [one.metavar for one in self._actions if not one.option_strings and one.metavar]
        rest = ' '.join(left)
        hint = 'quote a text that has spaces' if set(texts) & _FREE_TEXTS else 'see --help'
        self.error(f'unexpected argument {rest!r}; {hint}')

    def format_help(self) -> str:
        """Return the help of all arguments."""
        self.complete()
        return super().format_help()

    def complete(self) -> None:
        """Add the description and the arguments, unless they are there."""
        add_all, self.add_all = self.add_all, None
        if add_all:
            add_all()


class _ProgramParser(_Parser):
    """Parse the whole line; only its help needs what each command does."""

    def format_help(self) -> str:
        """Return the help with a line for each command."""
        return build_parser(with_summaries=True).format_help()

    def error(self, message: str) -> NoReturn:
        """Name the likest command in place of all of them."""
        wrong = _NO_COMMAND.match(message)
        if wrong:
            near = suggest(wrong['name'], (name.replace('_', '-') for name in COMMANDS))
            message = f'no command {wrong["name"]}{near}; see {PROGRAM} --help'
        super().error(message)


class _Version(argparse.Action):
    """Print the version, which takes time to find, and exit."""

    def __init__(self, option_strings: Sequence[str], dest: str) -> None:
        """Take no value."""
        shown = "show program's version number and exit"
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=shown)

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> NoReturn:
        """Print it."""
        print(f'{PROGRAM} {get_version()}')
        parser.exit()


def parse_line(arguments: Sequence[str]) -> argparse.Namespace:
    """
    Parse a command line; exit as argparse does.

    A line that begins with its command is read by that command's parser alone: making the others
    takes longer than many a command.
    """
    name = arguments[0].replace('-', '_') if arguments else ''
    if name in COMMANDS and arguments[0] in (name, name.replace('_', '-')):
        parser = CommandParser(prog=f'{PROGRAM} {arguments[0]}', allow_abbrev=False)
        parser.add_all = functools.partial(_complete_command, parser, name)
        parsed = parser.parse_args(arguments[1:])
        parsed.command = name
        return parsed
    program = build_parser()
    _refuse_unknown(program, arguments)
    return program.parse_args(arguments)


def _refuse_unknown(parser: argparse.ArgumentParser, arguments: Sequence[str]) -> None:
    """Exit where an option before the command is none: its value would pass for the command."""
    known = _list_options(parser)
    for word in arguments:
        option = _OPTION.match(word)
        if word.replace('-', '_') in COMMANDS or word == '--':
            return
        if option and option.group() not in known:
            parser.error(
                f'no option {option.group()}{_suggest(option, parser)}; '
                'options of a command go after the command'
            )


def _suggest(option: re.Match[str], parser: argparse.ArgumentParser) -> str:
    """Return the likest option in brackets, or nothing; the dashes do not make two alike."""
    near = find_near(option['name'], [name[2:] for name in _list_options(parser)], 1)
    return f' (did you mean --{near[0]}?)' if near else ''


def _list_options(parser: argparse.ArgumentParser) -> list[str]:
    return [name for action in parser._actions for name in action.option_strings]


def build_parser(*, with_summaries: bool = False) -> argparse.ArgumentParser:
    """Return the parser of all commands; summaries are for printing, and take time to import."""
    make = argparse.ArgumentParser if with_summaries else _ProgramParser
    parser = make(
        prog=PROGRAM,
        usage=f'{PROGRAM} [OPTION ...] COMMAND ...',
        description=(
            'Long-term memory for robots: search experience and perceptions by keyword, meaning '
            'and position.'
        ),
        epilog=_EPILOG,
        allow_abbrev=False,
    )
    parser.add_argument('--version', action=_Version)
    _add_common(parser, shown=lambda field: True)
    commands = parser.add_subparsers(
        prog=PROGRAM,
        metavar='COMMAND',
        dest='command',
        required=True,
        parser_class=CommandParser,
    )
    for name in COMMANDS:
        _add_command(commands, name, with_summaries)
    return parser


def _add_command(commands: Any, name: str, with_summary: bool) -> None:
    """Add a subcommand, by its name with dashes and as it is written."""
    dashed = name.replace('_', '-')
    shown = {'help': _get_help(name).partition('\n')[0]} if with_summary else {}
    parsers = [commands.add_parser(dashed, allow_abbrev=False, **shown)]
    if dashed != name:
        parsers.append(commands.add_parser(name, allow_abbrev=False))
    for subparser in parsers:
        subparser.set_defaults(command=name)
        subparser.add_all = functools.partial(_complete_command, subparser, name)


def _complete_command(parser: argparse.ArgumentParser, name: str) -> None:
    parser.description = _get_help(name)
    _add_arguments(parser, get_command(name).request)


def _get_help(name: str) -> str:
    """Return the help of a command as argparse takes it."""
    return get_command(name).help.replace('%', '%%')


def _add_arguments(parser: argparse.ArgumentParser, request: type) -> None:
    fields = get_fields(request)
    for field in fields:
        _add(parser, request, field)
    own = frozenset(field.name for field in fields)
    _add_common(parser, shown=lambda field: field.name in _IN_EVERY_HELP, without=own)


def collect_values(declaration: type, parsed: argparse.Namespace) -> dict[str, Any]:
    """Return the values given for the fields of a declaration."""
    found = {
        field.name: getattr(parsed, _make_dest(declaration, field), None)
        for field in get_fields(declaration)
    }
    return {name: value for name, value in found.items() if value is not None}


def _add_common(
    parser: argparse.ArgumentParser,
    shown: Callable[[Field], bool],
    without: frozenset[str] = frozenset(),
) -> None:
    """Add the options accepted before or after any subcommand, unless it has its own."""
    group = parser.add_argument_group('common options')
    for declaration in (Options, Settings):
        for field in get_fields(declaration):
            if field.name not in without:
                _add(group, declaration, field, hidden=not shown(field))


def _add(parser: Any, declaration: type, field: Field, hidden: bool = False) -> None:
    """Add one field: a required one as positional argument, any other as option."""
    dest = _make_dest(declaration, field)
    settings: dict[str, Any] = {
        'help': argparse.SUPPRESS if hidden else _format_help(field),
        **_BY_KIND[field.kind](field),
    }
    if field.required or field.name in _ALSO_POSITIONAL:
        optional = {} if field.required else {'nargs': '?'}
        parser.add_argument(dest, **{**settings, 'metavar': field.name.upper(), **optional})
        return
    if field.name in _REPEATABLE:  # an option that takes several values would take the positionals
        settings |= {'action': 'append', 'nargs': None, 'metavar': 'NAME=VALUE'}
    settings |= {'dest': dest, 'default': argparse.SUPPRESS}
    option = _NAMES.get(field.name, '--' + field.name.replace('_', '-'))
    parser.add_argument(option, **settings)
    for other in sorted({f'--{field.name}', f'--{field.name.replace("_", "-")}'} - {option}):
        parser.add_argument(other, **{**settings, 'help': argparse.SUPPRESS})


def _make_dest(declaration: type, field: Field) -> str:
    return f'{declaration.__name__}.{field.name}'


def _parse_integer(text: str) -> int | float | str:
    try:
        return int(text)
    except ValueError:
        return _parse_number(text)


def _parse_number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _describe_text(field: Field) -> dict[str, Any]:
    if field.choices:
        return {'metavar': '{' + ','.join(filter(None, field.choices)) + '}'}
    return {'metavar': 'PATH' if field.name in _PATHS else 'TEXT'}


_BY_KIND: dict[str, Callable[[Field], dict[str, Any]]] = {
    'text': _describe_text,
    'integer': lambda field: {'metavar': 'N', 'type': _parse_integer},
    'number': lambda field: {'metavar': 'X', 'type': _parse_number},
    'flag': lambda field: {
        'action': argparse.BooleanOptionalAction if field.default else 'store_true'
    },
    'json': lambda field: {'metavar': 'JSON'},
    'stamp': lambda field: {'metavar': 'JSON'},
    'texts': lambda field: {'action': 'extend', 'nargs': '+', 'metavar': 'TEXT'},
    'numbers': lambda field: {'action': 'extend', 'nargs': '+', 'metavar': 'N'},
}
"""argparse settings for each kind of field."""


def _format_help(field: Field) -> str:
    """Return a field's help with its default and bounds."""
    notes = []
    if field.minimum is not None and field.maximum is not None:
        notes.append(f'{field.minimum:g} to {field.maximum:g}')
    elif field.minimum is not None:
        notes.append(f'at least {field.minimum:g}')
    elif field.maximum is not None:
        notes.append(f'at most {field.maximum:g}')
    if field.choices and field.required:  # by its place its name stands for it
        notes.append(f'one of {field.accepted}')
    if field.max_length:
        notes.append(f'{field.min_length or "up"} to {field.max_length} characters')
    if field.default not in (None, '', False, ('',), ()):
        notes.append(f'default: {field.default}')
    text = f'{field.help} ({"; ".join(notes)})' if notes else field.help
    return text.replace('%', '%%')
