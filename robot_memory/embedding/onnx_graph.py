"""A sentence model's graph in onnxruntime: its inputs, its output, and how tokens are pooled."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from robot_memory.core.errors import InvalidArgument, Unavailable
from robot_memory.core.heap import trim_heap
from robot_memory.embedding.export_files import read_export, read_other_modules
from robot_memory.embedding.locate import MODEL_FILE
from robot_memory.embedding.manifest import Manifest
from robot_memory.embedding.mapped_weights import describe_mapped
from robot_memory.embedding.runtime import load_onnxruntime

INPUTS = ('input_ids', 'attention_mask', 'token_type_ids', 'position_ids')
OUTPUTS = ('sentence_embedding', 'last_hidden_state', 'token_embeddings')
"""The output that is taken of several, where the manifest names none; the first one wins."""

_WEIGHTS_FOLDER = 'session.model_external_initializers_file_folder_path'
FLOATS = ('tensor(float)', 'tensor(float16)')
_GIVE_BACK = 'memory.enable_memory_arena_shrinkage'
_SHORT = 64
"""
Tokens up to which texts are run beside others, and their buffers are kept.

Those of 512 take 60 MB of each model, for as many callers as there are, and the heap keeps them.
"""
_TRIMMED = 256
"""Tokens from which on the heap is given back as well, which takes some milliseconds."""


class OnnxGraph:
    """
    Run `model.onnx` of a directory.

    The graph gives either token states (batch, tokens, dimension), which are pooled here, or
    sentence vectors (batch, dimension).
    """

    def __init__(self, directory: Path, manifest: Manifest, threads: int) -> None:
        """Load the graph; raise Unavailable, or InvalidArgument where the manifest misfits."""
        self._path = directory / MODEL_FILE
        self._session = _open_mapped(self._path, directory, threads)
        self._spare = load_onnxruntime().RunOptions()
        self._spare.add_run_config_entry(_GIVE_BACK, 'cpu:0')
        self._long = threading.Lock()
        self._inputs = self._choose_inputs()
        self._output, pools = self._choose_output(manifest.output, manifest.pooling)
        self._pooling = manifest.pooling or read_export(directory).get('pooling', 'mean')
        others = read_other_modules(directory) if pools else []
        if others:
            raise InvalidArgument(
                f'{self._path} gives token states, but modules.json applies {", ".join(others)} '
                "to the pooled vector; export a graph with the output 'sentence_embedding'"
            )

    def run(self, ids: NDArray[np.int64]) -> NDArray[np.float32]:
        """Return a vector for each row of ids; rows are equally long, so nothing is padded."""
        given = {name: np.zeros_like(ids) for name in self._inputs}
        given['input_ids'] = ids
        given['attention_mask'] = np.ones_like(ids)
        given['position_ids'] = np.broadcast_to(np.arange(ids.shape[1]), ids.shape)
        feed = {name: given[name].astype(kind) for name, kind in self._inputs.items()}
        if ids.size <= _SHORT:
            return _pool(self._session.run([self._output], feed)[0], self._pooling)
        with self._long:
            states = self._session.run([self._output], feed, self._spare)[0]
            vectors = _pool(states, self._pooling)
            del states
            if ids.size > _TRIMMED:
                trim_heap()
        return vectors

    def find_dimension(self, ids: Sequence[int], named: int) -> int:
        """Return how many components a vector has; raise InvalidArgument for another number."""
        try:
            found = self.run(np.array([ids]))
        except Exception as error:
            raise InvalidArgument(f'{self._path} does not run on token ids: {error}') from error
        if found.ndim != 2 or len(found) != 1:
            raise InvalidArgument(
                f'{self._path} gives an array of shape {found.shape} for one text; accepted: '
                '(batch, tokens, dimension) or (batch, dimension)'
            )
        if named not in (0, found.shape[1]):
            raise InvalidArgument(
                f'{self._path} gives vectors of {found.shape[1]} components, but the manifest '
                f'says dimension {named}'
            )
        return int(found.shape[1])

    def check_tokens(self, tokenizer: Path, largest: int, longest: int) -> None:
        """Raise InvalidArgument where the graph takes no id so large, or no text so long."""
        try:
            self.run(np.array([[largest]]))
        except Exception as error:
            raise InvalidArgument(
                f'{tokenizer} has token ids up to {largest}, which {self._path} cannot look up: '
                f'they are not of one model ({error})'
            ) from error
        try:
            self.run(np.full((1, longest), largest))
        except Exception as error:
            raise InvalidArgument(
                f'{self._path} does not run on {longest} tokens; give the length that it takes '
                f'as max_tokens in the manifest ({error})'
            ) from error

    def _choose_inputs(self) -> dict[str, type[np.signedinteger[Any]]]:
        kinds = {i.name: i.type for i in self._session.get_inputs()}
        if 'input_ids' not in kinds or set(kinds) - set(INPUTS):
            raise InvalidArgument(
                f'{self._path} takes {sorted(kinds)}; accepted: input_ids with or without '
                f'{", ".join(INPUTS[1:])}'
            )
        return {
            name: np.int32 if kind == 'tensor(int32)' else np.int64 for name, kind in kinds.items()
        }

    def _choose_output(self, named: str, pooling: str) -> tuple[str, bool]:
        """Return the name of the output, and whether it gives token states."""
        outputs = {output.name: output for output in self._session.get_outputs()}
        if named and named not in outputs:
            raise InvalidArgument(
                f'{self._path} has no output {named!r}, which the manifest names; it gives '
                f'{", ".join(outputs)}'
            )
        known = OUTPUTS[1:] + OUTPUTS[:1] if pooling else OUTPUTS
        name = named or next((name for name in known if name in outputs), next(iter(outputs)))
        rank, kind = len(outputs[name].shape), outputs[name].type
        if rank not in (2, 3) or kind not in FLOATS:
            raise InvalidArgument(
                f'{self._path} gives {name!r} as {kind} of {rank} axes; accepted: floats of '
                '(batch, tokens, dimension) or (batch, dimension)'
            )
        if pooling and rank == 2:
            raise InvalidArgument(
                f'{self._path} gives {name!r}, which is pooled already, but the manifest says '
                f'pooling {pooling!r}; leave it out'
            )
        return name, rank == 3


def _pool(states: NDArray[Any], pooling: str) -> NDArray[np.float32]:
    """Return a vector for each row of states of tokens; the rows of what is pooled already."""
    states = states.astype(np.float32, copy=False)
    if states.ndim == 2:
        return states
    if pooling == 'cls':
        return states[:, 0]
    if pooling == 'last':
        return states[:, -1]
    mean: NDArray[np.float32] = states.mean(axis=1)
    return mean


def _open_mapped(path: Path, directory: Path, threads: int) -> Any:
    """
    Return a session of a file whose large weights are mapped where that is possible.

    Raise Unavailable where there is none. Read whole, weights of bytes are held twice meanwhile.
    """
    with suppress(OSError, ValueError, Unavailable):
        graph = describe_mapped(path)
        if graph:
            return open_session(graph, directory, threads)
    return open_session(path, directory, threads)


def open_session(
    graph: Path | bytes, directory: Path, threads: int, *, is_lean: bool = False
) -> Any:
    """
    Return a session of a graph in a file, or of one in memory with its weights in a directory.

    One that `is_lean` keeps no buffers; it is slower with long texts. Raise Unavailable where it
    cannot be.
    """
    onnxruntime = load_onnxruntime()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    if is_lean:
        options.enable_cpu_mem_arena = options.enable_mem_pattern = False
    options.add_session_config_entry('session.intra_op.allow_spinning', '0')
    if isinstance(graph, bytes):
        options.add_session_config_entry(_WEIGHTS_FOLDER, str(directory))
    source = graph if isinstance(graph, bytes) else str(graph)
    try:
        return onnxruntime.InferenceSession(source, options, providers=['CPUExecutionProvider'])
    except Exception as error:
        named = directory if isinstance(graph, bytes) else graph
        raise Unavailable(f'onnxruntime cannot load {named}: {error}') from error
