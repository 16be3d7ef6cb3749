"""A params file is read as ROS reads it, and a mistyped key of it is refused."""

from __future__ import annotations

import sys
from pathlib import Path

import prepared
import pytest

from robot_memory.core.errors import InvalidArgument, NotFound
from robot_memory.ingest.parameters import read_parameters


@pytest.mark.parametrize(
    ('given', 'said'),
    [
        ('sorce: arm_1', 'sets sorce for the node robot_memory, .* \\(source\\?\\)'),
        ('pose: {topic: /tcp_pose}', 'sets pose.topic .* \\(pose_topic\\?\\)'),
        (
            'taps: [wrench]\n    wrench: {onset: 2.0}',
            'unknown parameter wrench.onset; wrench accepts',
        ),
        ('wrench: {onset: 2.0}', 'unknown parameter wrench.onset; wrench accepts .*onset_n'),
        ('taps: [wrench]\n    wrist: {onset_n: 2.0}', 'sets wrist.onset_n .* \\(wrench.onset_n'),
    ],
)
def test_mistyped_keys_of_a_params_file_are_refused(tmp_path: Path, given: str, said: str) -> None:
    file = tmp_path / 'params.yaml'
    file.write_text(f'/**:\n  ros__parameters:\n    real_weight: 1.5\n    {given}\n')
    with pytest.raises(InvalidArgument, match=said):
        read_parameters(file)


def test_parameters_that_every_node_has_are_accepted(tmp_path: Path) -> None:
    file = tmp_path / 'params.yaml'
    file.write_text(
        '/**:\n  ros__parameters:\n    use_sim_time: false\n    qos_overrides:\n'
        '      /wrench:\n        subscription: {depth: 5}\n'
    )
    assert read_parameters(file) == {
        'use_sim_time': False,
        'qos_overrides./wrench.subscription.depth': 5,
    }


def test_an_import_with_a_mistyped_key_imports_nothing_and_says_why(
    tmp_path: Path, made: Path
) -> None:
    file, db = tmp_path / 'params.yaml', tmp_path / 'memory.db'
    file.write_text('/**:\n  ros__parameters:\n    taps: [wrench]\n    sorce: arm_1\n')
    command = [sys.executable, '-m', 'robot_memory', '--db', str(db), '--model', 'none', 'import']
    ran = prepared.run(
        [*command, str(made), '--params', str(file)], capture_output=True, text=True
    )
    assert ran.returncode == 1 and not db.exists()
    assert ran.stderr.startswith(f'robot-memory: [invalid_argument] {file} sets sorce')
    assert ran.stderr.count('\n') == 1


def test_a_params_file_that_cannot_be_read_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match='cannot read .*: No such file'):
        read_parameters(tmp_path / 'none.yaml')
    with pytest.raises(NotFound, match='cannot read .*: Is a directory'):
        read_parameters(tmp_path)
