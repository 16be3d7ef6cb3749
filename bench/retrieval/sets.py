"""Sets of memories and of questions whose right memories are known, and how each is scored."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Item:
    """Hold a memory: its text, the collection it is kept in, and its session if it is a turn."""

    text: str
    collection: str = 'default'
    session: str | None = None


@dataclass(frozen=True)
class Question:
    """
    Hold a question: asked in one collection, answered by any of the memories `right`.

    Memories go by their place in the set. An empty `right` says that nothing in the store
    answers; `left_out` does not count wherever it comes.
    """

    text: str
    right: frozenset[int]
    category: str
    collection: str = 'default'
    left_out: int | None = None


@dataclass(frozen=True)
class RetrievalSet:
    """Hold memories and questions; `depth` memories are asked for, `measures` name what counts."""

    name: str
    memories: tuple[Item, ...]
    questions: tuple[Question, ...]
    measures: tuple[str, ...]
    depth: int
    note: str = ''


def find_data_folder() -> Path:
    """Return where the recorded sets are: ROBOT_MEMORY_DATA, else beside the project."""
    return Path(os.environ.get('ROBOT_MEMORY_DATA', ROOT.parent / 'shared/data')) / 'retrieval'


def load_locomo() -> RetrievalSet:
    """
    Return LoCoMo's dev half: a collection for each conversation, sessions and turns as they were.

    Measured is the share of a question's evidence in the first k, the mean over all questions
    with evidence, of all five categories.
    """
    memories: list[Item] = []
    questions: list[Question] = []
    malformed = without = 0
    for sample in json.loads((find_data_folder() / 'locomo/locomo_dev.json').read_text('utf-8')):
        collection = sample['sample_id']
        places: dict[str, int] = {}
        for session, turn in _read_turns(sample['conversation']):
            places[turn['dia_id']] = len(memories)
            text = f'{turn["speaker"]} said, "{turn["text"]}"'
            if turn.get('blip_caption'):
                text += f' and shared {turn["blip_caption"]}'
            memories.append(Item(text, collection, f'{collection}-{session}'))
        for asked in sample['qa']:
            known = [places[name] for name in asked['evidence'] if name in places]
            malformed += len(asked['evidence']) - len(known)
            if not known:
                without += 1
                continue
            category = _LOCOMO_CATEGORIES[asked['category']]
            questions.append(Question(asked['question'], frozenset(known), category, collection))
    note = f'{malformed} malformed evidence ids dropped, {without} questions without any evidence'
    measures = ('top 5', 'top 10', 'top 25', 'top 50')
    return RetrievalSet('locomo', tuple(memories), tuple(questions), measures, 50, note)


_LOCOMO_CATEGORIES = {1: 'multi-hop', 2: 'time', 3: 'open', 4: 'single-hop', 5: 'adversarial'}


def _read_turns(conversation: dict[str, Any]) -> Iterator[tuple[str, dict[str, str]]]:
    sessions = [name for name in conversation if re.fullmatch(r'session_\d+', name)]
    for name in sorted(sessions, key=lambda name: int(name.removeprefix('session_'))):
        for turn in conversation[name]:
            yield name, turn


def load_xquad(asked: str, kept: str) -> RetrievalSet:
    """
    Return XQuAD: 240 passages in the language `kept`, the questions in the language `asked`.

    A passage is one memory, whole, however long it is.
    """
    memories: list[Item] = []
    questions: list[Question] = []
    for (passage, _), (_, texts) in zip(
        _read_paragraphs(kept), _read_paragraphs(asked), strict=True
    ):
        right = frozenset((len(memories),))
        memories.append(Item(passage))
        questions += [Question(text, right, 'all') for text in texts]
    name = f'xquad-{asked}' if asked == kept else f'xquad-{asked}-{kept}'
    long = sum(len(memory.text) > 300 for memory in memories)
    note = f'{long} of {len(memories)} passages are longer than learn takes; stored whole'
    measures = ('first', 'top 5', 'mrr')
    return RetrievalSet(name, tuple(memories), tuple(questions), measures, 10, note)


def _read_paragraphs(language: str) -> Iterator[tuple[str, list[str]]]:
    path = find_data_folder() / f'xquad/xquad.{language}.json'
    for article in json.loads(path.read_text('utf-8'))['data']:
        for paragraph in article['paragraphs']:
            yield paragraph['context'], [asked['question'] for asked in paragraph['qas']]


def load_calvin() -> RetrievalSet:
    """
    Return CALVIN: crowd paraphrases of 34 tasks, each asked over all the others.

    Measured: whether the first other one is of the same task; the share of the task's R other
    paraphrases that are among the first R others ('all of R'), and among the first 10.
    """
    path = find_data_folder() / 'calvin/new_playtable.yaml'
    tasks: dict[str, list[str]] = yaml.safe_load(path.read_text('utf-8'))
    memories = [(task, text) for task, texts in tasks.items() for text in dict.fromkeys(texts)]
    homes: dict[str, set[str]] = {}
    for task, text in memories:
        homes.setdefault(text, set()).add(task)
    clear = [(task, text) for task, text in memories if len(homes[text]) == 1]
    questions = []
    for place, (task, text) in enumerate(clear):
        right = frozenset(i for i, (other, _) in enumerate(clear) if other == task) - {place}
        questions.append(Question(text, right, task.split('_')[0], left_out=place))
    said = sum(map(len, tasks.values()))
    note = f'{said - len(clear)} of {said} paraphrases dropped: said twice, or of two tasks'
    return RetrievalSet(
        'calvin',
        tuple(Item(text) for _, text in clear),
        tuple(questions),
        ('first', 'all of R', 'top 10'),
        30,
        note,
    )


def load_alfred(told: str) -> RetrievalSet:
    """
    Return ALFRED's household tasks as crowd workers told them: `steps`, or the `goal` alone.

    One worker's words are the memory, those of others the questions.
    """
    found = json.loads((find_data_folder() / 'alfred/alfred_dev.json').read_text('utf-8'))[told]
    questions = tuple(
        Question(asked['text'], frozenset(asked['answers']), told) for asked in found['questions']
    )
    memories = tuple(map(Item, found['memories']))
    return RetrievalSet(f'alfred-{told}', memories, questions, ('any in 10', 'first'), 10)


def load_reworded() -> RetrievalSet:
    """
    Return facts that people store with robots, and questions in other words for one of them.

    They are the dev half of `bench/planner/answerable.jsonl`, all of its texts in one collection;
    `en-zh` asks in Chinese for an English text.
    """
    text = (ROOT / 'bench/planner/answerable.jsonl').read_text('utf-8')
    rows = [row for row in map(json.loads, text.splitlines()) if row['half'] == 'dev']
    places: dict[str, int] = {}
    for row in rows:
        for stored in row['stored']:
            places.setdefault(stored, len(places))
    questions = tuple(
        Question(
            row['question'], frozenset((places[row['stored'][row['index']]],)), row['language']
        )
        for row in rows
        if row['answerable']
    )
    measures = ('mrr', 'first', 'top 5')
    return RetrievalSet('reworded', tuple(map(Item, places)), questions, measures, 10)


SETS: dict[str, Callable[[], RetrievalSet]] = {
    'locomo': load_locomo,
    'xquad-en': lambda: load_xquad('en', 'en'),
    'xquad-zh': lambda: load_xquad('zh', 'zh'),
    'xquad-en-zh': lambda: load_xquad('en', 'zh'),
    'xquad-zh-en': lambda: load_xquad('zh', 'en'),
    'calvin': load_calvin,
    'alfred-steps': lambda: load_alfred('steps'),
    'alfred-goal': lambda: load_alfred('goal'),
    'reworded': load_reworded,
}
"""The recorded sets; xquad-en-zh asks in English over Chinese passages."""


def remove_left_out(question: Question, ranked: list[int]) -> list[int]:
    """Return what was found without the memory that does not count."""
    return [found for found in ranked if found != question.left_out]


def score(question: Question, ranked: list[int], measure: str) -> float:
    """
    Return how well the ranked memories answer, 0 to 1.

    first: whether the first is right. top k: the share of the right ones among the first k.
    all of R: the same among as many as there are. any in k: whether one is among the first k.
    mrr: one over the first right one's rank.
    """
    ranked = remove_left_out(question, ranked)
    if measure == 'first':
        return float(ranked[:1] != [] and ranked[0] in question.right)
    if measure == 'mrr':
        ranks = (rank for rank, found in enumerate(ranked, 1) if found in question.right)
        return 1 / next(ranks, float('inf'))
    if measure.startswith('any in '):
        return float(not question.right.isdisjoint(ranked[: int(measure.removeprefix('any in '))]))
    k = len(question.right) if measure == 'all of R' else int(measure.removeprefix('top '))
    return len(question.right.intersection(ranked[:k])) / len(question.right)


def group_by_collection(memories: tuple[Item, ...]) -> dict[str, list[int]]:
    """Return the places of the memories of each collection."""
    found: dict[str, list[int]] = {}
    for place, memory in enumerate(memories):
        found.setdefault(memory.collection, []).append(place)
    return found
