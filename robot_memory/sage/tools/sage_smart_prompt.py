"""Read what is asked, and say what to heed."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from robot_memory.core.fields import arg, collection_arg
from robot_memory.core.records import Record
from robot_memory.memory import Memory
from robot_memory.retrieval.plan import RecallPlan, require_text
from robot_memory.retrieval.retriever import Retriever, join_found
from robot_memory.retrieval.rules import RULES
from robot_memory.sage import intent as intents
from robot_memory.sage import smart_prompts
from robot_memory.storage.indexes.filters import compile_filter
from robot_memory.storage.tables import sessions
from robot_memory.tool import tool

_KNOWN = 5
_LEAST = 0.3
_JUDGED = compile_filter('kind', {'kind': {'$ne': 'turn'}})
"""What was learned or sensed: a turn may be a question, and is not known for being said."""
_PROCEDURES = compile_filter('perception_type', {'perception_type': 'procedural'})
_STEPS = 10


@dataclass(frozen=True)
class SageSmartPromptRequest:
    """Request of sage_smart_prompt."""

    user_input: str = arg('User input or planned action.', max_length=10_000)
    include_suggestions: bool = arg('Include suggested next steps.', default=True)
    collection: str = collection_arg('Collection to read from.')


@dataclass(frozen=True)
class IntentView:
    """Classified intent."""

    primary: str = arg(
        'seeking_definition, seeking_solution, seeking_explanation, debug_help, comparison or '
        'general_inquiry.'
    )
    confidence: float = arg('Confidence of the classification, 0 to 1.')
    keywords: tuple[str, ...] = arg('Keywords that determined the intent.')
    question_type: str = arg(
        'definition, how_to, explanation, troubleshooting, comparison or general.'
    )


@dataclass(frozen=True)
class PromptView:
    """One prompt."""

    type: str = arg('contextual, suggestive, corrective, exploratory or educational.')
    text: str = arg('Prompt text; cites the ids of the memories it is based on.')
    priority: float = arg('Priority, 0 to 1.')


@dataclass(frozen=True)
class StepView:
    """One step of a recorded procedure."""

    step: int = arg('Step number, from 1.')
    topic: str = arg('Action that was run.')
    duration: str = arg('Duration of its session; empty if unknown.')


@dataclass(frozen=True)
class SageSmartPromptResponse:
    """Response of sage_smart_prompt."""

    context: str = arg(
        'coding, debugging, learning, analysis, manipulation, navigation, perception, safety, '
        'calibration or general.'
    )
    intent: IntentView = arg('Classified intent.')
    prompts: tuple[PromptView, ...] = arg('Prompts, highest priority first.')
    suggestions: tuple[str, ...] = arg('Suggested next steps.')
    related_topics: tuple[str, ...] = arg('Other topics of the retrieved memories.')
    learning_path: tuple[StepView, ...] = arg('Recorded steps for this task, in order.')


@tool(read_only=True, idempotent=True, ros=False, sage=True)
def sage_smart_prompt(memory: Memory, request: SageSmartPromptRequest) -> SageSmartPromptResponse:
    """
    Classify a request by rules and return prompts based on matching memories.

    No language model is involved: every prompt except the last cites a memory.
    """
    return make_smart_prompt(memory, request)


def make_smart_prompt(
    memory: Memory, request: SageSmartPromptRequest, history: str = ''
) -> SageSmartPromptResponse:
    """Answer the tool; what was said before widens what is looked for, not what is asked."""
    text = request.user_input
    require_text('user_input', text, 'say what is asked')
    intent = intents.parse_intent(text)
    known, procedures, seconds = _gather_known(memory, request, f'{text}\n{history}'.strip())
    suggested = (
        smart_prompts.make_suggestions(intent, known) if request.include_suggestions else []
    )
    return SageSmartPromptResponse(
        context=intent.field,
        intent=IntentView(
            intent.primary, intent.confidence, intent.keywords, intent.question_type
        ),
        prompts=tuple(
            PromptView(prompt.type, prompt.text, prompt.priority)
            for prompt in smart_prompts.make_prompts(intent, known)
        ),
        suggestions=tuple(suggested),
        related_topics=tuple(smart_prompts.find_related_topics(intent, known)),
        learning_path=tuple(
            StepView(step.step, step.topic, step.duration)
            for step in smart_prompts.make_learning_path(procedures, seconds)
        ),
    )


def _gather_known(
    memory: Memory, request: SageSmartPromptRequest, text: str
) -> tuple[list[tuple[Record, float]], list[Record], dict[str, float]]:
    """Return what is known with its scores, what was done, and how long its sessions took."""
    plan = partial(
        RecallPlan.of,
        collection=request.collection,
        query=text,
        min_confidence=0.3,
        least=_LEAST,
        real_weight=1.0,
    )
    facts = plan(limit=_KNOWN, where=_JUDGED)
    rules = plan(limit=_KNOWN, where=RULES, narrow=True)
    procedures = plan(limit=_STEPS, where=_JUDGED & _PROCEDURES, narrow=True)
    first, rest, done = Retriever(memory).find_each([rules, facts, procedures])
    found = join_found(first, rest, facts)
    known = [(found.records[hit.id], hit.score) for hit in found.hits]
    steps = [done.records[hit.id] for hit in done.hits]
    seconds = {}
    with memory.db.read() as connection:
        for session_id in {record.session_id for record in steps if record.session_id}:
            session = sessions.get(connection, session_id)
            if session.ended_at is not None:
                seconds[session_id] = (session.ended_at - session.created_at) / 1e6
    return known, steps, seconds
