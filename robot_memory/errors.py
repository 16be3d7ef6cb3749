"""The failures that a caller can act on, one class per error code of the contract."""


class RobotMemoryError(Exception):
    """
    Be the base of every failure that this package reports to a caller.

    The message names the field, the value and what would be accepted.
    """

    code = 'internal'


class InvalidArgument(RobotMemoryError):
    """A value is outside of what its field accepts; nothing was changed."""

    code = 'invalid_argument'


class NotFound(RobotMemoryError):
    """The named memory or session does not exist."""

    code = 'not_found'


class Conflict(RobotMemoryError):
    """The memory or session exists, but its state does not allow the call."""

    code = 'conflict'


class Unavailable(RobotMemoryError):
    """A part that the call needs (store, model, port) cannot be reached now."""

    code = 'unavailable'


class Internal(RobotMemoryError):
    """A fault of this package; the log has the traceback."""

    code = 'internal'
