"""
The encoder of multilingual-e5-small as an ONNX graph of 8-bit products.

docs/decisions/embedding-model.md has what other forms of it take and lose.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_memory.embedding.e5_weights import BLOCK, Weights

DOMAIN = 'com.microsoft'
INPUTS = ('input_ids', 'attention_mask')
OUTPUT = 'last_hidden_state'
INLINE_BYTES = 1024
"""Tensors up to this size stay in the graph, where shape inference can read them."""

ALIGNMENT = 4096
HALF = 63
"""The largest of the whole numbers, from -63 on, that an activation is rounded to."""


class E5Graph:
    """
    Collect nodes and tensors, and write them as `model.onnx` and `model.onnx.data`.

    Matrices come in blocks of 4 bits and are written with 8, and a scale for each output. What is
    multiplied by them is written as two numbers of 7 bits, a high and a low one, on a scale that
    no text exceeds: it follows from the weights. So nothing saturates, on processors without VNNI
    neither (2 x 127 x 127 fits in 16 bits), and a text's vector does not depend on its batch.
    onnxruntime maps the data file into memory: loading reads only what is used.
    """

    def __init__(self, weights: Weights) -> None:
        """Build the graph of the weights."""
        import onnx

        self._onnx = onnx
        self._weights = weights
        self._width = weights.hidden
        self._nodes: list[Any] = []
        self._tensors: list[Any] = []
        self._blob = bytearray()
        self._half = self._add_tensor('half', np.array(HALF + 1, np.uint8))
        self._zero = self._add_tensor('zero', np.array(0, np.int8))
        states = self._embed()
        for layer in range(weights.layers):
            states = self._add_layer(layer, states)

    def save(self, directory: Path) -> None:
        """Write the two files of the model."""
        helper, types = self._onnx.helper, self._onnx.TensorProto
        shape = ['batch', 'tokens']
        graph = helper.make_graph(
            self._nodes,
            'multilingual-e5-small',
            [helper.make_tensor_value_info(n, types.INT64, shape) for n in INPUTS],
            [helper.make_tensor_value_info(OUTPUT, types.FLOAT, [*shape, self._width])],
            self._tensors,
        )
        opsets = [helper.make_opsetid('', 18), helper.make_opsetid(DOMAIN, 1)]
        model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
        (directory / 'model.onnx.data').write_bytes(self._blob)
        (directory / 'model.onnx').write_bytes(model.SerializeToString(deterministic=True))

    def _embed(self) -> str:
        """Unpack the 4-bit rows of the words, add the positions, normalise."""
        float32 = self._onnx.TensorProto.FLOAT
        int32 = self._onnx.TensorProto.INT32
        scales, packed = self._weights.read_blocks('emb.word', self._width)
        words = len(packed)
        blocks = self._width // BLOCK
        bytes_ = self._add_tensor('words', packed.reshape(words, -1))
        row = self._add_node('Gather', bytes_, 'input_ids')
        scale = self._add_node('Gather', self._add_tensor('word_scales', scales), 'input_ids')
        four = self._add_tensor('four', np.array(4, np.uint8))
        fifteen = self._add_tensor('fifteen', np.array(15, np.uint8))
        high = self._add_node('BitShift', row, four, direction='RIGHT')
        low = self._add_node('BitwiseAnd', row, fifteen)
        halves = self._add_tensor('halves', np.array([0, 0, blocks, BLOCK // 2], np.int64))
        nibbles = self._add_node(
            'Concat',
            self._add_node('Reshape', low, halves),
            self._add_node('Reshape', high, halves),
            axis=3,
        )
        signed = self._add_node(
            'Sub',
            self._add_node('Cast', nibbles, to=float32),
            self._add_tensor('eight', np.array(8, np.float32)),
        )
        each = self._add_node(
            'Unsqueeze',
            self._add_node('Cast', scale, to=float32),
            self._add_tensor('last_axis', np.array([3], np.int64)),
        )
        flat = self._add_tensor('flat', np.array([0, 0, self._width], np.int64))
        word = self._add_node('Reshape', self._add_node('Mul', signed, each), flat)
        places = self._weights.read_floats('emb.pos').reshape(-1, self._width)
        place = self._add_node(
            'Slice',
            self._add_tensor(
                'places', places + self._weights.read_floats('emb.type')[: self._width]
            ),
            self._add_tensor('first', np.array([0], np.int64)),
            self._add_node('Shape', 'input_ids', start=1, end=2),
        )
        self._mask = self._add_node('Cast', 'attention_mask', to=int32)
        return self._add_node(
            'LayerNormalization',
            self._add_node('Add', word, place),
            *self._add_norm('emb.ln'),
            axis=-1,
            epsilon=self._weights.epsilon,
        )

    def _add_layer(self, layer: int, states: str) -> str:
        prefix = f'l{layer}.'
        before = f'l{layer - 1}.oln' if layer else 'emb.ln'
        joined = self._add_product(
            states,
            self._bound_norm(before),
            self._width,
            *(prefix + part for part in 'qkv'),
        )
        parts = [f'{prefix}{part}' for part in 'qkv']
        width = self._add_tensor(f'{prefix}width', np.full(3, self._width, np.int64))
        self._nodes.append(self._onnx.helper.make_node('Split', [joined, width], parts, axis=2))
        attended = self._add_node(
            'MultiHeadAttention',
            *parts,
            '',
            self._mask,
            domain=DOMAIN,
            num_heads=self._weights.heads,
        )
        # What is attended to is a mean of values.
        largest = self._bound_product(before, prefix + 'v')
        projected = self._add_product(attended, largest, self._width, prefix + 'ao')
        states = self._add_residual(states, projected, prefix + 'aln')
        wide = self._add_product(
            states, self._bound_norm(prefix + 'aln'), self._width, prefix + 'fi'
        )
        largest = self._bound_product(prefix + 'aln', prefix + 'fi')
        inner = self._add_node('Gelu', wide, domain=DOMAIN)
        outer = self._add_product(inner, largest, self._weights.inner, prefix + 'fo')
        last = OUTPUT if layer == self._weights.layers - 1 else ''
        return self._add_residual(states, outer, prefix + 'oln', last)

    def _add_product(self, states: str, bound: float, width: int, *names: str) -> str:
        """Multiply by the matrices of some names at once and add their biases."""
        matrix = np.concatenate([self._weights.read_matrix(f'{n}.w', width) for n in names])
        bias = np.concatenate([self._weights.read_floats(f'{name}.b') for name in names])
        scales = np.abs(matrix).max(axis=1) / np.float32(127)
        rounded = np.round(matrix / scales[:, None]).astype(np.int8)
        first = names[0]
        step = np.float32(bound / HALF)
        high_step = self._add_tensor(f'{first}.high', step)
        low_step = self._add_tensor(f'{first}.low', step / np.float32(2 * HALF))
        high = self._add_node('QuantizeLinear', states, high_step, self._half, title=first)
        rest = self._add_node(
            'Sub', states, self._add_node('DequantizeLinear', high, high_step, self._half)
        )
        low = self._add_node('QuantizeLinear', rest, low_step, self._half)
        weights = self._add_tensor(f'{first}.w', np.ascontiguousarray(rounded.T))
        columns = self._add_tensor(f'{first}.s', scales)
        zeros = self._half, self._zero

        def multiply(values: str, step: str, *bias: str) -> str:
            return self._add_node(
                'MatMulIntegerToFloat',
                *(values, weights, step, columns, *zeros, *bias),
                domain=DOMAIN,
            )

        shifted = multiply(high, high_step, self._add_tensor(f'{first}.b', bias))
        return self._add_node('Add', shifted, multiply(low, low_step), title=first)

    def _bound_norm(self, norm: str) -> float:
        """Return what no number of a layer normalisation exceeds; whole, on every machine."""
        weight, bias = self._weights.read_norm(norm)
        return float(np.ceil(np.max(np.abs(weight) * self._width**0.5 + np.abs(bias))))

    def _bound_product(self, norm: str, name: str) -> float:
        """Return what no number of the product of a normalisation and a matrix exceeds."""
        weight, bias = self._weights.read_norm(norm)
        matrix = self._weights.read_matrix(f'{name}.w', self._width)
        centre = np.abs(matrix @ bias + self._weights.read_floats(f'{name}.b'))
        reach = np.linalg.norm(matrix * weight, axis=1) * self._width**0.5
        return float(np.ceil(np.max(reach + centre)))

    def _add_residual(self, states: str, added: str, norm: str, name: str = '') -> str:
        return self._add_node(
            'SkipLayerNormalization',
            states,
            added,
            *self._add_norm(norm),
            name=name,
            domain=DOMAIN,
            epsilon=self._weights.epsilon,
        )

    def _add_norm(self, name: str) -> tuple[str, str]:
        weight, bias = self._weights.read_norm(name)
        return self._add_tensor(f'{name}.w', weight), self._add_tensor(f'{name}.b', bias)

    def _add_node(
        self, kind: str, *inputs: str, name: str = '', title: str = '', **attributes: Any
    ) -> str:
        """Add a node, which may have a title, and return its output."""
        output = name or f'{kind}_{len(self._nodes)}'
        node = self._onnx.helper.make_node(
            kind, list(inputs), [output], name=title and f'{title}.{kind}', **attributes
        )
        self._nodes.append(node)
        return output

    def _add_tensor(self, name: str, values: NDArray[Any]) -> str:
        if values.nbytes <= INLINE_BYTES:
            self._tensors.append(self._onnx.numpy_helper.from_array(values, name))
            return name
        proto = self._onnx.TensorProto
        kind = self._onnx.helper.np_dtype_to_tensor_dtype(values.dtype)
        tensor = proto(name=name, data_type=kind, dims=values.shape)
        tensor.data_location = proto.EXTERNAL
        self._blob.extend(bytes(-len(self._blob) % ALIGNMENT))
        place = {'location': 'model.onnx.data', 'offset': len(self._blob), 'length': values.nbytes}
        for key, value in place.items():
            tensor.external_data.add(key=key, value=str(value))
        self._blob.extend(np.ascontiguousarray(values).tobytes())
        self._tensors.append(tensor)
        return name
