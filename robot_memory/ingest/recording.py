"""Recordings: rosbag2 (mcap, sqlite3, split, compressed, without metadata) and rosbag1."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

from robot_memory.core.errors import NotFound
from robot_memory.ingest.decompression import ZstdError, unpack, unpack_file
from robot_memory.ingest.losses import Loss
from robot_memory.ingest.mcap_file import McapFile
from robot_memory.ingest.messages import load_typestore
from robot_memory.ingest.rosbags_file import RosbagsFile
from robot_memory.ingest.stored_messages import Channel, Damaged, RecordedMessage

_STORAGES = ('.mcap', '.db3', '.bag')
_PART_NUMBER = re.compile(r'(_|^)\d+$')
_ZSTD = '.zstd'
_GATHERED_NS, _GATHERED_BYTES = 10**9, 4 << 20
_ZSTD_MAGIC = b'\x28\xb5\x2f\xfd'
_RAW = attrgetter('raw')


@dataclass(frozen=True)
class RecordedTopic:
    """Say what a recording holds of one topic; `broken` says why it cannot be read, if so."""

    name: str
    type: str
    count: int
    broken: str = ''


class Recording:
    """
    Read a recording, given its folder or one of its files.

    Files are read one by one in the order of their times; `metadata.yaml` is not needed. Damaged
    files are read as far as possible; `losses` says what cannot be read, as far as it is known by
    now. Files of which nothing can be read are reported through `tell`, one line each. `start_ns`
    is when the first message was recorded.
    """

    def __init__(self, path: Path, tell: Callable[[str], None]) -> None:
        """Look at every file; raise NotFound where there is none that could be read."""
        self._tell = tell
        self._closers = ExitStack()
        self._files: list[McapFile | RosbagsFile] = []
        self.losses: list[Loss] = []
        topics: dict[tuple[str, str], RecordedTopic] = {}
        try:
            for file in find_storage_files(path):
                self._scan_file(file, topics)
            if not self._files:
                raise NotFound(f'no readable file in {path}')
        except BaseException:
            self.close()
            raise
        self._files.sort(key=lambda file: (file.start_ns, file.path))
        self.path = path
        self.start_ns = self._files[0].start_ns
        self.topics = sorted(topics.values(), key=lambda topic: (topic.name, topic.type))

    def __enter__(self) -> Recording:
        """Return itself, to be closed at the end of the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close it."""
        self.close()

    def close(self) -> None:
        """Remove what was unpacked."""
        self._closers.close()

    def _scan_file(self, path: Path, topics: dict[tuple[str, str], RecordedTopic]) -> None:
        """Note what a file holds."""
        try:
            file = _open_file(self._unpack(path), self.losses.append)
            for number, channel in file.channels.items():
                key = (make_absolute(channel.topic), channel.type)
                before = topics.get(key)
                count = file.counts[number] + (before.count if before else 0)
                topics[key] = RecordedTopic(*key, count, _find_fault(channel))
            self._files.append(file)
        except Exception as error:  # broken files raise whatever their bytes lead the reader to
            self._lose_file(path, error)

    def _lose_file(self, path: Path, error: Exception) -> None:
        loss = Loss(path.name, '', path.stat().st_size, reason=_format_error(error))
        self.losses.append(loss)
        self._tell(loss.describe())

    def _lose_message(self, path: Path, one: RecordedMessage, error: Exception) -> None:
        times = (one.recorded_ns, one.recorded_ns)
        part, reason = f'a message on {make_absolute(one.topic)}', _format_error(error)
        loss = Loss(path.name, part, len(one.raw), 1, *times, reason=reason)
        self.losses.append(loss)
        self._tell(loss.describe())

    def _unpack(self, file: Path) -> Path:
        """Return a file without its compression; of a damaged one, what comes before."""
        if file.suffix != _ZSTD:
            return file
        folder = self._closers.enter_context(tempfile.TemporaryDirectory(prefix='robot_memory_'))
        target = Path(folder) / file.stem
        ended = unpack_file(file, target)
        if ended:
            part = f'what follows {target.stat().st_size:,} bytes'
            self.losses.append(Loss(file.name, f'{part} (unpacked; {ended})', 0))
        return target

    def messages(self, topics: set[str]) -> Iterator[list[RecordedMessage]]:
        """Yield the messages of some topics in the order of their times, several at once."""

        def is_wanted(channel: Channel) -> bool:
            return make_absolute(channel.topic) in topics and not _find_fault(channel)

        for file in self._files:
            to_cdr = load_typestore().ros1_to_cdr if file.path.suffix == '.bag' else None
            topics_read = {channel.topic for channel in file.channels.values()}
            is_plain = to_cdr is None and all(make_absolute(one) == one for one in topics_read)
            read: list[RecordedMessage] = []
            try:
                for batch in file.messages(is_wanted):
                    if is_plain and _ZSTD_MAGIC not in [one[3][:4] for one in batch]:
                        yield batch
                        continue
                    for one in batch:
                        try:
                            read.append(_convert(one, to_cdr))
                        except (Damaged, ZstdError) as error:
                            self._lose_message(file.path, one, error)
                    yield read
                    read = []
            except Exception as error:
                yield read
                self._lose_file(file.path, error)


def gather_batches(batches: Iterable[list[RecordedMessage]]) -> Iterator[list[RecordedMessage]]:
    """Yield the messages of several batches at once: of a second or so, unless they are large."""
    gathered: list[RecordedMessage] = []
    size = 0
    for batch in batches:
        gathered += batch
        size += sum(map(len, map(_RAW, batch)))
        if gathered and (
            size >= _GATHERED_BYTES
            or gathered[-1].recorded_ns - gathered[0].recorded_ns >= _GATHERED_NS
        ):
            yield gathered
            gathered, size = [], 0
    yield gathered


def make_absolute(topic: str) -> str:
    """Return a topic's name from the root."""
    return '/' + topic.lstrip('/')


