"""Weights inside a graph's file are mapped from there; what they compute is the same."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from robot_memory.embedding.manifest import Manifest
from robot_memory.embedding.mapped_weights import describe_mapped
from robot_memory.embedding.onnx_graph import OnnxGraph, open_session

WORDS, WIDTH = 3000, 32
IDS = np.array([[0, 1, 2, WORDS - 1]])


def write_model(directory: Path, words: int = WORDS) -> Path:
    """Write a graph of two tables of bytes, one of them small, and a large one of floats."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    directory.mkdir(exist_ok=True)
    random = np.random.default_rng(2)
    tables = {
        'bytes': random.integers(0, 256, (words, WIDTH), np.uint8),
        'signed': random.integers(-128, 128, (words, WIDTH), np.int8),
        'shift': random.integers(0, 9, (1, WIDTH), np.uint8),
        'floats': random.standard_normal((words, WIDTH)).astype(np.float32),
    }
    nodes = []
    for name in ('bytes', 'signed', 'floats'):
        nodes.append(helper.make_node('Gather', [name, 'input_ids'], [f'{name}_row']))
        nodes.append(helper.make_node('Cast', [f'{name}_row'], [f'{name}_f'], to=1))
    nodes.append(helper.make_node('Cast', ['shift'], ['shift_f'], to=1))
    nodes.append(
        helper.make_node(
            'Sum', ['bytes_f', 'signed_f', 'floats_f', 'shift_f'], ['last_hidden_state']
        )
    )
    shape: list[str | int | None] = ['batch', 'tokens']
    graph = helper.make_graph(
        nodes,
        'bytes',
        [helper.make_tensor_value_info('input_ids', TensorProto.INT64, shape)],
        [helper.make_tensor_value_info('last_hidden_state', TensorProto.FLOAT, [*shape, WIDTH])],
        [numpy_helper.from_array(values, name) for name, values in tables.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid('', 15)], ir_version=8)
    onnx.save(model, directory / 'model.onnx')
    return directory / 'model.onnx'


def run(session: object) -> NDArray[np.float32]:
    found: NDArray[np.float32] = session.run(None, {'input_ids': IDS})[0]  # type: ignore[attr-defined]
    return found


def test_large_tensors_of_bytes_are_named_by_their_place_and_compute_the_same(
    tmp_path: Path,
) -> None:
    path = write_model(tmp_path)
    described = describe_mapped(path)
    floats, bytes_ = 4 * WORDS * WIDTH, WORDS * WIDTH
    assert floats < len(described) < path.stat().st_size - 2 * bytes_ + 1000
    assert described.count(b'model.onnx') == 2
    mapped, whole = open_session(described, tmp_path, 1), open_session(path, tmp_path, 1)
    assert np.array_equal(run(mapped), run(whole))
    graph = OnnxGraph(tmp_path, Manifest(), 1)
    assert np.array_equal(graph.run(IDS), run(whole).mean(axis=1))


def test_a_graph_without_any_is_left_as_it_is(tmp_path: Path) -> None:
    assert describe_mapped(write_model(tmp_path, 100)) == b''


def test_a_graph_that_lies_elsewhere_is_read_whole(tmp_path: Path) -> None:
    path = write_model(tmp_path / 'blobs')
    (tmp_path / 'model').mkdir()
    (tmp_path / 'model' / 'model.onnx').symlink_to(path)
    graph = OnnxGraph(tmp_path / 'model', Manifest(), 1)
    assert np.array_equal(graph.run(IDS), run(open_session(path, path.parent, 1)).mean(axis=1))


@pytest.mark.parametrize('damage', ['cut', 'garbage', 'empty', 'zeros'])
def test_what_is_no_model_is_refused(tmp_path: Path, damage: str) -> None:
    path = write_model(tmp_path)
    data = path.read_bytes()
    path.write_bytes(
        {
            'cut': data[: len(data) // 2],
            'garbage': b'\xff' * 1000,
            'empty': b'',
            'zeros': bytes(1000),
        }[damage]
    )
    with pytest.raises(ValueError, match='field|number|empty'):
        describe_mapped(path)
