"""Commands against loss and damage: backup, doctor, verify, salvage, restore."""

from __future__ import annotations

import shlex
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from robot_memory.cli.common import open_memory, require_store, show_answer
from robot_memory.cli.options import Options
from robot_memory.cli.text import format_count
from robot_memory.core.errors import InvalidArgument, NotFound, Unavailable
from robot_memory.core.fields import arg
from robot_memory.core.folders import expand_path
from robot_memory.core.progress import make_progress_bar, move_bar
from robot_memory.core.settings import Settings, find_store_path
from robot_memory.memory import caller
from robot_memory.storage.admin.backup import (
    Plan,
    back_up_now,
    back_up_to,
    backups,
    plan_of,
)
from robot_memory.storage.admin.backup_folders import drop_folder
from robot_memory.storage.admin.restore import restore
from robot_memory.storage.admin.salvage import salvage
from robot_memory.storage.admin.verify import LOSS, REPLACE, Check, accept_pages, verify
from robot_memory.storage.error_messages import describe_folder


@dataclass(frozen=True)
class BackupRequest:
    """Arguments of the backup command."""

    folder: str = arg(
        'Folder for a backup named by its time; nothing there is deleted. Default: backup_folder, '
        'where backup_keep holds.',
        default='',
    )
    output: str = arg(
        'New file to write in place of a dated one; with gzip where its name ends in .gz.',
        default='',
    )
    drop_folder: str = arg(
        'Make no backup, but take a folder that is gone for good off the list that erasures '
        'search; the audit tells who did.',
        default='',
    )


@dataclass(frozen=True)
class DoctorRequest:
    """Arguments of the doctor command."""

    params: str = arg(
        'Parameter file of the node: it is checked, and its settings are used.', default=''
    )
    limit: float = arg(
        'Seconds after which a check is given up and told as a finding.',
        default=600.0,
        minimum=1.0,
        maximum=86_400.0,
    )


@dataclass(frozen=True)
class VerifyRequest:
    """Arguments of the verify command."""

    backup: str = arg('Backup to verify (.db or .db.gz) in place of the store.', default='')
    accept: bool = arg(
        'Give the pages of the store new checksums first, after another program wrote to it.',
        default=False,
    )


@dataclass(frozen=True)
class SalvageRequest:
    """Arguments of the salvage command."""

    output: str = arg('New file to write; default: the store with .salvaged.', default='')


@dataclass(frozen=True)
class RestoreRequest:
    """Arguments of the restore command."""

    backup: str = arg('Backup to restore: .db or .db.gz.')
    accept_loss: bool = arg(
        'Take a salvaged store although lines of its audit are lost; its audit tells who did.',
        default=False,
    )


def back_up_store(request: BackupRequest, settings: Settings, options: Options) -> None:
    """
    Make a checked backup of the store now, while others read and write.

    An erasure answers for it as for those that the node makes.
    """
    if request.folder and request.output:
        raise InvalidArgument('--folder and --output exclude each other; pass one of them')
    if request.drop_folder:
        if request.folder or request.output:
            raise InvalidArgument('--drop-folder makes no backup: pass no --folder, no --output')
        _drop_folder(expand_path(request.drop_folder, 'drop_folder'), settings, options)
        return
    output = expand_path(request.output, 'output') if request.output else None
    plan = None if output else _plan_backup(request, settings)
    require_store(settings, stored=True)
    with open_memory(settings, with_model=False) as memory:
        if plan is not None:
            output = back_up_now(memory.db, plan, memory.clock())
        elif output is not None:
            back_up_to(memory.db, output)
    assert output is not None
    size = output.stat().st_size
    values = {'path': str(output.absolute()), 'bytes': size}
    show_answer(values, f'{output.absolute()}, {size / 1e6:.1f} MB', options)


def _drop_folder(folder: Path, settings: Settings, options: Options) -> None:
    require_store(settings, stored=True)
    with open_memory(settings, with_model=False) as memory:
        held = len(backups(folder, memory.db.path.stem))
        dropped = drop_folder(memory.db, folder, held, memory.caller, memory.clock())
    text = f'{dropped}: off the list; later erasures do not search what was there'
    show_answer({'dropped': str(folder.absolute())}, text, options)


def examine_installation(request: DoctorRequest, settings: Settings, options: Options) -> None:
    """
    Examine store, backups, models, settings and machine; print each fault with its cure.

    Nothing is changed. The exit status is 1 where anything is wrong.
    """
    from robot_memory.doctor.examination import examine
    from robot_memory.doctor.finding import Installation

    params = expand_path(request.params, 'params') if request.params else None
    installation = Installation(find_store_path(settings), settings, params=params)
    with make_progress_bar(title='doctor', unit=' checks') as bar:
        found = examine(installation, request.limit, lambda name: move_bar(bar, bar.n + 1, 0))
    lines = [f'{one.check}: {one.found}\n  cure: {one.cure}' for one in found.findings]
    lines += [f'checked of {found.store}: {", ".join(found.checked)}']
    lines += [f'not checked: {name}: {why}' for name, why in found.not_checked.items()]
    show_answer(asdict(found), '\n'.join(lines), options)
    if found.findings:
        count = format_count(len(found.findings), 'finding')
        raise Unavailable(f'{count}; the cure of each stands below it')


