"""Who writes, and who stands behind what is written: faces, principals, actors, authorities."""

from __future__ import annotations

from dataclasses import dataclass, replace

from robot_memory.core.errors import Conflict

AUTHORITIES = ('operator', 'planner', 'robot', 'person', 'observed', 'imported')
"""Who stands behind a memory, the highest first. Not its category."""
ROLES = ('operator', 'planner', 'viewer')
"""What a caller may be: an operator may do all, a viewer may only read."""


@dataclass(frozen=True)
class Writer:
    """
    Hold who writes: the face, the client's name, the authenticated principal, the claimed actor.

    Faces are ros, mcp-http, mcp-stdio, cli, python, tap, import and memory (the store's own
    work). `authority` is one of AUTHORITIES; `may_speak_for` lists the actors whose authority the
    principal is lent. A caller that `may_write` nothing is a viewer.
    """

    face: str
    client: str = ''
    principal: str = ''
    actor: str = ''
    authority: str = 'planner'
    may_speak_for: frozenset[str] = frozenset()
    may_write: bool = True

    @classmethod
    def of_role(
        cls,
        face: str,
        client: str,
        role: str,
        principal: str = '',
        may_speak_for: frozenset[str] = frozenset(),
    ) -> Writer:
        """Return a caller of a role."""
        authority = 'imported' if role == 'viewer' else role
        return cls(face, client, principal, '', authority, may_speak_for, role != 'viewer')

    @property
    def names(self) -> tuple[str, str, str, str, str]:
        """Return what tells one writer from another: the columns of the table of writers."""
        return self.face, self.client, self.principal, self.actor, self.authority

    @property
    def label(self) -> str:
        """Return who writes in one word, as in the audit trail: 'mcp:inspector 1.0'."""
        if self.face == 'memory':
            return 'robot_memory'
        if self.face == 'import':
            return self.client
        return f'{self.face.partition("-")[0]}:{self.principal or self.client}'

    @property
    def setting(self) -> str:
        """Return the name of the setting with the role of callers of this face."""
        return f'{self.face.removeprefix("mcp-")}_role'

    def require_operator(self, what: str) -> None:
        """Raise Conflict, which names `what` was asked for, unless this is an operator."""
        if self.authority != 'operator':
            raise Conflict(
                f'{what} requires the role operator, and this caller is '
                f'{self.authority if self.may_write else "viewer"}: use the command line as '
                f"the owner of the store, an operator's token, or set {self.setting} to operator"
            )

    def state(self, actor: str | None) -> Writer:
        """Return the writer of what this caller states, or states for an actor."""
        return self._with(actor, self.authority)

    def relay(self, authority: str, actor: str | None = None) -> Writer:
        """Return the writer of what this caller passes on from one of an authority, or lower."""
        return self._with(actor, get_lowest(authority, self.authority))

    def _with(self, actor: str | None, authority: str) -> Writer:
        actor = actor or ''
        if actor in self.may_speak_for:
            authority = get_highest(authority, actor.partition(':')[0])
        return replace(self, actor=actor, authority=authority)


def is_higher(one: str, other: str) -> bool:
    """Return whether an authority is higher than another."""
    return AUTHORITIES.index(one) < AUTHORITIES.index(other)


def get_highest(*authorities: str) -> str:
    """Return the highest of some authorities."""
    return min(authorities, key=AUTHORITIES.index)


def get_lowest(*authorities: str) -> str:
    """Return the lowest of some authorities."""
    return max(authorities, key=AUTHORITIES.index)


THE_STORE = Writer('memory', authority='robot')
"""The writer of the store's own work."""
