"""Checks of the backups: that they go somewhere, are made, and are whole."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from robot_memory.core.clock import DAY, format_instant
from robot_memory.core.errors import RobotMemoryError
from robot_memory.doctor.finding import Finding, Installation, NotChecked
from robot_memory.doctor.store import open_current
from robot_memory.storage.admin.advice import measure_room
from robot_memory.storage.admin.backup import INTERVALS, Plan, backups, is_new, plan_of
from robot_memory.storage.admin.verify import verify
from robot_memory.storage.tables.counts import bytes_of
from robot_memory.storage.upgrade import NoRoom

_MAKE = '`robot-memory backup`'


def check_backups(installation: Installation) -> Iterator[Finding]:
    """Yield what is wrong with the backup folder, and how old the last backup in it is."""
    plan = _plan(installation)
    folder = plan.folder
    if not folder.exists():
        yield Finding(
            'backups',
            f'the backup folder {folder} is not there',
            f'mount its disk, or `mkdir -p {folder}`; then {_MAKE}',
        )
        return
    if not folder.is_dir():
        yield Finding(
            'backups', f'backup_folder {folder} is no folder', 'set backup_folder to a folder'
        )
        return
    yield from _check_access(folder)
    yield from _check_room(installation, folder)
    known = backups(folder, installation.path.stem)
    yield from _check_age(installation, plan, known)


def check_last_backup(installation: Installation) -> Iterator[Finding]:
    """Yield that the last backup is not whole."""
    known = backups(_plan(installation).folder, installation.path.stem)
    if not known:
        raise NotChecked('there is no backup')
    last = known[-1][1]
    try:
        bad = [check for check in verify(last) if not check.holds]
        problem = '; '.join(f'{check.name}: {check.detail}' for check in bad)
    except (NoRoom, OSError) as error:
        raise NotChecked(f'{last} cannot be unpacked: {error}') from error
    except RobotMemoryError as error:
        problem = str(error)
    if problem:
        yield Finding(
            'last backup',
            f'the last backup {last} is damaged: {problem}',
            f'delete it, then {_MAKE}; check the disk of the folder (`dmesg`, `smartctl`)',
        )


def _plan(installation: Installation) -> Plan:
    plan = plan_of(installation.settings)
    if plan is None:
        raise NotChecked('backup_folder is not set')
    return plan


def _check_access(folder: Path) -> Iterator[Finding]:
    if not os.access(folder, os.W_OK | os.X_OK, effective_ids=True):
        read_only = os.statvfs(folder).f_flag & os.ST_RDONLY
        yield Finding(
            'backups',
            f'user {os.geteuid()} may not write to the backup folder {folder}'
            + (': its file system is mounted read-only' if read_only else ''),
            '`sudo mount -o remount,rw` its disk, or set backup_folder to another folder'
            if read_only
            else f'`sudo chown {os.geteuid()} {folder}; chmod u+rwx {folder}`',
        )


def _check_room(installation: Installation, folder: Path) -> Iterator[Finding]:
    room = measure_room(folder)
    needed = 2 * bytes_of(installation.path)
    if room is not None and room < needed:
        yield Finding(
            'backups',
            f'{room / 1e6:.0f} MB are free on the disk of the backup folder {folder}, the next '
            f'backup needs up to {needed / 1e6:.0f}',
            'delete old backups or what else is there, or lower backup_keep',
        )


def _check_age(
    installation: Installation, plan: Plan, known: list[tuple[int, Path]]
) -> Iterator[Finding]:
    """Yield that the last backup is older than two intervals; one from the future has no age."""
    now = installation.clocks.wall()
    if not known:
        with open_current(installation) as connection:
            if not is_new(connection):
                problem = f'{plan.folder} has no backup of {installation.path}'
                yield Finding('backups', problem, _MAKE)
    elif now - (last := max(at for at, _ in known)) > 2 * plan.interval:
        (interval,) = (name for name, long in INTERVALS.items() if long == plan.interval)
        yield Finding(
            'backups',
            f'the last backup in {plan.folder} is of {format_instant(last)[:16]}, '
            f'{(now - last) / DAY:.1f} days old; backup_interval is {interval}',
            f'{_MAKE}; keep the node running, which makes them',
        )
