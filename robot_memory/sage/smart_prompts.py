"""Prompts and suggestions for a text, grounded in what was recalled for it; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from robot_memory.core.records import Record, is_rule_giver
from robot_memory.sage.intent import Intent
from robot_memory.text.categories import CATEGORIES, PROTECTED
from robot_memory.text.quoting import format_line, quote

_TOPICS = 8
_QUOTED = 160
_PLAIN = {
    'troubleshooting': (
        'What changed since it last worked? State the error, the step and the numbers.',
        '上次正常以来有什么变化？请说明错误、步骤和数值。',
    ),
    'how_to': (
        'State the object, the tool and the applicable limits, then proceed step by step.',
        '先说明物体、工具和限制，再一步一步进行。',
    ),
    'comparison': (
        'Name what is compared, by which metric, and under which conditions.',
        '请说明比较的对象、指标和条件。',
    ),
    'definition': (
        'Explain its purpose on this robot, not only in general.',
        '请说明它在这台机器人上的用途，而不仅是一般含义。',
    ),
    'explanation': (
        'Ask for the cause and for the measurement that shows it.',
        '请询问原因以及能证明它的测量。',
    ),
    'general': (
        'State the action, the object, the place and the success criterion.',
        '请说明要做什么、用什么、在哪里，以及如何判断成功。',
    ),
}
"""The prompt that is no memory's, by what is asked: English, Chinese."""
_WORDED_AS = {
    (True, False): ('Heed', '注意'),
    (False, False): ('Known', '已知'),
    (False, True): ('Seen or heard', '所见所闻'),
}
"""How a memory is told, by whether it is a rule and whether it is quoted: English, Chinese."""
_TYPES = {
    'troubleshooting': 'corrective',
    'how_to': 'educational',
    'comparison': 'exploratory',
    'definition': 'educational',
    'explanation': 'exploratory',
    'general': 'exploratory',
}


@dataclass(frozen=True)
class Prompt:
    """Hold one prompt: contextual, corrective, suggestive, exploratory or educational."""

    type: str
    text: str
    priority: float


@dataclass(frozen=True)
class Step:
    """Hold a step of what was done before; `duration` is empty where none was measured."""

    step: int
    topic: str
    duration: str


def make_prompts(intent: Intent, known: Sequence[tuple[Record, float]]) -> list[Prompt]:
    """Return prompts, the most urgent first: what must be heeded, what is known, what to ask."""
    found = []
    for record, score in known:
        heeded = _is_rule(record)
        english, chinese = _WORDED_AS[heeded, not is_rule_giver(record)]
        text = _choose(
            intent,
            f'{english} ({_cite(record)}): {_shorten(record)}',
            f'{chinese}（{_cite(record)}）：{_shorten(record)}',
        )
        priority = min(1.0, 0.9 + score / 10) if heeded else 0.5 + 0.4 * min(1.0, score)
        found.append(Prompt('corrective' if heeded else 'contextual', text, round(priority, 2)))
    english, chinese = _PLAIN[intent.question_type]
    found.append(Prompt(_TYPES[intent.question_type], _choose(intent, english, chinese), 0.4))
    return sorted(found, key=lambda prompt: -prompt.priority)


def make_suggestions(intent: Intent, known: Sequence[tuple[Record, float]]) -> list[str]:
    """Return what to do next, each about a memory that was recalled or about their absence."""
    if not known:
        about = ', '.join(intent.keywords) or _choose(intent, 'this', '这件事')
        return [
            _choose(
                intent,
                f'No memories about {about}: learn what you find out.',
                f'没有关于{about}的记忆：请把结果用 learn 记下来。',
            )
        ]
    found = []
    for record, _ in known:
        task = record.context.get('task')
        failed = isinstance(task, dict) and task.get('success') is False
        if _is_rule(record):
            found.append(
                _choose(
                    intent,
                    f'Check {_cite(record)} before acting.',
                    f'行动之前先核对 {_cite(record)}。',
                )
            )
        elif failed:
            found.append(
                _choose(
                    intent,
                    f'{_cite(record)} failed: change the approach.',
                    f'{_cite(record)} 失败过：请改变做法。',
                )
            )
        elif record.confidence < 0.5:
            found.append(
                _choose(
                    intent,
                    f'{_cite(record)} is uncertain ({record.confidence:.2f}): confirm it, then '
                    'update it.',
                    f'{_cite(record)} 不太确定（{record.confidence:.2f}）：请确认后更新。',
                )
            )
    return found


def find_related_topics(intent: Intent, known: Sequence[tuple[Record, float]]) -> list[str]:
    """Return the tags that recalled memories have in common, categories aside, commonest first."""
    counts = Counter(tag for record, _ in known for tag in record.tags if tag not in CATEGORIES)
    asked = {word.casefold() for word in intent.keywords}
    common = sorted(counts, key=lambda tag: (-counts[tag], tag))
    return [tag for tag in common if tag.casefold() not in asked][:_TOPICS]


def make_learning_path(procedures: Sequence[Record], seconds: Mapping[str, float]) -> list[Step]:
    """
    Return what was shown or done for the task, oldest first.

    `seconds` are the measured lengths of sessions by their id. Nothing is invented: the list is
    empty where no procedure is remembered.
    """
    ordered = sorted(procedures, key=lambda record: record.stamp or record.created_at * 1000)
    return [
        Step(
            number,
            _shorten(record),
            _format_duration(seconds.get(record.session_id or '')),
        )
        for number, record in enumerate(ordered, 1)
    ]


def _format_duration(seconds: float | None) -> str:
    if seconds is None:
        return ''
    return f'{seconds / 60:.0f} min' if seconds >= 120 else f'{seconds:.0f} s'


def _cite(record: Record) -> str:
    return f'mem_{record.id}'


def _is_rule(record: Record) -> bool:
    return record.category in PROTECTED and is_rule_giver(record)


def _shorten(record: Record) -> str:
    put = format_line if is_rule_giver(record) else quote
    return put(record.content, _QUOTED)


def _choose(intent: Intent, english: str, chinese: str) -> str:
    return chinese if intent.is_chinese else english
