"""Give a memory new text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from robot_memory.core.fields import Json, arg, collection_arg
from robot_memory.lifecycle import described, facts
from robot_memory.memory import Memory
from robot_memory.retrieval.described import find_described
from robot_memory.text.quoting import last_words
from robot_memory.tool import tool
from robot_memory.tools.forget import MeantView, is_preview, view_meant
from robot_memory.tools.learn import END, Inferred, view_inferred


@dataclass(frozen=True)
class UpdateRequest:
    """Request of update."""

    memory_id: int = arg('Memory to change; 0: by description.', minimum=0)
    new_content: str = arg('New text, 1 to 300 characters.')
    context: Json | None = arg(
        'New context as JSON; empty keeps the stored one.', default=None, shape='object'
    )
    description: str = arg(
        'What the memory says now; only previewed: a token confirms it.',
        default='',
        max_length=1000,
    )
    token: str = arg(
        'Token of a preview, whose new text and context are repeated.', default='', max_length=100
    )
    collection: str = collection_arg('Collection to look in for a description.')


@dataclass(frozen=True)
class UpdateResponse:
    """Response of update."""

    status: str = arg('updated, or preview where a description was given.')
    memory_id: int = arg('Memory id.')
    old_content: str = arg('Text of the memory.')
    new_content: str = arg('New text.')
    auto_inferred: Inferred = arg('Attributes inferred from the new text.')
    truncated: bool | None = arg(
        'True if the text was truncated to 300 characters.', default=None, omitted=True
    )
    truncated_characters: int | None = arg(
        'Number of characters removed.', default=None, omitted=True
    )
    truncated_after: str | None = arg(
        'Last words that were kept: what followed them is gone.', default=None, omitted=True
    )
    token: str | None = arg(
        'Confirms this preview, once, for 10 minutes.', default=None, omitted=True
    )
    others: tuple[MeantView, ...] | None = arg(
        'Other memories that the description may mean: pass the id of one.',
        default=None,
        omitted=True,
    )


@tool(destructive=True, idempotent=True, core=True, planner=False)
def update(memory: Memory, request: UpdateRequest) -> UpdateResponse:
    """
    Replace the text of a memory; category, tags and vector are recomputed.

    Call it if a memory is wrong or out of date.

    The old text is kept in the audit trail, and decay restarts. With a description in place of
    memory_id (0), the answer is a preview with the likeliest memory, and nothing is changed until
    its token is passed.
    """
    text, context = request.new_content, request.context or {}
    if is_preview('update', request.memory_id, request.description, request.token):
        return _preview(memory, request, text, context)
    updated = facts.update(memory, request.memory_id, text, context, request.token)
    return UpdateResponse(
        'updated',
        updated.old.id,
        updated.old.content,
        updated.new.content,
        view_inferred(updated.inferred),
        truncated=True if updated.truncated else None,
        truncated_characters=updated.truncated or None,
        truncated_after=last_words(updated.new.content, END) if updated.truncated else None,
    )


def _preview(
    memory: Memory, request: UpdateRequest, text: str, context: Mapping[str, Any]
) -> UpdateResponse:
    change = facts.prepare_update(memory, text, context)
    meant, *others = find_described(memory, request.description, request.collection)
    token = described.preview(memory, 'update', meant.id, [text, dict(context)])
    return UpdateResponse(
        'preview',
        meant.id,
        meant.content,
        change.text,
        view_inferred(change.inferred),
        truncated=True if change.truncated else None,
        truncated_characters=change.truncated or None,
        truncated_after=last_words(change.text, END) if change.truncated else None,
        token=token,
        others=view_meant(others),
    )
