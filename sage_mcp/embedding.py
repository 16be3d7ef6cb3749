"""What a model of one's own is made from."""

from robot_memory.extensions import BaseEmbedding as BaseEmbedding
