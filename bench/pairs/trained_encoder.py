"""The default embedding model in JAX, with a low-rank adapter that can be trained."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from numpy.typing import NDArray

from robot_memory.embedding.e5_weights import Weights

Floats = NDArray[np.float32]
Adapter = dict[str, tuple[Any, Any]]
"""By the name of a matrix (`l3.q`) the two of its adapter."""
MATRICES = ('q', 'k', 'v', 'ao', 'fi', 'fo')
FAR = -1e9


@dataclass(frozen=True)
class Encoder:
    """Hold the weights of the model, of each layer by name, as plain numbers."""

    words: Floats
    places: Floats
    norm: tuple[Floats, Floats]
    layers: list[dict[str, tuple[Floats, Floats]]]
    epsilon: float
    heads: int

    @classmethod
    def of(cls, weights: Weights, layers: int) -> Encoder:
        """Unpack the weights of 4 bits, of so many layers, the first."""
        width = weights.hidden
        places = weights.read_floats('emb.pos').reshape(-1, width)
        return cls(
            weights.read_matrix('emb.word', width),
            places + weights.read_floats('emb.type')[:width],
            weights.read_norm('emb.ln'),
            [read_layer(weights, layer) for layer in range(layers)],
            weights.epsilon,
            weights.heads,
        )

    def with_layers(self, layers: Any) -> Encoder:
        """Return it with the weights of the layers as JAX traces them, not as constants."""
        return replace(self, layers=layers)

    def embed(self, ids: NDArray[np.int64]) -> Floats:
        """Return the states before the first layer, shape (batch, tokens, width)."""
        states: Any = self.words[ids] + self.places[: ids.shape[1]]
        return np.asarray(normalize(states, self.norm, self.epsilon), np.float32)

    def run(
        self, states: Any, mask: Any, adapter: Adapter, first: int, last: int, drop: Any = None
    ) -> Any:
        """
        Return the states after the layers from `first` to before `last`.

        `drop` is a key and the share of numbers that are dropped, in training.
        """
        away = (1 - mask)[:, None, None, :] * FAR
        for layer in range(first, last):
            drop = None if drop is None else (jax.random.fold_in(drop[0], layer), drop[1])
            states = self._run_layer(layer, states, away, adapter, drop)
        return states

    def _run_layer(self, layer: int, states: Any, away: Any, adapter: Adapter, drop: Any) -> Any:
        weights = self.layers[layer]

        def multiply(name: str, values: Any) -> Any:
            matrix, bias = weights[name]
            found = values @ matrix + bias
            pair = adapter.get(f'l{layer}.{name}')
            return found if pair is None else found + (values @ pair[0]) @ pair[1]

        def split(values: Any) -> Any:
            batch, tokens, width = values.shape
            parts = values.reshape(batch, tokens, self.heads, width // self.heads)
            return parts.transpose(0, 2, 1, 3)

        query, key, value = (split(multiply(name, states)) for name in 'qkv')
        scores = query @ key.transpose(0, 1, 3, 2) / np.sqrt(query.shape[-1]) + away
        attended = (jax.nn.softmax(scores, -1) @ value).transpose(0, 2, 1, 3)
        attended = drop_some(multiply('ao', attended.reshape(states.shape)), drop, 0)
        states = normalize(states + attended, weights['aln'], self.epsilon)
        inner = jax.nn.gelu(multiply('fi', states), approximate=False)
        outer = drop_some(multiply('fo', inner), drop, 1)
        return normalize(states + outer, weights['oln'], self.epsilon)


def read_layer(weights: Weights, layer: int) -> dict[str, tuple[Floats, Floats]]:
    """Return the matrices (inputs, outputs) of a layer with their biases, and its norms."""
    widths = dict.fromkeys(MATRICES, weights.hidden) | {'fo': weights.inner}
    found = {
        name: (
            weights.read_matrix(f'l{layer}.{name}.w', width).T.copy(),
            weights.read_floats(f'l{layer}.{name}.b'),
        )
        for name, width in widths.items()
    }
    return found | {name: weights.read_norm(f'l{layer}.{name}') for name in ('aln', 'oln')}


def normalize(states: Any, norm: tuple[Floats, Floats], epsilon: float) -> Any:
    """Normalise each state."""
    centred = states - states.mean(-1, keepdims=True)
    spread = (centred**2).mean(-1, keepdims=True)
    return centred / (spread + epsilon) ** 0.5 * norm[0] + norm[1]


def drop_some(values: Any, drop: Any, number: int) -> Any:
    """Return values of which a share is dropped."""
    if drop is None:
        return values
    key, share = drop
    kept = jax.random.bernoulli(jax.random.fold_in(key, number), 1 - share, values.shape)
    return values * kept / (1 - share)


def begin_adapter(encoder: Encoder, first: int, rank: int, seed: int) -> Adapter:
    """Return an adapter that adds nothing yet."""
    generator = np.random.default_rng(seed)
    found: Adapter = {}
    for layer in range(first, len(encoder.layers)):
        for name in MATRICES:
            inputs, outputs = encoder.layers[layer][name][0].shape
            down = generator.normal(0, inputs**-0.5, (inputs, rank))
            found[f'l{layer}.{name}'] = (
                jnp.asarray(down, jnp.float32),
                jnp.zeros((rank, outputs), jnp.float32),
            )
    return found
