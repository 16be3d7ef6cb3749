"""The audit on the command line: a signed head shows later that the audit was cut off."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import prepared
import pytest

from robot_memory.storage import checksums


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / 'memory.db'
    for text in ('The dock is in hall 2', 'The ramp is wet'):
        assert run(path, 'learn', text).returncode == 0
    return path


@pytest.fixture(scope='session')
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if shutil.which('ssh-keygen') is None:
        pytest.skip('ssh-keygen is not installed')
    path = tmp_path_factory.mktemp('keys') / 'id_ed25519'
    create = ['ssh-keygen', '-q', '-t', 'ed25519', '-N', '', '-f', str(path)]
    subprocess.run(create, check=True)
    return path


def run(path: Path, *words: str | Path, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, '-m', 'robot_memory', '--db', path, '--model', 'none', *words]
    given = {**os.environ, **env}
    return prepared.run(list(map(str, command)), capture_output=True, text=True, env=given)


def test_the_head_is_printed_and_in_the_status(store: Path) -> None:
    printed = run(store, 'audit', 'head').stdout.splitlines()
    head = json.loads(run(store, '--json', 'audit', 'head').stdout)
    status = json.loads(run(store, '--json', 'status').stdout)
    assert printed[0] == 'robot_memory audit head'
    assert printed[2:4] == ['line 2', f'chain {head["chain"]}']
    assert (head['line'], len(head['chain']), head['signature']) == (2, 64, None)
    assert (status['audit_line'], status['audit_head']) == (2, head['chain'])
    assert f'line 2, head {head["chain"]}' in run(store, 'status').stdout


def test_a_signed_head_shows_that_the_tail_was_cut_off(
    store: Path, key: Path, tmp_path: Path
) -> None:
    kept = tmp_path / 'head.txt'
    done = run(store, 'audit', 'head', '--sign', '--key', key, '--output', kept)
    assert 'BEGIN SSH SIGNATURE' in done.stdout, done.stderr
    allowed = tmp_path / 'allowed'
    allowed.write_text(f'robot {key.with_suffix(".pub").read_text()}')
    command = 'ssh-keygen -Y verify -n robot-memory -I robot -f'.split()
    signature = tmp_path / 'head.txt.sig'
    verified = subprocess.run(
        [*command, str(allowed), '-s', str(signature)],
        input=kept.read_bytes(),
        capture_output=True,
        check=False,
    )
    assert verified.returncode == 0, verified.stderr
    assert run(store, 'audit', 'verify', '--head', kept).stdout.startswith('2 lines verify')
    run(store, 'learn', 'The gripper is new')
    assert run(store, 'audit', 'verify', '--head', kept).stdout.startswith('3 lines verify')
    connection = checksums.connect(store)
    connection.execute('DELETE FROM audit WHERE id > 1')
    connection.execute('DELETE FROM memories WHERE id > 1')
    connection.execute("DELETE FROM meta WHERE key = 'audit_checkpoint'")
    connection.close()
    assert run(store, 'audit', 'verify').stdout.startswith('1 lines verify')
    cut = run(store, 'audit', 'verify', '--head', kept)
    assert cut.returncode == 1
    assert '[conflict] the audit does not verify: line 2 is missing' in cut.stderr


def test_what_cannot_sign_is_refused_in_words(store: Path, tmp_path: Path, key: Path) -> None:
    absent = run(store, 'audit', 'head', '--sign', '--key', tmp_path / 'none')
    assert (absent.returncode, absent.stdout) == (1, '')
    assert f'[not_found] no SSH key at {tmp_path / "none"}' in absent.stderr
    alone = run(store, 'audit', 'head', '--sign', '--key', key, PATH='')
    assert '[unavailable] ssh-keygen is not installed' in alone.stderr
    broken = tmp_path / 'broken'
    broken.write_text('no key')
    broken.chmod(0o600)
    wrong = run(store, 'audit', 'head', '--sign', '--key', broken)
    assert '[unavailable] ssh-keygen did not sign the head' in wrong.stderr


def test_a_head_of_another_store_and_no_head_are_refused(store: Path, tmp_path: Path) -> None:
    other, kept = tmp_path / 'other.db', tmp_path / 'head.txt'
    run(other, 'learn', 'The dock is in hall 2')
    run(other, 'audit', 'head', '--output', kept)
    assert 'is of the store' in run(store, 'audit', 'verify', '--head', kept).stderr
    kept.write_text('line 2')
    assert 'is not an output of' in run(store, 'audit', 'verify', '--head', kept).stderr
    assert '[not_found]' in run(tmp_path / 'none.db', 'audit').stderr


def test_verify_names_the_line(store: Path) -> None:
    connection = checksums.connect(store)
    connection.execute('UPDATE audit SET at = at + 1 WHERE id = 2')
    connection.close()
    assert 'line 2: it does not follow' in run(store, 'audit', 'verify').stderr


def test_history_and_undo_are_printed_for_people(store: Path) -> None:
    assert run(store, 'forget', '1', 'it was moved').returncode == 0
    undone = run(store, 'undo', '1').stdout
    assert undone == 'Undone #3 (invalidated): memory 1 is active: The dock is in hall 2\n'
    lines = run(store, 'history', '1').stdout.splitlines()
    assert lines[0].startswith('#1  created by cli:')
    assert lines[1] == '  active: The dock is in hall 2'
    assert lines[2].startswith('#3  invalidated by cli:') and lines[2].endswith(
        'undone by #4: it was moved'
    )
    assert lines[3] == '  invalidated: The dock is in hall 2'
    assert [line[:2] for line in lines[4:]] == ['#4', '  ']
