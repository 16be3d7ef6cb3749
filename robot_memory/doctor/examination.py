"""Making all checks, each in a thread of its own: one that hangs holds up no other."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import TypeVar, cast

from robot_memory.core.errors import RobotMemoryError
from robot_memory.doctor.backups import check_backups, check_last_backup
from robot_memory.doctor.configuration import (
    apply_params,
    check_params,
    check_settings,
    check_tokens,
)
from robot_memory.doctor.finding import Finding, Installation, NotChecked
from robot_memory.doctor.machine import check_files, check_port, check_ros
from robot_memory.doctor.models import check_model, check_second_model, check_vectors
from robot_memory.doctor.store import (
    check_access,
    check_clock,
    check_content,
    check_disk,
    check_erasures,
    check_libraries,
    check_log_size,
    check_store,
)

Answer = TypeVar('Answer')
Check = Callable[[Installation], Iterator[Finding]]
CHECKS: dict[str, Check] = {
    'settings': check_settings,
    'parameters': check_params,
    'libraries': check_libraries,
    'store': check_store,
    'access': check_access,
    'disk': check_disk,
    'content': check_content,
    'log size': check_log_size,
    'erasures': check_erasures,
    'clock': check_clock,
    'backups': check_backups,
    'last backup': check_last_backup,
    'model': check_model,
    'second model': check_second_model,
    'vectors': check_vectors,
    'tokens': check_tokens,
    'port': check_port,
    'open files': check_files,
    'ros': check_ros,
}
"""What is looked at, in this order."""
_SLOW = ('content', 'last backup')
"""What reads whole files: it may take as long as the caller says."""
_SHORT_SECONDS = 60.0
_NEEDS = {
    'libraries': ('content', 'erasures', 'clock', 'backups', 'last backup', 'vectors'),
    'store': (
        *('access', 'disk', 'content', 'log size', 'erasures', 'clock', 'backups', 'vectors'),
        *('port', 'open files'),
    ),
}
"""What is not looked at where extensions of SQLite cannot be loaded, or a disk does not answer."""


@dataclass(frozen=True)
class Examination:
    """Hold what was found, what was checked, and what was not, with the reason."""

    store: str
    findings: tuple[Finding, ...]
    checked: tuple[str, ...]
    not_checked: dict[str, str]


class _TooLong(Exception):
    """A check has not ended in time."""


def examine(
    installation: Installation, limit: float, tell: Callable[[str], None] = lambda name: None
) -> Examination:
    """
    Make all checks; one that does not end within `limit` seconds (60 for most) is a finding.

    `tell` is told the name of each check before it begins. Nothing is changed.
    """
    findings: list[Finding] = []
    checked: list[str] = []
    skipped: dict[str, str] = {}
    short = min(limit, _SHORT_SECONDS)
    try:
        subject = _bound(partial(apply_params, installation), short)
    except _TooLong:
        subject = replace(installation, params=None)
        findings.append(_tell_too_long('parameters', short))
    for name, check in CHECKS.items():
        if name in skipped:
            continue
        tell(name)
        seconds = limit if name in _SLOW else short
        try:
            found = _bound(partial(_list_findings, name, check, subject), seconds)
            checked.append(name)
        except NotChecked as reason:
            skipped[name] = str(reason)
            continue
        except _TooLong:
            found = [_tell_too_long(name, seconds)]
            skipped |= dict.fromkeys(_NEEDS['store'] if name == 'store' else (), found[0].found)
        findings += found
        if found and name == 'libraries':
            skipped |= dict.fromkeys(_NEEDS[name], 'an extension of SQLite cannot be loaded')
    return Examination(str(subject.path), tuple(findings), tuple(checked), skipped)


def _list_findings(name: str, check: Check, installation: Installation) -> list[Finding]:
    try:
        return list(check(installation))
    except (RobotMemoryError, OSError) as error:
        problem = f'the check failed: {type(error).__name__}: {error}'
        return [Finding(name, problem, 'mend what it names, then run the doctor again')]


def _tell_too_long(name: str, seconds: float) -> Finding:
    return Finding(
        name,
        f'the check has not ended within {seconds:g} s',
        'look whether the disk or the file server answers (`dmesg`), or pass --limit with more '
        'seconds',
    )


def _bound(ask: Callable[[], Answer], seconds: float) -> Answer:
    """Return what a function does, or raise what it raises; raise _TooLong where it goes on."""
    answers: queue.SimpleQueue[tuple[Answer | None, BaseException | None]] = queue.SimpleQueue()

    def answer() -> None:
        try:
            answers.put((ask(), None))
        except BaseException as error:
            answers.put((None, error))

    threading.Thread(target=answer, name='doctor', daemon=True).start()
    try:
        found, error = answers.get(timeout=seconds)
    except queue.Empty:
        raise _TooLong from None
    if error is not None:
        raise error
    return cast(Answer, found)
