"""Memories that are a CSV file and a way to find rows in it."""

from __future__ import annotations

import itertools
import math
import re
from abc import abstractmethod
from collections import Counter
from collections.abc import Mapping
from typing import ClassVar

import numpy as np
from lives.arms import ArmWithRows, Setting
from lives.draw import Trial
from lives.phrase_vectors import PhraseVectors
from lives.regression import Kernel, choose_by_kernel
from lives.worlds import Floats

DEPTH = 15
"""Rows that are looked at."""
KERNELS = {'strike': Kernel(width=0.05, prior=0.03), 'insert': Kernel(width=0.15, prior=0.03)}
"""Tuned for CSV + e5 on the phrases for tuning, and used by all that regress."""
_TOKEN = re.compile(r'[a-z0-9]+|[\u4e00-\u9fff]')


class CsvArm(ArmWithRows):
    """Regress over the rows that are most like the trial."""

    lengths: ClassVar[Mapping[str, float]] = {'strike': 0.1, 'insert': 0.1}
    """By which unlikeness of the words a row counts 1/e; by skill, tuned as the kernels are."""

    def find(self, trial: Trial) -> int | None:
        """Return the choice that most probably succeeds."""
        alike = self.compare(trial)
        order = np.lexsort((-np.arange(len(alike)), -alike))[:DEPTH]
        order = order[alike[order] > 0]
        if not len(order):
            return None
        weights = np.exp((alike[order] - 1) / self.lengths[self.world.skill])
        guess = choose_by_kernel(
            self.scaled,
            self.rows.tried[order],
            self.rows.values[order],
            weights,
            trial.want,
            KERNELS[self.world.skill],
        )
        self.probability = guess.probability
        return guess.choice

    @abstractmethod
    def compare(self, trial: Trial) -> Floats:
        """Return how like each row's words are, at most 1; 0 or less leaves a row out."""


class CsvExact(CsvArm):
    """Look at rows with the same words only."""

    def compare(self, trial: Trial) -> Floats:
        """Return 1 where the words are the same."""
        return np.array([float(words == trial.words) for words in self.rows.words])


class CsvTfIdf(CsvArm):
    """Compare the words, rare ones more."""

    lengths: ClassVar[Mapping[str, float]] = {'strike': 0.3, 'insert': 0.2}

    def compare(self, trial: Trial) -> Floats:
        """Return the cosines."""
        known = {words: Counter(split(words)) for words in {*self.rows.words, trial.words}}
        seen = Counter(token for words in self.rows.words for token in known[words])
        count = len(self.rows)
        rarity = {one: 1 + math.log((1 + count) / (1 + number)) for one, number in seen.items()}

        def weigh(words: str) -> dict[str, float]:
            found = {one: times * rarity.get(one, 0.0) for one, times in known[words].items()}
            norm = math.sqrt(sum(value**2 for value in found.values())) or 1.0
            return {one: value / norm for one, value in found.items()}

        asked = weigh(trial.words)
        cosines = {
            words: sum(value * asked.get(one, 0.0) for one, value in weigh(words).items())
            for words in known
        }
        return np.array([cosines[words] for words in self.rows.words])


class CsvEmbedded(CsvArm):
    """Compare the meaning, by the embeddings that our memory has."""

    lengths: ClassVar[Mapping[str, float]] = {'strike': 0.15, 'insert': 0.1}

    def __init__(self, setting: Setting) -> None:
        """Find the vectors of the phrases."""
        super().__init__(setting)
        self._vectors = PhraseVectors()

    def compare(self, trial: Trial) -> Floats:
        """Return the cosines."""
        known = self._vectors.embed([*self.rows.words, trial.words])
        found: Floats = (known[:-1] @ known[-1]).astype(float)
        return found


def split(words: str) -> list[str]:
    """Return words, and Chinese characters one by one and in pairs."""
    tokens = _TOKEN.findall(words.lower())
    pairs = [one + two for one, two in itertools.pairwise(tokens) if one >= '\u4e00']
    return tokens + [pair for pair in pairs if pair[-1] >= '\u4e00']
