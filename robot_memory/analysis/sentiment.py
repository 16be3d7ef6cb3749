"""How people speak to the robot, and beside it how tasks end; neither stands for the other."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from robot_memory.analysis.window import (
    MIN_FOR_TREND,
    Analysis,
    Window,
    cite,
    compare_halves,
    format_ids,
    make_example,
    sort_by_time,
)
from robot_memory.analysis.word_tables import load_table
from robot_memory.core.records import Record, Session
from robot_memory.text.tokenizer import cut, fold

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_CLAUSE = re.compile(r'[.,;:!?。，；：！？、\n]|\bbut\b|但是?')
_BEFORE = 3
"""Words back that a negation still turns a word round."""
_READ = 10_000
_EXAMPLES = 3
_POOR = 0.5
_LEAST = 2


@dataclass(frozen=True)
class Sentiment:
    """Count the words of a text that are kind and those that are not."""

    positive: int
    negative: int

    @property
    def score(self) -> float | None:
        """Return -1 to 1; None where no word tells a mood."""
        total = self.positive + self.negative
        return (self.positive - self.negative) / total if total else None


def analyse(window: Window) -> Analysis:
    """Read the mood of the turns, and the outcomes that records and sessions tell."""
    turns = sort_by_time(record for record in window.records if record.type == 'turn')
    moods = {turn.id: score_sentiment(turn.content) for turn in turns}
    outcomes = _group_outcomes(window.records)
    scored = [session for session in window.sessions if session.outcome_score is not None]
    results = {
        'sentiment': {
            role: _summarise_sentiment([turn for turn in turns if turn.role == role], moods)
            for role in ('user', 'assistant')
        },
        'outcome': {'tasks': _summarise_tasks(outcomes), 'sessions': _summarise_scores(scored)},
        'cannot_say': _list_unknowns(turns, moods, outcomes, scored),
    }
    people = [turn for turn in turns if turn.role == 'user']
    return Analysis(
        results,
        tuple(_derive_insights(people, moods, outcomes, scored, window.records)),
        tuple(_derive_recommendations(people, moods, outcomes)),
    )


def score_sentiment(text: str) -> Sentiment:
    """
    Count the words of a text that tell a mood.

    A word after a negation in the same clause counts as its opposite: "not bad" is kind.
    """
    positive = negative = 0
    for clause in _CLAUSE.split(fold(cut(text, _READ)[0])):
        for kind in (*_score_english(clause), *_score_chinese(clause)):
            positive += kind
            negative += not kind
    return Sentiment(positive, negative)


def _score_english(clause: str) -> Iterator[bool]:
    lexicon, negations, likening = _load_english()
    words = [word.replace('’', "'") for word in _WORD.findall(clause)]
    for place, word in enumerate(words):
        kind = lexicon.get(word)
        before = words[max(0, place - _BEFORE) : place]
        if kind is None or (word.startswith('like') and before and before[-1] in likening):
            continue
        turned = sum(one in negations or one.endswith("n't") for one in before) % 2
        yield kind != bool(turned)


def _score_chinese(clause: str) -> Iterator[bool]:
    lexicon, mood_words, negated = _load_chinese()
    for match in mood_words.finditer(clause):
        yield lexicon[match[0]] != bool(negated.search(clause[: match.start()]))


@cache
def _load_english() -> tuple[dict[str, bool], frozenset[str], frozenset[str]]:
    data = load_table('sentiment')['en']
    lexicon = dict.fromkeys(data['positive'].split(), True)
    lexicon |= dict.fromkeys(data['negative'].split(), False)
    return lexicon, frozenset(data['negations'].split()), frozenset(data['likening'].split())


@cache
def _load_chinese() -> tuple[dict[str, bool], re.Pattern[str], re.Pattern[str]]:
    data = load_table('sentiment')['zh']
    lexicon = dict.fromkeys(data['positive'], True) | dict.fromkeys(data['negative'], False)
    return (
        lexicon,
        re.compile('|'.join(sorted(lexicon, key=len, reverse=True))),
        re.compile(f'(?:{"|".join(sorted(data["negations"], key=len, reverse=True))}).?$'),
    )


def _summarise_sentiment(turns: Sequence[Record], moods: dict[int, Sentiment]) -> dict[str, Any]:
    rated = [(turn, score) for turn in turns if (score := moods[turn.id].score) is not None]
    kind = [turn for turn, score in rated if score > 0]
    unkind = [turn for turn, score in rated if score < 0]
    return {
        'turns': len(turns),
        'positive': len(kind),
        'negative': len(unkind),
        'mixed': len(rated) - len(kind) - len(unkind),
        'without_mood_words': len(turns) - len(rated),
        'mean': round(sum(score for _, score in rated) / len(rated), 3) if rated else None,
        'over_time': compare_halves([(turn.created_at, score) for turn, score in rated]),
        'examples': {
            'positive': [make_example(turn) for turn in kind[-_EXAMPLES:]],
            'negative': [make_example(turn) for turn in unkind[-_EXAMPLES:]],
        },
    }


def _group_outcomes(records: Sequence[Record]) -> dict[str, list[tuple[Record, bool]]]:
    """
    Return by task, the oldest first, which record tells whether it went well.

    Within a session the last word on a task is taken: its memories inherit the task's outcome.
    """
    last: dict[tuple[str, str], tuple[Record, bool]] = {}
    for record in sort_by_time(records):
        task = record.context.get('task')
        success = task.get('success') if isinstance(task, dict) else None
        if isinstance(task, dict) and isinstance(success, bool):
            name = task.get('name') or task.get('id') or task.get('type') or 'not named'
            last[str(name), record.session_id or f'mem_{record.id}'] = (record, success)
    found: dict[str, list[tuple[Record, bool]]] = defaultdict(list)
    for (task_name, _), outcome in last.items():
        found[task_name].append(outcome)
    return dict(sorted(found.items()))


def _summarise_tasks(outcomes: dict[str, list[tuple[Record, bool]]]) -> list[dict[str, Any]]:
    return [
        {
            'task': name,
            'count': len(found),
            'succeeded': sum(success for _, success in found),
            'over_time': compare_halves(
                [(record.created_at, float(success)) for record, success in found]
            ),
            'failures': format_ids(record for record, success in found if not success),
        }
        for name, found in outcomes.items()
    ]


def _summarise_scores(scored: Sequence[Session]) -> dict[str, Any]:
    values = [(session.created_at, session.outcome_score or 0.0) for session in scored]
    return {
        'count': len(values),
        'mean': round(sum(value for _, value in values) / len(values), 3) if values else None,
        'over_time': compare_halves(values),
        'latest': [
            {'session_id': session.id, 'outcome_score': session.outcome_score}
            for session in scored[-_EXAMPLES:]
        ],
    }


def _list_unknowns(
    turns: Sequence[Record],
    moods: dict[int, Sentiment],
    outcomes: dict[str, list[tuple[Record, bool]]],
    scored: Sequence[Session],
) -> list[str]:
    silent = []
    if not turns:
        silent.append('The window has no turns: sentiment is unknown.')
    elif all(mood.score is None for mood in moods.values()):
        silent.append('No turn has a word of the sentiment lexicon (English and Chinese).')
    if not outcomes:
        silent.append('No record has task.success.')
    elif max(map(len, outcomes.values())) < MIN_FOR_TREND:
        silent.append(f'No task has {MIN_FOR_TREND} outcomes, which a trend requires.')
    if not scored:
        silent.append('No session ended with an outcome_score.')
    return silent


def _derive_insights(
    people: Sequence[Record],
    moods: dict[int, Sentiment],
    outcomes: dict[str, list[tuple[Record, bool]]],
    scored: Sequence[Session],
    records: Sequence[Record],
) -> Iterator[str]:
    rated = [(turn, score) for turn in people if (score := moods[turn.id].score) is not None]
    for word, chosen in (
        ('positive', [turn for turn, score in rated if score > 0]),
        ('negative', [turn for turn, score in rated if score < 0]),
    ):
        if chosen:
            yield (
                f'{len(chosen)} of {len(people)} user turns have {word} wording ({cite(chosen)}).'
            )
    for name, found in outcomes.items():
        went_well = sum(success for _, success in found)
        yield (
            f'Task {name!r} succeeded {went_well} of {len(found)} times '
            f'({cite(record for record, _ in found)}).'
        )
    ids = {session.id for session in scored}
    held = [record for record in records if record.session_id in ids]
    if held:
        mean = sum(session.outcome_score or 0.0 for session in scored) / len(scored)
        yield (
            f'{len(scored)} sessions ended with a mean outcome of {mean:.2f} (their records: '
            f'{cite(held)}).'
        )


def _derive_recommendations(
    people: Sequence[Record],
    moods: dict[int, Sentiment],
    outcomes: dict[str, list[tuple[Record, bool]]],
) -> Iterator[str]:
    unkind = [turn for turn in people if (moods[turn.id].score or 0.0) < 0]
    if len(unkind) >= _LEAST:
        yield f'Review what users were unhappy with: {cite(unkind)}.'
    for name, found in outcomes.items():
        failures = [record for record, success in found if not success]
        if len(failures) >= _LEAST and len(failures) / len(found) > _POOR:
            yield (
                f'Review task {name!r} before the next attempt: it failed {len(failures)} of '
                f'{len(found)} times ({cite(failures)}).'
            )
