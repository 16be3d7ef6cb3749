"""What operators decide: proposals, changes of protected memories, memories of before."""

from __future__ import annotations

from robot_memory.lifecycle import facts
from robot_memory.memory import Memory
from robot_memory.storage import Connection
from robot_memory.storage.tables import (
    audit,
    memories,
    proposals,
    protected_changes,
    replacements,
    standing,
)
from robot_memory.storage.tables.proposals import Proposal


def accept_proposal(memory: Memory, proposal_id: int) -> None:
    """Carry out an open proposal; raise NotFound, or Conflict where that is not possible."""
    with memory.db.read() as connection:
        proposal = proposals.get_open(connection, proposal_id)
    change = None
    if proposal.action == 'update':
        change = facts.prepare_update(memory, proposal.content or '', proposal.context or {})
    with memory.db.write() as connection:
        proposal = proposals.get_open(connection, proposal_id)
        record = memories.get_active(connection, proposal.memory_id)
        # Whatever the text came from, the operator who accepts it stands behind it.
        now, writer = memory.clock(), memory.caller
        if proposal.replacing_id is not None:
            memories.get_active(connection, proposal.replacing_id)
            replacements.replace(connection, proposal.replacing_id, record.id, writer, now)
        elif change is not None:
            facts.apply_update(memory, connection, record, change, writer, now)
        else:
            memories.retire(connection, record.id, 'invalidated', writer, proposal.reason, now)
        _decide(memory, connection, proposal, 'accepted')


def reject_proposal(memory: Memory, proposal_id: int) -> None:
    """Reject an open proposal; raise NotFound or Conflict for any other."""
    with memory.db.write() as connection:
        proposal = proposals.get_open(connection, proposal_id)
        line = _decide(memory, connection, proposal, 'rejected')
        if proposal.replacing_id is not None:
            replacements.end(connection, proposal.replacing_id, proposal.memory_id, line)


def confirm_changes(memory: Memory, memory_id: int) -> None:
    """Confirm what others changed of a protected memory; raise NotFound or Conflict."""
    with memory.db.write() as connection:
        now = memory.clock()
        count = protected_changes.confirm(connection, memory_id, memory.caller, now)
        detail = {'changes': count}
        audit.record(connection, memory_id, 'confirmed', memory.caller, '', detail, now)


def confirm_standing(memory: Memory, memory_id: int | None, authority: str) -> int:
    """
    Give memories from before authorities were recorded one; return how many it was.

    None means all of them. Raise NotFound, or Conflict for a memory that has an authority.
    """
    with memory.db.write() as connection:
        return standing.confirm(connection, memory_id, authority, memory.caller, memory.clock())


def _decide(memory: Memory, connection: Connection, proposal: Proposal, state: str) -> int:
    """Note a decision; return its audit line."""
    now, detail = memory.clock(), {'proposal': proposal.id}
    proposals.decide(connection, proposal.id, state, memory.caller, now)
    return audit.record(connection, proposal.memory_id, state, memory.caller, '', detail, now)
