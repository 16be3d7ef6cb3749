"""Put the store in order."""

from __future__ import annotations

import time
from dataclasses import dataclass

from robot_memory.core.clock import milliseconds_since
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import arg
from robot_memory.lifecycle import maintenance
from robot_memory.memory import Memory
from robot_memory.tool import tool


@dataclass(frozen=True)
class MaintainRequest:
    """Request of maintain."""

    keep_free_room: bool = arg(
        'Do not shrink the file: releasing free pages blocks other writers.',
        default=False,
    )
    reclassify: bool = arg(
        'Only infer the categories of active memories anew by the present rules: a preview, '
        'unless confirm is set.',
        default=False,
    )
    confirm: bool = arg('Apply what reclassify would change.', default=False)
    all: bool = arg(
        'Verify the audit from its first line, and the memories against it; otherwise from the '
        'last verified line.',
        default=False,
    )


@dataclass(frozen=True)
class MaintenanceStep:
    """One maintenance step."""

    name: str = arg(
        'Step: retention, folding, history, integrity, vectors, audit, words, rules, statistics, '
        'compact, log, backup; reclassify.'
    )
    done: bool = arg('False if the step was not needed or not possible.')
    detail: str = arg('Structured result.')
    ms: float = arg('Duration in milliseconds.')


@dataclass(frozen=True)
class MaintainResponse:
    """Response of maintain."""

    steps: tuple[MaintenanceStep, ...] = arg('Steps in the order they ran.')
    file_bytes: int = arg('Size of the database and its WAL after maintenance.')
    freed_bytes: int = arg('Reduction in bytes; negative if the file grew.')
    ms: float = arg('Total duration in milliseconds.')


@tool(idempotent=True, frees_space=True)
def maintain(memory: Memory, request: MaintainRequest) -> MaintainResponse:
    """
    Run database maintenance: statistics, indexes, integrity, audit, retention, WAL, backup.

    Recalls are not blocked. Writes are blocked during each short step, and while free pages are
    returned to the disk, which is done only if they are at least a quarter of the file.
    """
    start = time.perf_counter()
    if request.confirm and not request.reclassify:
        raise InvalidArgument('confirm is true, but there is nothing to confirm; set reclassify')
    before = maintenance.measure_file(memory)
    if request.reclassify:
        steps = maintenance.run_reclassification(memory, confirmed=request.confirm)
    else:
        steps = maintenance.run_maintenance(
            memory, keep_free_room=request.keep_free_room, all_lines=request.all
        )
    after = maintenance.measure_file(memory)
    return MaintainResponse(
        tuple(MaintenanceStep(step.name, step.done, step.detail, step.ms) for step in steps),
        after,
        before - after,
        milliseconds_since(start),
    )
