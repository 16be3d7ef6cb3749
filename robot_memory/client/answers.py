"""
What the tools answer over MCP. Written by `make interfaces` from the declarations; do not edit.

An answer is a dict; type checkers know its keys.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

if TYPE_CHECKING:
    from typing_extensions import NotRequired


class Inferred(TypedDict):
    """Attributes inferred from the text."""

    category: str
    confidence: float
    tags: list[str]
    scope_files: list[str]


class LearnResponse(TypedDict):
    """Response of learn."""

    status: str
    memory_id: NotRequired[int]
    auto_inferred: NotRequired[Inferred]
    method: NotRequired[str]
    existing_id: NotRequired[int]
    similarity: NotRequired[float]
    observed: NotRequired[int]
    retried: NotRequired[bool]
    replaces: NotRequired[int]
    disagrees: NotRequired[int]
    proposal: NotRequired[int]
    truncated: NotRequired[bool]
    truncated_characters: NotRequired[int]
    truncated_after: NotRequired[str]


class PlaceView(TypedDict):
    """Where a memory is in the asked frame."""

    position: Any
    distance: float
    frame_id: str
    orientation: NotRequired[Any]
    probability: NotRequired[float]
    of_map: NotRequired[str]


class ObservedView(TypedDict):
    """How often and how well a fact was observed, its first statement included."""

    count: int
    first_at: str
    last_at: str
    tries: int
    successes: int
    simulated_count: int
    simulated_tries: int
    simulated_successes: int


class ReplacementView(TypedDict):
    """What a memory replaced."""

    content: str
    replaced_by: str
    at: str


class MemoryView(TypedDict):
    """One recalled memory."""

    id: int
    content: str
    human_summary: str
    type: str
    perception_type: str | None
    session_id: str | None
    category: str
    confidence: float
    context: str
    params: Any
    spatial: Any
    robot: Any
    task: Any
    _rrf_score: float
    created_at: str
    tags: list[str]
    updated_at: NotRequired[str]
    distance: NotRequired[float]
    near: NotRequired[PlaceView]
    stamp: NotRequired[dict[str, int]]
    measured_at: NotRequired[str]
    frame_id: NotRequired[str]
    pose: NotRequired[Any]
    of_map: NotRequired[str]
    payload: NotRequired[Any]
    newer: NotRequired[int]
    actor_id: NotRequired[str]
    role: NotRequired[str]
    authority: str
    stated_by: str
    time_uncertain: NotRequired[bool]
    observed: NotRequired[ObservedView]
    simulated: NotRequired[bool]
    replaces: NotRequired[int]
    replaced_by: NotRequired[int]
    replacement: NotRequired[ReplacementView]
    disagrees: NotRequired[list[int]]
    contradicts: NotRequired[int]
    helped: NotRequired[int]
    hurt: NotRequired[int]
    page: NotRequired[str]
    shortened: NotRequired[list[str]]


class FigureView(TypedDict):
    """A number with a name and a unit."""

    name: str
    value: float
    unit: str


class EventView(TypedDict):
    """One event."""

    event_id: int
    memory_id: int | None
    kind: str
    label: str | None
    topic: str | None
    frame_id: str | None
    robot: str | None
    session_id: str | None
    task: str | None
    collection: str
    recording: str | None
    recording_offset: float | None
    start: str
    peak: str
    end: str | None
    duration: float | None
    broken_off: bool
    figures: list[FigureView]
    text: str | None
    near: NotRequired[PlaceView]


class LinkedEventView(TypedDict):
    """One event that is linked to another."""

    event_id: int | None
    memory_id: int | None
    kind: str
    label: str | None
    relation: str
    start: str
    duration: float | None
    text: str | None


class BriefView(TypedDict):
    """One recalled memory in brief."""

    id: int
    content: str
    about: str
    page: NotRequired[str]


class RecallResponse(TypedDict):
    """Response of recall."""

    memories: list[MemoryView]
    total: int
    mode: str
    query_ms: float
    frames: NotRequired[Any]
    as_of: NotRequired[Any]
    faded: int
    read_as: NotRequired[str]
    no_match: NotRequired[bool]
    events: NotRequired[list[EventView]]
    aggregate: NotRequired[FigureView]
    aggregate_ids: NotRequired[list[int]]
    linked: NotRequired[list[LinkedEventView]]
    linked_total: NotRequired[int]
    models: list[str]
    answerable: NotRequired[float]
    brief: NotRequired[list[BriefView]]
    near: NotRequired[Any]
    why_empty: NotRequired[str]


class ModelShare(TypedDict):
    """What the meaning adds to a score, by one model."""

    model: str
    share: float


class ExplainedMemory(TypedDict):
    """One memory that recall finds, and the parts of its score."""

    memory_id: int
    content: str
    kind: str
    category: str
    confidence: float
    score: float
    words: float
    models: list[ModelShare]
    around: float
    coverage: float
    matched: list[str]
    factor: float
    placed_by: str
    replaces: NotRequired[int]
    replaced_by: NotRequired[int]
    shortened: NotRequired[list[str]]


class FadedMemory(TypedDict):
    """One memory that has decayed below min_confidence."""

    memory_id: int
    content: str
    confidence: float
    shortened: NotRequired[list[str]]


class ExplainRecallResponse(TypedDict):
    """Response of explain_recall."""

    memories: list[ExplainedMemory]
    mode: str
    models: list[str]
    faded: list[FadedMemory]
    read_as: NotRequired[str]
    no_match: NotRequired[bool]
    why_empty: NotRequired[str]


class SavePerceptionResponse(TypedDict):
    """Response of save_perception."""

    memory_id: int
    perception_type: str
    collection: str
    has_embedding: bool


class MeantView(TypedDict):
    """One memory that a description may mean."""

    memory_id: int
    content: str


class ForgetResponse(TypedDict):
    """Response of forget."""

    status: str
    memory_id: int
    content: str
    reason: str
    token: NotRequired[str]
    others: NotRequired[list[MeantView]]


class DoomedView(TypedDict):
    """One memory that goes."""

    memory_id: int
    content: str
    status: str
    actor_id: str | None


class EraseResponse(TypedDict):
    """Response of erase."""

    status: str
    counts: Any
    token: NotRequired[str]
    memories: NotRequired[list[DoomedView]]
    memory_ids: NotRequired[list[int]]
    events: NotRequired[list[int]]
    kept: NotRequired[list[int]]
    mentions: NotRequired[list[int]]
    erasure: NotRequired[int]
    pending: NotRequired[str]
    receipt: NotRequired[Any]
    outside: NotRequired[list[str]]


class UpdateResponse(TypedDict):
    """Response of update."""

    status: str
    memory_id: int
    old_content: str
    new_content: str
    auto_inferred: Inferred
    truncated: NotRequired[bool]
    truncated_characters: NotRequired[int]
    truncated_after: NotRequired[str]
    token: NotRequired[str]
    others: NotRequired[list[MeantView]]


class StartSessionResponse(TypedDict):
    """Response of start_session."""

    session_id: str
    collection: str
    active_memories_count: int


class SessionSummary(TypedDict):
    """Contents of a session."""

    memory_count: int
    by_type: Any
    by_category: Any


class Consolidated(TypedDict):
    """Result of consolidation."""

    merged_groups: int
    superseded_count: int
    compression_ratio: float
    avg_similarity: float


class RelatedMemory(TypedDict):
    """Related memory from another session."""

    id: int
    content: str
    _rrf_score: float
    observed: NotRequired[ObservedView]


class EndSessionResponse(TypedDict):
    """Response of end_session."""

    status: str
    session_id: str
    summary: SessionSummary
    decayed_count: int
    consolidated: Consolidated
    related_memories: list[RelatedMemory]


class RecordView(TypedDict):
    """One listed record."""

    actor_id: str | None
    session_id: str | None
    record_id: str
    record_content: str
    strategy_name: str
    event_id: str | None
    created_at: str
    updated_at: str
    memory_id: int
    kind: str
    category: str
    confidence: float
    collection: str
    context: Any
    status: str
    superseded_by: NotRequired[int]
    role: NotRequired[str]
    turn_id: NotRequired[int]
    time_uncertain: NotRequired[bool]
    measured_at: NotRequired[str]
    stamp: NotRequired[dict[str, int]]
    frame_id: NotRequired[str]
    pose: NotRequired[Any]
    observed: NotRequired[ObservedView]
    replaces: NotRequired[int]
    replaced_by: NotRequired[int]
    replacement: NotRequired[ReplacementView]
    disagrees: NotRequired[list[int]]
    near: NotRequired[PlaceView]
    of_map: NotRequired[str]
    audit: NotRequired[Any]
    shortened: NotRequired[list[str]]


class QueryRecordsResponse(TypedDict):
    """Response of query_records."""

    memory_id: str
    records: list[RecordView]
    total_count: int
    as_of: NotRequired[Any]
    near: NotRequired[Any]
    why_empty: NotRequired[str]


class TimelineEntry(TypedDict):
    """One memory on a timeline."""

    memory_id: int
    at: str
    kind: str
    sense: str | None
    category: str
    content: str
    confidence: float
    collection: str
    status: str
    session_id: str | None
    actor_id: str | None
    frame_id: str | None
    authority: str
    stated_by: str
    quoted: bool
    replaces: NotRequired[int]
    replaced_by: NotRequired[int]
    shortened: NotRequired[list[str]]


class ListTimelineResponse(TypedDict):
    """Response of list_timeline."""

    entries: list[TimelineEntry]
    next_cursor: str
    time_zone: str
    density: list[int]
    density_from: NotRequired[str]
    density_until: NotRequired[str]
    bucket_seconds: NotRequired[float]
    near: NotRequired[Any]
    why_empty: NotRequired[str]


class HistogramBinView(TypedDict):
    """One bin of a histogram."""

    low: float
    high: float
    count: int


class EventGroupView(TypedDict):
    """One group of events."""

    key: str
    count: int
    values: list[FigureView]
    bins: list[HistogramBinView]


class QueryEventsResponse(TypedDict):
    """Response of query_events."""

    events: list[EventView]
    next_cursor: str
    groups: list[EventGroupView]
    total: int | None
    groups_total: int
    time_zone: str
    linked: NotRequired[list[LinkedEventView]]
    linked_total: NotRequired[int]
    near: NotRequired[Any]
    why_empty: NotRequired[str]


class RecordOutcomeResponse(TypedDict):
    """Response of record_outcome."""

    memory_id: int
    trials: int
    surprise: float | None
    changed: bool
    change_id: NotRequired[int]
    repeated: NotRequired[bool]


class WitnessView(TypedDict):
    """A trial that a suggestion rests on."""

    memory_id: int
    weight: float
    outcome: str
    results: Any
    page: NotRequired[str]


class BoundView(TypedDict):
    """A limit that binds a param."""

    param: str
    min: float | None
    max: float | None
    unit: str
    memory_id: int
    content: str
    applies: bool
    why: str


class UncheckedView(TypedDict):
    """A rule that no param can keep."""

    memory_id: int
    content: str
    applies: bool
    why: str


class SuggestResponse(TypedDict):
    """Response of suggest."""

    params: Any
    probability: float | None
    predicted: Any
    interval: Any
    effective_trials: float
    untried: bool
    nearest_id: int | None
    nearest_params: Any
    evidence: list[WitnessView]
    default_used: bool
    why: str
    bound_by: list[BoundView]
    unchecked: list[UncheckedView]


class TrialsView(TypedDict):
    """What the trials of a skill, or of one situation, come to."""

    situation: str
    trials: int
    tries: int
    successes: int
    success_low: float
    success_high: float
    simulated_tries: int
    simulated_successes: int
    trend: str
    best: Any
    best_id: int | None


class WorldChangeView(TypedDict):
    """A change of the world that results tell of."""

    situation: str
    since: int
    back: bool


class SkillReportResponse(TypedDict):
    """Response of skill_report."""

    skill: str
    text: str
    whole: TrialsView
    situations: list[TrialsView]
    situations_total: int
    changes: list[WorldChangeView]


class PartView(TypedDict):
    """One payload part: a signal or an image."""

    name: str
    media_type: str
    size: int
    uri: str
    removed: NotRequired[str]
    damage: NotRequired[str]
    content: NotRequired[str]


class ShowResponse(TypedDict):
    """Response of show."""

    memory: MemoryView
    status: str
    superseded_by: int | None
    data: Any
    metadata: Any
    parts: list[PartView]
    linked: NotRequired[list[LinkedEventView]]
    linked_total: NotRequired[int]


class HistoryEntry(TypedDict):
    """One audit line of a memory."""

    line: int
    at: str
    action: str
    actor: str
    reason: str
    content: str | None
    status: str | None
    undone_by: NotRequired[int]
    detail: NotRequired[Any]
    shortened: NotRequired[list[str]]


class HistoryResponse(TypedDict):
    """Response of history."""

    memory_id: int
    entries: list[HistoryEntry]


class UndoResponse(TypedDict):
    """Response of undo."""

    status: str
    memory_id: int
    line: int
    action: str
    old_content: str
    new_content: str
    memory_status: str


class SaveConversationResponse(TypedDict):
    """Response of save_conversation."""

    saved: bool
    session_id: str
    turn_id: int
    memory_ids: list[int]
    event_id: str


class ContextItemView(TypedDict):
    """One memory of a context."""

    content: str
    score: float
    metadata: Any
    shortened: NotRequired[list[str]]
    page: NotRequired[str]


class RuleView(TypedDict):
    """One rule of a context."""

    memory_id: int
    content: str
    category: str
    why: str
    authority: str
    stated_by: str
    quoted: bool
    page: NotRequired[str]


class RulesView(TypedDict):
    """The rules of a collection for a planned task."""

    applies: list[RuleView]
    may_apply: list[RuleView]
    rest_count: int
    rest_ids: list[int]


class KnownView(TypedDict):
    """One value of the situation, and where it came from."""

    name: str
    value: str
    source: str
    memory_id: NotRequired[int]
    age_s: float


class GetContextResponse(TypedDict):
    """Response of get_context."""

    context: str
    results: list[ContextItemView]
    strategy_used: str
    num_results: int
    rules: RulesView
    rules_complete: bool
    situation: NotRequired[list[KnownView]]
    read_as: NotRequired[str]
    no_match: NotRequired[bool]
    events: NotRequired[list[EventView]]
    aggregate: NotRequired[FigureView]
    aggregate_ids: NotRequired[list[int]]
    linked: NotRequired[list[LinkedEventView]]
    linked_total: NotRequired[int]
    why_empty: NotRequired[str]


class FoundView(TypedDict):
    """One result."""

    content: str
    role: str | None
    score: float
    metadata: Any
    shortened: NotRequired[list[str]]


class SearchMemoryResponse(TypedDict):
    """Response of search_memory."""

    result: list[FoundView]
    why_empty: NotRequired[str]


class GetMemoryStatsResponse(TypedDict):
    """Response of get_memory_stats."""

    total: int
    today: int
    this_week: int
    size: str
    size_mb: float
    sessions: int
    avg_turns_per_session: float
    measured_today: int
    measured_this_week: int


class ClearSessionResponse(TypedDict):
    """Response of clear_session."""

    cleared: bool
    count: int
    session_id: str
    kept: NotRequired[int]


class AnalyzeResponse(TypedDict):
    """Response of analyze."""

    analysis_type: str
    timestamp: str
    results: Any
    insights: list[str]
    recommendations: list[str]


class ExportResponse(TypedDict):
    """Response of export."""

    session_id: str
    format: str
    content: str
    count: int


class MaintenanceStep(TypedDict):
    """One maintenance step."""

    name: str
    done: bool
    detail: str
    ms: float


class MaintainResponse(TypedDict):
    """Response of maintain."""

    steps: list[MaintenanceStep]
    file_bytes: int
    freed_bytes: int
    ms: float


class SetMapResponse(TypedDict):
    """Response of set_map."""

    name: str
    revision: int
    frame: str
    mapping: bool
    begun: bool
    anchored: NotRequired[str]
    residual: NotRequired[float]


class RegionView(TypedDict):
    """A named region."""

    name: str
    frame: str
    polygon: Any
    heights: Any
    of_map: NotRequired[str]
    from_file: bool
    authority: NotRequired[str]


class SetRegionResponse(TypedDict):
    """Response of set_region."""

    status: str
    regions: list[RegionView]


class ProposalView(TypedDict):
    """A change that a lower authority asked for."""

    proposal_id: int
    memory_id: int
    action: str
    content: str
    authority: str
    new_content: str | None
    reason: str
    proposed_by: str
    at: str
    replacing_id: NotRequired[int]


class ProtectedChangeView(TypedDict):
    """A change of a protected memory that no operator has confirmed."""

    memory_id: int
    action: str
    old_content: str
    changed_by: str
    at: str


class ReviewResponse(TypedDict):
    """Response of review."""

    decided: str
    proposals: list[ProposalView]
    changes: list[ProtectedChangeView]


class StandingMemoryView(TypedDict):
    """A memory from before authorities were recorded."""

    memory_id: int
    content: str
    type: str
    category: str
    collection: str
    created_at: str


class TrustResponse(TypedDict):
    """Response of trust."""

    confirmed: int
    total: int
    memories: list[StandingMemoryView]


class SageMemoryResponse(TypedDict):
    """Response of sage_memory."""

    action: str
    result: Any
    text: str


class SageCommandResponse(TypedDict):
    """Response of sage_command."""

    command: str
    result: Any
    text: str


class SageAutoResponse(TypedDict):
    """Response of sage_auto."""

    action: str
    context: NotRequired[str]
    num_results: NotRequired[int]
    should_save: NotRequired[bool]
    reason: NotRequired[str]
    turns: NotRequired[int]


class IntentView(TypedDict):
    """Classified intent."""

    primary: str
    confidence: float
    keywords: list[str]
    question_type: str


class PromptView(TypedDict):
    """One prompt."""

    type: str
    text: str
    priority: float


class StepView(TypedDict):
    """One step of a recorded procedure."""

    step: int
    topic: str
    duration: str


class SageSmartPromptResponse(TypedDict):
    """Response of sage_smart_prompt."""

    context: str
    intent: IntentView
    prompts: list[PromptView]
    suggestions: list[str]
    related_topics: list[str]
    learning_path: list[StepView]


class SageSystemStatusResponse(TypedDict):
    """Response of sage_system_status; sections that were not requested are omitted."""

    status: str
    timestamp: str
    version: str
    memory_count: int | None
    database: str
    cache_status: str
    capabilities: Any
    errors: NotRequired[Any]
    performance: NotRequired[Any]
    optimization: NotRequired[Any]
