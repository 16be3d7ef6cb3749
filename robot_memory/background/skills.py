"""
Copies of skills in memory: they follow the file, learn in the background, and predict.

Losing one costs time, never results: it is made anew from the rows of trials.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from robot_memory.background.blas import hold_blas
from robot_memory.background.skill_states import name_changes, read_state, write_state
from robot_memory.core.amounts import Amount, Value
from robot_memory.core.trials import Trial
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.embedding.quantisation import Vector
from robot_memory.embedding.vectorizer import Vectorizer
from robot_memory.skills import trials as learner
from robot_memory.skills.model import Noticed, Skill
from robot_memory.skills.process import Scales
from robot_memory.storage import Connection, Database
from robot_memory.storage.indexes import indexed
from robot_memory.storage.tables import erasures, situations, trials
from robot_memory.storage.tables.trials import Row

_MOST = 32
"""Skills that are kept in memory; the one that was not asked about for longest goes."""
_BATCH = 32
_KEPT_EVERY = 50
"""Trials after which the state of a skill is kept: later ones are told anew when it is loaded."""
_NO_MODEL_DIMENSION = 64
ROLES = ('numbers', 'params', 'results')


class SkillKey(NamedTuple):
    """Say of which trials a copy is: of a robot and those of none, or of all; for which world."""

    collection: str
    skill: str
    robot: str | None = None
    world: str = 'real'

    def takes(self, robot: str | None) -> bool:
        """Say whether trials of a robot belong to it."""
        return self.robot is None or robot in (None, self.robot)


class SkillCopy:
    """
    Hold the trials of a skill and what was learned of them.

    Hold `lock` while anything is read of it. `units` are those of the newest trial, by
    (role, name); None of what is a name from a set. `left_out` counts trials of too low an
    authority.
    """

    def __init__(self, key: SkillKey, model: str, dimension: int) -> None:
        """Begin with no trials."""
        self.key = key
        self.lock = threading.RLock()
        self.skill = Skill()
        self.rows: list[Row] = []
        self.units: dict[tuple[str, str], str | None] = {}
        self.seq = self.erasures = 0
        self.model = model
        self.is_waiting = False
        self.state_last = self.state_count = 0
        self.left_out = 0
        self._dimension = dimension
        self._places: dict[int, int] = {}
        self._vectors: dict[int, Vector] = {}

    @property
    def last(self) -> int:
        """Return the newest memory of the copy, 0 where it has none."""
        return self.rows[-1].memory_id if self.rows else 0

    def find(self, memory_id: int) -> Row | None:
        """Return a trial of the copy."""
        place = self._places.get(memory_id)
        return None if place is None else self.rows[place]

    def make_vector(self, found: Vector | None, digest: bytes) -> Vector:
        """Return the vector of a situation; without a model, one that is like no other."""
        if found is not None:
            return found
        self.is_waiting = True
        return _draw_vector(digest, self._dimension)

    def get_vector(self, situation: int) -> Vector | None:
        """Return the vector of a situation of the copy's trials, None of no words."""
        return self._vectors.get(situation)

    def know_situation(self, connection: Connection, situation: int, text: str) -> None:
        """Take the vector of a situation that the table of situations may not have."""
        if text:
            found = situations.get_vector(connection, text, self.model)
            self._vectors[situation] = self.make_vector(found, situations.digest(text))

    def load(self, connection: Connection, rows: Sequence[Row]) -> None:
        """Take all trials and what was learned of them."""
        self._read_vectors(connection, rows)
        found = trials.get_state(connection, self.key.collection, self.key.skill)
        last, state = (0, None) if found is None else found
        known = rows if found is None else [row for row in rows if row.memory_id <= last]
        self.skill = Skill.restore(
            map(self._convert, known),
            [row.surprise for row in known],
            None if state is None else read_state(state, known, self._vectors),
        )
        for row in known:
            self._note(row)
        self.state_last, self.state_count = last, len(known)
        self.append(connection, rows[len(known) :])

    def append(self, connection: Connection, rows: Sequence[Row]) -> None:
        """Take newer trials, which other processes have told the file of."""
        self._read_vectors(connection, rows)
        for row in rows:
            with hold_blas():
                self.skill.record(self._convert(row))
            self._note(row)

    def record(self, trial: Trial, vector: Vector | None) -> Noticed:
        """Take a trial that is being stored; `adopt` names its memory."""
        with hold_blas():
            return self.skill.record(_convert(trial, vector, self.key.world))

    def adopt(self, connection: Connection, row: Row) -> None:
        """
        Name the memory of the trial that was recorded last.

        The connection is that of the write, in which the copy was opened: all before it is known.
        """
        self._read_vectors(connection, [row])
        self._note(row)
        self.seq = indexed.last_change(connection)

    def describe_state(self) -> dict[str, Any]:
        """Return what was learned as JSON, which holds whichever trials are forgotten later."""
        return write_state(self.skill, self.rows)

    def list_changes(self) -> list[dict[str, Any]]:
        """Return the changes of the world, by the ids of situations and trials."""
        return name_changes(self.skill, self.rows)

    def take_scales(self, state: Mapping[str, Any], last: int) -> None:
        """Take the scales that another process has learned."""
        self.skill.take({name: Scales.from_plain(one) for name, one in state['scales'].items()})
        self.state_last = last

    def _note(self, row: Row) -> None:
        self._places[row.memory_id] = len(self.rows)
        self.rows.append(row)
        for role, values in zip(ROLES, (row.numbers, row.params, row.results), strict=True):
            for name, value in values.items():
                self.units[role, name] = value.unit if isinstance(value, Amount) else None

    def _read_vectors(self, connection: Connection, rows: Sequence[Row]) -> None:
        new = {row.situation for row in rows} - self._vectors.keys()
        found = situations.read_vectors(connection, new, self.model) if new else {}
        for situation, (digest, vector) in found.items():
            if digest != situations.digest(''):
                self._vectors[situation] = self.make_vector(vector, digest)

    def _convert(self, row: Row) -> learner.Trial:
        return _convert(row, self._vectors.get(row.situation), self.key.world)


