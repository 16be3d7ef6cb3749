"""Model directories of a site: pooling, prefixes, length, and manifests that are refused."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models import compute_states, write_toy_model

from robot_memory.core.errors import InvalidArgument, Unavailable
from robot_memory.embedding import BackgroundEmbedder, OnnxEmbedder
from robot_memory.embedding.locate import find_default_directory
from robot_memory.embedding.manifest import Manifest, read_manifest, write_manifest
from robot_memory.embedding.unigram import PieceTokenizer

CLS_MODEL = 'ROBOT_MEMORY_CLS_MODEL'
"""Names the directory of a model that wants the first token's state, with its manifest."""


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    return write_toy_model(tmp_path / 'toy')


@pytest.fixture
def bare_e5(real_embedder: BackgroundEmbedder, tmp_path: Path) -> Path:
    """The default model's encoder and tokenizer, with a manifest that the test writes."""
    directory = tmp_path / 'e5'
    directory.mkdir()
    for name in ('model.onnx', 'model.onnx.data', 'tokenizer.json', 'pieces.bin'):
        (directory / name).symlink_to(find_default_directory() / name)
    return directory


def write(directory: Path, **manifest: Any) -> Path:
    (directory / 'robot_memory.json').write_text(json.dumps(manifest))
    return directory


def put(path: Path, content: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(content))


@pytest.mark.parametrize('pooling', ['mean', 'cls', 'last'])
def test_a_real_encoder_is_pooled_as_the_manifest_says(bare_e5: Path, pooling: str) -> None:
    embedder = OnnxEmbedder(write(bare_e5, pooling=pooling, pieces='pieces.bin'))
    tokenize = PieceTokenizer(bare_e5 / 'pieces.bin')
    for text in ('The red cup needs 12 N', '红色的杯子在哪里'):
        states = compute_states(*tokenize(text, 512))
        chosen = {'mean': states.mean(axis=0), 'cls': states[0], 'last': states[-1]}[pooling]
        assert embedder.embed_query(text) @ chosen / np.linalg.norm(chosen) > 0.9998


@pytest.mark.parametrize(('pooling', 'place'), [('cls', 0), ('last', -1)])
def test_one_token_of_each_row_of_a_batch_is_taken(toy: Path, pooling: str, place: int) -> None:
    embedder = OnnxEmbedder(write(toy, pooling=pooling))
    texts = ['red', 'cup red', 'table door cup', 'door cup red']
    for text, vector in zip(texts, embedder.embed_passages(texts), strict=True):
        assert np.allclose(vector, embedder.embed_query(text.split()[place]), atol=1e-6)


def test_the_files_of_sentence_transformers_are_read(toy: Path) -> None:
    put(toy / '1_Pooling/config.json', {'pooling_mode_cls_token': True, 'include_prompt': True})
    put(
        toy / 'config_sentence_transformers.json',
        {'prompts': {'query': 'red ', 'document': 'table '}, 'default_prompt_name': None},
    )
    put(toy / 'sentence_bert_config.json', {'max_seq_length': 100, 'do_lower_case': False})
    assert read_manifest(toy) == Manifest(
        query_prefix='red ', passage_prefix='table ', max_tokens=100
    )
    embedder = OnnxEmbedder(toy)
    first, second = embedder.embed_query('cup door'), embedder.embed_passages(['cup door'])[0]
    plain = OnnxEmbedder(write(toy, query_prefix='', passage_prefix=''))
    assert np.allclose(first, plain.embed_query('red'), atol=1e-6)
    assert np.allclose(second, plain.embed_query('table'), atol=1e-6)


@pytest.mark.parametrize(
    ('config', 'expected'),
    [
        ({'pooling_mode': 'lasttoken'}, 'cup'),
        ({'pooling_mode_mean_tokens': False, 'pooling_mode_lasttoken': True}, 'cup'),
        ({'pooling_mode': 'cls'}, 'red'),
    ],
)
def test_both_forms_of_the_pooling_file_are_read(
    toy: Path, config: dict[str, Any], expected: str
) -> None:
    put(toy / '1_Pooling/config.json', config)
    embedder = OnnxEmbedder(toy)
    assert np.allclose(embedder.embed_query('red cup'), embedder.embed_query(expected), atol=1e-6)


def test_other_files_of_sentence_transformers_make_another_model(toy: Path) -> None:
    before = OnnxEmbedder(toy).name
    put(toy / '1_Pooling/config.json', {'pooling_mode_cls_token': True})
    assert OnnxEmbedder(toy).name != before


