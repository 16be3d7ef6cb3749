"""The audit on the command line: its head, signed on request, and its verification."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from robot_memory.cli.common import open_memory, require_store, show_answer
from robot_memory.cli.options import PROGRAM, Options
from robot_memory.core.clock import format_instant
from robot_memory.core.errors import Conflict, InvalidArgument, NotFound, Unavailable
from robot_memory.core.fields import arg
from robot_memory.core.folders import expand_path
from robot_memory.core.json_text import format_value
from robot_memory.core.settings import Settings
from robot_memory.storage.admin.audit_check import give_head, verify
from robot_memory.storage.admin.audit_losses import ACCEPT
from robot_memory.storage.tables.audit import Head
from robot_memory.storage.tables.meta import get_store_id

NAMESPACE = 'robot-memory'
"""The namespace of the signatures, for ssh-keygen -Y verify -n."""
_TITLE = 'robot_memory audit head'


@dataclass(frozen=True)
class AuditCommand:
    """Arguments of the audit command."""

    request: str = arg(
        'head: print the last line of the audit; verify: verify all lines.',
        default='head',
        choices=('head', 'verify'),
    )
    sign: bool = arg('Sign the head with ssh-keygen -Y sign.', default=False)
    key: str = arg('SSH key to sign with; empty: ~/.ssh/id_ed25519.', default='')
    output: str = arg('File to write the head to; its signature goes to FILE.sig.', default='')
    head: str = arg(
        'File with an earlier head that the audit must still contain (verify).', default=''
    )


def audit(request: AuditCommand, settings: Settings, options: Options) -> None:
    """
    Print the head of the audit, signed with --sign, or verify the audit from its first line.

    A head that is kept elsewhere shows later that the audit was cut off or written anew.
    """
    require_store(settings)
    if request.request == 'verify':
        _verify(request, settings, options)
    else:
        _print_head(request, settings, options)


def _print_head(request: AuditCommand, settings: Settings, options: Options) -> None:
    if request.head:
        raise InvalidArgument('--head is for audit verify')
    signer = _find_signer(request) if request.sign else None
    with open_memory(settings, with_model=False) as memory:
        head = give_head(memory.db)
        with memory.db.read() as connection:
            store_id, now = get_store_id(connection), memory.clock()
    text = (
        f'{_TITLE}\nstore {store_id}\nline {head.id}\nchain {head.chain or "none"}\n'
        f'at {format_instant(now)}\n'
    )
    signature = '' if signer is None else _sign(signer, text)
    if request.output:
        output = expand_path(request.output, 'output')
        output.write_text(text)
        if signature:
            output.with_name(f'{output.name}.sig').write_text(signature)
    values = {'store_id': store_id, 'line': head.id, 'chain': head.chain, 'text': text}
    show_answer({**values, 'signature': signature or None}, (text + signature).rstrip(), options)


def _find_signer(request: AuditCommand) -> list[str]:
    """Return the command that signs; raise Unavailable or NotFound where it or the key lacks."""
    program = shutil.which('ssh-keygen')
    if program is None:
        raise Unavailable('ssh-keygen is not installed; install openssh-client to sign the head')
    key = expand_path(request.key or '~/.ssh/id_ed25519', 'key')
    if not key.is_file():
        raise NotFound(f'no SSH key at {key}; pass --key, or create one with ssh-keygen')
    return [program, '-q', '-Y', 'sign', '-n', NAMESPACE, '-f', str(key)]


def _sign(command: list[str], text: str) -> str:
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Unavailable(f'ssh-keygen did not sign the head: {done.stderr.strip()}')
    return done.stdout


def _verify(request: AuditCommand, settings: Settings, options: Options) -> None:
    if request.sign or request.output:
        raise InvalidArgument('--sign and --output are for audit head')
    with open_memory(settings, with_model=False) as memory:
        expected = None
        if request.head:
            with memory.db.read() as connection:
                expected = _read_head(expand_path(request.head, 'head'), get_store_id(connection))
        found = verify(memory.db, all_lines=True, expected=expected)
    if found.problem:
        raise Conflict(f'the audit does not verify: {found.problem}')
    if not found.is_accepted:
        raise Conflict(f'the audit is not whole: {found.loss}; {ACCEPT}')
    values = {'lines': found.last, 'chain': found.head.chain, 'loss': found.loss}
    text = f'{found.last} lines verify, head {found.head.chain or "none"}'
    if found.losses:
        text = (
            f'all lines that are there verify, up to line {found.last}, head {found.head.chain}\n'
            f'the audit is not whole: {found.loss}'
        )
    show_answer(values, text, options)


def _read_head(path: Path, store_id: str) -> Head:
    """Return the head that a file of `audit head` names."""
    if not path.is_file():
        raise NotFound(f'no file at {path}')
    lines = path.read_text(errors='replace').splitlines()
    values = dict(line.partition(' ')[::2] for line in lines[1:])
    try:
        head = Head(int(values['line']), values['chain'].replace('none', ''))
    except (KeyError, ValueError):
        lines = []
    if not lines or lines[0] != _TITLE:
        raise InvalidArgument(f'{path} is not an output of {PROGRAM} audit head')
    if values.get('store') != store_id:
        raise InvalidArgument(
            f'{path} is of the store {format_value(values.get("store"))}, not of {store_id}'
        )
    return head
