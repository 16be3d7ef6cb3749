"""The one place that searches: a plan in, what was found out."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from robot_memory.core.errors import Damaged
from robot_memory.core.records import Record
from robot_memory.embedding.vectorizer import QueryVector
from robot_memory.memory import Memory
from robot_memory.retrieval.contradictions import (
    find_absent,
    find_current,
    mark_contradictions,
    put_beside,
    put_first,
)
from robot_memory.retrieval.plan import RecallPlan
from robot_memory.retrieval.relevance import find_relevant
from robot_memory.search.query import Hit
from robot_memory.storage import Connection, Database
from robot_memory.storage.indexes import frames, fulltext, set_aside
from robot_memory.storage.indexes.confidences import has_faded
from robot_memory.storage.tables import lookup, maps
from robot_memory.storage.tables.records import get_whole

if TYPE_CHECKING:
    from robot_memory.retrieval.near import NearSearch


@dataclass(frozen=True)
class Found:
    """
    Hold what answers a plan.

    `hits` come best first, each with its record in `records`. `mode` says what ran: hybrid,
    bm25_only, vec_only or filter. `newer` leads from a memory to the one that contradicts it
    later, `contradicts` to the one of a higher authority, `payloads` to the digests of
    perceptions. `frames` counts the positions in each frame where a place was asked for and they
    are of several. `query_ms` is the time it took, `faded` how many are left out only because
    their confidence has decayed, `models` are the embedding models that
    were asked. `around` is the search for a place in any frame, and `near` what is
    told of it. `of_maps` says of which map places are that are not of the one that holds.
    """

    hits: tuple[Hit, ...]
    records: Mapping[int, Record]
    mode: str
    newer: Mapping[int, int]
    contradicts: Mapping[int, int]
    payloads: Mapping[int, dict[str, Any]]
    frames: dict[str, int] | None
    query_ms: float
    faded: int = 0
    models: tuple[str, ...] = ()
    around: NearSearch | None = None
    near: dict[str, Any] | None = None
    of_maps: Mapping[int, str] = field(default_factory=dict)

    @property
    def ids(self) -> list[int]:
        """Return the ids of the memories, best first."""
        return [hit.id for hit in self.hits]


def join_found(first: Found, rest: Found, plan: RecallPlan) -> Found:
    """
    Return as one what two plans found: the first before the rest, up to the limit of `plan`.

    Where the rest has any that the first has not, one place is left for it. Newer versions are
    marked over both, and come first among the rest.
    """
    known = set(first.ids)
    others = [hit for hit in rest.hits if hit.id not in known]
    leading = first.hits[: plan.limit - bool(others)] or first.hits[:1]
    others = others[: plan.limit - len(leading)]
    records = {**first.records, **rest.records}
    shown = [*leading, *others]
    shown_records = {hit.id: records[hit.id] for hit in shown}
    newer, contradicts = mark_contradictions(shown_records, shown, plan.query)
    current = find_current(shown_records)
    places = {hit.id for hit in others}
    for found in (newer, contradicts, current):
        within = {one: other for one, other in found.items() if {one, other} <= places}
        others = put_first(others, within)
    leads = {hit.id for hit in leading}
    within = {one: other for one, other in current.items() if {one, other} <= leads}
    leading = tuple(put_first(leading, within))
    hits = (*leading, *others)
    return Found(
        hits,
        records,
        rest.mode,
        newer,
        contradicts,
        {},
        None,
        rest.query_ms,
        models=rest.models,
        of_maps={**first.of_maps, **rest.of_maps},
    )


class Retriever:
    """
    Find what answers a plan.

    A query is embedded before its snapshot is taken, so that no read waits for a model. Nothing
    is written: who shows what was found records the accesses with `Memory.accesses`.
    """

    def __init__(self, memory: Memory) -> None:
        """Search this memory."""
        self._memory = memory

    def find(self, plan: RecallPlan) -> Found:
        """Return what answers a plan; raise InvalidArgument for a target of a wrong length."""
        return self.find_each([plan])[0]

    def find_each(self, plans: Sequence[RecallPlan]) -> list[Found]:
        """
        Return what answers each of some plans, all from one snapshot.

        Where an index turns out to be damaged, the rest answers.
        """
        mender = self._memory.mender
        while True:
            avoided, before = mender.avoided, mender.found
            try:
                if not avoided:
                    return self._find_each(plans)
                with set_aside.avoid(avoided):
                    return self._find_each(plans)
            except Damaged:
                if mender.found == before:
                    raise

    def _find_each(self, plans: Sequence[RecallPlan]) -> list[Found]:
        start = time.perf_counter()
        # Plans of one request often ask the same: each text is embedded once.
        texts = {plan.query for plan in plans if _asks_meaning(plan)}
        vectors = {text: self._memory.vectorizer.embed_query(text) for text in texts}
        (line,) = {plan.as_of for plan in plans} or {None}  # all ask of one state
        db = self._memory.db
        with db.read() if line is None else _open_past(db, line) as connection:
            return [
                self._answer(connection, plan, vectors.get(plan.query), start) for plan in plans
            ]

    def select_passing(self, plan: RecallPlan, ids: Sequence[int]) -> set[int]:
        """Return those of some ids that the restrictions of a plan hold of."""
        with self._memory.db.read() as connection:
            return fulltext.select_passing(connection, ids, plan.where)

    def _answer(
        self, connection: Connection, plan: RecallPlan, vector: QueryVector | None, start: float
    ) -> Found:
        around = self._prepare(connection, plan)
        hits, mode, models = self._rank(connection, plan, vector, around)
        is_ranked = plan.near is None and around is None
        place = plan.near.field if plan.near else ''
        records = get_whole(connection, [hit.id for hit in hits], plan.occasion, place)
        hits = [hit for hit in hits if hit.id in records]
        absent = find_absent(hits, records) if is_ranked else {}
        if absent:
            hits = self._bring_current(connection, plan, hits, records, absent)
        newer: dict[int, int] = {}
        contradicts: dict[int, int] = {}
        if plan.marks_newer and plan.terms is not None and is_ranked:
            newer, contradicts = mark_contradictions(records, hits, plan.query)
            hits = put_first(put_first(hits, newer), contradicts)
        if is_ranked:
            hits = put_first(hits, find_current({hit.id: records[hit.id] for hit in hits}))
        sensed = [one.id for one in records.values() if one.type == 'perception']
        payloads: dict[int, dict[str, Any]] = {}
        if plan.has_payloads and sensed:
            from robot_memory.retrieval.payloads import load_digests

            payloads = load_digests(connection, sensed)
        counts = None
        if plan.near is not None:
            counts = frames.count_frames(plan.near.field, (records[hit.id] for hit in hits))
        faded = 0
        if plan.unfaded is not None and has_faded(
            connection, plan.collection, plan.min_confidence
        ):
            unfaded = replace(plan, where=plan.unfaded, fills=False)
            faded = self._count_faded(connection, unfaded, vector)
        placed = [one for one in records.values() if one.pose or 'spatial' in one.context]
        took = round((time.perf_counter() - start) * 1000, 3)
        return Found(
            tuple(hits),
            records,
            mode,
            newer,
            contradicts,
            payloads,
            counts,
            took,
            faded,
            models,
            around,
            None
            if around is None
            else around.describe(connection, plan.where, [hit.id for hit in hits]),
            maps.describe_each(connection, placed) if placed and plan.as_of is None else {},
        )

    def _prepare(self, connection: Connection, plan: RecallPlan) -> NearSearch | None:
        if plan.around is None:
            return None
        from robot_memory.retrieval.near import prepare

        return prepare(self._memory, connection, plan.around, plan.collection)

    def _bring_current(
        self,
        connection: Connection,
        plan: RecallPlan,
        hits: list[Hit],
        records: dict[int, Record],
        absent: Mapping[int, float],
    ) -> list[Hit]:
        """Add to hits and records what of the absent passes the plan; both end at its limit."""
        passing = fulltext.select_passing(connection, list(absent), plan.where)
        records.update(get_whole(connection, sorted(passing), plan.occasion))
        added = [Hit(each, absent[each]) for each in sorted(passing) if each in records]
        kept = put_beside(hits, added, records)[: plan.limit]
        for left in records.keys() - {hit.id for hit in kept}:
            del records[left]
        return kept

    def _count_faded(
        self, connection: Connection, unfaded: RecallPlan, vector: QueryVector | None
    ) -> int:
        """Return how many of what answers a plan that knows no decay have decayed too far."""
        around = self._prepare(connection, unfaded)
        hits, _, _ = self._rank(connection, unfaded, vector, around)
        records = lookup.get(connection, [hit.id for hit in hits])
        return sum(record.confidence < unfaded.min_confidence for record in records.values())

    def _rank(
        self,
        connection: Connection,
        plan: RecallPlan,
        vector: QueryVector | None,
        around: NearSearch | None,
    ) -> tuple[list[Hit], str, tuple[str, ...]]:
        """Return what passes, best first, and what ran: by distance, by time, or by relevance."""
        if around is not None or plan.near is not None:
            return *_find_by_distance(connection, plan, around), ()
        if plan.terms is None:
            return _list_newest(connection, plan, ()), 'filter', ()
        hits, mode, models = find_relevant(self._memory, connection, plan, plan.terms, vector)
        if plan.fills and plan.narrow and len(hits) < plan.limit:
            hits += _list_newest(connection, plan, [hit.id for hit in hits])
        return hits, mode, models


def _find_by_distance(
    connection: Connection, plan: RecallPlan, around: NearSearch | None
) -> tuple[list[Hit], str]:
    from robot_memory.retrieval.spatial import find_around, find_near

    if around is not None:
        return find_around(connection, plan, around)
    assert plan.near is not None
    return find_near(connection, plan, plan.near)


def _open_past(db: Database, line: int) -> AbstractContextManager[Connection]:
    from robot_memory.storage.past import open_past

    return open_past(db, line)


def _asks_meaning(plan: RecallPlan) -> bool:
    by_place = plan.near is not None or plan.around is not None
    return plan.terms is not None and not by_place and plan.as_of is None


def _list_newest(connection: Connection, plan: RecallPlan, known: Iterable[int]) -> list[Hit]:
    """Return the newest of what passes, those that are known aside, up to the limit in all."""
    known = set(known)
    newest = lookup.list_newest_ids(connection, plan.where, plan.limit + len(known))
    rest = (memory_id for memory_id in newest if memory_id not in known)
    return [Hit(found, 0.0) for found in itertools.islice(rest, plan.limit - len(known))]
