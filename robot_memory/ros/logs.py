"""The log records of the core, on the node's logger."""

from __future__ import annotations

import logging

from rclpy.impl.implementation_singleton import rclpy_implementation
from rclpy.impl.logging_severity import LoggingSeverity
from rclpy.impl.rcutils_logger import RcutilsLogger

from robot_memory.status.logs import TextLines


class NodeLogHandler(logging.Handler):
    """Pass the log records of the core on to the node's logger, with file and line of each."""

    def __init__(self, logger: RcutilsLogger) -> None:
        """Begin to pass on what the loggers of the core are given."""
        super().__init__()
        self.setFormatter(TextLines())
        self._logger = logger
        core = logging.getLogger('robot_memory')
        core.setLevel(logging.DEBUG)
        core.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Log a record by its level."""
        severity = _find_severity(record.levelno)
        if self._logger.is_enabled_for(severity):
            # The logger's own methods look for their caller among all modules that are loaded, as
            # long as the rest of a start takes, and find this line.
            rclpy_implementation.rclpy_logging_rcutils_log(
                severity,
                self._logger.name,
                self.format(record),
                record.funcName or '',
                record.pathname,
                record.lineno,
            )

    def close(self) -> None:
        """Pass on no more."""
        logging.getLogger('robot_memory').removeHandler(self)
        super().close()


def _find_severity(level: int) -> LoggingSeverity:
    if level >= logging.ERROR:
        return LoggingSeverity.ERROR
    if level >= logging.WARNING:
        return LoggingSeverity.WARN
    if level >= logging.INFO:
        return LoggingSeverity.INFO
    return LoggingSeverity.DEBUG
