"""What is usual of a robot's joints: stored by one run for the next."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from robot_memory.core.json_text import dump_json
from robot_memory.detectors.effort import LearnedEffort
from robot_memory.memory import Memory
from robot_memory.storage.tables import learned_efforts


@dataclass(frozen=True)
class TopicEffort:
    """Hold what was learned of the joints of a topic for later runs; None: it is to be removed."""

    source: str
    topic: str
    learned: LearnedEffort | None


def store_effort(memory: Memory, item: TopicEffort) -> None:
    """Store what was learned, in place of what the same run had stored; or remove it all."""
    learned = item.learned
    if learned is None:
        with memory.db.read() as connection:
            is_there = learned_efforts.is_any(connection, item.source, item.topic)
        if is_there:
            with memory.db.write() as connection:
                learned_efforts.remove(connection, item.source, item.topic)
        return
    whose = _tell_joints(item.source, item.topic, learned.names, learned.conditions)
    plain = {field.name: getattr(learned, field.name) for field in fields(learned)}
    with memory.db.write() as connection:
        learned_efforts.put(connection, whose, learned.since_ns, learned.until_ns, plain)


def _tell_joints(
    source: str, topic: str, names: tuple[str, ...], conditions: tuple[float | str, ...]
) -> list[str]:
    return [source, topic, *names, dump_json(conditions)]


def find_effort(
    memory: Memory,
    source: str,
    topic: str,
    names: tuple[str, ...],
    conditions: tuple[float | str, ...],
    stamp_ns: int,
) -> LearnedEffort | None:
    """Return what was learned of a topic's joints before a stamp; None where nothing was."""
    whose = _tell_joints(source, topic, names, conditions)
    with memory.db.read() as connection:
        found: dict[str, Any] | None = learned_efforts.find(connection, whose, stamp_ns)
    if found is None:
        return None
    return LearnedEffort(**{**found, 'names': names, 'conditions': conditions})
