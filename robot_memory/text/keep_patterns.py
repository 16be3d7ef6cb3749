"""
Writes the patterns that texts are read by, compiled, for the processes to come.

`python -m robot_memory.text.keep_patterns [PATH]`; `make build` does so.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
from collections.abc import Iterator
from datetime import datetime, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from robot_memory.text.compiled_patterns import COMPILED, PLACE, write

_TEXTS = (
    'How many contacts over 5 N were there last week, and which of the two was harder?',
    'Which were the three hardest pushes between 10 and 20 newtons since the tool change?',
    'What was the average force at least 30 newtons but under 50 while the screw was turned?',
    'Which contact was closest to 20 N? Show me all faults, a fifth of the images, worst first.',
    'Where is the red cup? Never lift more than 5 kg near people after 10 pm in the kitchen.',
    "If Anna is ill, then serve her tea at 8 o'clock; the robot must not exceed 0.25 m/s.",
    'Please always use the soft gripper for eggs unless Dr. Smith asks for another tool.',
    'Dock A is now in the hall, it was at dock B before; 1,000 g is 1 kg, half an hour 30 min.',
    'I prefer the blue one. No longer push beyond 15 mm/s. Actually, it failed with error code 7.',
    '上周超过5牛的接触有几次？最用力的三次推是哪几次，平均时长是多少？',
    '换工具以后力最大的两次碰撞里，哪一次更重？百分之八以上的画面呢？',
    '红色的杯子在哪里？晚上十点以后在厨房人旁边不要搬超过三公斤的东西。',
    '如果安娜生病了，八点给她送茶；速度不得超过每秒0.25米，除非张医生要求用别的工具。',
    '我喜欢蓝色的。充电桩现在在大厅，以前在厨房；请记住永远不要用硬夹爪拿鸡蛋。',
)
"""Texts of each sort, in each language that has tables."""
_OFTEN = 60
"""Times that texts are read: what spares searches is made when there were some."""


def _list_texts() -> Iterator[str]:
    """Yield texts that every table has a word of."""
    from robot_memory.text.questions.tables import load_table

    yield from _TEXTS
    for rule in load_table('times')['time']:
        yield from rule.get('has', ())
    for number in range(_OFTEN):
        yield f'{number} {_TEXTS[number % len(_TEXTS)]}'


def _load_sections() -> None:
    """Compile what the sections of the questions' tables have, one by one."""
    from robot_memory.text.questions import tables

    for place in sorted(Path(tables.__file__).parent.glob('*.toml')):
        sections: dict[str, Any] = tables.load_table(place.stem)
        for section, found in sections.items():
            for name in found if isinstance(found, dict) else ():
                try:
                    tables.load_pattern(place.stem, section, name)
                except (re.error, TypeError):  # words, numbers, and parts of patterns
                    continue


def _import_all() -> None:
    """Import all modules of texts, some of which compile patterns then."""
    from robot_memory import text

    for module in pkgutil.walk_packages(text.__path__, f'{text.__name__}.'):
        importlib.import_module(module.name)


def _read_all() -> None:
    from robot_memory.text import agreement, relations, slots, statements
    from robot_memory.text.categories import classify, is_limit
    from robot_memory.text.questions.reader import read_question
    from robot_memory.text.rules import commands, prescribed
    from robot_memory.text.rules.limits import read_limits
    from robot_memory.text.rules.mounting import read_mounted
    from robot_memory.text.rules.reader import read_rule
    from robot_memory.text.rules.scene import read_scene

    now, zone = datetime.now(timezone.utc), ZoneInfo('UTC')
    for text in _list_texts():
        read_question(text, now, zone)
        classify(text)
        is_limit(text)
        commands.commands(text)
        commands.describes(text)
        prescribed.may_prescribe_limit(text)
        prescribed.prescribes_limit(text)
        prescribed.states_bound(text)
        statements.list_sentences(text)
        statements.extract_statements(text)
        read_limits(text)
        read_rule(text)
        read_mounted(text)
        read_scene(text)
        relations.corrects(_TEXTS[0], text, 0.9)
        relations.repeats(_TEXTS[0], text, 0.9)
        relations.hints_at_change(text)
        for other in (_TEXTS[0], _TEXTS[-1]):
            agreement.compare(slots.find_slots(text), slots.find_slots(other))
    agreement.compile_all()


def main(place: str = PLACE) -> None:
    """Write all that texts of each sort need, to a path."""
    COMPILED.asked = set()
    _import_all()
    _read_all()
    _load_sections()
    write(COMPILED.asked, place)


if __name__ == '__main__':
    main(*sys.argv[1:2])
