"""The log records of the core, on the node's logger."""

from __future__ import annotations

import logging

from rclpy.impl.rcutils_logger import RcutilsLogger


class NodeLogHandler(logging.Handler):
    """Pass the log records of the core on to the node's logger."""

    def __init__(self, logger: RcutilsLogger) -> None:
        """Begin to pass on what the loggers of the core are given."""
        super().__init__()
        self._logger = logger
        core = logging.getLogger('robot_memory')
        core.setLevel(logging.DEBUG)
        core.addHandler(self)

    def emit(self, record: logging.LogRecord) -> None:
        """Log a record by its level."""
        text = self.format(record)
        if record.levelno >= logging.ERROR:
            self._logger.error(text)
        elif record.levelno >= logging.WARNING:
            self._logger.warning(text)
        elif record.levelno >= logging.INFO:
            self._logger.info(text)
        else:
            self._logger.debug(text)

    def close(self) -> None:
        """Pass on no more."""
        logging.getLogger('robot_memory').removeHandler(self)
        super().close()
