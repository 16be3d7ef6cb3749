"""
Print what calls take in a conversation of 500 turns: five sessions, two people.

The model embeds each question, as no question comes twice; medians and 95th percentiles.
"""

from __future__ import annotations

import json
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from robot_memory.api import RobotMemory
from robot_memory.core.progress import make_progress_bar

sys.path.insert(0, str(Path(__file__).resolve().parent))

from conversation_texts import PEOPLE, SAID, fill_form

TURNS, SESSIONS, CALLS = 500, 5, 100
ASKED = 'what should I know about the {thing} and the {place} at {hour}:00'


def measure_ms(
    title: str, call: Callable[[str], object], chance: random.Random
) -> dict[str, float]:
    """Return the median and the 95th percentile of a call with other words each time."""
    times = []
    for number in make_progress_bar(range(CALLS), title, unit='call'):
        question = f'{fill_form(chance, ASKED)} on day {number}'
        start = time.perf_counter()
        call(question)
        times.append((time.perf_counter() - start) * 1e3)
    return {
        'p50_ms': round(statistics.median(times), 2),
        'p95_ms': round(statistics.quantiles(times, n=20)[-1], 2),
    }


def main() -> None:
    """Hold the conversation, and ask about it."""
    chance = random.Random(0)
    with (
        tempfile.TemporaryDirectory() as folder,
        RobotMemory(str(Path(folder) / 'memory.db')) as robot,
    ):
        if not robot.wait_for_model(60):
            sys.exit('no model: the times of a conversation are measured with one')

        def say(_: str) -> None:
            person = PEOPLE[chance.randrange(2)]
            robot.save_conversation(
                fill_form(chance, chance.choice(SAID)), 'I see.', actor_id=person
            )

        for number in range(TURNS // 2 - CALLS):
            if number % ((TURNS // 2 - CALLS) // SESSIONS) == 0:
                robot.start_session(title=f'Shift {number}')
            say('')
        found = {
            'save_conversation': measure_ms('save_conversation', say, chance),
            'get_context': measure_ms('get_context', robot.get_context, chance),
            'get_context of one person': measure_ms(
                'get_context of one person',
                lambda asked: robot.get_context(asked, actor_id=PEOPLE[0]),
                chance,
            ),
            'search_memory': measure_ms('search_memory', robot.search_memory, chance),
            'sage_smart_prompt': measure_ms('sage_smart_prompt', robot.sage_smart_prompt, chance),
        }
    print(json.dumps(found))


if __name__ == '__main__':
    main()
