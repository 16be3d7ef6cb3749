"""What a pipeline makes of messages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from robot_memory.lifecycle.perceptions import Perception
from robot_memory.lifecycle.trials import Report
from robot_memory.lifecycle.usual_efforts import TopicEffort


@dataclass(frozen=True)
class LearnedText:
    """Hold a text that is to be learned; `stamp` in nanoseconds, as in a Perception."""

    insight: str
    context: dict[str, Any]
    collection: str
    stamp: int
    stamp_is_local: bool = False
    category: str = ''
    event: str = ''
    session_id: str | None = None


Result: TypeAlias = 'Perception | LearnedText | TopicEffort | Report'
"""What a pipeline makes: an event, a text to learn, what was learned of joints, or a trial."""
