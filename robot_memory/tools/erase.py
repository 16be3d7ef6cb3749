"""Erase memories for good, with a preview and a proof."""

from __future__ import annotations

from dataclasses import dataclass

from robot_memory.background import erasing, proof
from robot_memory.core.clock import format_instant
from robot_memory.core.errors import InvalidArgument
from robot_memory.core.fields import Json, actor_arg, arg
from robot_memory.core.records import describe_writer
from robot_memory.lifecycle import erasure
from robot_memory.lifecycle.erasure import Erased, Preview, Wanted
from robot_memory.memory import Memory
from robot_memory.storage.tables import erasable, memories
from robot_memory.tool import tool
from robot_memory.tools.forget import require_reason

_LISTED = 1000
_OUTSIDE = (
    'recordings (bags, journals) and archives that were exported: not ours to change; what is '
    'imported from them again is skipped',
    'backups that were not made by backup_folder or upgrade',
    'logs of the system, and copies in other programs',
    'names of actors and clients in audit lines, which the chain covers',
)


@dataclass(frozen=True)
class EraseRequest:
    """Request of erase."""

    memory_ids: tuple[int, ...] = arg(
        'Memories, or folded events; with actor_id, its mentions by others.',
        default=(),
        minimum=1,
    )
    session_id: str | None = arg('Session: what was said, stored or seen in it.', default=None)
    actor_id: str | None = actor_arg('Actor: what the actor said or did.')
    where: Json | None = arg(
        'Conditions as in query_records, for memories active or not.', default=None, shape='object'
    )
    reason: str = arg('Reason, stored in the audit trail.', default='', max_length=2000)
    token: str = arg(
        'Token of a preview: erases exactly what that listed.', default='', max_length=100
    )
    erasure: int = arg('Erasure whose state or receipt is asked for.', default=0, minimum=0)


@dataclass(frozen=True)
class DoomedView:
    """One memory that goes."""

    memory_id: int = arg('Memory id.')
    content: str = arg('Text of the memory.')
    status: str = arg('active, invalidated or superseded.')
    actor_id: str | None = arg('Actor who said or did it.')


@dataclass(frozen=True)
class EraseResponse:
    """Response of erase."""

    status: str = arg(
        'preview, pending (erased, the proof goes on) or erased (receipt.holds says if proved).'
    )
    counts: Json = arg(
        'How many memories, observations, revisions, payload parts, events and sessions.'
    )
    token: str | None = arg(
        'Confirms this preview, once, for 10 minutes.', default=None, omitted=True
    )
    memories: tuple[DoomedView, ...] | None = arg(
        'Memories that go, the first 1000.', default=None, omitted=True
    )
    memory_ids: tuple[int, ...] | None = arg(
        'Ids of all memories that go.', default=None, omitted=True
    )
    events: tuple[int, ...] | None = arg('Folded events that go.', default=None, omitted=True)
    kept: tuple[int, ...] | None = arg(
        'Memories that stay, because others observed them, without the part that goes.',
        default=None,
        omitted=True,
    )
    mentions: tuple[int, ...] | None = arg(
        'Memories of others that name the actor, in an earlier state, a reason, a tag or the name '
        'of the collection, too; they go only if memory_ids has them.',
        default=None,
        omitted=True,
    )
    erasure: int | None = arg('Id of the erasure.', default=None, omitted=True)
    pending: str | None = arg('What the proof waits for.', default=None, omitted=True)
    receipt: Json | None = arg(
        'Who, why, when, salted SHA-256 of the texts, and the checks. holds is true where all was '
        'searched and nothing found, null where not all was (not_searched, to_finish).',
        default=None,
        omitted=True,
    )
    outside: tuple[str, ...] | None = arg(
        'What erase does not reach; first sessions and collections that name the actor.',
        default=None,
        omitted=True,
    )


@tool(destructive=True, operator=True, frees_space=True)
def erase(memory: Memory, request: EraseRequest) -> EraseResponse:
    """
    Erase memories for good: a preview first, then with its token exactly that, with a receipt.

    forget keeps row and text and can be undone; this cannot. Without a token nothing is erased:
    the answer lists all that would go. Only an operator can call this.
    """
    wanted = Wanted(
        tuple(dict.fromkeys(request.memory_ids)),
        request.session_id or '',
        request.actor_id or '',
        dict(request.where or {}),
    )
    selections = [wanted.session_id, wanted.actor_id, wanted.where]
    given = sum(map(bool, selections)) + bool(wanted.memory_ids and not wanted.actor_id)
    if bool(given) + bool(request.token) + bool(request.erasure) != 1 or given > 1:
        raise InvalidArgument(
            'pass one of memory_ids, session_id, actor_id and where (memory_ids may stand beside '
            'actor_id) for a preview, or a token to confirm one, or erasure for a receipt'
        )
    if request.token:
        return _view_erased(erasure.confirm(memory, request.token))
    if request.erasure:
        return _view_erased(erasure.get(memory, request.erasure))
    reason = require_reason(request.reason)
    return _view_preview(memory, erasure.preview(memory, wanted, reason))


def _view_preview(memory: Memory, found: Preview) -> EraseResponse:
    doomed = found.doomed
    with memory.db.read() as connection:
        records = memories.get(connection, doomed.memories[:_LISTED])
        copies = erasable.find_copies(connection, doomed.memories)
        owned = erasable.find_owned(connection, doomed.memories)
    return EraseResponse(
        'preview',
        erasing.count(doomed, len(doomed.created), copies, owned, len(doomed.sessions)),
        found.token,
        tuple(
            DoomedView(one.id, one.content, one.status, one.actor_id)
            for _, one in sorted(records.items())
        ),
        tuple(doomed.memories),
        tuple(doomed.events) or None,
        tuple(sorted(doomed.kept)) or None,
        tuple(found.mentions.memories) or None,
        outside=(*found.mentions.describe(), *_OUTSIDE),
    )


def _view_erased(done: Erased) -> EraseResponse:
    found = done.erasure
    receipt = None
    if found.receipt is not None:
        receipt = {
            'erasure': found.id,
            'counts': found.counts,
            'digests': list(found.digests),
            **({'salt': done.salt} if done.salt else {}),
            'by': describe_writer(found.writer),
            'reason': found.reason,
            'erased_at': format_instant(found.at),
            **proof.sum_up(found.receipt),
        }
    return EraseResponse(
        'pending' if receipt is None else 'erased',
        found.counts,
        erasure=found.id,
        pending=found.waits_for or None,
        receipt=receipt,
        outside=_OUTSIDE,
    )