def _plan_backup(request: BackupRequest, settings: Settings) -> Plan:
    """Return where a dated backup goes; raise InvalidArgument where nothing says it."""
    named = settings if not request.folder else replace(settings, backup_folder=request.folder)
    plan = plan_of(named)
    if plan is None:
        raise InvalidArgument(
            'no folder to make the backup in: set backup_folder (--backup-folder), or pass '
            '--folder or --output'
        )
    return replace(plan, keep=None) if request.folder else plan


def verify_store(request: VerifyRequest, settings: Settings, options: Options) -> None:
    """
    Verify pages, structure, indexes and audit of the store or of a backup.

    The exit status is 1 where a check does not hold.
    """
    path = expand_path(request.backup, 'backup') if request.backup else find_store_path(settings)
    if not path.exists():
        raise NotFound(f'no file at {path}; nothing to verify')
    if path.is_dir():
        if request.backup:
            raise InvalidArgument(f'{path} is a folder; name a backup in it')
        raise describe_folder(path)
    if request.accept:
        if request.backup:
            raise InvalidArgument('--accept is for the store, not for a backup')
        accept_pages(path)
    checks = verify(path)
    text = '\n'.join(f'{check.name:10} {_mark(check):6}  {check.detail}' for check in checks)
    show_answer({'path': str(path), 'checks': [asdict(check) for check in checks]}, text, options)
    bad = [check for check in checks if not check.holds]
    if bad:
        names = ', '.join(check.name for check in bad)
        cures = '; '.join(dict.fromkeys(check.cure or REPLACE for check in bad))
        what = 'not whole' if all(check.kind == LOSS for check in bad) else 'damaged'
        raise Unavailable(f'{path} is {what} ({names}): {cures}')


def _mark(check: Check) -> str:
    return 'LOST' if check.kind == LOSS else 'ok' if check.holds else 'FAILED'


def salvage_store(request: SalvageRequest, settings: Settings, options: Options) -> None:
    """
    Write a new store from all rows of a damaged one that can be read; tell what is lost.

    The damaged file is not changed; `robot-memory restore` puts the new one in its place.
    """
    path = find_store_path(settings)
    if not path.exists():
        raise NotFound(f'no store at {path}; nothing to salvage')
    if path.is_dir():
        raise describe_folder(path)
    name = request.output or f'{path}.salvaged'
    target = expand_path(name, 'output')
    with make_progress_bar(title='salvage', unit='memory') as bar:
        done = salvage(path, target, partial(move_bar, bar))
    lines = [f'{done.copied.get("memories", 0)} memories written to {target}']
    lines += [f'lost of {table}: {what}' for table, losses in done.lost.items() for what in losses]
    accept = ['--accept-loss'] if done.has_audit_loss else []
    command = shlex.join(['robot-memory', 'restore', str(target), *accept, '--db', str(path)])
    lines.append(f'to use it: {command}')
    answer = {'path': str(target), 'copied': done.copied, 'lost': done.lost}
    show_answer(answer, '\n'.join(lines), options)


def restore_store(request: RestoreRequest, settings: Settings, options: Options) -> None:
    """
    Put a backup in the place of the store, after checking it; the old file is kept beside it.

    No process may have the store open.
    """
    backup = expand_path(request.backup, 'backup')
    if not backup.exists():
        raise NotFound(f'no file at {backup}; nothing to restore')
    path = find_store_path(settings)
    accepting = caller.get() if request.accept_loss else None
    if accepting is not None:
        accepting.require_operator('--accept-loss')
    done = restore(backup, path, accepting)
    kept = None if done.kept is None else str(done.kept)
    lines = [f'{path} is now what {backup} holds' + (f'; the old file is {kept}' if kept else '')]
    if done.carried:
        lines.append(f'{done.carried} tombstones of erased memories were carried over')
    for what in done.unread:
        lines.append(
            f'tombstones that could not be read: {what}; import no archive or recording that may '
            'hold what was erased'
        )
    if done.loss:
        lines.append(f'WARNING: its audit is not whole: {done.loss}')
    answer = {
        'path': str(path),
        'kept': kept,
        'carried': done.carried,
        'unread': done.unread,
        'loss': done.loss,
    }
    show_answer(answer, '\n'.join(lines), options)
