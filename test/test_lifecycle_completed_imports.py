"""A recording is known again by its content, wherever that was changed."""

from __future__ import annotations

from pathlib import Path

import pytest

from robot_memory.lifecycle import completed_imports
from robot_memory.lifecycle.completed_imports import compute_key


def write(path: Path, size: int, changed_at: int | None = None) -> Path:
    content = bytearray(size)
    if changed_at is not None:
        content[changed_at] = 1
    path.write_bytes(content)
    return path


@pytest.mark.parametrize('at', [0, 250_001, 999_999])
def test_a_change_anywhere_in_a_file_is_seen(tmp_path: Path, at: int) -> None:
    whole, hurt = write(tmp_path / 'a', 1_000_000), write(tmp_path / 'b', 1_000_000, at)
    assert compute_key([whole], 'plan') == compute_key([write(tmp_path / 'c', 10**6)], 'plan')
    assert compute_key([whole], 'plan') != compute_key([hurt], 'plan')
    assert compute_key([whole], 'plan') != compute_key([whole], 'other plan')


@pytest.mark.parametrize(('at', 'is_seen'), [(0, True), (3_999_999, True), (200_000, False)])
def test_a_large_file_is_known_by_samples(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at: int, is_seen: bool
) -> None:
    monkeypatch.setattr(completed_imports, '_WHOLE', 1_000_000)
    whole, hurt = write(tmp_path / 'a', 4_000_000), write(tmp_path / 'b', 4_000_000, at)
    assert (compute_key([whole], 'plan') != compute_key([hurt], 'plan')) is is_seen