def test_a_graph_that_pools_needs_no_pooling(tmp_path: Path) -> None:
    directory = write_toy_model(tmp_path / 'toy', pooled=True)
    put(directory / '1_Pooling/config.json', {'pooling_mode_cls_token': True})
    embedder = OnnxEmbedder(directory)
    assert np.allclose(embedder.embed_query('red cup'), embedder.embed_query('cup red'), atol=1e-6)


def test_a_text_is_cut_where_the_manifest_says(tmp_path: Path) -> None:
    directory = write_toy_model(tmp_path / 'toy', positions=16)
    with pytest.raises(InvalidArgument, match='does not run on 512 tokens.*max_tokens'):
        OnnxEmbedder(directory)
    embedder = OnnxEmbedder(write(directory, max_tokens=16, pooling='last'))
    assert np.allclose(
        embedder.embed_query('red ' * 15 + 'cup' + ' door' * 500),
        embedder.embed_query('cup'),
        atol=1e-6,
    )


def test_a_manifest_may_name_its_calibration(toy: Path) -> None:
    scale = {'unrelated': 0.2, 'paraphrase': 0.8, 'stray': 0.1}
    embedder = OnnxEmbedder(write(toy, calibration=scale))
    assert embedder.calibration.to_similarity(0.5) == pytest.approx(0.5)
    assert embedder.calibration.to_relevance(0.45) == pytest.approx(0.5)


def test_only_the_languages_of_a_model_are_measured(bare_e5: Path) -> None:
    scales = [
        OnnxEmbedder(write(bare_e5, pieces='pieces.bin', languages=languages)).calibration
        for languages in (['en'], ['zh'], ['en', 'zh'])
    ]
    assert scales[0].unrelated + 0.03 < scales[1].unrelated
    assert scales[0].unrelated < scales[2].unrelated < scales[1].unrelated


def test_what_is_written_is_read(tmp_path: Path) -> None:
    manifest = Manifest(
        name='a', query_prefix='query: ', pooling='cls', dimension=4, same_as=('b@1',)
    )
    write_manifest(tmp_path, manifest)
    assert read_manifest(tmp_path) == manifest
    write_manifest(tmp_path, Manifest())
    assert json.loads((tmp_path / 'robot_memory.json').read_text()) == {}


@pytest.mark.parametrize(
    ('manifest', 'reason'),
    [
        ({'prefix': 'query: '}, "unknown key 'prefix'; accepted: name, query_prefix"),
        ({'query_prefix': 1}, 'query_prefix must be a string, not 1'),
        ({'passage_prefix': ['a']}, r'passage_prefix must be a string, not \['),
        ({'name': None}, 'name must be a string, not None'),
        ({'pooling': 'max'}, "pooling must be one of mean, cls, last, not 'max'"),
        ({'pooling': True}, 'pooling must be a string'),
        ({'dimension': 384}, 'gives vectors of 4 components, but the manifest says dimension 384'),
        ({'dimension': -1}, 'dimension must be an integer from 1'),
        ({'dimension': True}, 'dimension must be an integer'),
        ({'max_tokens': 2}, 'max_tokens must be an integer from 8'),
        ({'max_tokens': 1e9}, 'max_tokens must be an integer'),
        ({'output': 'pooler_output'}, "no output 'pooler_output'.*gives last_hidden_state"),
        ({'languages': ['de']}, 'languages must be a list of en and zh'),
        ({'languages': 'en'}, 'languages must be a list of en and zh'),
        ({'same_as': 'old@1'}, 'same_as must be a list of names'),
        ({'same_as': [1]}, 'same_as must be a list of names'),
        ({'calibration': 0.5}, 'calibration must be an object of cosines'),
        ({'calibration': {'unrelated': 0.5}}, 'calibration must be an object of cosines'),
        ({'calibration': {'unrelated': 0.9, 'paraphrase': 0.5}}, 'paraphrase must be at least'),
        ({'calibration': {'unrelated': 5, 'paraphrase': 9}}, 'cosines from -1 to 1'),
    ],
)
def test_a_manifest_that_cannot_be_right_is_refused(
    toy: Path, manifest: dict[str, Any], reason: str
) -> None:
    with pytest.raises(InvalidArgument, match=reason):
        OnnxEmbedder(write(toy, **manifest))
    assert not (toy / 'calibration.json').exists()


@pytest.mark.parametrize('text', ['[]', '"cls"', '{', ''])
def test_a_manifest_that_is_no_object_is_refused(toy: Path, text: str) -> None:
    (toy / 'robot_memory.json').write_text(text)
    with pytest.raises(InvalidArgument, match='robot_memory.json'):
        OnnxEmbedder(toy)


