"""Keep one piece of experience."""

from __future__ import annotations

from dataclasses import dataclass, replace

from robot_memory.core.fields import Json, arg, collection_arg
from robot_memory.core.records import parse_record_id
from robot_memory.lifecycle import facts
from robot_memory.memory import Memory
from robot_memory.storage.indexes.duplicates import Duplicate
from robot_memory.text.categories import Classification
from robot_memory.text.quoting import last_words
from robot_memory.tool import tool

END = 40
"""Characters of what was kept, at most, that say where a text was truncated."""


@dataclass(frozen=True)
class LearnRequest:
    """Request of learn."""

    insight: str = arg('Text to learn, 1 to 300 characters.')
    context: Json | None = arg(
        'Context partitions as JSON: params, spatial, robot, env, task; actor_id names the '
        'speaker.',
        default=None,
        shape='object',
    )
    collection: str = collection_arg('Collection.')
    session_id: str | None = arg('Session id from start_session.', default=None)
    from_: str | None = arg(
        'Memory of a person, sign or log that this confirms, e.g. mem_7: it then has the '
        "caller's authority.",
        default=None,
        max_length=24,
    )


@dataclass(frozen=True)
class Inferred:
    """Attributes inferred from the text."""

    category: str = arg('One of the 11 categories.')
    confidence: float = arg('Confidence, 0 to 1.')
    tags: tuple[str, ...] = arg('Topics of the text, the category first.')
    scope_files: tuple[str, ...] = arg('Files named by the text.')


@dataclass(frozen=True)
class LearnResponse:
    """Response of learn."""

    status: str = arg('created or duplicate.')
    memory_id: int | None = arg('Id of the new memory.', default=None, omitted=True)
    auto_inferred: Inferred | None = arg(
        'Attributes inferred from the text.', default=None, omitted=True
    )
    method: str | None = arg(
        'How the duplicate was detected: exact, jaccard, cosine or cross-encoder.',
        default=None,
        omitted=True,
    )
    existing_id: int | None = arg('Id of the existing memory.', default=None, omitted=True)
    similarity: float | None = arg(
        'Similarity to the existing memory, 0 to 1.', default=None, omitted=True
    )
    observed: int | None = arg(
        'Id of the observation that was added to the existing memory.', default=None, omitted=True
    )
    retried: bool | None = arg(
        'True if the same caller, session and context said it within 10 minutes: a retry, of '
        'which no observation was added.',
        default=None,
        omitted=True,
    )
    replaces: int | None = arg(
        'Id of the memory that this one replaces; both stay active.', default=None, omitted=True
    )
    disagrees: int | None = arg(
        'Id of a rule, or of a memory of higher authority, that this one would replace; proposal '
        'waits for an operator.',
        default=None,
        omitted=True,
    )
    proposal: int | None = arg('Proposal to replace it, for review.', default=None, omitted=True)
    truncated: bool | None = arg(
        'True if the text was truncated to 300 characters.', default=None, omitted=True
    )
    truncated_characters: int | None = arg(
        'Number of characters removed.', default=None, omitted=True
    )
    truncated_after: str | None = arg(
        'Last words that were kept: what followed them is gone.', default=None, omitted=True
    )


@tool(core=True)
def learn(memory: Memory, request: LearnRequest) -> LearnResponse:
    """
    Store one piece of experience: a fact, strategy, lesson or observation.

    Call it after acting, with what worked or failed, and whenever somebody states a fact or a
    rule: one statement a call, numbers with units.

    Category, confidence and tags are inferred from the text. Of a duplicate the response has the
    id of the existing memory, and of the observation that holds what was new in the call.
    """
    learned = facts.learn(
        memory,
        request.insight,
        request.context or {},
        request.collection,
        request.session_id,
        promoted=None if request.from_ is None else parse_record_id('from', request.from_),
    )
    stored, truncated = learned.stored, learned.truncated
    if isinstance(stored, Duplicate):
        response = LearnResponse(
            status='duplicate',
            method=stored.method,
            existing_id=stored.existing_id,
            similarity=round(stored.similarity, 4),
            observed=learned.observed,
            retried=learned.retried or None,
        )
    else:
        response = LearnResponse(
            status='created', memory_id=stored, auto_inferred=view_inferred(learned.inferred)
        )
    corrected = learned.correction
    if corrected is not None and corrected.settled:
        response = replace(response, replaces=corrected.replaced_id)
    elif corrected is not None:
        response = replace(response, disagrees=corrected.replaced_id, proposal=corrected.proposal)
    if truncated:
        response = replace(
            response,
            truncated=True,
            truncated_characters=truncated,
            truncated_after=last_words(learned.text, END),
        )
    return response


def view_inferred(inferred: Classification) -> Inferred:
    """Return the view of what was inferred from a text."""
    return Inferred(inferred.category, inferred.confidence, inferred.tags, inferred.scope_files)
