"""The settings of ingestion that are of no single tap."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.core.fields import arg
from robot_memory.ingest.tap import DEFAULTS


@dataclass(frozen=True)
class IngestSettings:
    """Ingest settings; each tap has its own settings under its name."""

    taps: tuple[str, ...] = arg(
        'Tap names; the settings of each tap (topic, type, ...) are under its name.',
        default=tuple(DEFAULTS),
    )
    session_hours: float = arg(
        'Time after its start in which an open session gets the events of the taps, in hours.',
        default=12.0,
        minimum=0.0,
        maximum=8760.0,
    )
    source: str = arg(
        'Name of this robot as event source, if one store holds memories of several robots.',
        default='',
    )
    demonstration: str = arg(
        'Name of the demonstration being recorded: its motions are stored as procedural '
        'memories. Empty: none.',
        default='',
    )
