"""Checks of the store: that its files are there, can be used and are whole."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from robot_memory.core.clock import DAY, RELEASED, format_instant
from robot_memory.core.epochs import Epoch, judge
from robot_memory.core.errors import Unavailable
from robot_memory.core.files import measure_file
from robot_memory.doctor.finding import Finding, Installation, NotChecked, read_finding
from robot_memory.storage import (
    Connection,
    checksums,
    epochs,
    schema_runner,
    vector_extension,
)
from robot_memory.storage.admin.advice import LITTLE_ROOM, measure_room
from robot_memory.storage.admin.backup import backups, plan_of
from robot_memory.storage.admin.log_check import check_log
from robot_memory.storage.admin.verify import Locked, hold_checked, verify
from robot_memory.storage.lock_owners import find_readers, find_users, name_processes
from robot_memory.storage.source import LARGE_LOG
from robot_memory.storage.store_files import JOURNAL, LOG, SUFFIXES, name_file
from robot_memory.storage.tables import erasures

_NO_STORE = 'set db_path to the store, or `robot-memory restore BACKUP`, which keeps this file'


def find_fault_of_file(installation: Installation) -> Finding | None:
    """Return why the file of the store cannot be opened as one, None where it can."""
    path = installation.path
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        return Finding('store', f'there is no store at {path}', _advise_missing(installation))
    except OSError as error:
        return Finding(
            'store',
            f'{path} cannot be looked at: {error.strerror}',
            'set db_path to a file in a folder, and one that this user may enter',
        )
    if not stat.S_ISREG(mode):
        kind = 'a folder' if stat.S_ISDIR(mode) else 'no ordinary file'
        return Finding('store', f'{path} is {kind}', 'set db_path to the file of the store')
    if not os.access(path, os.R_OK, effective_ids=True):
        return Finding('store', f'user {os.geteuid()} may not read {path}', _give(path))
    if not measure_file(path):
        return Finding('store', f'{path} is empty (0 bytes)', _advise_missing(installation))
    journal = name_file(path, JOURNAL)
    if measure_file(journal):
        return Finding(
            'log',
            f'{journal} lies beside the store, which keeps none: opening the store would undo '
            'pages by it',
            f'if {path.name} was copied here `mv {journal} {journal}.other`; else leave it',
        )
    return None


def check_store(installation: Installation) -> Iterator[Finding]:
    """Yield why the file of the store cannot be opened as one."""
    fault = find_fault_of_file(installation)
    if fault is not None:
        yield fault


def _advise_missing(installation: Installation) -> str:
    plan = plan_of(installation.settings)
    known = [] if plan is None else backups(plan.folder, installation.path.stem)
    if known:
        return f'`robot-memory restore {known[-1][1]}`'
    return (
        'set db_path (--db, ROBOT_MEMORY_DB) to where it is, `robot-memory restore BACKUP`, or '
        'start the node or `robot-memory learn`, which make a new one'
    )


def _give(path: Path) -> str:
    return f'`sudo chown {os.geteuid()} {path}; chmod u+rw {path}`'


def check_libraries(_: Installation) -> Iterator[Finding]:
    """Yield the extensions of SQLite that cannot be loaded."""
    for package, load in (('apsw', checksums.load), ('sqlite-vec', vector_extension.load)):
        try:
            load()
        except Unavailable as error:
            cure = f'`pip install --force-reinstall {package}` (a wheel for this machine)'
            yield read_finding('libraries', error, cure)


def check_access(installation: Installation) -> Iterator[Finding]:
    """Yield what of the store's files and folder this user may not write."""
    path = installation.path
    folder = path.parent
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    if not folder.is_dir():
        raise NotChecked(f'{folder} is no folder')
    for file in (folder, *(name_file(path, suffix) for suffix in SUFFIXES)):
        if file.exists() and _is_refused(file, os.W_OK) and not _is_refused(file, os.R_OK):
            yield _describe_refused(file)


def _is_refused(file: Path, what: int) -> bool:
    return not os.access(file, what, effective_ids=True)


def _describe_refused(file: Path) -> Finding:
    if os.statvfs(file).f_flag & os.ST_RDONLY:
        return Finding(
            'access',
            f'{file} is on a file system that is mounted read-only',
            'look for its errors (`dmesg`), then `sudo mount -o remount,rw` it, or set db_path to '
            'another disk',
        )
    found = file.stat()
    state = f'owner {found.st_uid}, mode {stat.S_IMODE(found.st_mode):04o}'
    return Finding(
        'access',
        f'user {os.geteuid()} may not write {file} ({state})',
        f'run as user {found.st_uid}, or {_give(file)}',
    )


