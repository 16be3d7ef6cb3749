"""What a text is, by its words and by meaning: its category, and what of a turn is stored."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from robot_memory.embedding.sentence_classifier import SentenceClassifier, Trait, load_classifier
from robot_memory.embedding.text_vectors import TextVectors
from robot_memory.memory import Memory
from robot_memory.text.caching import cache_texts
from robot_memory.text.categories import (
    CONSTRAINT,
    DEFAULT,
    PROTECTED,
    Classification,
    classify,
    is_limit,
)
from robot_memory.text.retractions import LONGEST
from robot_memory.text.rules.commands import commands, describes
from robot_memory.text.rules.dangers import (
    denies_danger,
    endangers,
    names_danger,
    names_hazard,
    restricts_person,
)
from robot_memory.text.rules.prescribed import may_prescribe_limit, prescribes_limit
from robot_memory.text.statements import MOST, Sentence, Statement, drop_request, is_momentary

_STATED, _COMMANDED, _LIMITED, _BOUNDED, _PLAIN = 0.3, 0.3, 0.45, 0.35, -0.1
"""
By how much the threshold is lower for what patterns take for a statement, for a rule by its words,
for a rule by its amount, for what has a bound and no word that only describes, and for no rule.
"""
_ORDERED = -0.2
"""What begins as an order must pass by so much more: most of these are for now."""
_ANYWHERE = 0.5
"""By how much it is lower for what holds in any task: such a rule would be missing in all."""
_POSSIBLE = 0.6
"""By how much a text may be under the threshold and yet be told to planners as a possible rule."""
_BY_HABIT = ('pattern', 'preference', 'worldview')
"""Categories of words that rules have as well: always, whenever, rather, nothing more than."""
_DANGEROUS, _RESTRICTED = 0.5, 1.2
"""
By how much the threshold is lower for what has a word of allergies, or of what is forbidden; and
for what tells so of somebody: "Tom can't have nuts".
"""
_MEASURED = re.compile(
    r'\b(?:over|under|above|below|at (?:most|least)|(?:more|less) than)\s+'
    r'-?\d[\d.]*(?:\s*[^\s,;:\d]+)?'
)
"""An amount with a comparison, as detectors write: over 5 N, at most 0.25 m/s."""
_NUMBER = re.compile(r'(?<![\w.])[0-9][0-9.]*')
_DIGITS = str.maketrans('23456789', '11111111')
"""No pattern of categories tells one of these digits from another in a number."""
_SAID = -0.6
"""What is said in passing must tell of what to beware by so much more, to be kept for that."""
_SHORTEST = 15
"""Bytes of a text that is judged by meaning; a shorter one is no sentence."""


def classify_text(memory: Memory, text: str, vectors: TextVectors | None) -> Classification:
    """
    Return the category of a text: by patterns, and of rules by the classifier as well.

    Without a vector patterns decide alone.
    """
    return _refine(memory, text, classify(text), vectors)


def classify_measured(text: str) -> Classification:
    """
    Return the category of what a detector says of what it measured: its amounts are no limits.

    "Push over 5 N" is no rule: it would never fold, nor make room.
    """
    found = _classify_form(_NUMBER.sub(_blur, text))
    # Where a file is named, digits are part of its name.
    return _classify_measured(text) if found.scope_files else found


@cache_texts(4096)
def _classify_form(text: str) -> Classification:
    """Return the category of the form of a text: many events differ in digits alone."""
    return _classify_measured(text)


def _blur(match: re.Match[str]) -> str:
    return match[0].translate(_DIGITS)


def _classify_measured(text: str) -> Classification:
    found = classify(text)
    return found if found.category not in PROTECTED else classify(_MEASURED.sub(' ', text))


def select_statements(
    memory: Memory, sentences: Sequence[Sentence], vectors: Sequence[TextVectors | None]
) -> list[Statement]:
    """Return those of the sentences of a turn that state what lasts, or ask to remember it."""
    classifier = find_classifier(memory)
    found = []
    for sentence, vector in zip(sentences, vectors, strict=True):
        text, is_kept = sentence.statement.text, sentence.is_stated
        by_patterns, inferred = sentence.statement.found, None
        if classifier is not None and vector is not None and not sentence.is_asked:
            lead = _STATED if is_kept else _ORDERED if sentence.is_order else 0.0
            # Who says what is never to be done says it for good, though few words of it last.
            if is_kept and by_patterns.category == CONSTRAINT and not is_momentary(text):
                inferred = _refine(memory, text, by_patterns, vector)
            is_kept = (
                (inferred is not None and inferred.category == CONSTRAINT)
                or classifier.has_trait(Trait.LASTING, text, vector.first, lead)
                or (not sentence.is_order and _harms(classifier, text, vector))
                or classifier.has_trait(Trait.CAUTION, text, vector.first, _SAID)
            )
        if is_kept:
            inferred = inferred or _refine(memory, text, by_patterns, vector)
            found.append(Statement(text, inferred))
    return found[:MOST]


def _refine(
    memory: Memory, text: str, by_patterns: Classification, vectors: TextVectors | None
) -> Classification:
    """
    Return what patterns infer, but of rules what the classifier says.

    Of a request to remember, what is to be remembered decides; where that is no rule and the whole
    is one, it may be a rule. "Keep in mind that" makes rules of facts, but no rule must be missed
    because of it.
    """
    classifier = find_classifier(memory)
    if classifier is None or vectors is None:
        return by_patterns
    asked = drop_request(text)
    of_asked = embed_to_judge(memory, asked) if asked != text else None
    if of_asked is None:
        return _judge(classifier, text, by_patterns, vectors)
    found = _judge(classifier, asked, by_patterns, of_asked)
    if found.category in PROTECTED or found.may_be_rule:
        return found
    whole = _judge(classifier, text, by_patterns, vectors)
    return replace(found, may_be_rule=whole.category == CONSTRAINT)


def _judge(
    classifier: SentenceClassifier, text: str, by_patterns: Classification, vectors: TextVectors
) -> Classification:
    """Return what patterns infer, but of rules what the classifier says; what harms may be one."""
    found = _judge_rule(classifier, text, by_patterns, vectors)
    if found.category in PROTECTED:
        return found
    is_told = found.may_be_rule or _cautions(classifier, text, vectors)
    return replace(found, may_be_rule=is_told and not denies_danger(text))


def tells_danger(memory: Memory, text: str) -> bool:
    """Say whether a text tells what may harm somebody: by its words, or by meaning."""
    if names_danger(text):
        return True
    classifier, vectors = find_classifier(memory), embed_to_judge(memory, text)
    return classifier is not None and vectors is not None and _harms(classifier, text, vectors)


def embed_to_judge(memory: Memory, text: str) -> TextVectors | None:
    """Return the first model's vector of a text that is not stored; None where it makes none."""
    made = memory.vectorizer.embed_passages([text], by_first=True)
    return None if made is None else made[0]


