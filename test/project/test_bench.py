"""The bench of speed and size runs, gives every figure of its tables, and knows the truth."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import recordings
from amounts import LONG, few_or_many

from robot_memory.detectors import ContactSettings
from robot_memory.embedding.locate import has_second_model

sys.path.insert(0, str(Path(__file__).parents[2] / 'bench'))

import contacts
import events
import facts
import import_speed
import paired
import scale
import slower
import tables
import viewer

BENCH = Path(__file__).parents[2] / 'bench'
SIZE = 120
SEEDS, PAIRS = few_or_many(1, 2), few_or_many(1, 2)
THIS = scale.Subject('adapter', sys.executable)


@pytest.fixture(scope='module')
def ran(tmp_path_factory: pytest.TempPathFactory) -> tuple[Any, str]:
    """Return what the bench writes and prints of a small store."""
    file = tmp_path_factory.mktemp('bench') / 'results.json'
    command = [sys.executable, str(BENCH / 'run.py'), '--quick', '--without-peer']
    command += ['--only', 'scale', '--sizes', str(SIZE), '--json', str(file)]
    command += ['--most', str(few_or_many(1, scale.LEARNED))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(file.read_text()), done.stdout


def test_a_run_writes_every_figure_of_its_table(ran: tuple[Any, str]) -> None:
    found = ran[0]['scale']['this'][str(SIZE)]
    for title, path, _ in tables.SCALE:
        value = found
        for key in path.split('/') if path else ():
            assert key in value, (title, path)
            value = value[key]
        assert value is not None, (title, path)


def test_imports_of_two_checkouts_are_compared_and_stand_in_the_table(made: Path) -> None:
    found = import_speed.measure(made, PAIRS, 'none', BENCH.parent)
    assert found['kept'] == 8 and 0 < found['beyond_model_mb'] < found['peak_mb']
    for kind in import_speed.KINDS:
        low, middle, high = found[f'{kind}_ratio_quartiles']
        assert 0 < low <= middle <= high
    printed = tables.format_node({'busy_import': found})
    assert re.search(r'MB beyond the model +- +\d+ +- +under 150', printed)
    for what in ('import, times real time', 'by processor time'):
        assert re.search(rf'{what} +- +\d+ +[\d.]+ +3, in {PAIRS} pairs with before', printed)


def test_a_run_prints_its_table_and_what_it_leaves_out(ran: tuple[Any, str]) -> None:
    results, printed = ran
    assert tables.format_scale(results['scale']) in printed
    assert re.search(r'hybrid, p50 +[\d.]+ +3 at 10k, 10 at 100k, 15 at 1M', printed)
    assert 'Left out' in printed and 'the peer' in printed


def test_what_became_slower_is_named() -> None:
    before = {'recall': {'p50_ms': 1.0, 'p95_ms': 2.0, 'calls': 3}, 'learn': {'per_s': 100}}
    now = {'recall': {'p50_ms': 1.5, 'p95_ms': 2.1, 'calls': 9}, 'learn': {'per_s': 60}}
    assert slower.list_slower(before, now) == [
        ('recall/p50_ms', 1.0, 1.5),
        ('learn/per_s', 100.0, 60.0),
    ]
    assert 'recall/p50_ms: 1 before, 1.5 now' in slower.format_slower(before, now)
    assert 'Nothing takes over' in slower.format_slower(now, before)


def test_what_takes_longer_than_in_another_checkout_is_named() -> None:
    both = {'other': 'd9804e2', 'ratios': {'learn': [0.6, 0.7, 0.8], 'recall': [0.9, 1, 1.1]}}
    told = slower.format_slower_than(both)
    assert 'learn: 0.70 of the rate of d9804e2 (0.60 to 0.80)' in told and 'recall' not in told
    quick = {'other': 'd9804e2', 'ratios': {'recall': [0.9, 1, 1.1]}}
    assert 'No call takes over' in slower.format_slower_than(quick)
    assert re.search(r'learn +0.7 +0.60 to 0.80 +at least 1', tables.format_paired(both))


def test_checkouts_take_turns_at_every_call() -> None:
    command = [sys.executable, str(BENCH / 'paired.py'), str(BENCH.parent), '--json']
    done = subprocess.run([*command, '--blocks', '2'], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert set(found['ratios']) == set(paired.BLOCK)
    assert all(0 < low <= high for low, _, high in found['ratios'].values())


def test_a_run_answers_rightly(ran: tuple[Any, str]) -> None:
    found = ran[0]['scale']['this'][str(SIZE)]
    told = [facts.make_fact(number)[1] for number in range(SIZE)]
    assert found['exact']['in_range'] == found['exact']['in_range_true']
    assert found['exact']['in_range_true'] == sum(map(facts.is_in_range, told))
    assert found['exact']['nearest'] == found['exact']['nearest_true'] == 5
    assert found['start']['mode'] == found['once']['hybrid']['mode'] == 'hybrid'
    assert found['once']['words only']['mode'] == 'bm25_only'


def test_a_size_that_no_disk_holds_is_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert scale.measure(THIS, 10**15) is None
    assert 'left out' in capsys.readouterr().err


def test_a_fact_is_made_from_its_number_alone() -> None:
    assert facts.make_fact(7) == facts.make_fact(7) != facts.make_fact(9)
    assert facts.make_question(7) == facts.make_question(7) != facts.make_question(9)
    for number in range(200):
        text, _ = facts.make_fact(number)
        assert bool(re.search(r'\d', text)) == (number % 2 == 0)
        assert 70 <= len(text) <= 160


def test_a_method_that_was_not_measured_leaves_its_column_empty() -> None:
    methods = {
        'hybrid': {'first': 0.91, 'absent': {'absent: all': {'absent_under': 1.0, 'kept': 0.8}}},
        'plain RRF, k = 60': {'first': 0.4},
        'words only': {'first': 0.5},
    }
    lines = tables.format_quality({'robot': {'methods': methods}}).splitlines()
    cells = {line.split('  ')[0]: line.split()[2:] for line in lines if line.startswith('robot')}
    assert cells['robot: first'] == ['0.5', '-', '-', '0.4', '-', '0.91', 'over', '.90']
    assert tables.format_quality({'new': {'methods': {}}}).strip().startswith('Quality')


def test_tables_stand_without_the_peer_and_without_a_node() -> None:
    lines = [
        {'part': 'learn', 'n': 1000, 'per_s_by_fifth': [100.0, 80.0]},
        {'part': 'recall', 'kind': 'text', 'p50_ms': 2.0},
    ]
    shown = tables.format_side_by_side({'this': {'none': lines, 'hash': []}})
    assert re.search(r'recall, words only, p50 ms +- +2 +- +under 5', shown)
    assert re.search(r'last / first fifth +- +0.8 +- +over 0.7', shown)
    assert 'import' not in tables.format_node({'service': None, 'import': None, 'load': None})


def test_a_run_of_events_gives_every_figure_of_its_table() -> None:
    command = [sys.executable, str(BENCH / 'events.py'), '--size', '3000']
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found['p50_ms'].keys() == tables.EVENTS.keys() == events.questions().keys()
    assert 'year, 20 hardest' in tables.format_events(found)


@pytest.mark.skipif(not LONG, reason='takes 20 s: `make test-long` runs it')
def test_a_run_of_both_models_gives_every_figure_of_its_table() -> None:
    if not has_second_model('', is_default=True):
        pytest.skip('no second model is here: `robot-memory model get bge-small-en-v1.5`')
    command = [sys.executable, str(BENCH / 'second_model.py'), '--sizes', '60', '--blocks', '1']
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [len(models) for _, models in found['answered']] == [1, 2]
    assert 'learn, of the rate with one' in tables.format_models(found)


def test_a_run_of_a_year_folds_and_counts_exactly_and_gives_every_figure_of_its_table() -> None:
    command = [sys.executable, str(BENCH / 'year.py'), '--size', '900']
    limits = ['--limit-mb', '0.5', '--payload-mb', '0.2']
    done = subprocess.run([*command, *limits], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found['counted'] == 900 and found['sum_is_exact'] and found['folded'] > 100
    assert found['limits_mb']['payloads'] <= 0.2
    assert 'perceptions folded' in tables.format_year(found)


@pytest.mark.parametrize('bag', ['cmu_exp5_15', 'cmu_30_63'])
def test_recorded_pushes_are_found_and_told_rightly_down_to_the_onset(bag: str) -> None:
    recordings.shared(f'bags/{bag}')
    score = contacts.Score()
    stream = contacts.read_recording(bag)
    assert len(stream.pushes) >= 0.95 * len(recordings.pushes(bag)), 'some begin in a contact'
    faults = contacts.judge(stream, ContactSettings(), score)
    assert (score.found, score.false, score.wrong) == (score.due, 0, 0), faults
    assert max(score.onsets) <= 1.2
    assert score.right >= 0.95 * score.due, faults


def test_generated_streams_are_scored_against_their_own_truth() -> None:
    scores: dict[str, contacts.Score] = {}
    for stream in contacts.list_streams(range(SEEDS), ['plain', 'slow', 'untouched']):
        contacts.judge(stream, ContactSettings(), scores.setdefault(stream.name, contacts.Score()))
    assert scores['no push'].due == scores['no push'].false == 0
    assert scores['plain'].found == scores['plain'].due > 0
    deaf = contacts.Score()
    for stream in contacts.list_streams(range(SEEDS), ['plain']):
        faults = contacts.judge(stream, ContactSettings(onset_n=1e4), deaf)
    assert deaf.due == deaf.found == 0 and not faults


def test_the_viewer_is_measured_and_no_hostile_text_becomes_an_element() -> None:
    command = [sys.executable, str(BENCH / 'viewer.py'), '--texts', str(few_or_many(60, 10_000))]
    command += ['--part', 'hostile', '--part', 'reasons', '--answers', str(few_or_many(12, 1000))]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found['hostile']['injected'] == 0, found['hostile']
    assert found['reasons']['worst'] < 1e-6
    printed = viewer.format_viewer({**found, 'load': None})
    assert 'hostile texts inject' in printed and 'worst difference' in printed


def test_a_page_with_an_element_of_a_text_is_told() -> None:
    page = '<html><main><script src=a></script>{}</main></html>'
    assert not viewer.find_injected(page.format('&lt;script&gt;'))
    assert viewer.find_injected(page.format('<script>1</script><script>2</script>'))
    assert viewer.find_injected(page.format('<p onclick="x()">'))
    assert viewer.find_injected(page.format('\u202e'))
    assert viewer.find_injected('<html><main>')


def test_perceptions_of_taps_are_kept_in_both_ways_and_stand_in_the_table() -> None:
    command = [sys.executable, str(BENCH / 'kept_events.py'), '--perceptions', '40']
    found = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    assert found['one_by_one_per_s'] > 0 < found['together_per_processor_s']
    table = tables.format_node({'kept_events': found})
    assert re.search('durable perceptions a second, by the clock .*over 5000', table)
