"""
The rules of a collection, judged against a planned task.

Every rule is judged, none is searched for: a rule is left out only where its condition is known
not to be met. See docs/rules.md.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from robot_memory.core.authority import AUTHORITIES
from robot_memory.core.fields import arg
from robot_memory.core.records import Record, describe_statement, is_rule_giver, may_state_rule
from robot_memory.core.settings import Settings
from robot_memory.embedding.vectorizer import QueryVector
from robot_memory.memory import Memory
from robot_memory.retrieval.contradictions import find_current, put_first
from robot_memory.retrieval.pages import name_pages, page_arg
from robot_memory.retrieval.rule_scope import find_alike, rate_rules, widen
from robot_memory.search.query import Hit
from robot_memory.storage import Connection
from robot_memory.storage.indexes.filters import (
    active_in,
    at_least,
    compile_filter,
    equal,
)
from robot_memory.storage.tables import memories, rule_conditions
from robot_memory.storage.tables.records import get_whole
from robot_memory.text.categories import PROTECTED
from robot_memory.text.rules.conditions import Judged, Kin, drop_amounts, judge, list_persons
from robot_memory.text.rules.dangers import restricts_person
from robot_memory.text.rules.people import (
    compile_names,
    find_called,
    list_nicknames,
    name_actor,
    speaks_of_self,
)
from robot_memory.text.rules.scene import Scene, read_scene
from robot_memory.text.rules.touched import Truth
from robot_memory.text.statement_reader import stem
from robot_memory.text.tokenizer import extract_query_terms

_ARE_RULES = compile_filter(
    'rules', {'category': {'$in': sorted(PROTECTED)}, 'kind': 'fact', 'sense': None}
)
RULES = _ARE_RULES & at_least('planner')
"""What may stand under Safety; see `records.is_rule_giver`."""
STATED = _ARE_RULES & at_least('person')
"""These, and what people stated, which is quoted."""
_WITH_LIMITS = compile_filter('rules', {'limits': {'$ne': None}})
LISTED_WHOLE = 40
"""Of a collection of so many rules all are told."""
_REASONS = 3
POSSIBLE = 'may be a rule'
"""Why a fact that is stored as no rule is told beside rules."""
_POSSIBLE_LEAD = 0.3
"""By how much a fact that may be a rule may fail to hold in any task, and yet be told."""
_POSSIBLY_ALIKE, _MOST_ALIKE = 0.8, 10
"""
By how many standard deviations a fact that may be a rule is more like the task than the others
are; and how many are told for that, at most.
"""


@dataclass(frozen=True)
class JudgedRule:
    """
    Hold a rule and whether its condition is met; `why` names what decides it.

    What only `may_be_rule` is stored as none: it may apply, and limits nothing.
    """

    record: Record
    truth: Truth
    why: str
    may_be_rule: bool = False

    @property
    def is_quoted(self) -> bool:
        """Say whether it is told as a quote: no operator or planner states it."""
        return not is_rule_giver(self.record)


@dataclass(frozen=True)
class JudgedRules:
    """
    Hold the rules of a collection: those that apply, that may, and the ids of the rest.

    `others` are the rest where the collection is so small that all are told; `is_whole`: no
    restriction left any rule out.
    """

    applies: tuple[JudgedRule, ...]
    may_apply: tuple[JudgedRule, ...]
    others: tuple[JudgedRule, ...]
    rest_ids: tuple[int, ...]
    is_whole: bool = True

    @property
    def relevant(self) -> tuple[JudgedRule, ...]:
        """Return the rules that apply and those that may."""
        return *self.applies, *self.may_apply

    @property
    def ids(self) -> set[int]:
        """Return the ids of all rules."""
        return {*(rule.record.id for rule in self.relevant), *self.rest_ids}


@dataclass(frozen=True)
class RuleView:
    """One rule of a context."""

    memory_id: int = arg('Id of the rule.')
    content: str = arg('Text of the rule.')
    category: str = arg('constraint, gotcha or postmortem; another one if it only may be a rule.')
    why: str = arg('What decides that it applies or may apply, e.g. glassware; li near.')
    authority: str = arg('Who stands behind it.')
    stated_by: str = arg('Who stated it.')
    quoted: bool = arg('True if a person stated it: it is quoted, not obeyed.')
    page: str | None = page_arg()


@dataclass(frozen=True)
class RulesView:
    """The rules of a collection for a planned task."""

    applies: tuple[RuleView, ...] = arg('Rules whose condition is met, or that have none.')
    may_apply: tuple[RuleView, ...] = arg(
        'Rules of whose condition it is unknown, and facts that may be rules.'
    )
    rest_count: int = arg('Number of rules whose condition is known not to be met.')
    rest_ids: tuple[int, ...] = arg('Ids of these.')


def find_rules(
    memory: Memory,
    collection: str,
    task: str,
    situation: Mapping[str, Any],
    actor_id: str | None = None,
    *,
    asked: QueryVector | None = None,
) -> JudgedRules:
    """
    Judge all rules of a collection; with an actor, only those that the actor stated.

    With the vector of the task (`asked`), a rule that is like it is not left out.
    """
    where = active_in(collection) & STATED
    if actor_id is not None:
        where &= equal('actor_id', actor_id)
    with memory.db.read() as connection:
        rows = rule_conditions.get(connection, memories.find_ids(connection, where))
        possible = rule_conditions.find_possible(connection, collection)
        possible_rows = rule_conditions.get(connection, possible)
        known = {name for row in (*rows, *possible_rows) for name in list_persons(row.condition)}
        scene = read_scene(task, situation, known)
        kin = Words(scene)
        by_words = {row.memory_id: judge(row.condition, scene, kin) for row in rows}
        open_rows = [row for row in rows if by_words[row.memory_id].truth is not True]
        ratings = rate_rules(memory, connection, open_rows)
        judged = {
            row.memory_id: (
                widen(by_words[row.memory_id], row.condition, ratings.get(row.memory_id)),
                bool(row.condition),
            )
            for row in rows
        }
        rest = [memory_id for memory_id, (one, _) in judged.items() if one.truth is False]
        alike = find_alike(memory, connection, rows, asked) if rest else []
        for memory_id in set(alike).intersection(rest):
            judged[memory_id] = Judged(None, ('like the task',)), judged[memory_id][1]
        for memory_id, name in _find_naming(connection, scene, rest, restricts_person).items():
            judged[memory_id] = Judged(None, (f'names {name}',)), judged[memory_id][1]
        rest = [memory_id for memory_id in rest if judged[memory_id][0].truth is False]
        relevant = [memory_id for memory_id, (one, _) in judged.items() if one.truth is not False]
        listed = judged if len(judged) <= LISTED_WHOLE else relevant
        records = get_whole(connection, listed)
        told = _find_possible(memory, connection, possible_rows, scene, kin, asked)
    rules = [
        (JudgedRule(records[memory_id], one.truth, format_reasons(one)), has_condition)
        for memory_id, (one, has_condition) in judged.items()
        if memory_id in records
    ]
    rules.sort(key=lambda pair: _order(*pair))
    # Of two that disagree the stricter stands first, and what replaces before what is replaced.
    ranked = put_first([Hit(rule.record.id, 0.0) for rule, _ in rules], find_current(records))
    places = {hit.id: place for place, hit in enumerate(ranked)}
    rules.sort(key=lambda pair: places[pair[0].record.id])

    def select(truth: Truth) -> tuple[JudgedRule, ...]:
        return tuple(rule for rule, _ in rules if rule.truth is truth)

    may_apply = (
        *select(None),
        *(one for one in told if actor_id in (None, one.record.actor_id)),
    )
    return JudgedRules(select(True), may_apply, select(False), tuple(rest), actor_id is None)


def _find_possible(
    memory: Memory,
    connection: Connection,
    rows: Sequence[rule_conditions.Row],
    scene: Scene,
    kin: Kin,
    asked: QueryVector | None,
) -> list[JudgedRule]:
    """
    Return facts that may be rules, where these would apply by their words, or likely always.

    Or where they name a person that the task names: what harms does so in more ways than are said.
    They are stored as no rules, and mostly are none; one that was replaced is left out.
    """
    by_words = {row.memory_id: judge(row.condition, scene, kin) for row in rows}
    met = {
        row.memory_id: by_words[row.memory_id]
        for row in rows
        if row.condition and by_words[row.memory_id].truth is True
    }
    left = [
        row
        for row in rows
        if row.memory_id not in met and by_words[row.memory_id].truth is not False
    ]
    always = Judged(None, ('always',))
    for memory_id, rating in rate_rules(memory, connection, left).items():
        if rating >= -_POSSIBLE_LEAD:
            met[memory_id] = always
    rest = [row.memory_id for row in rows if row.memory_id not in met]
    for memory_id, name in _find_naming(connection, scene, rest).items():
        met[memory_id] = Judged(None, (f'names {name}',))
    alike = find_alike(memory, connection, rows, asked, _POSSIBLY_ALIKE)
    for memory_id in itertools.islice((one for one in alike if one not in met), _MOST_ALIKE):
        met[memory_id] = Judged(None, ('like the task',))
    return [
        JudgedRule(record, None, f'{POSSIBLE}: {format_reasons(met[memory_id])}', True)
        for memory_id, record in get_whole(connection, sorted(met)).items()
        if may_state_rule(record) and record.links.replaced_by is None
    ]


def _find_naming(
    connection: Connection,
    scene: Scene,
    ids: Sequence[int],
    tells: Callable[[str], bool] = lambda _: True,
) -> dict[int, str]:
    """
    Return which of these memories, of those that tell such, name a person that the task names.

    And how; who speaks of himself is the actor.
    """
    asked = scene.named | list_nicknames(scene.text)
    if not asked:
        return {}
    names = compile_names(asked)
    found = {}
    for memory_id, record in memories.get(connection, ids).items():
        if not tells(record.content):
            continue
        called = dict(find_called(record.content))
        if record.actor_id and speaks_of_self(record.content):
            called |= find_called(name_actor(record.actor_id))
        match = names.search(record.content) if names else None
        if both := asked & called.keys():
            found[memory_id] = called[min(both)]
        elif match:
            found[memory_id] = match[0]
    return found


def find_rules_with_limits(memory: Memory, collection: str) -> list[Record] | None:
    """Return the rules that state limits in their context; None where there is no rule at all."""
    where = active_in(collection) & RULES
    with memory.db.read() as connection:
        ids = memories.find_ids(connection, where)
        if not ids:
            return None
        found = memories.find_ids(connection, where & _WITH_LIMITS)
        return list(memories.get(connection, found).values())


def find_limiting(memory: Memory, ids: Sequence[int], scene: Scene) -> list[JudgedRule]:
    """
    Return, of rules that do not apply, those that an amount alone keeps from applying.

    Each as it is judged without the amount, which may be its limit.
    """
    kin = Words(scene)
    with memory.db.read() as connection:
        judged = {
            row.memory_id: judge(rest, scene, kin)
            for row in rule_conditions.get(connection, ids)
            if (rest := drop_amounts(row.condition)) != row.condition
        }
        chosen = [one for one, found in judged.items() if found.truth is not False]
        return [
            JudgedRule(record, judged[one].truth, format_reasons(judged[one]))
            for one, record in memories.get(connection, chosen).items()
            if is_rule_giver(record)
        ]


def _order(rule: JudgedRule, has_condition: bool) -> tuple[Any, ...]:
    """Order rules: what is obeyed before quotes, what the task brings in before the rest."""
    rank = AUTHORITIES.index(rule.record.authority)
    return rule.is_quoted, not has_condition, rank, rule.record.id


def format_reasons(judged: Judged) -> str:
    """Return what decides of a rule, in words: the first few reasons."""
    reasons = list(dict.fromkeys(judged.why))
    more = ', ...' if len(reasons) > _REASONS else ''
    return ', '.join(reasons[:_REASONS]) + more


class Words:
    """Say of a word that no table knows whether a task has it; else that is unknown."""

    def __init__(self, scene: Scene) -> None:
        self._terms = _list_stems(scene.text)

    def __call__(self, word: str) -> Truth:
        """Return True where all terms of the word are the task's, else None."""
        terms = _list_stems(word)
        return True if terms and self._terms.issuperset(terms) else None


def _list_stems(text: str) -> set[str]:
    """Return the terms of a text without their endings: horses as horse."""
    return {stem(term) for term in extract_query_terms(text)[0]}


def view_rules(rules: JudgedRules, settings: Settings) -> RulesView:
    """Return rules as the fields of an answer."""
    return RulesView(
        name_pages(settings, _view_each(rules.applies)),
        name_pages(settings, _view_each(rules.may_apply)),
        len(rules.rest_ids),
        rules.rest_ids,
    )


def _view_each(rules: Sequence[JudgedRule]) -> tuple[RuleView, ...]:
    return tuple(
        RuleView(
            rule.record.id,
            rule.record.content,
            rule.record.category,
            rule.why,
            rule.record.authority,
            describe_statement(rule.record),
            rule.is_quoted,
        )
        for rule in rules
    )
