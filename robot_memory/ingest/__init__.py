"""From messages to memories, live and from recordings; see docs/ingest.md."""

from robot_memory.ingest.earlier_runs import StoredRuns
from robot_memory.ingest.handlers import ReceivedMessage, TopicHandler
from robot_memory.ingest.ingest_settings import IngestSettings
from robot_memory.ingest.pipeline import Pipeline
from robot_memory.ingest.pose_source import PoseSourceSettings
from robot_memory.ingest.results import LearnedText
from robot_memory.ingest.sessions import SessionFinder
from robot_memory.ingest.tap import Tap, TapSettings, make_tap
from robot_memory.ingest.writer import EventWriter, QueuedEventWriter

__all__ = [
    'EventWriter',
    'IngestSettings',
    'LearnedText',
    'Pipeline',
    'PoseSourceSettings',
    'QueuedEventWriter',
    'ReceivedMessage',
    'SessionFinder',
    'StoredRuns',
    'Tap',
    'TapSettings',
    'TopicHandler',
    'make_tap',
]
