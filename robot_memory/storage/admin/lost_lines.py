"""
What of the audit a salvage could not bring back, noted in the new store by a line of its own.

A missing line counts as lost only where a page that it may have lain on could not be read. One
that is missing between lines of a whole page was removed before: it is noted as such where a lost
line may have told why, and else not at all, so that it stays a fault.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from robot_memory.core.authority import THE_STORE
from robot_memory.core.ranges import find_ranges, write_range_steps, write_ranges
from robot_memory.storage import damage, epochs, remembered
from robot_memory.storage.admin import audit_check, audit_losses, partial_rows
from robot_memory.storage.admin.audit_check import NOW, Gone, Unlike
from robot_memory.storage.admin.audit_losses import SALVAGED, Ranges
from robot_memory.storage.admin.tree_mending import read_leaf
from robot_memory.storage.page_file import open_pages
from robot_memory.storage.tables import audit, erasing

_LINE_BYTES = 64
"""No line takes less: each has two digests of 32 bytes."""
_REASON = 'lines of the audit, or what proves them, were lost with a damaged file'
_UNPROVED = 'the line of the audit that proves this state was lost with a damaged file'
_CHANGED = 'what it referred to was lost with a damaged file'


@dataclass
class Evidence:
    """
    Hold what a salvage saw of the damaged file.

    Attributes:
        file: SHA-256 of it.
        pages: How many pages could not be read, those of a log included.
        ranges: The rows of the audit that may have lain on these.
        lines: Lines whose writer or clock epoch is lost.
        memories: Memories of which a reference to something lost was cleared.

    """

    file: str
    pages: int = 0
    ranges: list[tuple[float, float]] = field(default_factory=list)
    lines: set[int] = field(default_factory=set)
    memories: set[int] = field(default_factory=set)

    def note_page(self, page: damage.DamagedPage) -> None:
        """Note a page of the audit that cannot be read."""
        first = -math.inf if page.first is None else page.first
        self.ranges.append((first, math.inf if page.last is None else page.last))

    def note_rows(self, first: float, last: float) -> None:
        """Note lines that could not be read, as where pages have no checksums."""
        self.ranges.append((first, last))

    def note_log(self, pages: int) -> None:
        """Note a log that could not be brought into the file: it had the newest lines."""
        self.pages += pages
        self.ranges.append((math.inf, math.inf))

    def note_references(self, new: apsw.Connection) -> None:
        """Note what refers to lost rows, before these references are cleared."""
        no_epoch = 'NOT IN (SELECT id FROM clock_epochs)'
        with suppress(apsw.SQLError):  # an earlier release has no such columns
            self.lines.update(
                _read(
                    new,
                    'SELECT id FROM audit WHERE writer_id NOT IN (SELECT id FROM writers)'
                    f' OR epoch {no_epoch}',
                )
            )
            self.memories.update(
                _read(
                    new,
                    'SELECT id FROM memories WHERE superseded_by NOT IN (SELECT id FROM memories)'
                    f' OR updated_epoch {no_epoch}',
                )
            )

    def may_have_held(self, first: int, last: int) -> bool:
        """Say whether all of some lines may have lain on pages that cannot be read."""
        reached: float = first - 1
        for low, high in sorted(self.ranges):  # pages that meet held a run of lines together
            if low <= reached + 1:
                reached = max(reached, high)
        return reached >= last

    @property
    def is_open(self) -> bool:
        """Say whether lines behind the last one that is there may be lost."""
        return any(high == math.inf for _, high in self.ranges)


def note(
    source: apsw.Connection, new: apsw.Connection, copy: Path, evidence: Evidence, at: int
) -> list[str]:
    """
    Append the line that tells what of the audit is lost; return that in words.

    Nothing is appended where all is there. No new line takes a number that a lost one may have.
    """
    new.execute('BEGIN')
    head = audit.get_head(new)
    detail, missing, unlike = _find_loss(source, new, copy, head, evidence)
    if not detail and not unlike:
        new.execute('ROLLBACK')
        return []
    last = max((high for _, high in missing), default=0)
    if last > head.id:
        _put_gap(new, head, last)
    _drop_lost_heads(new, missing)
    ((highest, epoch),) = new.execute(
        'SELECT max((SELECT coalesce(max(id), 0) FROM memories), (SELECT'
        f' coalesce(max(last_memory_id), 0) FROM audit)), {epochs.NEWEST}'
    )
    with remembered.remember():
        chain = bytes.fromhex(head.chain)
        remembered.note('audit', '', (max(last, head.id), chain, highest, epoch))
        detail['file'] = evidence.file
        audit.record(new, None, SALVAGED, THE_STORE, _REASON, detail, at)
    for one in unlike:
        if one.ended_by == NOW:
            reason = _UNPROVED if _lies_between(missing, one) else _CHANGED
            _prove_anew(new, one, reason, at)
    new.execute('COMMIT')
    return [str(audit_losses.read_losses(new)[-1])]


def _prove_anew(new: apsw.Connection, one: Unlike, reason: str, at: int) -> None:
    """Append the line of what a memory is now; the row keeps its salt where it has one."""
    if one.digest is None:
        erasing.seal(new, one.memory_id, partial_rows.SALVAGED, THE_STORE, reason, at)
    else:
        digest, action = bytes.fromhex(one.digest), partial_rows.SALVAGED
        audit.record(new, one.memory_id, action, THE_STORE, reason, {}, at, digest=digest)


def name_lost_memories(new: apsw.Connection) -> list[str]:
    """Return in words which memories are lost, as far as the audit tells of them."""
    gone = Gone(new, ())
    marks = ', '.join('?' * len(audit.CREATIONS))
    lost: list[int] = []
    rows: list[Any] = new.execute(
        "SELECT * FROM (SELECT id, memory_id AS first, iif(action = 'detected', last_memory_id,"
        f' memory_id) AS last FROM audit WHERE action IN ({marks}) AND memory_id IS NOT NULL)'
        ' WHERE (SELECT count(*) FROM memories WHERE id BETWEEN first AND last) <= last - first',
        audit.CREATIONS,
    ).fetchall()
    for line, first, last in rows:
        there = {
            row[0]
            for row in new.execute(
                'SELECT id FROM memories WHERE id BETWEEN ? AND ?', (first, last)
            )
        }
        lost += [
            one for one in range(first, last + 1) if one not in there and not gone.has(one, line)
        ]
    if not lost:
        return []
    return [f'{len(lost)} memories of which the audit tells: ids {write_ranges(lost)}']


def _find_loss(
    source: apsw.Connection, new: apsw.Connection, copy: Path, head: audit.Head, evidence: Evidence
) -> tuple[dict[str, Any], Ranges, list[Unlike]]:
    """Return what the line is to say, the missing lines, and the states that nothing proves."""
    gone = Gone(new, audit_losses.read_losses(new))
    lost, untold = _sort_missing(source, new, copy, gone, evidence)
    named = _find_last_named(source, new)
    detail: dict[str, Any] = {}
    if evidence.is_open:
        per_page = source.pragma('page_size') // _LINE_BYTES
        pages = evidence.pages or source.pragma('page_count')  # without checksums any may be lost
        detail = {'open_from': head.id + 1, 'named': named}
        lost.append((head.id + 1, max(named, head.id + pages * per_page)))
    last = max((high for _, high in lost), default=0)
    untold = [one for one in untold if one[1] < last]  # a lost line may have told why
    missing = sorted((*lost, *untold))
    unsalted = [one for one in _list_unsalted(new, gone) if one < last]
    lists = {'lines': lost, 'untold': untold, 'unsalted': find_ranges(unsalted)}
    detail |= {name: write_range_steps(ranges) for name, ranges in lists.items() if ranges}
    behind = {high + 1 for _, high in missing}
    if evidence.pages or evidence.ranges:
        behind |= _list_unlinked(new, gone)
    if seals := dict(audit_check.seal_lines(new, sorted(behind | evidence.lines))):
        detail['seals'] = seals
    unlike = [
        one
        for one in audit_check.find_unlike(new, gone)
        if _lies_between(missing, one) or (one.memory_id in evidence.memories)
    ]
    states = [[one.memory_id, one.ended_by, one.digest] for one in unlike if one.ended_by != NOW]
    if states:
        detail['states'] = states
    return detail, missing, unlike


def _sort_missing(
    source: apsw.Connection, new: apsw.Connection, copy: Path, gone: Gone, evidence: Evidence
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Return the lines that are lost, and those that were missing before the damage."""
    lost: list[tuple[int, int]] = []
    untold: list[tuple[int, int]] = []
    leaves: list[tuple[int, int]] | None = None
    for before, line in _list_breaks(new):
        for low, high in _leave_out(before + 1, line - 1, gone.missing):
            there = _list_there(source, low, high)
            lost += find_ranges(there)
            leaves = _list_leaves(source, copy) if leaves is None else leaves
            is_within = any(first < low and high < last for first, last in leaves)
            for first, last in _leave_out(low, high, find_ranges(there)):
                may_be_lost = not is_within and evidence.may_have_held(first, last)
                (lost if may_be_lost else untold).append((first, last))
    return lost, untold


