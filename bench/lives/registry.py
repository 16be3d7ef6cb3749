"""The arms by the names that the report has for them, in its order."""

from __future__ import annotations

from lives.arms import Arm, BestFixed, LastValue, NoMemory, SituationKnown
from lives.csv_arms import CsvEmbedded, CsvExact, CsvTfIdf
from lives.recall_arms import OurRecall, PeerRecall
from lives.suggest_arm import Suggest
from lives.tools_arm import SuggestByTools

NO_MEMORY = 'no memory'
FIXED = 'best fixed value'
BASELINE = 'CSV, our embeddings'
PEER = "rival's recall"
CEILING = 'situation known'
ARMS: dict[str, type[Arm]] = {
    NO_MEMORY: NoMemory,
    FIXED: BestFixed,
    'last value': LastValue,
    'CSV, exact words': CsvExact,
    'CSV, tf-idf': CsvTfIdf,
    BASELINE: CsvEmbedded,
    PEER: PeerRecall,
    'our recall': OurRecall,
    'suggest': Suggest,
    'suggest, by tools': SuggestByTools,
    CEILING: SituationKnown,
}
