"""What came of the import of an archive."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ImportResult:
    """
    Say what came of an archive.

    `events` are those of folded memories, `places` the maps, anchors and regions.

    `erased` counts what was erased here and is not brought back. One that `is_cancelled` was kept
    in part.

    `lost` counts references to what it does not hold, `refused` the lines that were wrong;
    `problems` are the first of those in words.
    """

    sessions: int = 0
    memories: int = 0
    known: int = 0
    lost: int = 0
    same_ids: bool = False
    refused: int = 0
    problems: tuple[str, ...] = ()
    events: int = 0
    erased: int = 0
    is_cancelled: bool = False
    places: int = 0
