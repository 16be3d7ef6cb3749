"""Import of a recording: its messages pass through the same pipeline as live ones."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from robot_memory.core.errors import Cancelled, NotFound
from robot_memory.ingest import messages
from robot_memory.ingest.earlier_runs import StoredRuns
from robot_memory.ingest.handlers import RecordingOrigin, TopicHandler
from robot_memory.ingest.losses import Loss, add_up
from robot_memory.ingest.no_record import NoRecordPolicy
from robot_memory.ingest.pictures_ahead import PicturesAhead
from robot_memory.ingest.pipeline import Pipeline
from robot_memory.ingest.pose_source import NO_PLACES, PoseSourceSettings
from robot_memory.ingest.recording import (
    RecordedTopic,
    Recording,
    find_storage_files,
    gather_batches,
    make_absolute,
)
from robot_memory.ingest.sessions import SessionFinder
from robot_memory.ingest.stamps import LOGGED
from robot_memory.ingest.tap import DEFAULTS, DETECTORS, Tap, make_tap
from robot_memory.ingest.writer import EventWriterBeside
from robot_memory.lifecycle.completed_imports import compute_key, find_completed, note_completed
from robot_memory.lifecycle.deferred_vectors import load_models
from robot_memory.memory import Memory

_LOAD_SECONDS = 60.0


@dataclass(frozen=True)
class ImportPlan:
    """
    Say how recordings are imported.

    `taps` holds the settings of each tap by its name; without, every topic of a type that a
    detector takes has one with the defaults. `overrides` are for all taps, as their collection,
    `tap_settings` for the taps of some names.
    """

    taps: Mapping[str, Mapping[str, Any]] | None = None
    overrides: Mapping[str, Any] = dataclasses.field(default_factory=dict)
    tap_settings: Mapping[str, Mapping[str, Any]] = dataclasses.field(default_factory=dict)
    place: PoseSourceSettings = dataclasses.field(default_factory=PoseSourceSettings)
    source: str = ''
    demonstration: str = ''
    session_hours: float = 12.0


@dataclass(frozen=True)
class ImportReport:
    """
    Tell what an import did: `seconds` of recording, and counts by tap and reason.

    It was `skipped` if it had been imported completely before. `losses` are the damaged parts,
    `lost` their number, bytes and messages as far as known. One that `is_cancelled` was read in
    part.
    """

    recording: str
    seconds: float
    messages: int
    kept: int
    known: int
    taps: dict[str, dict[str, int]]
    lost: dict[str, int]
    losses: tuple[Loss, ...] = ()
    skipped: bool = False
    is_cancelled: bool = False


def import_recording(
    memory: Memory,
    path: Path,
    plan: ImportPlan,
    tell: Callable[[str], None],
    progress: Callable[[int, int], None],
) -> ImportReport:
    """
    Store the events of a recording, and return what came of it.

    Events are written in a thread beside; all of them are in the store at the end. What was kept
    before, by an import that was broken off or by a live run, is known by its identity and not
    kept again. `progress` is told how many of how many messages are read; it may raise Cancelled:
    then what was found so far is kept. Models that nobody loads are loaded for texts alone, which
    are compared by their vectors. Raise NotFound where there is no recording.
    """
    with ExitStack() as closers:
        recording = closers.enter_context(Recording(path, tell))
        taps = _make_taps(recording, plan)
        if memory.embedder.state == 'off' and not all(map(_has_forms, taps)):
            load_models(memory, _LOAD_SECONDS)
        finder = SessionFinder(memory, plan.source, plan.session_hours, live=False)
        writer = closers.enter_context(EventWriterBeside(memory, taps, finder))
        is_alone = memory.resident_index is None  # else this process has more to do
        pictures = closers.enter_context(PicturesAhead()) if is_alone else None
        pipeline = Pipeline(
            taps,
            plan.place,
            plan.source,
            writer.enqueue,
            tell,
            make_absolute,
            memory.extensions,
            LOGGED,
            StoredRuns(finder, writer.wait),
            RecordingOrigin(path.absolute().name, recording.start_ns),
            NoRecordPolicy(memory, is_live=False),
            pictures=pictures,
        )
        if plan.demonstration:
            pipeline.set_demonstration(plan.demonstration, 0)
        if memory.no_record.zones and not (plan.place.pose_topic or plan.place.fixed_frame):
            tell(NO_PLACES)
        wanted = pipeline.list_handlers()
        _tell_unread(recording, wanted, tell)
        handlers: dict[tuple[str, str], list[TopicHandler]] = {}
        for handler in wanted:
            handlers.setdefault((handler.topic, handler.type), []).append(handler)
        has_one_each = all(len(found) == 1 for found in handlers.values())
        topics = [topic for topic in recording.topics if (topic.name, topic.type) in handlers]
        total = sum(topic.count for topic in topics)
        done, first_ns, last_ns, is_cancelled = 0, 0, 0, False
        for batch in gather_batches(recording.messages({topic.name for topic in topics})):
            received = [
                (handler, raw, recorded_ns)
                for recorded_ns, topic, kind, raw in batch
                for handler in handlers.get((topic, kind), ())
            ]
            if not received:
                continue
            pipeline.receive(received)
            if has_one_each:
                done += len(received)
            else:
                done += sum([(one.topic, one.type) in handlers for one in batch])
            first_ns, last_ns = first_ns or received[0][2], received[-1][2]
            try:
                progress(done, total)
            except Cancelled:
                is_cancelled = True
                break
        if not is_cancelled:  # else what is under way is found whole by the next import
            pipeline.finish()
        writer.wait()
        losses = tuple(recording.losses)
    for loss in losses:
        if loss.part:
            tell(loss.describe(first_ns))
    return ImportReport(
        recording=str(path),
        seconds=(last_ns - first_ns) / 1e9,
        messages=done,
        kept=sum(counts['events'] + counts['learned'] for counts in writer.counts.values()),
        known=sum(counts['known'] for counts in writer.counts.values()),
        taps=pipeline.report(writer.counts),
        lost=add_up(losses),
        losses=losses,
        is_cancelled=is_cancelled,
    )


def import_once(
    memory: Memory,
    path: Path,
    plan: ImportPlan,
    tell: Callable[[str], None],
    progress: Callable[[int, int], None],
    again: bool = False,
) -> ImportReport:
    """
    Import a recording, unless the same content was imported completely, by the same plan.

    That does not count if it is to be imported `again`.
    """
    key = compute_key(find_storage_files(path), plan)
    before = None if again else find_completed(memory, key)
    if before is not None:
        return ImportReport(
            str(path), before['seconds'], 0, 0, before['kept'], {}, add_up(()), skipped=True
        )
    done = import_recording(memory, path, plan, tell, progress)
    if not (done.losses or done.is_cancelled):
        figures = {'seconds': done.seconds, 'kept': done.kept + done.known}
        note_completed(memory, key, figures)
    return done


def _make_taps(recording: Recording, plan: ImportPlan) -> list[Tap]:
    given = plan.taps
    if given is None:
        given = {
            topic.name.strip('/').replace('/', '.'): {'topic': topic.name, 'type': topic.type}
            for topic in recording.topics
            if not _explain_unread(topic)
        }
    unknown = sorted(plan.tap_settings.keys() - given.keys() - DEFAULTS.keys())
    if unknown:
        raise NotFound(
            f'no tap {", ".join(unknown)} in {recording.path}; it has {", ".join(sorted(given))}'
        )
    return [
        make_tap(name, {**values, **plan.overrides, **plan.tap_settings.get(name, {})})
        for name, values in given.items()
    ]


def _has_forms(tap: Tap) -> bool:
    """Say whether what a tap stores is a form's, which may be given its vectors afterwards."""
    return tap.detector in DETECTORS and tap.detector != 'text'


def _tell_unread(
    recording: Recording, handlers: Iterable[TopicHandler], tell: Callable[[str], None]
) -> None:
    """Tell of every topic that no tap reads, and why, and of those that are not there."""
    types = {handler.topic: handler.type for handler in handlers}
    for topic in recording.topics:
        wanted = types.pop(topic.name, None)
        reason = '' if wanted == topic.type and not topic.broken else _explain_unread(topic)
        if not reason and wanted != topic.type:
            reason = f'the parameters require {wanted}' if wanted else 'no tap subscribes to it'
        if reason:
            tell(f'skipping {topic.name} ({topic.type}): {reason}')
    for name, kind in types.items():
        tell(f'{name} ({kind}) is not in the recording')


def _explain_unread(topic: RecordedTopic) -> str:
    if topic.broken:
        return topic.broken
    if topic.type not in messages.TYPES:
        return 'no detector accepts its type'
    return '' if topic.count else 'it is empty'
