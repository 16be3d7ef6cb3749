"""The health of store, clock, models, disk and backups, and what `doctor` finds."""

from __future__ import annotations

import dataclasses
from functools import partial
from pathlib import Path
from typing import Any

from starlette.requests import Request
from starlette.responses import Response

from robot_memory.core.clock import format_instant
from robot_memory.core.settings import find_store_path
from robot_memory.doctor.examination import Examination, examine
from robot_memory.doctor.finding import Installation
from robot_memory.memory import Memory
from robot_memory.status.limits import report_limits
from robot_memory.status.summary import measure_free_bytes
from robot_memory.storage.admin.backup import backups, plan_of
from robot_memory.storage.admin.report import report
from robot_memory.viewer.rendering import render
from robot_memory.viewer.site import get_site, get_visitor

DOCTOR_SECONDS = 60.0


async def show_health(request: Request) -> Response:
    """Return the state of the store and of this process's models; with ?doctor=1 the checks."""
    site, who = get_site(request), get_visitor(request).writer
    stats = await site.calls.ask(who, 'get_memory_stats')
    state = await site.calls.run(partial(_read_state, site.memory))
    found = None
    if request.query_params.get('doctor'):
        found = await site.calls.run_long(partial(_run_doctor, site.memory))
    return render(request, 'health.html', stats=stats, state=state, found=found)


def _read_state(memory: Memory) -> dict[str, Any]:
    path = find_store_path(memory.settings)
    with memory.db.read() as connection:
        found = report(connection, path)
        limits = report_limits(memory, connection)
        cache = memory.cache_state(connection)
    return {
        'path': str(path),
        'report': dataclasses.asdict(found),
        'limits': [dataclasses.asdict(one) for one in limits],
        'free_bytes': measure_free_bytes(memory),
        'index': cache,
        'read_only': memory.db.read_only_reason,
        'no_record': memory.no_record.describe(),
        'clock': memory.timekeeper.describe_suspicion(),
        'backups': _read_backups(memory, path),
        'models': [
            (
                which,
                getattr(embedder.get_if_loaded(), 'name', ''),
                embedder.state,
                embedder.reason,
            )
            for which, embedder in (('first', memory.embedder), ('second', memory.second))
        ],
    }


def _read_backups(memory: Memory, path: Path) -> dict[str, Any] | None:
    """Return the folder of backups, how many it keeps, and when the last was made."""
    plan = plan_of(memory.settings)
    if plan is None:
        return None
    known = backups(plan.folder, path.stem) if plan.folder.is_dir() else []
    last = format_instant(known[-1][0]) if known else ''
    return {'folder': str(plan.folder), 'kept': len(known), 'last': last}


def _run_doctor(memory: Memory) -> Examination:
    """Make the checks that `robot-memory doctor` makes."""
    installation = Installation(find_store_path(memory.settings), memory.settings)
    return examine(installation, DOCTOR_SECONDS)
