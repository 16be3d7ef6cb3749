"""The schema of the store: steps that never change, and the code that takes them."""

from robot_memory.store.schema.runner import (
    STEPS,
    create,
    is_current,
    refuse_foreign,
    upgrade,
    version_of,
)

__all__ = ['STEPS', 'create', 'is_current', 'refuse_foreign', 'upgrade', 'version_of']
