"""What was being said or done while something happened."""

from __future__ import annotations

from collections import deque

from robot_memory.detectors import TextEvent

_MAX_TEXTS = 256


class OngoingTexts:
    """Hold the latest texts of each tap, and list those valid at an instant."""

    def __init__(self) -> None:
        """Begin with nothing said."""
        self._texts: dict[str, deque[TextEvent]] = {}

    def add(self, tap: str, event: TextEvent) -> None:
        """Note what was said; it ends what was said on the same tap before."""
        self._texts.setdefault(tap, deque(maxlen=_MAX_TEXTS)).append(event)

    def list_at(self, stamp_ns: int) -> list[TextEvent]:
        """Return the text of each tap that held at a stamp."""
        return [
            latest
            for texts in self._texts.values()
            for latest in [_find_latest(texts, stamp_ns)]
            if latest is not None and stamp_ns <= latest.until_ns
        ]


def _find_latest(texts: deque[TextEvent], stamp_ns: int) -> TextEvent | None:
    before = [event for event in texts if event.stamp_ns <= stamp_ns]
    return max(before, key=lambda event: event.stamp_ns, default=None)
