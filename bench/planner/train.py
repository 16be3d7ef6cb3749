"""
Train the sentence classifiers of the package, and print what they reach.

`train.py` reads the sentences in `training/` (each file by another hand, `hand` names it), embeds
them with the default model and prints, for each hand, what a classifier finds that never saw that
hand: the share of what has the trait (`found`) and of what has not (`false`). The threshold is
the median, over the hands, of that where a share of FALSE of the sentences without the trait would
be taken. `--write` trains with all
of them and writes robot_memory/embedding/sentence_classifiers.npz.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_memory.api import RobotMemory
from robot_memory.embedding.sentence_classifier import (
    WEIGHTS,
    Trait,
    apply_kernel,
    count_ngrams,
    pack,
    unpack,
)

HERE = Path(__file__).resolve().parent
Floats = NDArray[np.float32]
FALSE = {Trait.LASTING: 0.03, Trait.RULE: 0.02, Trait.ALWAYS: 0.1, Trait.HARMS: 0.12}
FALSE |= {Trait.CAUTION: 0.2}  # many of the plain facts do tell what to beware of
FALSE |= {Trait.RETRACTS: 0.012}  # most of them look nothing like it
"""Share of the sentences without a trait that may be taken to have it."""
RIDGE, NGRAM_RIDGE, NGRAM_SHARE = 0.1, 0.3, 0.5


@dataclass(frozen=True)
class Sentences:
    """Hold sentences, their labels (1 or -1), hands and languages, and vectors of unit length."""

    texts: list[str]
    labels: Floats
    hands: NDArray[np.str_]
    languages: NDArray[np.str_]
    groups: NDArray[np.str_]
    vectors: Floats

    def take(self, places: NDArray[np.bool_]) -> Sentences:
        """Return some of them."""
        return Sentences(
            [self.texts[place] for place in np.flatnonzero(places)],
            self.labels[places],
            self.hands[places],
            self.languages[places],
            self.groups[places],
            self.vectors[places],
        )


@dataclass(frozen=True)
class Fit:
    """Hold the weights of one trait before its thresholds are known."""

    known: Floats
    duals: Floats
    ngrams: Floats

    def score(self, found: Sentences) -> Floats:
        """Return the scores of sentences."""
        scores: Floats = count_ngrams(found.texts) @ self.ngrams
        scores += compute_kernel(found.vectors, self.known) @ self.duals
        return scores


def load(trait: Trait, embed: RobotMemory) -> Sentences:
    """Read the sentences of a trait, and embed them."""
    lines = (HERE / 'training' / f'{trait.value}.jsonl').read_text(encoding='utf-8').splitlines()
    rows = [json.loads(line) for line in lines]
    texts = [row['text'] for row in rows]
    made: list[Floats] = []
    for start in range(0, len(texts), 64):
        vectors = embed.memory.vectorizer.embed_passages(texts[start : start + 64])
        if vectors is None:
            sys.exit(embed.memory.embedder.reason)
        made += [one.first for one in vectors]
    return Sentences(
        texts,
        np.array([1 if row[trait.value] else -1 for row in rows], np.float32),
        np.array([row['hand'] for row in rows]),
        np.array([row['language'] for row in rows]),
        np.array([row['group'] for row in rows]),
        unpack(pack(np.array(made, np.float32))),
    )


def fit(found: Sentences) -> Fit:
    """Solve both ridge regressions."""
    labels = found.labels - found.labels.mean()
    duals = solve(compute_kernel(found.vectors, found.vectors), labels, RIDGE)
    ngrams = count_ngrams(found.texts)
    by_ngram = NGRAM_SHARE * ngrams.T @ solve(ngrams @ ngrams.T, labels, NGRAM_RIDGE)
    return Fit(found.vectors, duals, by_ngram)


def compute_kernel(vectors: Floats, known: Floats) -> Floats:
    """Return the RBF kernel of unit vectors with known ones, shape (vectors, known)."""
    return apply_kernel(vectors @ known.T)


def solve(kernel: Floats, labels: Floats, ridge: float) -> Floats:
    """Return the dual weights of kernel ridge regression."""
    found: Floats = np.linalg.solve(kernel + ridge * np.eye(len(labels), dtype=np.float32), labels)
    return found


def place_threshold(scores: Floats, labels: Floats, share: float) -> float:
    """Return the score that so small a share of what has not the trait lies above."""
    return float(np.quantile(scores[labels < 0], 1 - share))


def score_unseen(found: Sentences) -> Floats:
    """Return the scores of sentences, of each hand by a classifier without it."""
    ngrams = count_ngrams(found.texts)
    hands = [np.flatnonzero(found.hands == hand) for hand in np.unique(found.hands)]
    scores = score_left_out(
        compute_kernel(found.vectors, found.vectors), found.labels, RIDGE, hands
    )
    return scores + NGRAM_SHARE * score_left_out(
        ngrams @ ngrams.T, found.labels, NGRAM_RIDGE, hands
    )


def score_left_out(
    kernel: Floats, labels: Floats, ridge: float, groups: Sequence[NDArray[np.intp]]
) -> Floats:
    """
    Return what kernel ridge regression gives for each group when it is trained with the others.

    One inverse does for all groups: what a group is off by is its part of the dual weights of all,
    through the inverse of its block (Rasmussen and Williams 2006, equation 5.12, for blocks).
    Labels are less their mean over the others, as `fit` has them.
    """
    inverse = np.linalg.inv(kernel + ridge * np.eye(len(labels), dtype=np.float32))
    both = np.stack([labels, np.ones_like(labels)], axis=1)
    duals = inverse @ both
    scores = np.zeros_like(labels)
    for group in groups:
        block = inverse[np.ix_(group, group)]
        of_labels, of_ones = (both[group] - np.linalg.solve(block, duals[group])).T
        mean = (labels.sum() - labels[group].sum()) / (len(labels) - len(group))
        scores[group] = of_labels - mean * of_ones
    return scores


def find_threshold(trait: Trait, found: Sentences, scores: Floats) -> float:
    """Return the median of the thresholds of the hands; some wrote rules alone."""
    share = FALSE[trait]
    by_hand = [found.hands == hand for hand in np.unique(found.hands[found.labels < 0])]
    least = [place_threshold(scores[here], found.labels[here], share) for here in by_hand]
    return float(np.median(least))


def cross_hands(trait: Trait, found: Sentences) -> float:
    """Print what is reached on each hand by classifiers without it; return the threshold."""
    scores = score_unseen(found)
    least = find_threshold(trait, found, scores)
    for hand in np.unique(found.hands):
        for language in np.unique(found.languages):
            here = (found.hands == hand) & (found.languages == language)
            has, has_not = here & (found.labels > 0), here & (found.labels < 0)
            if has.any() and has_not.any():
                area = compute_area(scores[has], scores[has_not])
                print(
                    f'{trait.value} {hand} {language}: area under ROC {area:.3f}, '
                    f'found {(scores[has] > least).mean():.3f} of {has.sum()}, '
                    f'false {(scores[has_not] > least).mean():.3f} of {has_not.sum()}'
                )
    return least


def compute_area(has: Floats, has_not: Floats) -> float:
    """Return the area under the ROC curve of two groups of scores."""
    ranks = np.concatenate([has, has_not]).argsort().argsort()[: len(has)]
    return float(ranks.sum() - len(has) * (len(has) - 1) / 2) / (len(has) * len(has_not))


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, print, and write where that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--write', action='store_true')
    parser.add_argument(
        '--trait', choices=[one.value for one in Trait], help='train this one, keep the others'
    )
    options = parser.parse_args(arguments)
    traits = [Trait(options.trait)] if options.trait else list(Trait)
    with tempfile.TemporaryDirectory() as folder, RobotMemory(f'{folder}/memory.db') as robot:
        if not robot.wait_for_model():
            sys.exit(robot.memory.embedder.reason)
        sets = {trait: load(trait, robot) for trait in traits}
        model = require_name(robot)
    stored: dict[str, object] = {}
    if options.trait:
        with np.load(WEIGHTS) as kept:
            stored = dict(kept)
        if str(stored['model']) != model:
            sys.exit(f'{WEIGHTS.name} is of {stored["model"]}, not {model}: train all traits')
    stored['model'] = model
    for trait, found in sets.items():
        stored[f'{trait.value}_threshold'] = cross_hands(trait, found)
        made = fit(found)
        stored[f'{trait.value}_known'] = pack(made.known)
        stored[f'{trait.value}_duals'] = made.duals
        stored[f'{trait.value}_ngrams'] = made.ngrams.astype(np.float16)
    if options.write:
        np.savez_compressed(WEIGHTS, **stored)  # type: ignore[arg-type]
        print(f'{WEIGHTS.name}: {WEIGHTS.stat().st_size} bytes')


def require_name(robot: RobotMemory) -> str:
    """Return the name of the model that is loaded."""
    embedder = robot.memory.embedder.get_if_loaded()
    assert embedder is not None
    return embedder.name


if __name__ == '__main__':
    main()