def takes_back(memory: Memory, text: str, vectors: TextVectors | None) -> bool:
    """Say whether a text takes back what was said just before, by its meaning."""
    classifier = find_classifier(memory)
    return (
        classifier is not None
        and vectors is not None
        and len(text) <= LONGEST
        and classifier.has_trait(Trait.RETRACTS, text, vectors.first)
    )


def _cautions(classifier: SentenceClassifier, text: str, vectors: TextVectors) -> bool:
    """Say whether who acts must know what a text tells: what harms, and how things are."""
    return (
        names_hazard(text)
        or _harms(classifier, text, vectors)
        or (
            len(text.encode(errors='replace')) >= _SHORTEST
            and classifier.has_trait(Trait.CAUTION, text, vectors.first)
        )
    )


def _harms(classifier: SentenceClassifier, text: str, vectors: TextVectors) -> bool:
    """Say whether a text tells what may harm somebody, as an allergy."""
    lead = _RESTRICTED if restricts_person(text) else _DANGEROUS if endangers(text) else 0.0
    return classifier.has_trait(Trait.HARMS, text, vectors.first, lead)


def _judge_rule(
    classifier: SentenceClassifier, text: str, by_patterns: Classification, vectors: TextVectors
) -> Classification:
    """
    Return what patterns infer of a text, but of rules what the classifier says.

    What patterns take for a lesson or anything else of its own is no rule, but what they take for
    a habit ('whenever', 'nothing louder than') may be. What only says where something is becomes
    none; what a cue with its verb commands, and a limit that is commanded, is one whatever it is
    about.
    """
    states = by_patterns.category == CONSTRAINT
    is_other = not states and by_patterns.category != DEFAULT
    if states and (prescribes_limit(text) or commands(text)):
        return by_patterns
    if len(text.encode(errors='replace')) < _SHORTEST:
        return by_patterns
    if is_other and by_patterns.category not in _BY_HABIT:
        return by_patterns
    if not states and describes(text):
        return by_patterns
    lead = 0.0 if is_other else _PLAIN
    if states:
        lead = _LIMITED if is_limit(text) else _COMMANDED
    if may_prescribe_limit(text):
        lead = max(lead, _BOUNDED)
    over = classifier.rate(Trait.RULE, [text], vectors.first[None])[0] + lead
    is_rule = bool(over >= 0) or (
        bool(over >= -_ANYWHERE) and classifier.has_trait(Trait.ALWAYS, text, vectors.first)
    )
    found = by_patterns if is_rule is states else classify(text, is_rule)
    return replace(found, may_be_rule=not is_rule and bool(over >= -_POSSIBLE))


def find_classifier(memory: Memory) -> SentenceClassifier | None:
    """Return the classifier if it knows the vectors of the model that is loaded."""
    embedder = memory.embedder.get_if_loaded()
    if embedder is None:
        return None
    classifier = load_classifier()
    return classifier if classifier.model == embedder.name else None