def _list_breaks(new: apsw.Connection) -> list[tuple[int, int]]:
    """Return each line behind missing ones, with the line before these."""
    rows = new.execute(
        'SELECT before, id FROM (SELECT lag(id, 1, 0) OVER (ORDER BY id) AS before, id'
        ' FROM audit WHERE id > 0) WHERE id > before + 1'
    )
    return [(int(before), int(line)) for before, line in rows]


def _list_unlinked(new: apsw.Connection, gone: Gone) -> set[int]:
    """Return lines behind ones that are told to be missing, to which no entry leads any more."""
    found = set[int]()
    for before, line in _list_breaks(new):
        if not gone.has_lines(before + 1, line - 1):
            continue
        gap = audit.find_gap(new, line - 1)
        if gap is None or gap.last != line - 1:
            found.add(line)
    return found


def _leave_out(first: int, last: int, ranges: Ranges) -> Iterator[tuple[int, int]]:
    """Give what is left of a range without others, which are in order."""
    for low, high in ranges:
        if high < first:
            continue
        if low > last:
            break
        if low > first:
            yield first, low - 1
        first = high + 1
    if first <= last:
        yield first, last


def _list_there(source: apsw.Connection, first: int, last: int) -> list[int]:
    """Return the lines that can be found in the damaged file, though not read."""
    found: list[int] = []
    with suppress(apsw.Error):
        sql = 'SELECT id FROM audit NOT INDEXED WHERE id BETWEEN ? AND ?'
        found.extend(row[0] for row in source.execute(sql, (first, last)))
    return found


