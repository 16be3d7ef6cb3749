"""What operators decide: proposals, changes of protected memories, memories of before."""

from __future__ import annotations

from robot_memory.lifecycle import facts, soft_delete
from robot_memory.memory import Memory
from robot_memory.storage.tables import audit, proposals, protected_changes, standing


def accept_proposal(memory: Memory, proposal_id: int) -> None:
    """Carry out an open proposal; raise NotFound, or Conflict where that is not possible."""
    with memory.db.read() as connection:
        proposal = proposals.get_open(connection, proposal_id)
    if proposal.action == 'update':
        facts.update(memory, proposal.memory_id, proposal.content or '', proposal.context or {})
    else:
        soft_delete.soft_delete(memory, proposal.memory_id, proposal.reason)
    _decide(memory, proposal_id, 'accepted')


def reject_proposal(memory: Memory, proposal_id: int) -> None:
    """Reject an open proposal; raise NotFound or Conflict for any other."""
    _decide(memory, proposal_id, 'rejected')


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


def _decide(memory: Memory, proposal_id: int, state: str) -> None:
    with memory.db.write() as connection:
        proposal = proposals.get_open(connection, proposal_id)
        now, detail = memory.clock(), {'proposal': proposal_id}
        proposals.decide(connection, proposal_id, state, memory.caller, now)
        audit.record(connection, proposal.memory_id, state, memory.caller, '', detail, now)