@lru_cache(1024)
def _draw_vector(digest: bytes, dimension: int) -> Vector:
    """Return a unit vector that hangs on a digest alone; it must not be changed."""
    seed = int.from_bytes(hashlib.blake2b(digest, digest_size=8).digest(), 'little')
    drawn = np.random.default_rng(seed).standard_normal(dimension)
    vector: Vector = (drawn / np.linalg.norm(drawn)).astype(np.float32)
    return vector


def to_plain(values: Mapping[str, Value]) -> dict[str, float | str]:
    """Return figures in SI units, and names."""
    return {name: one if isinstance(one, str) else one.value for name, one in values.items()}


def _convert(trial: Trial | Row, vector: Vector | None, world: str) -> learner.Trial:
    return learner.Trial(
        vector,
        to_plain(trial.numbers),
        to_plain(trial.params),
        {name: one.value for name, one in trial.results.items() if isinstance(one, Amount)},
        trial.success,
        trial.simulated is (world == 'real'),
    )


class SkillCopies:
    """Keep copies of the skills that are asked about; safe to share between threads."""

    def __init__(
        self,
        db: Database,
        embedder: BackgroundEmbedder,
        vectorizer: Vectorizer,
        is_stopping: Callable[[], bool],
        on_due: Callable[[], None],
    ) -> None:
        """Hold none; `on_due` is called when there is something to learn in the background."""
        self._db = db
        self._embedder = embedder
        self._vectorizer = vectorizer
        self._is_stopping = is_stopping
        self._on_due = on_due
        self._lock = threading.Lock()
        self._copies: OrderedDict[SkillKey, SkillCopy] = OrderedDict()

    def embed(self, situation: str) -> Vector | None:
        """Return the vector of a situation, the stored one or a new one; None without a model."""
        embedder = self._embedder.get_if_loaded()
        if embedder is None or not situation:
            return None
        with self._db.read() as connection:
            known = situations.get_vector(connection, situation, embedder.name)
        return self._vectorizer.embed_situation(situation) if known is None else known

    def open(self, connection: Connection, key: SkillKey) -> SkillCopy:
        """Return the copy of a skill as the connection sees it."""
        embedder = self._embedder.get_if_loaded()
        model = '' if embedder is None else embedder.name
        with self._lock:
            copy = self._copies.get(key)
            if copy is not None:
                self._copies.move_to_end(key)
        if copy is not None and copy.model == model and self._follow(connection, copy):
            return copy
        dimension = _NO_MODEL_DIMENSION if embedder is None else embedder.dimension
        copy = self._load(connection, key, model, dimension)
        with self._lock:
            self._copies[key] = copy
            while len(self._copies) > _MOST:
                self._copies.popitem(last=False)
        return copy

    def drop(self, collection: str, skill: str) -> None:
        """Forget the copies of a skill: a write that they were told of was taken back."""
        with self._lock:
            for key in [one for one in self._copies if one[:2] == (collection, skill)]:
                del self._copies[key]

    def note_recorded(self, copy: SkillCopy) -> None:
        """Have scales learned soon where they are due."""
        if copy.skill.is_due:
            self._on_due()

    def run(self) -> None:
        """Embed situations that have no vector, and learn the scales that are due."""
        self._embed_missing()
        self._drop_erased()
        with self._lock:
            copies = list(self._copies.values())
        for copy in copies:
            with copy.lock:
                task = copy.skill.prepare_learning() if copy.skill.is_due else None
            is_kept = len(copy.rows) < copy.state_count + _KEPT_EVERY
            if self._is_stopping() or (task is None and is_kept):
                continue
            scales = None
            if task is not None:
                with hold_blas():
                    scales = task.run()
            with copy.lock:
                if scales is not None:
                    copy.skill.take(scales)
                state, last, count = copy.describe_state(), copy.last, len(copy.rows)
            copy.state_count = count
            if copy.key.robot is None and copy.key.world == 'real':
                self._keep_state(copy, count, last, state)

    def _keep_state(
        self, copy: SkillCopy, count: int, last: int, state: Mapping[str, Any]
    ) -> None:
        if self._db.read_only_reason:
            return
        with self._db.write() as connection:
            if erasures.get_last(connection) != copy.erasures:
                return
            trials.put_state(connection, copy.key.collection, copy.key.skill, count, last, state)
        copy.state_last = last

    def _drop_erased(self) -> None:
        """Drop the copies from before an erasure: they may hold what is gone."""
        with self._db.read() as connection:
            last = erasures.get_last(connection)
        with self._lock:
            for key in [key for key, copy in self._copies.items() if copy.erasures != last]:
                del self._copies[key]

    def _load(
        self, connection: Connection, key: SkillKey, model: str, dimension: int
    ) -> SkillCopy:
        copy = SkillCopy(key, model, dimension)
        copy.seq = indexed.last_change(connection)
        copy.erasures = erasures.get_last(connection)
        rows = trials.read(connection, key.collection, key.skill)
        for row, situation in trials.read_stale(connection, key.collection, key.skill):
            copy.know_situation(connection, row.situation, situation)
            rows.append(row)
        rows.sort(key=lambda row: row.memory_id)
        copy.load(connection, [row for row in rows if key.takes(row.robot)])
        copy.left_out = trials.count_uncounted(connection, key.collection, key.skill)
        return copy

    def _follow(self, connection: Connection, copy: SkillCopy) -> bool:
        """Take over what was written since the last look; say whether the copy still holds."""
        with copy.lock:
            read = indexed.read_changes(connection, copy.seq)
            if read is None or erasures.get_last(connection) != copy.erasures:
                return False
            if not read.changed:
                return not (copy.is_waiting and copy.model and self._has_vectors(connection, copy))
            ids = [one for one in read.changed if one > 0]
            place = copy.key.collection, copy.key.skill
            read_rows = trials.read(connection, *place, ids)
            if trials.count_among(connection, *place, ids) != len(read_rows):
                copy.left_out = trials.count_uncounted(connection, *place)
            rows = [row for row in read_rows if copy.key.takes(row.robot)]
            known = {row.memory_id: row for row in rows}
            if any(copy.find(one) != known.get(one) for one in ids if copy.find(one) is not None):
                return False
            new = [row for row in rows if copy.find(row.memory_id) is None]
            if any(row.memory_id < copy.last for row in new):
                return False
            copy.append(connection, new)
            state = trials.get_state(connection, *place) if new else None
            if state is not None and state[0] > copy.state_last:
                copy.take_scales(state[1], state[0])
            copy.seq = read.latest
            return True

    def _has_vectors(self, connection: Connection, copy: SkillCopy) -> bool:
        """Say whether all situations of a copy have a vector by now."""
        ids = {row.situation for row in copy.rows}
        found = situations.read_vectors(connection, ids, copy.model)
        empty = situations.digest('')
        return all(vector is not None for known, vector in found.values() if known != empty)

    def _embed_missing(self) -> None:
        embedder = self._embedder.get_if_loaded()
        if embedder is None or self._db.read_only_reason:
            return
        while not self._is_stopping():
            with self._db.read() as connection:
                texts = situations.find_missing(connection, embedder.name, _BATCH)
            if not texts:
                return
            made = self._vectorizer.embed_with(embedder, texts)
            with self._db.write() as connection:
                for text, vector in zip(texts, made, strict=True):
                    situations.put_vector(connection, text, embedder.name, vector)
