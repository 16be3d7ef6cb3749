"""Memories that keep each trial as a text and find texts again: ours, and the rival's."""

from __future__ import annotations

import json
import subprocess
from abc import abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
from lives.arms import ArmWithRows, Params, Setting
from lives.csv_arms import DEPTH, KERNELS
from lives.draw import Trial
from lives.environment import ROOT
from lives.phrase_vectors import load_embedder
from lives.regression import choose_by_kernel
from lives.worlds import Outcome

from robot_memory.api import RobotMemory

_PEER = Path(__file__).resolve().parent / 'peer_recall.py'
_PEER_PYTHON = ROOT / '.venv-peer/bin/python'


class RecallArm(ArmWithRows):
    """Regress over the trials whose texts are recalled; their numbers are looked up by id."""

    is_slow = True

    def __init__(self, setting: Setting) -> None:
        """Read which memory is of which row."""
        super().__init__(setting)
        self._ids = self.folder / 'ids.json'
        self._row_of: dict[str, int] = {}
        if self._ids.exists():
            self._row_of = json.loads(self._ids.read_text('utf-8'))

    def find(self, trial: Trial) -> int | None:
        """Return the choice that most probably succeeds."""
        found = self.recall(trial.words)
        rows = np.array([self._row_of[str(one)] for one in found], int)
        if not len(rows):
            return None
        guess = choose_by_kernel(
            self.scaled,
            self.rows.tried[rows],
            self.rows.values[rows],
            np.ones(len(rows)),
            trial.want,
            KERNELS[self.world.skill],
        )
        self.probability = guess.probability
        return guess.choice

    def learn(self, trial: Trial, params: Params, outcome: Outcome) -> None:
        """Keep a text, with a context, and the row."""
        kept = self.keep(describe(trial, params, outcome), make_context(trial, params, outcome))
        if kept is not None:
            self._row_of[str(kept)] = len(self.rows)
            self._ids.write_text(json.dumps(self._row_of), 'utf-8')
        super().learn(trial, params, outcome)

    @abstractmethod
    def recall(self, words: str) -> list[int]:
        """Return the ids of at most DEPTH memories."""

    @abstractmethod
    def keep(self, text: str, context: dict[str, Any]) -> int | None:
        """Return the id of the new memory; None where it counts as a duplicate."""


class OurRecall(RecallArm):
    """Use learn and recall of this package."""

    def __init__(self, setting: Setting) -> None:
        """Open the store."""
        super().__init__(setting)
        self._memory = RobotMemory(self.folder / 'memory.db')
        self._memory.wait_for_model(60)

    def recall(self, words: str) -> list[int]:
        """Return what recall finds."""
        only = {'task.name': self.world.skill}
        return [
            one.id for one in self._memory.recall(words, n=DEPTH, context_filter=only).memories
        ]

    def keep(self, text: str, context: dict[str, Any]) -> int | None:
        """Learn it."""
        answer = self._memory.learn(text, context)
        return answer.memory_id if answer.status == 'created' else None

    def close(self) -> None:
        """Close the store."""
        self._memory.close()


class PeerRecall(RecallArm):
    """Use the rival's store and recall, with our e5 in place of its embedder."""

    def __init__(self, setting: Setting) -> None:
        """Start the rival in its own Python."""
        super().__init__(setting)
        self._embedder = load_embedder()
        command = [str(_PEER_PYTHON), str(_PEER), str(self.folder / 'peer.db')]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env={'HOME': str(self.folder)}
        )

    def recall(self, words: str) -> list[int]:
        """Return what it recalls."""
        vector = self._embedder.embed_query(words)
        found: list[int] = self._ask(do='recall', text=words, n=DEPTH, vector=vector.tolist())
        return found

    def keep(self, text: str, context: dict[str, Any]) -> int | None:
        """Save it as a perception: those it takes for no duplicates."""
        (vector,) = self._embedder.embed_passages([text])
        kept: int = self._ask(do='keep', text=text, context=context, vector=vector.tolist())
        return kept

    def close(self) -> None:
        """End its process."""
        self._process.communicate()

    def _ask(self, **request: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f'{json.dumps(request)}\n'.encode())
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError('the rival has ended')
        return json.loads(line)


def describe(trial: Trial, params: Params, outcome: Outcome) -> str:
    """Return what a robot would note of a trial; the rival fails on a text that it has already."""
    numbers = {**trial.numbers, **params}
    given = ', '.join(f'{name} {value:g} {trial.units[name]}' for name, value in numbers.items())
    came = ', '.join(
        f'{name} {value:.3g} {trial.units[name]}' for name, value in outcome.results.items()
    )
    verdict = 'succeeded' if outcome.success else 'failed'
    return f'{trial.skill} {trial.number}: {trial.words}; {given}; {came}; {verdict}'


def make_context(trial: Trial, params: Params, outcome: Outcome) -> dict[str, Any]:
    """Return the same as a context."""
    values = {**trial.numbers, **params, **outcome.results}
    return {
        'params': {
            name: {'value': value, 'unit': trial.units[name]} for name, value in values.items()
        },
        'task': {'name': trial.skill, 'success': outcome.success},
    }
