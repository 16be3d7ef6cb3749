"""What a retrieval strategy of one's own is made from."""

from robot_memory.bases import BaseStrategy as BaseStrategy