def list_recordings(path: Path) -> Iterator[Path]:
    """
    Yield the recordings at a path: itself, or those in a folder and the folders below it.

    A folder with `metadata.yaml`, or whose files are numbered parts of one recording, is one;
    otherwise each file is. Folders that begin with a dot are left out.
    """
    if not path.is_dir():
        yield path
        return
    entries = sorted(path.iterdir())
    files = [entry for entry in entries if entry.is_file() and is_storage_file(entry)]
    stems = {_PART_NUMBER.sub('', file.name.partition('.')[0]) for file in files}
    if files and ((path / 'metadata.yaml').exists() or (len(files) > 1 and len(stems) == 1)):
        yield path
    else:
        yield from files
    for entry in entries:
        if entry.is_dir() and not entry.name.startswith('.') and not entry.is_symlink():
            yield from list_recordings(entry)


def is_storage_file(file: Path) -> bool:
    """Say by its name whether a file holds messages."""
    return Path(file.stem if file.suffix == _ZSTD else file.name).suffix in _STORAGES


def find_storage_files(path: Path) -> list[Path]:
    """Return the files of a recording."""
    if not path.exists():
        raise NotFound(f'no recording at {path}')
    files = [path] if path.is_file() else sorted(file for file in path.iterdir())
    found = [file for file in files if is_storage_file(file)]
    if not found:
        raise NotFound(
            f'{path} is not a recording; accepted: a file or a folder with files of '
            f'{", ".join(_STORAGES)}, with or without {_ZSTD}'
        )
    return found


def _open_file(path: Path, lose: Callable[[Loss], None]) -> McapFile | RosbagsFile:
    return McapFile(path, lose) if path.suffix == '.mcap' else RosbagsFile(path, lose)


def _convert(one: RecordedMessage, to_cdr: Callable[..., Any] | None) -> RecordedMessage:
    """Return a message by its topic's name from the root, its content as CDR."""
    raw = one.raw
    if to_cdr is not None:
        raw = bytes(to_cdr(raw, one.type))
    elif raw[:4] == _ZSTD_MAGIC:
        raw = unpack(raw, 'zstd')
    return one._replace(topic=make_absolute(one.topic), raw=raw)


def _find_fault(channel: Channel) -> str:
    accepted = channel.form in ('cdr', 'ros1')
    return '' if accepted else f'serialized as {channel.form}; accepted: cdr'


def _format_error(error: Exception) -> str:
    text = ' '.join(str(error).split())
    return text[:200] or type(error).__name__