def test_pooling_twice_is_refused(tmp_path: Path) -> None:
    directory = write_toy_model(tmp_path / 'toy', pooled=True)
    with pytest.raises(InvalidArgument, match='pooled already'):
        OnnxEmbedder(write(directory, pooling='cls'))


@pytest.mark.parametrize(
    ('file', 'content', 'reason'),
    [
        ('1_Pooling/config.json', {'pooling_mode_max_tokens': True}, 'max_tokens.*accepted'),
        ('1_Pooling/config.json', {'pooling_mode': ['cls', 'mean']}, 'accepted: one of'),
        (
            '1_Pooling/config.json',
            {'pooling_mode_cls_token': True, 'pooling_mode_mean_tokens': True},
            'accepted: one of',
        ),
        ('1_Pooling/config.json', {'pooling_mode_cls_token': True}, "'mean', but .* says 'cls'"),
        ('1_Pooling/config.json', [], 'must hold a JSON object'),
        ('modules.json', [{'type': 'sentence_transformers.models.Dense'}], 'applies Dense'),
    ],
)
def test_an_export_that_cannot_be_followed_is_refused(
    toy: Path, file: str, content: Any, reason: str
) -> None:
    put(toy / file, content)
    with pytest.raises(InvalidArgument, match=reason):
        OnnxEmbedder(write(toy, pooling='mean'))


def test_a_tokenizer_of_another_model_is_refused(toy: Path) -> None:
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(toy / 'tokenizer.json'))
    tokenizer.add_tokens(['gripper'])
    tokenizer.save(str(toy / 'tokenizer.json'))
    with pytest.raises(InvalidArgument, match=r'token ids up to 8, which .* cannot look up'):
        OnnxEmbedder(toy)


def test_token_types_are_refused(toy: Path) -> None:
    from tokenizers import Tokenizer, processors

    tokenizer = Tokenizer.from_file(str(toy / 'tokenizer.json'))
    tokenizer.post_processor = processors.TemplateProcessing(single='$A:1', special_tokens=[])
    tokenizer.save(str(toy / 'tokenizer.json'))
    with pytest.raises(InvalidArgument, match=r'token types \[1\]; accepted: 0 only'):
        OnnxEmbedder(toy)


def test_a_center_of_another_shape_is_refused(toy: Path) -> None:
    write(toy, center='center.npy')
    with pytest.raises(Unavailable, match='cannot read .*center.npy'):
        OnnxEmbedder(toy)
    np.save(toy / 'center.npy', np.zeros((2, 2, 3), np.float32))
    with pytest.raises(InvalidArgument, match=r'shape \(2, 2, 4\), not float32 of shape'):
        OnnxEmbedder(toy)
    np.save(toy / 'center.npy', np.full((2, 2, 4), np.nan, np.float32))
    with pytest.raises(InvalidArgument, match='finite floats'):
        OnnxEmbedder(toy)


def test_a_piece_file_that_is_not_there_is_named(toy: Path) -> None:
    with pytest.raises(Unavailable, match='cannot read .*pieces.bin'):
        OnnxEmbedder(write(toy, pieces='pieces.bin'))


def test_a_refused_model_is_a_failed_load_with_its_reason(toy: Path) -> None:
    background = BackgroundEmbedder(str(write(toy, pooling='max')))
    background.start()
    assert background.wait() is None
    assert background.state == 'failed'
    assert "pooling must be one of mean, cls, last, not 'max'" in background.reason


def test_a_real_cls_model_finds_what_answers() -> None:
    named = os.environ.get(CLS_MODEL)
    if not named:
        pytest.skip(f'{CLS_MODEL} names no directory of a CLS model: docs/models.md')
    assert read_manifest(Path(named)).pooling == 'cls'
    embedder = OnnxEmbedder(Path(named))
    answers = {
        'Which sensor has trouble with windows?': 'The lidar does not see glass doors',
        'Where do I throw newspapers?': 'Blue bins are for paper',
        'Why did the walk outside end early?': 'The patrol in the yard was cut short by rain',
        'Who works when it is dark?': 'Bob has the night shift',
        'Is the way to the yard flat?': 'The ramp to the yard is steep',
    }
    passages = embedder.embed_passages(list(answers.values()))
    asked = np.stack([embedder.embed_query(question) for question in answers])
    assert (asked @ passages.T).argmax(axis=1).tolist() == list(range(len(answers)))
    same = embedder.embed_passages(
        ['The red cup needs 12 N of grip force', 'For the red cup a grip force of 12 N is needed']
    )
    assert embedder.calibration.to_similarity(float(same[0] @ same[1])) > 0.85
    others = (passages @ passages.T)[np.triu_indices(len(answers), 1)]
    assert embedder.calibration.to_similarity(others).mean() < 0.15
