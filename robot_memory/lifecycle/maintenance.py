"""Maintenance of the store: retention, folding, integrity, indexes, free pages, log, backup."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from dataclasses import dataclass

from robot_memory.core.clock import milliseconds_since
from robot_memory.core.errors import Cancelled
from robot_memory.lifecycle import reclassification
from robot_memory.lifecycle.retention import retire_expired
from robot_memory.lifecycle.undo import prune_history
from robot_memory.memory import Memory, progress
from robot_memory.storage.admin import audit_check, maintenance
from robot_memory.storage.admin.maintenance import Done
from robot_memory.storage.tables import rule_conditions, trials
from robot_memory.storage.tables.counts import bytes_of

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Step:
    """Hold the result of one step; `ms` is its duration in milliseconds."""

    name: str
    done: bool
    detail: str
    ms: float


def run_maintenance(memory: Memory, *, keep_free_room: bool, all_lines: bool) -> list[Step]:
    """
    Run all steps in order, or those until it is cancelled; return what came of each.

    Raise Unavailable where the store cannot be written.
    """
    db = memory.db
    memory.accesses.flush()
    steps: dict[str, Callable[[], Done]] = {
        'retention': lambda: _retire_expired(memory),
        'folding': lambda: _fold(memory),
        'history': lambda: _prune_history(memory),
        'integrity': lambda: _repair(memory),
        'vectors': lambda: _make_vectors(memory),
        'audit': lambda: _verify_audit(memory, all_lines),
        'words': lambda: maintenance.merge_words(db),
        'rules': lambda: _refresh_rules(memory),
        'trials': lambda: _refresh_trials(memory),
        'statistics': lambda: maintenance.optimize(db),
        'compact': lambda: maintenance.compact(db),
        'log': lambda: maintenance.checkpoint(db),
        'backup': lambda: _back_up(memory),
    }
    if keep_free_room:
        del steps['compact']
    done: list[Step] = []
    for name, step in steps.items():
        try:
            progress.get()(len(done), len(steps), name)
        except Cancelled:
            break
        done.append(_time(name, step))
    return done


def run_reclassification(memory: Memory, *, confirmed: bool) -> list[Step]:
    """Infer categories anew, as a preview unless it is confirmed."""
    return [_time('reclassify', lambda: _reclassify(memory, confirmed))]


def measure_file(memory: Memory) -> int:
    """Return the size of the store's file and its log in bytes."""
    return bytes_of(memory.db.path)


def _time(name: str, step: Callable[[], Done]) -> Step:
    start = time.perf_counter()
    result = step()
    return Step(name, result.done, result.detail, milliseconds_since(start))


def _retire_expired(memory: Memory) -> Done:
    if not memory.settings.retention_days:
        return Done(False, 'retention_days is 0: nothing expires')
    count = retire_expired(memory)
    return Done(bool(count), f'{count} perceptions and turns soft-deleted')


def _fold(memory: Memory) -> Done:
    memory.folder.recount()
    count = memory.folder.run()
    return Done(bool(count), f'{count} perceptions folded into digests')


def _refresh_rules(memory: Memory) -> Done:
    with memory.db.write() as connection:
        count = rule_conditions.refresh(connection)
    return Done(bool(count), f'{count} conditions of rules written anew')


def _refresh_trials(memory: Memory) -> Done:
    with memory.db.write() as connection:
        count = trials.refresh(connection)
    return Done(bool(count), f'{count} rows of trials written anew')


def _repair(memory: Memory) -> Done:
    """Make damaged indexes anew where no row is damaged, then those that do not fit."""
    made = memory.mender.look()
    found = maintenance.repair(memory.db)
    return Done(found.done, f'{made} damaged indexes made anew; {found.detail}') if made else found


def _prune_history(memory: Memory) -> Done:
    if not memory.settings.history_days:
        return Done(False, 'history_days is 0: earlier states are kept')
    count = prune_history(memory)
    return Done(bool(count), f'{count} earlier states removed')


def _verify_audit(memory: Memory, all_lines: bool) -> Done:
    found = audit_check.verify(memory.db, all_lines=all_lines)
    if found.problem:
        logger.error('the audit does not verify: %s', found.problem)
        return Done(False, f'the audit does not verify: {found.problem}')
    if not found.losses:
        return Done(True, f'verified to line {found.last}, {found.head.chain}')
    if not found.is_accepted:
        logger.error('the audit is not whole: %s', found.loss)
    return Done(
        found.is_accepted,
        f'verified to line {found.last}, {found.head.chain}, but not whole: {found.loss}',
    )


def _make_vectors(memory: Memory) -> Done:
    """Give vectors of the loaded models to memories that have none."""
    if memory.embedder.get_if_loaded() is None:
        return Done(False, 'no embedding model is loaded: vectors stay as they are')
    made = max((done for done, _ in memory.reindexer.run()), default=0)
    return Done(bool(made), f'{made} vectors computed')


def _reclassify(memory: Memory, confirmed: bool) -> Done:
    changes = (reclassification.apply if confirmed else reclassification.preview)(memory)
    return Done(confirmed and bool(changes), reclassification.describe(changes, applied=confirmed))


def _back_up(memory: Memory) -> Done:
    if not memory.settings.backup_folder:
        return Done(False, 'backup_folder is not set')
    made = memory.backups.make_due()
    return Done(made is not None, f'created {made}' if made else 'not due')
