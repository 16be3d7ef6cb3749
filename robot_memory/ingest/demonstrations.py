"""The demonstrations of a run, each with its name and its time."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.detectors import Event

_MAX = 64


@dataclass
class _Demonstration:
    name: str
    begin_ns: int
    end_ns: int | None = None


class Demonstrations:
    """Know which demonstration was recorded when."""

    def __init__(self) -> None:
        """Begin with none."""
        self._known: list[_Demonstration] = []

    def begin(self, name: str, now_ns: int) -> None:
        """Take what moves from now on for a demonstration of that name; empty: no longer."""
        for open_one in self._known[-1:]:
            open_one.end_ns = open_one.end_ns or now_ns
        if name:
            self._known.append(_Demonstration(name, now_ns))
        del self._known[:-_MAX]

    def find(self, event: Event) -> str:
        """Return the name of the demonstration that an event reaches into, if there is one."""
        for one in reversed(self._known):
            ended_before = one.end_ns is not None and one.end_ns < event.stamp_ns
            if one.begin_ns <= event.end_ns and not ended_before:
                return one.name
        return ''
