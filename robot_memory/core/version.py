"""The version of this package: package.xml is the one place of it, its installation knows it."""

from __future__ import annotations


def get_version() -> str:
    """Return this package's version; empty: it is not installed."""
    from importlib import metadata  # it takes long to import, and few ask

    try:
        return metadata.version('robot_memory')
    except metadata.PackageNotFoundError:
        return ''