def check_disk(installation: Installation) -> Iterator[Finding]:
    """Yield the disk of the store where it is nearly full."""
    folder = installation.path.parent
    room = measure_room(folder)
    if room is None:
        raise NotChecked(f'there is no folder {folder}')
    disk = os.statvfs(folder)
    if room < LITTLE_ROOM:
        yield Finding(
            'disk',
            f'{room / 1e6:.0f} MB are free on the disk of {folder}, less than '
            f'{LITTLE_ROOM / 1e6:.0f}',
            'delete what is not needed there, lower store_limit_mb and `robot-memory maintain`, '
            'or move the store',
        )
    if disk.f_files and not disk.f_favail:
        yield Finding(
            'disk',
            f'no file can be made on the disk of {folder}: all {disk.f_files} inodes are taken',
            f'delete small files there (`du --inodes -x {folder}` says where they are)',
        )


def check_content(installation: Installation) -> Iterator[Finding]:
    """Yield what `verify` finds, and a log that does not belong to the file."""
    path = installation.path
    if find_fault_of_file(installation) is not None:
        raise NotChecked('the store cannot be opened')
    try:
        checks = verify(path)
        fault = None
    except Locked as error:
        yield read_finding('store', error)
        return
    except Unavailable as error:
        checks = []
        fault = read_finding('store', error, '' if '; ' in str(error) else _NO_STORE)
    is_whole = fault is None and all(one.holds for one in checks)
    if not find_users(path):  # the log that a process uses is the store's
        log = check_log(path, is_whole=is_whole)
        if not log.holds:
            yield Finding('log', log.detail, log.cure)
            return
    if fault is not None:
        yield fault
    is_older = any(one.name == 'schema' for one in checks)
    for one in checks:
        if one.cure and not (is_older and one.name == 'pages' and one.holds):
            yield Finding(one.name, f'{path}: {one.detail}', one.cure)


def check_log_size(installation: Installation) -> Iterator[Finding]:
    """Yield a log that is too large, with who reads from it."""
    log = name_file(installation.path, LOG)
    size = measure_file(log)
    if size <= LARGE_LOG:
        return
    readers = find_readers(installation.path)
    state = f'the log {log} has {size / 1e6:.0f} MB, over {LARGE_LOG / 1e6:.0f}'
    if readers:
        yield Finding(
            'log size',
            f'{state}: {name_processes(readers)} stands still in reading an earlier state',
            f'end that (`kill {readers[0]}`), then `robot-memory maintain` empties the log',
        )
    else:
        yield Finding('log size', state, '`robot-memory maintain` empties it')


def check_erasures(installation: Installation) -> Iterator[Finding]:
    """Yield the erasure that is not completed, and what it waits for."""
    with open_current(installation) as connection:
        waiting = erasures.find_unfinished(connection)
    if waiting is not None:
        why = waiting.waits_for or 'no process that has the store open has completed it yet'
        yield Finding(
            'erasures',
            f'erasure {waiting.id} of {format_instant(waiting.at)[:16]} has no receipt '
            f'({waiting.state}): {why}',
            'end what it waits for; then the node, or `robot-memory status`, completes it',
        )


def check_clock(installation: Installation) -> Iterator[Finding]:
    """Yield a clock that is not believed, as the store's epochs judge it."""
    reading = installation.clocks.read()
    gap = round(installation.settings.clock_gap_days * DAY)
    try:
        with open_current(installation) as connection:
            judgement = epochs.judge_now(connection, reading, gap)
    except NotChecked:
        (judgement,) = judge([Epoch.begin(reading, None)], gap, RELEASED)
    if not judgement.trusted:
        yield Finding(
            'clock',
            f'the clock says {format_instant(reading.wall)[:19]} UTC and is suspect: '
            f'{judgement.reason}; decay and retention wait',
            'set it (`sudo timedatectl set-ntp true`), or confirm it with '
            '`robot-memory clock trust`',
        )


@contextmanager
def open_current(installation: Installation) -> Iterator[Connection]:
    """Open a store of this release to read from it; raise NotChecked for any other."""
    if find_fault_of_file(installation) is not None:
        raise NotChecked('the store cannot be opened')
    try:
        with hold_checked(installation.path) as connection:
            if not schema_runner.is_current(connection):
                raise NotChecked('the store was written by an earlier release')
            yield connection
    except Unavailable as error:
        raise NotChecked('the store cannot be read') from error
