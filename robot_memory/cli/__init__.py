"""Command line: a subcommand for every tool, built from the declarations."""

from __future__ import annotations

import contextvars
import io
import logging
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import NoReturn

from robot_memory.cli.commands import get_command
from robot_memory.cli.options import PROGRAM, Options
from robot_memory.cli.parser import collect_values, parse_line
from robot_memory.core.authority import Writer
from robot_memory.core.configuration import load_settings as configured
from robot_memory.core.dependencies import describe_missing
from robot_memory.core.errors import Internal, RobotMemoryError, Unavailable
from robot_memory.core.fields import parse
from robot_memory.core.settings import Settings, find_store_path
from robot_memory.memory import caller, find_os_user
from robot_memory.status.logs import JsonLines, TextLines

logger = logging.getLogger(__name__)
_WITHOUT_ROLE = ('doctor',)
"""Commands that answer even where the disk of the store does not."""


def main() -> NoReturn:
    """
    Run the command in sys.argv and exit.

    Exits immediately: a model that is still loading would block the interpreter's own shutdown.
    """
    null = open(os.devnull, 'w')  # noqa: SIM115 - it stays open as long as the process
    # A stream that the caller closed is None.
    sys.stdout, sys.stderr = sys.stdout or null, sys.stderr or null
    try:
        code = run(sys.argv[1:])
    except KeyboardInterrupt:
        code = 130
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError):
            stream.flush()
    os._exit(code)


def run(arguments: Sequence[str]) -> int:
    """Run one command line; return the exit status: 0 success, 1 failure, 2 usage error."""
    try:
        contextvars.copy_context().run(_dispatch, arguments)  # who calls is this call's
    except SystemExit as leaving:  # argparse has printed help, or what is wrong with the usage
        return leaving.code if isinstance(leaving.code, int) else 0
    except BrokenPipeError:
        return 141
    except OSError as error:
        if error.filename is None:
            return _fail(Unavailable(f'cannot write the result: {error}'))
        return _fail(Unavailable(f'cannot use {error.filename}: {error.strerror}'))
    except RobotMemoryError as error:
        return _fail(error)
    except ModuleNotFoundError as error:
        return _fail(Unavailable(describe_missing(error) or str(error)))
    except Exception as error:
        logger.exception('failed')
        return _fail(Internal(f'{type(error).__name__}: {error}; --verbose prints the traceback'))
    return 0


def _dispatch(arguments: Sequence[str]) -> None:
    parsed = parse_line(arguments)
    options = parse(Options, collect_values(Options, parsed), PROGRAM)
    settings, found = configured(collect_values(Settings, parsed), PROGRAM)
    _set_up_streams(options, settings, serves=parsed.command in ('mcp', 'view'))
    found.log()
    if parsed.command not in _WITHOUT_ROLE:
        caller.set(Writer.of_role('cli', find_os_user(), _find_role(settings)))
    command = get_command(parsed.command)
    command.run(collect_values(command.request, parsed), settings, options)


def _find_role(settings: Settings) -> str:
    """Return what the user of the command line may be: the owner of the store is its operator."""
    if settings.cli_role != 'owner':
        return settings.cli_role
    path = find_store_path(settings)
    try:
        owns = not path.exists() or path.stat().st_uid == os.geteuid()
    except OSError:  # a folder that this user may not enter: the command says so
        owns = False
    return 'operator' if owns else 'planner'


def _set_up_streams(options: Options, settings: Settings, serves: bool) -> None:
    """Configure output encoding and logging; a server logs warnings."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        if options.json:
            sys.stdout.reconfigure(encoding='utf-8')
        else:
            sys.stdout.reconfigure(errors='backslashreplace')
    as_json = settings.log_format == 'json'
    level = logging.INFO if options.verbose or as_json else logging.WARNING
    level = logging.DEBUG if settings.debug else level
    if options.verbose or serves or settings.debug:
        handler = logging.StreamHandler()
        text = TextLines(f'{PROGRAM}: %(levelname)s %(name)s: %(message)s')
        handler.setFormatter(JsonLines() if as_json else text)
        logging.basicConfig(level=level, handlers=[handler])
    else:
        logging.disable(logging.CRITICAL)


def _fail(error: RobotMemoryError) -> int:
    """Print the error line of a failed command."""
    print(f'{PROGRAM}: [{error.code}] {" ".join(str(error).split())}', file=sys.stderr)
    return 1
