"""What kinds of events are, in sentences: a question may mean one with words that no table has."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

from robot_memory.text.questions.tables import load_table


class Gloss(NamedTuple):
    """Hold a sentence on the events of some kinds, and of a label where there is one."""

    text: str
    kinds: tuple[str, ...]
    labels: tuple[str, ...]


@cache
def list_glosses() -> tuple[Gloss, ...]:
    """Return the sentences of glosses.toml, each kind's and label's side by side."""
    return tuple(
        Gloss(text, tuple(one['kinds']), (one['label'],) if 'label' in one else ())
        for one in load_table('glosses')['gloss']
        for text in one['texts']
    )
