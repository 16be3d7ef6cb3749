"""The cross-encoder: the model that reads two statements."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path
from typing import Any

import onnx
import pytest

from robot_memory.core.errors import Unavailable
from robot_memory.embedding import BackgroundEmbedder
from robot_memory.embedding.cross_encoder import (
    GRAPH,
    LONGEST,
    CrossEncoder,
    has_cross_encoder,
    join_pair,
    load_cross_encoder,
)
from robot_memory.embedding.onnx import OnnxEmbedder


@pytest.fixture(scope='module')
def embedder(real_embedder: BackgroundEmbedder) -> OnnxEmbedder:
    """Return the default model; skip where another one stands in its place."""
    found = real_embedder.get_if_loaded()
    if not has_cross_encoder(found):
        pytest.skip('the default model is not that of the cross-encoder')
    return found


@pytest.fixture(scope='module')
def encoder(embedder: OnnxEmbedder) -> CrossEncoder:
    """Return the cross-encoder, which is loaded once."""
    found = load_cross_encoder(embedder)
    assert found is not None
    assert load_cross_encoder(embedder) is found
    return found


def test_a_model_that_nobody_holds_goes_with_its_cross_encoder(embedder: OnnxEmbedder) -> None:
    own = OnnxEmbedder(embedder.directory)
    assert load_cross_encoder(own) is not None
    gone = weakref.ref(own)
    del own
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize(
    ('old', 'new', 'other'),
    [
        (
            'The pallet jack is in bay 4.',
            'The pallet jack was moved to bay 7.',
            'The hand truck was moved to bay 7.',
        ),
        (
            'Deliveries come to the back door.',
            'Deliveries come to the side gate from now on.',
            'Visitors come to the side gate from now on.',
        ),
        ('备用钥匙在抽屉里。', '备用钥匙改放到柜子里了。', '备用电池改放到柜子里了。'),
    ],
)
def test_a_correction_scores_above_what_looks_like_one(
    encoder: CrossEncoder, old: str, new: str, other: str
) -> None:
    assert encoder.score(old, new).replaces > 0 > encoder.score(old, other).replaces


@pytest.mark.parametrize(
    ('old', 'new', 'other'),
    [
        (
            'The lens of the left camera is scratched.',
            "There is a scratch on the left camera's lens.",
            "There is a scratch on the right camera's lens.",
        ),
        ('备用钥匙在抽屉里。', '抽屉里放着备用钥匙。', '抽屉里放着备用电池。'),
    ],
)
def test_a_restated_fact_scores_above_another(
    encoder: CrossEncoder, old: str, new: str, other: str
) -> None:
    assert encoder.score(old, new).restates > 0 > encoder.score(old, other).restates


def test_the_graph_names_the_weights_where_the_model_has_them(embedder: OnnxEmbedder) -> None:
    """Else it would read others: it is made anew with every change of the model."""
    ours = _list_places(GRAPH)
    theirs = _list_places(embedder.directory / 'model.onnx')
    assert ours
    assert ours.items() <= theirs.items()


def test_long_statements_are_cut_at_their_end() -> None:
    assert join_pair([0, 5, 6, 2], [0, 7, 2]) == [0, 5, 6, 2, 2, 7, 2]
    long = [0, *range(100, 300), 2]
    joined = join_pair(long, long)
    assert len(joined) == 2 * LONGEST
    assert joined[LONGEST - 2 : LONGEST + 2] == [161, 2, 2, 100]
    assert (joined[0], joined[-1]) == (0, 2)


def test_another_model_has_no_cross_encoder(tiny_embedders: dict[int, BackgroundEmbedder]) -> None:
    other = tiny_embedders[8].get_if_loaded()
    assert isinstance(other, OnnxEmbedder)
    assert not has_cross_encoder(other)
    assert not has_cross_encoder(None)
    with pytest.raises(Unavailable, match=r'model\.onnx\.data'):
        CrossEncoder(other)


def test_weights_of_another_size_are_refused(
    tiny_embedders: dict[int, BackgroundEmbedder], tmp_path: Path
) -> None:
    other = tiny_embedders[8].get_if_loaded()
    assert isinstance(other, OnnxEmbedder)
    embedder = OnnxEmbedder(other.directory)
    embedder.directory = tmp_path
    (tmp_path / 'model.onnx.data').write_bytes(bytes(64))
    with pytest.raises(Unavailable, match='has 64 bytes'):
        CrossEncoder(embedder)


def _list_places(path: Path) -> dict[str, dict[str, Any]]:
    """Return where a graph's tensors lie in the file of the weights."""
    model = onnx.load(str(path), load_external_data=False)
    return {
        tensor.name: {one.key: one.value for one in tensor.external_data}
        for tensor in model.graph.initializer
        if tensor.external_data
    }
