"""What a retrieval strategy of one's own is made from."""

from robot_memory.extensions.bases import BaseStrategy as BaseStrategy
