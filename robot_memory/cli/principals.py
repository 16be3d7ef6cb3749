"""The principals of a token file on the command line: list, add and remove them."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from pathlib import Path

from robot_memory.cli.common import show_answer
from robot_memory.cli.options import Options
from robot_memory.core.authority import ROLES
from robot_memory.core.errors import Conflict, InvalidArgument, NotFound
from robot_memory.core.fields import arg
from robot_memory.core.files import write_file
from robot_memory.core.folders import expand_path
from robot_memory.core.json_text import format_value
from robot_memory.core.settings import Settings
from robot_memory.http.principals import Principal, format_principals, parse_principals
from robot_memory.http.token import read_principals

TOKEN_BYTES = 32


@dataclass(frozen=True)
class PrincipalsRequest:
    """Arguments of the principals command."""

    action: str = arg(
        'list: print names and roles; add: create a token; remove: withdraw one.',
        default='list',
        choices=('list', 'add', 'remove'),
    )
    file: str = arg('Token file, as mcp_token_file names it.', default='')
    name: str = arg('Name of the principal (add, remove).', default='')
    role: str = arg('Role of the principal (add).', default='planner', choices=ROLES)
    may_speak_for: tuple[str, ...] = arg(
        'Actors that the principal may speak for, e.g. operator:anna (add).', default=()
    )


def manage_principals(request: PrincipalsRequest, _: Settings, options: Options) -> None:
    """
    List, add or remove the principals of a token file (mcp_token_file).

    A new token is printed once; the file holds its hash. The server reads the file when it starts.
    """
    if not request.file:
        raise InvalidArgument('principals requires --file, the file that mcp_token_file names')
    path = expand_path(request.file, 'file')
    if request.action == 'list':
        _print_list(_read(path), options)
        return
    if not request.name:
        raise InvalidArgument(f'principals {request.action} requires --name')
    if request.action == 'add':
        _add(request, path, options)
    else:
        _remove(request, path, options)


def _add(request: PrincipalsRequest, path: Path, options: Options) -> None:
    known = _read(path) if path.exists() else ()
    if any(one.name == request.name for one in known):
        raise Conflict(f'{path} already has a principal {request.name}; remove it first')
    token = secrets.token_urlsafe(TOKEN_BYTES)
    digest = hashlib.sha256(token.encode()).hexdigest()
    new = Principal(request.name, request.role, digest, frozenset(request.may_speak_for))
    _write(path, (*known, new))
    values = {'name': new.name, 'role': new.role, 'token': token, 'file': str(path)}
    show_answer(values, token, options)


def _remove(request: PrincipalsRequest, path: Path, options: Options) -> None:
    known = _read(path)
    left = tuple(one for one in known if one.name != request.name)
    if len(left) == len(known):
        names = ', '.join(one.name for one in known)
        raise NotFound(f'{path} has no principal {format_value(request.name)}; it has {names}')
    if not left:
        raise Conflict(f'{request.name} is the last principal; delete {path} instead')
    _write(path, left)
    show_answer({'removed': request.name, 'left': len(left)}, f'removed {request.name}', options)


def _print_list(known: tuple[Principal, ...], options: Options) -> None:
    values = [
        {'name': one.name, 'role': one.role, 'may_speak_for': sorted(one.may_speak_for)}
        for one in known
    ]
    lines = [
        f'{one.name}  {one.role}'
        + (f'  may speak for {", ".join(sorted(one.may_speak_for))}' if one.may_speak_for else '')
        for one in known
    ]
    show_answer(values, '\n'.join(lines), options)


def _read(path: Path) -> tuple[Principal, ...]:
    """Return the principals of a file; a file of one line has one, the planner `token`."""
    return read_principals(str(path)) or ()


def _write(path: Path, principals: tuple[Principal, ...]) -> None:
    text = format_principals(principals)
    parse_principals(text, str(path))  # what is written can be read back
    with write_file(path, force=True) as file:
        file.write(text.encode('ascii'))
