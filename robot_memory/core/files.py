"""Writing a file that a user names: whole or not at all, and never over what must stay."""

from __future__ import annotations

import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from robot_memory.core.errors import Conflict, InvalidArgument, Unavailable

PRIVATE = 0o600
SHARED = 0o666
"""Modes of a new file; the umask narrows them."""


@contextmanager
def write_file(
    path: Path, *, force: bool = False, mode: int = PRIVATE, guarded: Iterable[Path] = ()
) -> Iterator[IO[bytes]]:
    """
    Give a file to write that takes its name once all of it is on the disk.

    It is written beside `path` under a name of its own and then renamed, so that an error leaves
    what was there. Raise Conflict where a file stands at `path`, unless `force` replaces it;
    InvalidArgument, whatever `force`, where `path` is one of the `guarded` files under any of its
    names, a symbolic link (it is never followed), or no ordinary file; Unavailable where the
    folder cannot be written.
    """
    guarded = tuple(guarded)
    part = f'.robot_memory-{os.urandom(8).hex()}.part'
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise _make_unavailable(path, error) from None
    try:
        _check_target(path, folder, force, guarded)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(part, flags, mode, dir_fd=folder), 'wb') as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        _check_target(path, folder, force, guarded)
        _rename(part, path.name, folder, force)
        os.fsync(folder)
    except FileExistsError:
        raise _make_conflict(path) from None
    except OSError as error:
        raise _make_unavailable(path, error) from None
    finally:
        with suppress(OSError):
            os.unlink(part, dir_fd=folder)
        os.close(folder)


def keep_file(part: Path, path: Path) -> None:
    """Give a whole file its name once it is on the disk; then the name is, too."""
    with open(part, 'rb') as file:
        os.fsync(file.fileno())
    part.replace(path)
    sync_folder(path.parent)


def measure_file(path: Path) -> int:
    """Return the size of a file in bytes; 0 where there is none, or no longer."""
    try:
        return path.stat().st_size
    except (FileNotFoundError, NotADirectoryError):
        return 0


def sync_folder(folder: Path) -> None:
    """Bring names that were given, moved or removed in a folder to the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _check_target(path: Path, folder: int, force: bool, guarded: tuple[Path, ...]) -> None:
    if path.name in ('', '..'):
        raise InvalidArgument(f'{path} is a folder; a file name is required')
    found = _stat_entry(path.name, folder)
    for one in guarded:
        if _is_same_name(path, folder, one) or (found and _is_same_file(found, one)):
            raise InvalidArgument(
                f'{path} is a file of the store ({one}) and cannot be overwritten; choose '
                'another file name'
            )
    if found is None:
        return
    if stat.S_ISLNK(found.st_mode):
        raise InvalidArgument(
            f'{path} is a symbolic link, which is not followed; name the target file'
        )
    if not stat.S_ISREG(found.st_mode):
        raise InvalidArgument(f'{path} is not a regular file; choose another file name')
    if not force:
        raise _make_conflict(path)


def _stat_entry(name: str, folder: int) -> os.stat_result | None:
    """Return what stands under a name in a folder, a link as such; None where nothing does."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def _is_same_file(found: os.stat_result, guarded: Path) -> bool:
    """Say whether a file is a guarded one by whichever name: a hard link, other letters' case."""
    try:
        return os.path.samestat(found, os.stat(guarded))
    except OSError:
        return False


def _is_same_name(path: Path, folder: int, guarded: Path) -> bool:
    """Say whether a path is the name of a guarded file, which need not be there now."""
    if path.name != guarded.name:
        return False
    try:
        return os.path.samestat(os.fstat(folder), os.stat(guarded.parent))
    except OSError:
        return False


def _rename(part: str, name: str, folder: int, force: bool) -> None:
    """Give a written file its name; unless `force`, raise FileExistsError where that is taken."""
    if not force:
        try:  # A link fails where the name was taken meanwhile; a rename would replace.
            os.link(part, name, src_dir_fd=folder, dst_dir_fd=folder, follow_symlinks=False)
            return
        except FileExistsError:
            raise
        except OSError:  # FAT and some mounts have no hard links.
            if _stat_entry(name, folder) is not None:
                raise FileExistsError(name) from None
    os.rename(part, name, src_dir_fd=folder, dst_dir_fd=folder)


def _make_conflict(path: Path) -> Conflict:
    return Conflict(
        f'{path} exists; nothing was written: choose another file name, or pass --force'
    )


def _make_unavailable(path: Path, error: OSError) -> Unavailable:
    return Unavailable(f'cannot write {path}: {error.strerror or error}')


def claim_file(path: Path, *, wait: bool = False) -> int | None:
    """
    Return a descriptor that holds a lock on a file until it is closed; None where another has it.

    With `wait` it is waited for. The file is made where there is none, and stays.
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError as error:
        os.close(descriptor)
        if isinstance(error, BlockingIOError):
            return None
        raise
    return descriptor


@contextmanager
def hold_file(path: Path, *, wait: bool = False) -> Iterator[bool]:
    """Say whether a lock on a file could be had, as by `claim_file`; nobody else has it inside."""
    descriptor = claim_file(path, wait=wait)
    try:
        yield descriptor is not None
    finally:
        if descriptor is not None:
            os.close(descriptor)
