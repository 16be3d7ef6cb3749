"""Erasing memories for good: a preview gives a token, and the token erases exactly that."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from robot_memory.background import erasing
from robot_memory.background.erasing import Order
from robot_memory.background.erasures import STEPS
from robot_memory.core.errors import Conflict
from robot_memory.core.zones import get_zone
from robot_memory.memory import Memory, progress
from robot_memory.storage import Connection
from robot_memory.storage.indexes.amounts import refuse_amounts
from robot_memory.storage.indexes.filters import compile_filter
from robot_memory.storage.tables import (
    confirmations,
    doomed,
    erasures,
    memories,
    mentions,
    sessions,
    tombstones,
)
from robot_memory.storage.tables.doomed import Doomed
from robot_memory.storage.tables.erasures import Erasure
from robot_memory.storage.tables.mentions import Mentions

ACTION = 'erase'
_SALT_BYTES = 16


@dataclass(frozen=True)
class Wanted:
    """Say what is to be erased: by one of these, the ids of an actor's mentions aside."""

    memory_ids: Sequence[int] = ()
    session_id: str = ''
    actor_id: str = ''
    where: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Preview:
    """Hold what an erasure would take, and the token that confirms it."""

    doomed: Doomed
    mentions: Mentions
    token: str


@dataclass(frozen=True)
class Erased:
    """Hold an erasure, and the salt of its digests where this call began it."""

    erasure: Erasure
    salt: str = ''


def preview(memory: Memory, wanted: Wanted, reason: str) -> Preview:
    """
    Find what an erasure would take, and store it for ten minutes, by ids.

    Raise NotFound for a memory or a session that is not there, InvalidArgument for a bad filter,
    and Conflict where nothing would go.
    """
    with memory.db.write() as connection:
        found = _find(connection, wanted)
        doomed.add_emptied(connection, found)
        if found.is_empty():
            raise Conflict('nothing is to be erased: no memory is meant; nothing was changed')
        items = {
            'doomed': found.write(),
            'fingerprints': doomed.read_fingerprints(connection, found),
            'reason': reason,
        }
        token = confirmations.issue(connection, ACTION, memory.caller, items, memory.clock())
    named = Mentions()
    if wanted.actor_id:
        with memory.db.read() as connection:  # it reads all texts: writers do not wait for it
            named = mentions.find_mentions(connection, wanted.actor_id, found)
    return Preview(found, named, token)


def _find(connection: Connection, wanted: Wanted) -> Doomed:
    if wanted.session_id:
        session = sessions.get(connection, wanted.session_id)
        found = doomed.find_by_session(connection, session.id)
        return replace(found, sessions=[session.id])
    if wanted.actor_id:
        found = doomed.find_by_actor(connection, wanted.actor_id)
        named = doomed.find_by_ids(connection, wanted.memory_ids)
        doomed.add_memories(connection, found, named.created)
        found.events += named.events
        for memory_id in named.created:
            found.kept.pop(memory_id, None)
        return found
    if wanted.where:
        found = Doomed()
        where = compile_filter('where', wanted.where)
        refuse_amounts(connection, 'where', wanted.where)
        passing = memories.find_ids(connection, where)
        doomed.add_memories(connection, found, passing)
        return found
    return doomed.find_by_ids(connection, wanted.memory_ids)


def confirm(memory: Memory, token: str) -> Erased:
    """
    Erase what a token stands for, as one transaction, then clean the files and prove it.

    Raise Conflict where the token is not valid for this caller, and where any of what was
    previewed has changed since. The proof may be pending: it goes on by itself. Where it is
    cancelled before the transaction nothing is erased, after it the proof is pending.
    """
    steps = ('rows', *STEPS)
    tell = progress.get()
    tell(0, len(steps), steps[0])
    salt = secrets.token_bytes(_SALT_BYTES)
    with memory.db.write() as connection:
        at, caller = memory.clock(), memory.caller
        items = confirmations.redeem(connection, ACTION, caller, token, at)
        found = Doomed.read(items['doomed'])
        _refuse_changed(connection, found, items['fingerprints'])
        taken = erasing.read_texts(connection, found)
        number = erasures.begin(connection, caller, items['reason'], at)
        zone = get_zone(memory.settings.time_zone)
        order = Order(number, found, caller, items['reason'], at, zone)
        counts = erasing.erase(connection, order)
        digests = [hashlib.sha256(salt + text.encode()).hexdigest() for text in taken.said]
        erasures.describe(connection, number, found.write(), counts, digests, taken.words)
    done = memory.eraser.complete(number, lambda step: tell(steps.index(step), len(steps), step))
    return Erased(done, salt.hex())


def _refuse_changed(
    connection: Connection, found: Doomed, fingerprints: Mapping[str, str]
) -> None:
    now = doomed.read_fingerprints(connection, found)
    changed = sorted(one for one in {*now, *fingerprints} if now.get(one) != fingerprints.get(one))
    if changed:
        names = ', '.join(f'mem_{one.removeprefix("e")}' for one in changed[:5])
        raise Conflict(
            f'{names} changed since the preview ({len(changed)} in all); nothing was erased. Call '
            'without token for a new preview'
        )


def get(memory: Memory, number: int) -> Erased:
    """Return an erasure, having tried to complete it; raise NotFound."""
    if memory.db.read_only_reason:
        with memory.db.read() as connection:
            return Erased(erasures.get(connection, number))
    return Erased(memory.eraser.complete(number))


def was_erased(memory: Memory, sense: Mapping[str, Any], stamp: int | None) -> bool:
    """Say whether what a topic said, or a goal came to, at a stamp (ns) was erased."""
    topic = sense.get('topic')
    if stamp is None or not isinstance(topic, str):
        return False
    with memory.db.read() as connection:
        return tombstones.has_saying(connection, str(sense.get('source') or ''), topic, stamp)
