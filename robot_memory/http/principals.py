"""Principals: who a token authenticates, with which role, and for whom they may speak."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from robot_memory.core.authority import ROLES
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import arg, parse
from robot_memory.core.json_text import format_value

MAX_FILE = 1_000_000
"""Characters of a principals file."""
SPEAKS_FOR = ('operator', 'planner', 'person')
"""Kinds of actors that a principal may speak for: operator:anna."""
_NAME = re.compile(r'[A-Za-z0-9][\w.@-]{0,63}', re.ASCII)
_HASH = re.compile(r'[0-9a-f]{64}')
_ACTOR = re.compile(rf'({"|".join(SPEAKS_FOR)}):[^\s:,\[\]"][^:,\[\]"\n]{{0,99}}')


@dataclass(frozen=True)
class Principal:
    """Hold one authenticated caller; `token_sha256` is the SHA-256 of the token in hexadecimal."""

    name: str
    role: str
    token_sha256: str
    may_speak_for: frozenset[str] = frozenset()


@dataclass(frozen=True)
class _Line:
    name: str = arg('Name.')
    role: str = arg('Role.', choices=ROLES)
    token_sha256: str = arg('SHA-256 of the token in hexadecimal.')
    may_speak_for: tuple[str, ...] = arg('Actors.', default=())


def make_single(token: bytes) -> tuple[Principal, ...]:
    """Return the planner that a file of one line, or the environment, stands for."""
    return (Principal('token', 'planner', hashlib.sha256(token).hexdigest()),)


def parse_principals(text: str, where: str) -> tuple[Principal, ...]:
    """
    Return the principals of a JSON text {"principals": [{name, role, token_sha256, ...}]}.

    Raise InvalidArgument, which names the entry and never a hash, for what is not accepted.
    """
    try:
        content = json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidArgument(f'{where} is not valid JSON') from None
    if not isinstance(content, dict) or set(content) != {'principals'}:
        raise InvalidArgument(f'{where} must be one JSON object with the key principals only')
    entries = content['principals']
    if not isinstance(entries, list) or not entries:
        raise InvalidArgument(f'{where}: principals must be an array of at least one object')
    found = [_parse_entry(entry, f'{where}: principal {n}') for n, entry in enumerate(entries, 1)]
    for name, values in (
        ('name', [one.name for one in found]),
        ('token_sha256', [one.token_sha256 for one in found]),
    ):
        if len(set(values)) < len(values):
            raise InvalidArgument(f'{where} has two principals with the same {name}')
    return tuple(found)


def format_principals(principals: Iterable[Principal]) -> str:
    """Return the JSON text that `parse_principals` reads."""
    entries = [
        {
            'name': one.name,
            'role': one.role,
            'token_sha256': one.token_sha256,
            'may_speak_for': sorted(one.may_speak_for),
        }
        for one in principals
    ]
    return json.dumps({'principals': entries}, indent=2) + '\n'


def find_principal(principals: Iterable[Principal], token: bytes) -> Principal | None:
    """Return the principal of a token; every one is compared, in constant time."""
    given = hashlib.sha256(token).hexdigest()
    found = None
    for one in principals:
        if hmac.compare_digest(given, one.token_sha256):
            found = one
    return found


def _parse_entry(entry: Any, where: str) -> Principal:
    try:
        line = parse(_Line, entry, where)
    except InvalidArgument as error:
        message = str(error)
        raise InvalidArgument(message if where in message else f'{where}: {message}') from None
    if not _NAME.fullmatch(line.name):
        raise InvalidArgument(
            f'{where}: name must be 1 to 64 letters, digits and ._@-, not '
            f'{format_value(line.name)}'
        )
    if not _HASH.fullmatch(line.token_sha256):
        raise InvalidArgument(
            f'{where}: token_sha256 must be 64 hexadecimal digits in small letters, the SHA-256 '
            'of the token'
        )
    for actor in line.may_speak_for:
        if not _ACTOR.fullmatch(actor):
            raise InvalidArgument(
                f'{where}: may_speak_for accepts {", ".join(f"{k}:NAME" for k in SPEAKS_FOR)}, '
                f'not {format_value(actor)}'
            )
    return Principal(line.name, line.role, line.token_sha256, frozenset(line.may_speak_for))
