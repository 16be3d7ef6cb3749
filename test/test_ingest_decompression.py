"""What is packed is unpacked up to a bound, whatever it says of itself."""

from __future__ import annotations

import bz2
import sys
from pathlib import Path

import lz4.frame
import pytest

from robot_memory.ingest import decompression
from robot_memory.ingest.decompression import unpack, unpack_file
from robot_memory.ingest.stored_messages import Damaged

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

PACKERS = {'zstd': zstd.compress, 'lz4': lz4.frame.compress, 'bz2': bz2.compress}
BOMB = bytes(100_000)
each = pytest.mark.parametrize('compression', PACKERS)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Bounds that a test reaches: 10 kB for a chunk, 20 kB or 5 times its size for a file."""
    monkeypatch.setattr(decompression, 'MOST_UNPACKED', 10_000)
    monkeypatch.setattr(decompression, 'LEAST_FILE', 20_000)
    monkeypatch.setattr(decompression, 'MOST_RATIO', 5)
    monkeypatch.setattr(decompression, '_BLOCK', 1000)


@each
@pytest.mark.parametrize('size', [None, 5])
def test_what_is_packed_comes_back(compression: str, size: int | None) -> None:
    assert unpack(PACKERS[compression](b'pushy'), compression, size) == b'pushy'


@each
@pytest.mark.parametrize('size', [4, 6])
def test_another_size_than_is_said_is_damage(compression: str, size: int) -> None:
    with pytest.raises(Damaged):
        unpack(PACKERS[compression](b'pushy'), compression, size)


@each
@pytest.mark.usefixtures('small')
def test_what_turns_out_larger_than_the_bound_is_not_unpacked_further(compression: str) -> None:
    with pytest.raises(Damaged, match='more than 10,000 bytes'):
        unpack(PACKERS[compression](BOMB), compression)
    with pytest.raises(Damaged, match='more than 10 bytes'):
        unpack(PACKERS[compression](BOMB), compression, 10)


@each
@pytest.mark.usefixtures('small')
def test_what_says_that_it_is_larger_is_not_begun(compression: str) -> None:
    with pytest.raises(Damaged, match='100,000 bytes unpacked; accepted: up to 10,000'):
        unpack(b'', compression, len(BOMB))


@pytest.mark.usefixtures('small')
def test_a_file_that_grows_beyond_its_bound_is_read_up_to_there(tmp_path: Path) -> None:
    packed, target = tmp_path / 'bomb.mcap.zstd', tmp_path / 'bomb.mcap'
    packed.write_bytes(zstd.compress(BOMB))
    assert unpack_file(packed, target) == 'it is larger than 5 times its packed size'
    assert target.stat().st_size == 20_000


def test_a_file_leaves_room_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed, target = tmp_path / 'log.db3.zstd', tmp_path / 'log.db3'
    packed.write_bytes(zstd.compress(BOMB))
    monkeypatch.setattr(decompression, 'KEPT_FREE', 1 << 62)
    assert unpack_file(packed, target).startswith('the disk has no room')
    assert target.stat().st_size == 0
