"""Import recordings or archives into a memory that goes on with its work."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from robot_memory.archive.reader import import_archive
from robot_memory.core.errors import Cancelled, InvalidArgument, NotFound
from robot_memory.core.fields import arg
from robot_memory.ingest.bag_import import ImportPlan, import_once
from robot_memory.ingest.import_plan import find_files, make_plan
from robot_memory.memory import Memory, progress
from robot_memory.tool import tool
from robot_memory.tools.export_file import require_absolute
from robot_memory.tools.import_request import ImportRequest

_LISTED = 20
"""Problems that are told one by one."""


@dataclass(frozen=True)
class ImportFilesResponse:
    """Response of import_files."""

    files: int = arg('Recordings and archives that were read to their end.')
    skipped: int = arg('Recordings that were imported completely before.')
    failed: int = arg('Recordings and archives that could not be read.')
    memories: int = arg('Memories stored.')
    known: int = arg('Memories already known.')
    sessions: int = arg('Sessions imported from archives.')
    erased: int = arg('Memories of archives that were erased here, and stay so.')
    refused: int = arg('Invalid lines of archives.')
    problems: tuple[str, ...] = arg('What was not read, and why; the first 20.')


@dataclass
class _Counts:
    """Count what comes of each file."""

    files: int = 0
    skipped: int = 0
    failed: int = 0
    memories: int = 0
    known: int = 0
    sessions: int = 0
    erased: int = 0
    refused: int = 0

    def make_response(self, problems: list[str]) -> ImportFilesResponse:
        return ImportFilesResponse(**vars(self), problems=tuple(problems[:_LISTED]))


@tool(ros=False, idempotent=True)
def import_files(memory: Memory, request: ImportRequest) -> ImportFilesResponse:
    """
    Import recordings (rosbag2, rosbag1) or archives written by export.

    Imports are idempotent: what was imported before it was cancelled stays, and the same import
    resumes. Archives get new ids, since others write meanwhile.
    """
    for bag in request.bags:
        require_absolute('bags', bag)
    bags, archives = find_files(request)
    plan = make_plan(request)
    counts, problems = _Counts(), list[str]()
    for path in (*bags, *archives):
        try:
            if path in archives:
                _import_archive(memory, path, counts, problems)
            else:
                _import_recording(memory, path, plan, counts, problems, again=request.again)
        except Cancelled:
            break
        except (NotFound, InvalidArgument, OSError) as error:
            counts.failed += 1
            problems.append(f'{path}: {error}')
    if problems and counts.failed == len(bags) + len(archives):
        raise NotFound('; '.join(problems[:_LISTED]))
    return counts.make_response(problems)


def _import_archive(memory: Memory, path: Path, counts: _Counts, problems: list[str]) -> None:
    tell, steps = progress.get(), {False: f'check {path.name}', True: path.name}
    done = import_archive(
        memory, path, lambda done, total: tell(done, total, steps[bool(total)]), in_batches=True
    )
    counts.memories += done.memories
    counts.known += done.known
    counts.sessions += done.sessions
    counts.erased += done.erased
    counts.refused += done.refused
    problems += [f'{path.name}: {one}' for one in done.problems]
    if done.is_cancelled:
        raise Cancelled(f'{path.name} is imported in part')
    counts.files += 1


def _import_recording(
    memory: Memory,
    path: Path,
    plan: ImportPlan,
    counts: _Counts,
    problems: list[str],
    *,
    again: bool,
) -> None:
    tell, warnings = progress.get(), list[str]()
    done = import_once(
        memory,
        path,
        plan,
        warnings.append,
        lambda done, total: tell(done, total, path.name),
        again,
    )
    counts.files += not (done.skipped or done.is_cancelled)
    counts.skipped += done.skipped
    counts.memories += 0 if done.skipped else done.kept
    counts.known += done.known
    problems += [f'{path.name}: {one}' for one in warnings]
    if done.is_cancelled:
        raise Cancelled(f'{path.name} is imported in part')
