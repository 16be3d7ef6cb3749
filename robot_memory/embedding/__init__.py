"""Text to vectors: the protocol, the ONNX embedder, where its model is, and how it is loaded."""

from robot_memory.embedding.calibration import Calibration, measure_calibration
from robot_memory.embedding.loader import BackgroundEmbedder
from robot_memory.embedding.locate import ensure_default_model, find_model
from robot_memory.embedding.onnx import OnnxEmbedder
from robot_memory.embedding.protocol import Embedder

__all__ = [
    'BackgroundEmbedder',
    'Calibration',
    'Embedder',
    'OnnxEmbedder',
    'ensure_default_model',
    'find_model',
    'measure_calibration',
]