def _list_leaves(source: apsw.Connection, copy: Path) -> list[tuple[int, int]]:
    """Return the first and the last line of each page of lines that could be read."""
    ((root,),) = source.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'audit'")
    with open_pages(copy) as file:
        numbers = [page.number for level, _ in damage.walk_levels(file, root) for page in level]
        found = (read_leaf(file, number) for number in numbers)
        return [(leaf.first, leaf.last) for leaf in found if leaf is not None]


def _find_last_named(source: apsw.Connection, new: apsw.Connection) -> int:
    """Return the last line that anything names, be it only the index of lines by memory."""
    ((revision, head),) = new.execute(
        'SELECT (SELECT coalesce(max(audit_id), 0) FROM revisions), (SELECT'
        " coalesce(max(value ->> '$.id'), 0) FROM meta WHERE key IN (?, ?) AND json_valid(value))",
        (audit.CHECKPOINT, audit.BACKUP),
    )
    named = max(int(revision), int(head))
    for way in ('ASC', 'DESC'):
        sql = f'SELECT id FROM audit INDEXED BY audit_by_memory ORDER BY memory_id {way}, id {way}'
        with suppress(apsw.Error):  # from each end to what cannot be read
            for (line,) in source.execute(sql):
                named = max(named, line)
    return named


def _list_unsalted(new: apsw.Connection, gone: Gone) -> list[int]:
    """Return lines without a salt though no line tells that their memory is gone."""
    rows: list[Any] = new.execute(
        "SELECT id, memory_id FROM audit WHERE salt IS NULL AND reason = '' AND detail IN"
        " ('', '{}')"
    ).fetchall()
    return [
        line for line, memory in rows if not (gone.has(memory, line) or gone.is_unsalted(line))
    ]


def _lies_between(missing: Ranges, one: Unlike) -> bool:
    """Say whether a missing line may have written a state."""
    return any(high > one.line and low < one.ended_by for low, high in missing)


def _put_gap(new: apsw.Connection, head: audit.Head, last: int) -> None:
    """Enter that behind lost lines at the end the chain goes on from the last one there."""
    new.execute('DELETE FROM audit_gaps WHERE first > ?', (head.id,))
    audit.put_gap(new, audit.Gap(head.id + 1, last, bytes.fromhex(head.chain)))


def _drop_lost_heads(new: apsw.Connection, missing: Ranges) -> None:
    """Have no head of this store be expected whose line is lost."""
    for key in (audit.CHECKPOINT, audit.BACKUP):
        for (text,) in new.execute('SELECT value FROM meta WHERE key = ?', (key,)).fetchall():
            with suppress(TypeError, ValueError, KeyError):
                line = json.loads(str(text))['id']
                if any(low <= line <= high for low, high in missing):
                    new.execute('DELETE FROM meta WHERE key = ?', (key,))


def _read(connection: apsw.Connection, sql: str) -> Sequence[int]:
    return [row[0] for row in connection.execute(sql)]
