"""The graph of the cross-encoder: the default model with an adapter, and a head."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from robot_memory.embedding.locate import MODEL_FILE

Adapter = Mapping[str, tuple[NDArray[Any], NDArray[Any]]]
"""
By the name of a matrix (`l3.q`) the two that are multiplied in its place and added.

Their shapes are (inputs, rank) and (rank, outputs).
"""
STATES, SCORE = 'states', 'score'
_JOINED = {'q': ('q', 'k', 'v')}
"""Matrices that one product of the graph holds, by the name of the first."""
_BEGIN, _END = 'QuantizeLinear', 'Add'
"""The nodes of a product that have its title: what it multiplies is the input of one."""


def make_graph(
    directory: Path, layers: int, adapter: Adapter, head: NDArray[Any], bias: NDArray[Any]
) -> bytes:
    """
    Return the graph of the first layers of a directory's model, which scores token ids.

    It gives the states' first and mean by the head, as log odds, shape (batch, columns of the
    head). Its own weights are in 16 bits; those of the model stay in the directory's file, by
    their offsets.
    """
    model = onnx.load(str(directory / MODEL_FILE), load_external_data=False)
    graph = model.graph
    nodes: list[Any] = []
    multiplied: dict[str, str] = {}
    for node in graph.node:
        nodes.append(node)
        first, _, kind = node.name.rpartition('.')
        if kind == _BEGIN:
            multiplied[first] = node.input[0]
        if kind == _END and first in adapter:
            pairs = [adapter[part] for part in _list_parts(first)]
            nodes += _add_beside(graph, node, first, multiplied[first], pairs)
        if f'l{layers - 1}.oln.w' in node.input:
            break
    nodes[-1].output[0] = STATES
    nodes += _add_head(graph, head, bias)
    used = {name for node in nodes for name in node.input}
    kept = [one for one in graph.initializer if one.name in used]
    del graph.node[:], graph.initializer[:], graph.output[:]
    graph.node.extend(nodes)
    graph.initializer.extend(kept)
    kind = onnx.TensorProto.FLOAT
    graph.output.append(onnx.helper.make_tensor_value_info(SCORE, kind, ['batch', len(bias)]))
    found: bytes = model.SerializeToString(deterministic=True)
    return found


def read_trained(trained: Path) -> tuple[Adapter, NDArray[Any], NDArray[Any]]:
    """Return the adapter, the head and its bias of a graph that `make_graph` made."""
    stored = {
        one.name: onnx.numpy_helper.to_array(one).astype(np.float32)
        for one in onnx.load(str(trained), load_external_data=False).graph.initializer
        if one.name.endswith('.half') or one.name == 'head.bias'
    }
    adapter: dict[str, tuple[NDArray[Any], NDArray[Any]]] = {}
    for name, down in stored.items():
        first, _, kind = name.removesuffix('.half').rpartition('.')
        if kind != 'down':
            continue
        parts = _list_parts(first)
        downs = np.split(down, len(parts), axis=1)
        for place, rows in enumerate(np.split(stored[f'{first}.up.half'], len(parts))):
            up = np.split(rows, len(parts), axis=1)[place]  # the rest of its rows is 0
            adapter[parts[place]] = downs[place], up
    return adapter, stored['head.half'], stored['head.bias']


def _list_parts(first: str) -> tuple[str, ...]:
    """Return the names of the matrices that a product holds, by that of the first."""
    layer, _, name = first.partition('.')
    return tuple(f'{layer}.{part}' for part in _JOINED.get(name, (name,)))


def _add_beside(
    graph: Any,
    product: Any,
    first: str,
    multiplied: str,
    pairs: Sequence[tuple[NDArray[Any], NDArray[Any]]],
) -> list[Any]:
    """Return the nodes that add adapters to a product, whose output is renamed."""
    output = product.output[0]
    base, down, up, inner, added = (f'{first}.{part}' for part in 'base down up inner all'.split())
    product.output[0] = base
    ranks = [one.shape[1] for one, _ in pairs]
    widths = [two.shape[1] for _, two in pairs]
    wide = np.zeros((sum(ranks), sum(widths)))
    row = column = 0
    for (_, two), rank, width in zip(pairs, ranks, widths, strict=True):
        wide[row : row + rank, column : column + width] = two
        row, column = row + rank, column + width
    make = onnx.helper.make_node
    return [
        *_add_weights(graph, down, np.concatenate([one for one, _ in pairs], axis=1)),
        *_add_weights(graph, up, wide),
        make('MatMul', [multiplied, down], [inner]),
        make('MatMul', [inner, up], [added]),
        make('Add', [base, added], [output]),
    ]


def _add_head(graph: Any, head: NDArray[Any], bias: NDArray[Any]) -> list[Any]:
    make = onnx.helper.make_node
    for name, value in (('head.first', 0), ('head.axis', 1)):
        # an index without axes takes its axis away
        shaped = np.array(value if name == 'head.first' else [value], np.int64)
        graph.initializer.append(onnx.numpy_helper.from_array(shaped, name))
    graph.initializer.append(onnx.numpy_helper.from_array(bias.astype(np.float32), 'head.bias'))
    return [
        *_add_weights(graph, 'head', head),
        make('Gather', [STATES, 'head.first'], ['head.begin'], axis=1),
        make('ReduceMean', [STATES, 'head.axis'], ['head.mean'], keepdims=0),
        make('Concat', ['head.begin', 'head.mean'], ['head.read'], axis=1),
        make('MatMul', ['head.read', 'head'], ['head.product']),
        make('Add', ['head.product', 'head.bias'], [SCORE]),
    ]


def _add_weights(graph: Any, name: str, values: NDArray[Any]) -> list[Any]:
    """Store numbers in 16 bits; return the node that makes 32 of them, once."""
    stored = onnx.numpy_helper.from_array(values.astype(np.float16), f'{name}.half')
    graph.initializer.append(stored)
    to = onnx.TensorProto.FLOAT
    return [onnx.helper.make_node('Cast', [stored.name], [name], to=to)]
