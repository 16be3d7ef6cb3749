"""The retrieval methods that are compared, each over the same memories."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np
from bm25 import BM25
from sets import ROOT, Item, Question, RetrievalSet, group_by_collection
from vectors import Loaded, Models

from robot_memory.core.records import Record, Session, make_record
from robot_memory.core.settings import Settings
from robot_memory.memory import Memory
from robot_memory.retrieval.relevance import open_partitions
from robot_memory.storage import Connection
from robot_memory.storage.indexes.partitions import split
from robot_memory.storage.tables import memories, sessions, turns
from robot_memory.text.categories import Classification
from robot_memory.text.tokenizer import parse_query
from robot_memory.tools.recall import recall

Ranked = list[tuple[int, float]]
"""Places in the set and scores, best first."""

PEER = ROOT / '.venv-peer'
_SAME = Classification('observation', 0.9, ('observation',), ())


class Method(Protocol):
    """Answer questions over the memories of one set."""

    def rank(self, question: Question, depth: int) -> Ranked:
        """Return the best `depth` memories."""


class Stored:
    """
    Keep a set's memories in a store of this package, and let its recall answer.

    They are inserted below the tool `learn`: whole, and none of them taken for a duplicate.
    Without vectors recall is by words alone.
    """

    def __init__(self, path: Path, chosen: RetrievalSet, known: Models | None = None) -> None:
        """Make the store, with vectors where they are known."""
        settings = Settings(db_path=str(path), model='none', durability='normal')
        first = second = None
        if known is not None:
            first = Loaded(known.first)
            second = None if known.second is None else Loaded(known.second)
        self.memory = Memory(settings, embedder=first, second=second)
        self.memory.reindexer.adopt_model()
        self._places: dict[int, int] = {}
        self._sessions: set[str] = set()
        self._of_turns = any(item.session is not None for item in chosen.memories)
        with self.memory.db.write() as connection:
            for place, item in enumerate(chosen.memories):
                record = self._make_record(connection, item)
                vector = None if known is None else known.embed_passages([item.text])[0]
                self._places[memories.insert(connection, record, vector)] = place

    def _make_record(self, connection: Connection, item: Item) -> Record:
        """Return a fact, or a turn of a session, which is made where it is not there yet."""
        memory, now = self.memory, self.memory.clock()
        type = 'fact' if item.session is None else 'turn'
        record = make_record(type, item.text, _SAME, {}, now, memory.caller)
        record = replace(record, collection=item.collection, session_id=item.session)
        if item.session is None:
            return record
        if item.session not in self._sessions:
            self._sessions.add(item.session)
            sessions.insert(connection, Session(item.session, item.collection, {}, 'open', now))
        number = turns.next_number(connection, item.session)
        return replace(record, role='user', turn_id=number, actor_id='user')

    def rank(self, question: Question, depth: int) -> Ranked:
        """Return what the tool `recall` answers."""
        arguments = {
            'query': question.text,
            'collection': question.collection,
            'n': depth,
            'min_confidence': 0.0,
        }
        found = recall.run(self.memory, arguments).memories
        return [(self._places[one.id], one._rrf_score) for one in found]

    def find_nearest(self, question: Question, depth: int) -> Ranked:
        """Return the nearest vectors of the store, with their cosines."""
        vector = self.memory.embed_query(question.text)
        assert vector is not None
        with self.memory.db.read() as connection:
            names, words = [split(question.collection)[self._of_turns]], parse_query('')
            (search,) = open_partitions(self.memory, connection, names, words, vector)
            found = search.score(search.rank(2 * depth), depth)
        return [(self._places[hit.id], hit.score) for hit in found]

    def close(self) -> None:
        """Close the store."""
        self.memory.close()


class Nearest:
    """Answer by the vectors of a store alone."""

    def __init__(self, stored: Stored) -> None:
        """Take a store that has vectors."""
        self._stored = stored

    def rank(self, question: Question, depth: int) -> Ranked:
        """Return the nearest."""
        return self._stored.find_nearest(question, depth)


class Plain:
    """Answer by plain BM25, an index for each collection."""

    def __init__(self, chosen: RetrievalSet) -> None:
        """Index the memories."""
        self._places = group_by_collection(chosen.memories)
        self._indexes = {
            name: BM25([chosen.memories[place].text for place in places])
            for name, places in self._places.items()
        }

    def rank(self, question: Question, depth: int) -> Ranked:
        """Return the best by BM25."""
        places = self._places[question.collection]
        found = self._indexes[question.collection].find_best(question.text, depth)
        return [(places[place], score) for place, score in found]


class Peer:
    """
    Answer with the peer, in its own environment.

    Its own model must be downloaded, so it is given our vectors. `title` says whether it could
    use them: it cannot where its Python's sqlite3 loads no extensions, as is common.
    """

    def __init__(self, chosen: RetrievalSet, known: Models | None) -> None:
        """Have the peer answer all of the set's questions at once."""
        with tempfile.TemporaryDirectory() as folder:
            job = {
                'memories': [[item.text, item.collection] for item in chosen.memories],
                'questions': [[asked.text, asked.collection] for asked in chosen.questions],
                'depth': chosen.depth,
            }
            (Path(folder) / 'job.json').write_text(json.dumps(job), 'utf-8')
            if known is not None:
                first = known.first
                kept = first.embed_passages([item.text for item in chosen.memories])
                asked = np.stack(
                    [first.embed_query(question.text) for question in chosen.questions]
                )
                np.savez(Path(folder) / 'vectors.npz', memories=kept, questions=asked)
            subprocess.run(
                [PEER / 'bin/python', Path(__file__).with_name('peer.py'), folder],
                check=True,
                env={**os.environ, 'HOME': folder, 'PYTHONPATH': ''},
            )
            result = json.loads((Path(folder) / 'answers.json').read_text('utf-8'))
        self.title = 'peer, our vectors' if result['by_meaning'] else 'peer, words'
        self._answers: dict[tuple[str, str], Ranked] = {
            (question.text, question.collection): [(place, value) for place, value in answer]
            for question, answer in zip(chosen.questions, result['answers'], strict=True)
        }

    def rank(self, question: Question, depth: int) -> Ranked:
        """Return what the peer answered."""
        return self._answers[question.text, question.collection][:depth]


def has_peer() -> bool:
    """Say whether the peer's environment is there."""
    return (PEER / 'ready').exists()
