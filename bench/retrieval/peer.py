"""
Answer a set's questions with the peer; run by its own Python with the folder of the job.

It is given vectors where there are some (vectors.npz) and its sqlite3 loads sqlite-vec, else it
answers by words. Memories are perceptions for it: those it neither cuts nor takes for duplicates.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np


class Given:
    """Be the peer's embedder, with vectors that are known for each text."""

    available, unavailable_reason, model = True, '', 'given'

    def __init__(self, known: dict[str, Any]) -> None:
        """Take the vectors by their texts."""
        self.known = known
        self.dim = len(next(iter(known.values())))

    def embed_one_sync(self, text: str) -> list[float]:
        """Return the vector of a text."""
        vector: list[float] = self.known[text].tolist()
        return vector


def main() -> None:
    """Read the job, write the answers."""
    folder = Path(sys.argv[1])
    job = json.loads((folder / 'job.json').read_text('utf-8'))
    sdk = importlib.import_module('robotmem.sdk')
    robot = sdk.RobotMemory(db_path=str(folder / 'peer.db'), embed_backend='none')
    vectors = folder / 'vectors.npz'
    tables = np.load(vectors) if vectors.exists() and robot._db.vec_loaded else None

    def give(kind: str) -> None:
        if tables is not None:
            texts = (text.strip() for text, _ in job[kind])
            robot._embedder = Given(dict(zip(texts, tables[kind], strict=True)))

    give('memories')
    places = {}
    for place, (text, collection) in enumerate(job['memories']):
        kept = robot.save_perception(text, collection=collection)
        places[kept['memory_id']] = place
    give('questions')
    answers = []
    for text, collection in job['questions']:
        found = robot.recall(text.strip(), n=job['depth'], collection=collection)
        answers.append([[places[one['id']], one['_rrf_score']] for one in found])
    result = {'answers': answers, 'by_meaning': tables is not None}
    (folder / 'answers.json').write_text(json.dumps(result))
    robot.close()


if __name__ == '__main__':
    main()
