"""
The tools as methods of clients. Written by `make interfaces` from the declarations; do not edit.

A text in place of a dict or a list is its JSON.
"""

from __future__ import annotations

from typing import Any

from robot_memory.client.answers import (
    AnalyzeResponse,
    ClearSessionResponse,
    EndSessionResponse,
    EraseResponse,
    ExplainRecallResponse,
    ExportResponse,
    ForgetResponse,
    GetContextResponse,
    GetMemoryStatsResponse,
    HistoryResponse,
    LearnResponse,
    ListTimelineResponse,
    MaintainResponse,
    QueryEventsResponse,
    QueryRecordsResponse,
    RecallResponse,
    RecordOutcomeResponse,
    ReviewResponse,
    SageAutoResponse,
    SageCommandResponse,
    SageMemoryResponse,
    SageSmartPromptResponse,
    SageSystemStatusResponse,
    SaveConversationResponse,
    SavePerceptionResponse,
    SearchMemoryResponse,
    SetMapResponse,
    SetRegionResponse,
    ShowResponse,
    SkillReportResponse,
    StartSessionResponse,
    SuggestResponse,
    TrustResponse,
    UndoResponse,
    UpdateResponse,
)


class ToolCaller:
    """Call tools of a memory that another process serves."""

    def _run(self, name: str, read_only: bool, arguments: dict[str, Any]) -> Any:
        raise NotImplementedError


class ToolMethods(ToolCaller):
    """Call each tool by a method of its name."""

    def learn(
        self,
        insight: str,
        context: dict[str, Any] | str | None = None,
        collection: str = 'default',
        session_id: str | None = None,
        from_: str | None = None,
    ) -> LearnResponse:
        """
        Store one piece of experience: a fact, strategy, lesson or observation.

        Call it after acting, with what worked or failed, and whenever somebody states a fact or a
        rule: one statement a call, numbers with units.

        Category, confidence and tags are inferred from the text. Of a duplicate the response has
        the id of the existing memory, and of the observation that holds what was new in the call.

        Args:
            insight: Text to learn, 1 to 300 characters.
            context: Context partitions as JSON: params, spatial, robot, env, task; actor_id names
                the speaker.
            collection: Collection.
            session_id: Session id from start_session.
            from_: Memory of a person, sign or log that this confirms, e.g. mem_7: it then has the
                caller's authority.

        Returns:
            status: created or duplicate.
            memory_id: Id of the new memory.
            auto_inferred: Attributes inferred from the text.
            method: How the duplicate was detected: exact, jaccard, cosine or cross-encoder.
            existing_id: Id of the existing memory.
            similarity: Similarity to the existing memory, 0 to 1.
            observed: Id of the observation that was added to the existing memory.
            retried: True if the same caller, session and context said it within 10 minutes: a
                retry, of which no observation was added.
            replaces: Id of the memory that this one replaces; both stay active.
            disagrees: Id of a rule, or of a memory of higher authority, that this one would
                replace; proposal waits for an operator.
            proposal: Proposal to replace it, for review.
            truncated: True if the text was truncated to 300 characters.
            truncated_characters: Number of characters removed.
            truncated_after: Last words that were kept: what followed them is gone.

        """
        answer: LearnResponse = self._run(
            'learn',
            False,
            {
                'insight': insight,
                'context': context,
                'collection': collection,
                'session_id': session_id,
                'from': from_,
            },
        )
        return answer

    def recall(
        self,
        query: str = '',
        collection: str = 'default',
        n: int = 5,
        min_confidence: float = 0.3,
        session_id: str | None = None,
        context_filter: dict[str, Any] | str | None = None,
        spatial_sort: dict[str, Any] | str | None = None,
        as_of: str = '',
        read: str = 'auto',
        format: str = '',
        near: dict[str, Any] | str | None = None,
    ) -> RecallResponse:
        """
        Retrieve memories by keyword, meaning, filter or distance, best match first.

        Call it to look something up; before acting, call get_context. The query may be empty with
        a context_filter, spatial_sort or near.

        Collection, session, confidence, context_filter and max_distance are applied before
        ranking. With spatial_sort or near, memories that match a query keyword come first; each
        group is sorted by distance. near brings places of other frames into the asked one;
        spatial_sort does not. With as_of, min_confidence applies only if it is not the default.

        Args:
            query: Query in natural language.
            collection: Collection to search.
            n: Maximum number of memories.
            min_confidence: Minimum confidence.
            session_id: Restrict to this session.
            context_filter: Conditions on the context: {"task.success": true, "params.force.value":
                {"$lt": 15}}; $eq $ne $gt $gte $lt $lte $in $nin, at most 10.
            spatial_sort: Sort by distance: {"field": "spatial.object_position", "target": [x, y,
                z]}; optional max_distance, frame_id.
            as_of: As of an instant (ISO 8601) or audit line (#120), by keyword.
            read: auto: read times, events, bounds, order and counts in the query; off: search.
            format: brief: text and one line a memory; full: all fields; default: recall_format.
            near: In any frame: {"frame": map, "position": [x,y,z]}, {"of": mem_12, frame or
                object} or {"in": region}; optional at, within (m), probability.

        Returns:
            memories: Memories, best match first.
            total: Number of memories in this response, at most n; query_records counts all that
                pass.
            mode: Retrieval mode: hybrid, bm25_only, vec_only or filter.
            query_ms: Duration in milliseconds.
            frames: Number of returned memories per coordinate frame, if spatial_sort compared
                several; "unknown" counts positions without a frame.
            as_of: The state that answered: line, at, gone, the memories of then that were erased
                or folded since, and instant, which as_of was read as (of a date its beginning in
                UTC).
            faded: Number of memories that would be in this answer, but have decayed below
                min_confidence.
            read_as: What was read in the query, e.g. "contacts, peak force over 5 N, newest
                first"; says if nothing is stored of its time.
            no_match: True if no event passes what was read: the memories are those of a plain
                search.
            events: Events that pass what was read, in its order; their memories come first.
            aggregate: The count, mean, sum, ... that the query asks for.
            aggregate_ids: Ids of the events that the aggregate rests on; the first 1,000.
            linked: Events linked to it, at most 10: its task, session, outcome, pictures, and what
                was at the same time.
            linked_total: Number of linked events that there are, up to 200.
            models: Embedding models that were asked; empty: none (bm25_only, filter).
            answerable: Chance from 0 to 1 that the memories answer the query, rather than tell of
                another person, thing, number or time; removes nothing. Absent without a query.
            brief: The memories with format brief, which leaves memories empty.
            near: Of near: frame, position, at (the instant of the transforms), not_compared
                (reason and number of what passes but cannot be brought into the frame), moving
                (frames that move), map (the revision that is asked), anchored (older revisions
                among the answers, with residuals).
            why_empty: Why the answer is empty: the condition that excludes all, and what is near
                to it.

        """
        answer: RecallResponse = self._run(
            'recall',
            True,
            {
                'query': query,
                'collection': collection,
                'n': n,
                'min_confidence': min_confidence,
                'session_id': session_id,
                'context_filter': context_filter,
                'spatial_sort': spatial_sort,
                'as_of': as_of,
                'read': read,
                'format': format,
                'near': near,
            },
        )
        return answer

    def explain_recall(
        self,
        query: str,
        collection: str = 'default',
        n: int = 5,
        min_confidence: float = 0.3,
        session_id: str | None = None,
        context_filter: dict[str, Any] | str | None = None,
        read: str = 'auto',
    ) -> ExplainRecallResponse:
        """
        Return why recall finds each memory: the parts of its score, and what has decayed.

        Call it to see why an answer is as it is; recall answers in less.

        Memories, order and scores are those of recall with the same arguments. score is the sum of
        words, of the share of each model, and of around, within 1e-6. No access is recorded.

        Args:
            query: Query in natural language.
            collection: Collection to search.
            n: Maximum number of memories.
            min_confidence: Minimum confidence.
            session_id: Restrict to this session.
            context_filter: Conditions on the context, as in recall.
            read: auto: read times, events, bounds, order and counts in the query; off: search.

        Returns:
            memories: Memories as recall orders them.
            mode: Retrieval mode: hybrid, bm25_only, vec_only or filter.
            models: Embedding models that were asked.
            faded: Memories that would be in this answer, but have decayed below min_confidence.
            read_as: What was read in the query, e.g. "contacts, peak force over 5 N, newest
                first"; says if nothing is stored of its time.
            no_match: True if no event passes what was read: the memories are those of a plain
                search.
            why_empty: Why the answer is empty: the condition that excludes all, and what is near
                to it.

        """
        answer: ExplainRecallResponse = self._run(
            'explain_recall',
            True,
            {
                'query': query,
                'collection': collection,
                'n': n,
                'min_confidence': min_confidence,
                'session_id': session_id,
                'context_filter': context_filter,
                'read': read,
            },
        )
        return answer

    def save_perception(
        self,
        description: str,
        perception_type: str = 'visual',
        data: dict[str, Any] | list[Any] | str | None = None,
        metadata: dict[str, Any] | list[Any] | str | None = None,
        collection: str = 'default',
        session_id: str | None = None,
        stamp: int | dict[str, int] | None = None,
        frame_id: str | None = None,
        pose: dict[str, Any] | str | None = None,
        context: dict[str, Any] | str | None = None,
    ) -> SavePerceptionResponse:
        """
        Store a perception (vision, touch, sound, motion) with its time, frame and pose.

        Call it for what was just sensed and no tap stores.

        A perception is an event: storing the same description twice creates two memories.

        Args:
            description: Description of the event.
            perception_type: Modality.
            data: Readings, features or a trajectory, as JSON.
            metadata: Format, rate and units, as JSON; also stamp, frame_id and pose.
            collection: Collection.
            session_id: Session id from start_session.
            stamp: Time of the measurement (header.stamp).
            frame_id: Coordinate frame of the measurement.
            pose: Pose as JSON: {"position": [x, y, z] in metres, "orientation": [x, y, z, w],
                "frame_id": "map", "covariance": [36 numbers, m and rad]}; default frame: that of
                the measurement.
            context: Context partitions as JSON: params, spatial, robot, env, task.

        Returns:
            memory_id: Id of the new memory.
            perception_type: Modality.
            collection: Collection to store the memory in.
            has_embedding: False if the vector is not computed yet.

        """
        answer: SavePerceptionResponse = self._run(
            'save_perception',
            False,
            {
                'description': description,
                'perception_type': perception_type,
                'data': data,
                'metadata': metadata,
                'collection': collection,
                'session_id': session_id,
                'stamp': stamp,
                'frame_id': frame_id,
                'pose': pose,
                'context': context,
            },
        )
        return answer

    def forget(
        self,
        memory_id: int,
        reason: str,
        description: str = '',
        token: str = '',
        collection: str = 'default',
    ) -> ForgetResponse:
        """
        Soft-delete a memory; the row and its audit trail are kept.

        Call it if a memory is wrong and nothing replaces it; else call update.

        The trail records actor, time and reason; query_records with {"status": "invalidated"}
        returns it. With a description in place of memory_id (0), the answer is a preview with the
        likeliest memory, and nothing is changed until its token is passed.

        Args:
            memory_id: Memory to soft-delete; 0: by description.
            reason: Reason, stored in the audit trail.
            description: What the memory says; only previewed: a token confirms it.
            token: Token of a preview, whose reason is repeated.
            collection: Collection to look in for a description.

        Returns:
            status: forgotten, or preview where a description was given.
            memory_id: Memory id.
            content: Text of the memory.
            reason: Reason, as stored.
            token: Confirms this preview, once, for 10 minutes.
            others: Other memories that the description may mean: pass the id of one.

        """
        answer: ForgetResponse = self._run(
            'forget',
            False,
            {
                'memory_id': memory_id,
                'reason': reason,
                'description': description,
                'token': token,
                'collection': collection,
            },
        )
        return answer

    def erase(
        self,
        memory_ids: list[int] | tuple[int, ...] = (),
        session_id: str | None = None,
        actor_id: str | None = None,
        where: dict[str, Any] | str | None = None,
        reason: str = '',
        token: str = '',
        erasure: int = 0,
    ) -> EraseResponse:
        """
        Erase memories for good: a preview first, then with its token exactly that, with a receipt.

        forget keeps row and text and can be undone; this cannot. Without a token nothing is
        erased: the answer lists all that would go. Only an operator can call this.

        Args:
            memory_ids: Memories, or folded events; with actor_id, its mentions by others.
            session_id: Session: what was said, stored or seen in it.
            actor_id: Actor: what the actor said or did.
            where: Conditions as in query_records, for memories active or not.
            reason: Reason, stored in the audit trail.
            token: Token of a preview: erases exactly what that listed.
            erasure: Erasure whose state or receipt is asked for.

        Returns:
            status: preview, pending (erased, the proof goes on) or erased (receipt.holds says if
                proved).
            counts: How many memories, observations, revisions, payload parts, events and sessions.
            token: Confirms this preview, once, for 10 minutes.
            memories: Memories that go, the first 1000.
            memory_ids: Ids of all memories that go.
            events: Folded events that go.
            kept: Memories that stay, because others observed them, without the part that goes.
            mentions: Memories of others that name the actor, in an earlier state, a reason, a tag
                or the name of the collection, too; they go only if memory_ids has them.
            erasure: Id of the erasure.
            pending: What the proof waits for.
            receipt: Who, why, when, salted SHA-256 of the texts, and the checks. holds is true
                where all was searched and nothing found, null where not all was (not_searched,
                to_finish).
            outside: What erase does not reach; first sessions and collections that name the actor.

        """
        answer: EraseResponse = self._run(
            'erase',
            False,
            {
                'memory_ids': memory_ids,
                'session_id': session_id,
                'actor_id': actor_id,
                'where': where,
                'reason': reason,
                'token': token,
                'erasure': erasure,
            },
        )
        return answer

    def update(
        self,
        memory_id: int,
        new_content: str,
        context: dict[str, Any] | str | None = None,
        description: str = '',
        token: str = '',
        collection: str = 'default',
    ) -> UpdateResponse:
        """
        Replace the text of a memory; category, tags and vector are recomputed.

        Call it if a memory is wrong or out of date.

        The old text is kept in the audit trail, and decay restarts. With a description in place of
        memory_id (0), the answer is a preview with the likeliest memory, and nothing is changed
        until its token is passed.

        Args:
            memory_id: Memory to change; 0: by description.
            new_content: New text, 1 to 300 characters.
            context: New context as JSON; empty keeps the stored one.
            description: What the memory says now; only previewed: a token confirms it.
            token: Token of a preview, whose new text and context are repeated.
            collection: Collection to look in for a description.

        Returns:
            status: updated, or preview where a description was given.
            memory_id: Memory id.
            old_content: Text of the memory.
            new_content: New text.
            auto_inferred: Attributes inferred from the new text.
            truncated: True if the text was truncated to 300 characters.
            truncated_characters: Number of characters removed.
            truncated_after: Last words that were kept: what followed them is gone.
            token: Confirms this preview, once, for 10 minutes.
            others: Other memories that the description may mean: pass the id of one.

        """
        answer: UpdateResponse = self._run(
            'update',
            False,
            {
                'memory_id': memory_id,
                'new_content': new_content,
                'context': context,
                'description': description,
                'token': token,
                'collection': collection,
            },
        )
        return answer

    def start_session(
        self,
        collection: str = 'default',
        context: dict[str, Any] | str | None = None,
        title: str = '',
        tags: list[str] | tuple[str, ...] = (),
    ) -> StartSessionResponse:
        """
        Start a new session.

        Call it before a task, and pass session_id to the calls in between.

        Args:
            collection: Collection.
            context: Context that its memories inherit: robot, env, task.
            title: Title of the session.
            tags: Tags to find it by.

        Returns:
            session_id: Session id for learn, save_perception, recall and end_session.
            collection: Collection of the session.
            active_memories_count: Number of active memories in the collection.

        """
        answer: StartSessionResponse = self._run(
            'start_session',
            False,
            {
                'collection': collection,
                'context': context,
                'title': title,
                'tags': tags,
            },
        )
        return answer

    def end_session(
        self,
        session_id: str,
        outcome_score: float | None = None,
    ) -> EndSessionResponse:
        """
        End a session: apply decay, merge similar memories and return related ones.

        Call it when a task is done, with how well it went.

        Constraints, postmortems and gotchas neither decay nor are merged.

        Args:
            session_id: Session id from start_session.
            outcome_score: How well it went.

        Returns:
            status: Always ended.
            session_id: Session id.
            summary: Contents of the session.
            decayed_count: Number of unused memories in the collection whose confidence decayed.
            consolidated: Result of consolidation.
            related_memories: Related memories from other sessions.

        """
        answer: EndSessionResponse = self._run(
            'end_session',
            False,
            {
                'session_id': session_id,
                'outcome_score': outcome_score,
            },
        )
        return answer

    def list_timeline(
        self,
        where: dict[str, Any] | str | None = None,
        since: str = '',
        until: str = '',
        descending: bool = True,
        limit: int = 50,
        cursor: str = '',
        buckets: int = 0,
        time_zone: str = '',
        near: dict[str, Any] | str | None = None,
    ) -> ListTimelineResponse:
        """
        List memories in the order in which they occurred, a page at a time.

        Call it for everything of a time, whatever its kind; query_events knows figures.

        Perceptions occurred when they were measured, all else when it was stored. Pages follow a
        key, so none is skipped or told twice while memories arrive. Without a condition on status
        only active memories are listed. density counts over since to until, or over all that pass;
        simulated time, before 2001, is counted only where since or until names it.

        Args:
            where: Conditions as in query_records: {"kind": "perception", "session_id": "s1"}.
            since: What occurred then or later: ISO 8601, or words: yesterday, monday 14:03. A date
                is its midnight.
            until: What occurred before then: ISO 8601 or words.
            descending: Newest first.
            limit: Maximum number of entries.
            cursor: next_cursor of the page before.
            buckets: Number of equal parts of the window whose memories are counted; 0: none.
            time_zone: IANA name; default: the parameter time_zone.
            near: In any frame: {"frame": map, "position": [x,y,z]}, {"of": mem_12, frame or
                object} or {"in": region}; optional at, within (m), probability. Here within or in
                is required.

        Returns:
            entries: Page of memories.
            next_cursor: Cursor of the next page; empty on the last one.
            time_zone: IANA name of the zone of all times.
            density: Number of memories in each bucket, the oldest first.
            density_from: Begin of the first bucket.
            density_until: End of the last bucket.
            bucket_seconds: Length of a bucket in seconds.
            near: As in query_records.
            why_empty: Why the answer is empty: the condition that excludes all, and what is near
                to it.

        """
        answer: ListTimelineResponse = self._run(
            'list_timeline',
            True,
            {
                'where': where,
                'since': since,
                'until': until,
                'descending': descending,
                'limit': limit,
                'cursor': cursor,
                'buckets': buckets,
                'time_zone': time_zone,
                'near': near,
            },
        )
        return answer

    def query_events(
        self,
        where: dict[str, Any] | str | None = None,
        since: str = '',
        until: str = '',
        order_by: str = 'onset',
        descending: bool = False,
        limit: int = 20,
        cursor: str = '',
        aggregate: list[str] | tuple[str, ...] = (),
        figure: str = '',
        group_by: str = '',
        bins: int = 10,
        time_zone: str = '',
        near: dict[str, Any] | str | None = None,
    ) -> QueryEventsResponse:
        """
        List or aggregate events by time and figures: contacts, motions, scenes, sessions.

        Call it for when, how often, how hard or how long: order by a figure for the hardest,
        aggregate with group_by for counts an hour or means by task.

        An event belongs to a window that it overlaps, and to the hour or day of its onset. Bounds
        may have a unit: "5 N", "300 ms".

        Args:
            where: Conditions as JSON, combined with AND: {"kind": "contact", "peak_force": {"$gt":
                "5 N"}}; $eq $ne $gt $gte $lt $lte $in $nin on kind, label, topic, frame_id, robot,
                session_id, task, recording, collection, source, memory_id, onset, peak, end,
                duration, broken_off and every figure.
            since: Events that last until then or later: ISO 8601, or words: yesterday, monday
                14:03, two hours ago, last week. A date is its midnight.
            until: Events that began before then: ISO 8601 or words.
            order_by: onset, peak, end, duration or a figure such as peak_force.
            descending: Newest, longest or greatest first.
            limit: Maximum number of events.
            cursor: next_cursor of the page before.
            aggregate: Instead of events: count, min, max, mean, sum, std, median, quantiles, a
                percentile such as p99, histogram.
            figure: What is aggregated: duration or a figure, e.g. peak_force.
            group_by: Groups of an aggregate; at most 1,000.
            bins: Bins of a histogram.
            time_zone: IANA name; default: the parameter time_zone.
            near: As in recall; needs within or in.

        Returns:
            events: Page of events; none with an aggregate.
            next_cursor: Cursor of the next page; empty on the last one.
            groups: Groups of an aggregate; one without group_by.
            total: Number of events aggregated or, where they fit on one page, listed; else ask for
                the aggregate count.
            groups_total: Number of groups that there are.
            time_zone: IANA name of the zone of all times.
            linked: Events linked to it, at most 10: its task, session, outcome, pictures, and what
                was at the same time. Of an answer that is one event.
            linked_total: Number of linked events that there are, up to 200.
            near: Of near: frame, position, at (the instant of the transforms), not_compared
                (reason and number of what passes but cannot be brought into the frame), moving
                (frames that move), map (the revision that is asked), anchored (older revisions
                among the answers, with residuals).
            why_empty: Why the answer is empty: the condition that excludes all, and what is near
                to it.

        """
        answer: QueryEventsResponse = self._run(
            'query_events',
            True,
            {
                'where': where,
                'since': since,
                'until': until,
                'order_by': order_by,
                'descending': descending,
                'limit': limit,
                'cursor': cursor,
                'aggregate': aggregate,
                'figure': figure,
                'group_by': group_by,
                'bins': bins,
                'time_zone': time_zone,
                'near': near,
            },
        )
        return answer

    def record_outcome(
        self,
        skill: str,
        situation: str = '',
        numbers: dict[str, Any] | str | None = None,
        params: dict[str, Any] | str | None = None,
        results: dict[str, Any] | str | None = None,
        success: str = 'unknown',
        memory_ids: list[int] | tuple[int, ...] = (),
        collection: str = 'default',
        session_id: str | None = None,
        stamp: int | dict[str, int] | None = None,
        world: str = '',
        robot: str = '',
        key: str = '',
    ) -> RecordOutcomeResponse:
        """
        Store what came of one try of a skill; suggest learns from it.

        Call it after each try, failed ones too, with what was measured.

        A trial is never a duplicate. Figures have a unit: "0.4 m" or {"value": 0.4, "unit": "m"};
        results measured tell more than success.

        Args:
            skill: Skill, e.g. strike.
            situation: What was found: brass disc on the oiled tray.
            numbers: The same in figures: {"distance": "0.4 m"}.
            params: Chosen: {"speed": "1.3 m/s", "gripper": "soft"}.
            results: Measured: {"slide": "41 cm"}.
            success: Whether it succeeded.
            memory_ids: Memories that were used.
            collection: Collection.
            session_id: Session id.
            stamp: Time of the trial.
            world: Default: as the session, else real.
            robot: Robot id.
            key: Name of this trial: repeats answer as the first call.

        Returns:
            memory_id: Id of the memory of the trial.
            trials: Trials of the skill so far.
            surprise: Standard deviations by which a result lay from what was predicted; of the
                result farthest off. None where nothing could be predicted.
            changed: True if predictions for situations like this have begun to fail: the world has
                changed.
            change_id: Id of the memory that tells of the change.
            repeated: True if the key is that of a stored trial: nothing was stored now.

        """
        answer: RecordOutcomeResponse = self._run(
            'record_outcome',
            False,
            {
                'skill': skill,
                'situation': situation,
                'numbers': numbers,
                'params': params,
                'results': results,
                'success': success,
                'memory_ids': memory_ids,
                'collection': collection,
                'session_id': session_id,
                'stamp': stamp,
                'world': world,
                'robot': robot,
                'key': key,
            },
        )
        return answer

    def suggest(
        self,
        skill: str,
        situation: str = '',
        numbers: dict[str, Any] | str | None = None,
        want: dict[str, Any] | str | None = None,
        among: dict[str, Any] | str | None = None,
        default: dict[str, Any] | str | None = None,
        explore: float = 0.0,
        seed: int = 0,
        robot: str = '',
        world: str = 'real',
        collection: str = 'default',
        session_id: str | None = None,
    ) -> SuggestResponse:
        """
        Suggest the params of the next try of a skill, from its trials and within rules.

        Call it before each try, and record_outcome after it.

        Rules of operators and planners are hard limits (bound_by), also those that only may apply:
        say in situation who is near and where it is. unchecked lists those that no param can keep.
        Where nothing is known the default is answered, with probability null.

        Args:
            skill: Skill, e.g. strike.
            situation: What is found, in words.
            numbers: The same in figures.
            want: {"result": "slide", "value": "0.4 m", "tolerance": "8 cm"}, {"minimise": "force"}
                or {"maximise": "slide"}; default: success.
            among: {"speed": {"min": "0.5 m/s", "max": "2 m/s"}, "gripper": ["soft"]}; default:
                tried with success.
            default: Params if nothing is known.
            explore: Above 0 needs among.
            seed: Random seed.
            robot: Trials of this robot or none.
            world: Where it will be done.
            collection: Collection.
            session_id: Session id.

        Returns:
            params: Params to try; empty where nothing is known or no value is allowed.
            probability: Probability of what is wanted, 0 to 1; of success by default.
            predicted: Predicted result.
            interval: Least and greatest of the result in nine of ten trials.
            effective_trials: Number of trials like this that it rests on.
            untried: True if no trial in a situation like this had these params.
            nearest_id: Id of the trial whose params are nearest.
            nearest_params: Params of that trial.
            evidence: Trials that it rests on, the most alike first.
            default_used: True if nothing is known and params are the default.
            why: Why, in one sentence; rules that nobody but the caller can keep come first.
            bound_by: Limits of rules on the params.
            unchecked: Rules that apply or may apply and that no param can keep.

        """
        answer: SuggestResponse = self._run(
            'suggest',
            True,
            {
                'skill': skill,
                'situation': situation,
                'numbers': numbers,
                'want': want,
                'among': among,
                'default': default,
                'explore': explore,
                'seed': seed,
                'robot': robot,
                'world': world,
                'collection': collection,
                'session_id': session_id,
            },
        )
        return answer

    def skill_report(
        self,
        skill: str,
        robot: str = '',
        world: str = 'real',
        collection: str = 'default',
    ) -> SkillReportResponse:
        """
        Report how well a skill goes: success by situation, best params, trend, changes.

        Call it to see whether a skill gets better, and where it fails.

        Args:
            skill: Skill.
            robot: Trials of this robot or none.
            world: World.
            collection: Collection.

        Returns:
            skill: Name of the skill.
            text: Summary, as get_context tells it.
            whole: All trials.
            situations: By situation, the commonest first; at most 20.
            situations_total: Number of situations.
            changes: Changes of the world, oldest first.

        """
        answer: SkillReportResponse = self._run(
            'skill_report',
            True,
            {
                'skill': skill,
                'robot': robot,
                'world': world,
                'collection': collection,
            },
        )
        return answer

    def show(
        self,
        memory_id: int,
    ) -> ShowResponse:
        """
        Return a complete memory: data, metadata, and the bytes of its signals and images.

        Call it if a response names shortened fields, or to see a picture.

        Soft-deleted and superseded memories are returned as well; status says which they are. Of a
        folded one there are its event with all figures, and the digest that stands for it.

        Args:
            memory_id: Memory to show.

        Returns:
            memory: Memory in the form that recall returns.
            status: active, invalidated, superseded or folded.
            superseded_by: Id of the memory that superseded it; of a folded one that of its digest.
            data: Measured data, as stored; of a folded memory its event.
            metadata: Units, detector and its settings.
            parts: Signals and images.
            linked: Events linked to it, at most 10: its task, session, outcome, pictures, and what
                was at the same time.
            linked_total: Number of linked events that there are, up to 200.

        """
        answer: ShowResponse = self._run('show', True, {'memory_id': memory_id})
        return answer

    def history(
        self,
        memory_id: int,
    ) -> HistoryResponse:
        """
        Return what was done to a memory: who, when and why, with its text after each change.

        undo takes back the newest change that stands; as_of of recall and query_records takes the
        number of a line.

        Args:
            memory_id: Memory whose history is returned.

        Returns:
            memory_id: Memory id.
            entries: Audit lines of the memory, oldest first.

        """
        answer: HistoryResponse = self._run('history', True, {'memory_id': memory_id})
        return answer

    def undo(
        self,
        memory_id: int,
        reason: str = '',
        line: int = 0,
    ) -> UndoResponse:
        """
        Undo the newest change of a memory: a forget, an update or a merge.

        Called again, it undoes the change before. Where something written later rests on the
        change, the call is a conflict that names it.

        Args:
            memory_id: Memory whose newest change is undone.
            reason: Reason, stored in the audit trail.
            line: Audit line of the change that is meant, from history; 0: the newest.

        Returns:
            status: Always undone.
            memory_id: Memory id.
            line: Audit line that was undone.
            action: Action that was undone: update, invalidated, superseded or reclassify.
            old_content: Text of the memory before undo.
            new_content: Text of the memory now.
            memory_status: Status of the memory now: active, invalidated or superseded.

        """
        answer: UndoResponse = self._run(
            'undo',
            False,
            {
                'memory_id': memory_id,
                'reason': reason,
                'line': line,
            },
        )
        return answer

    def search_memory(
        self,
        query: str,
        n: int | None = None,
        threshold: float | None = None,
        collection: str = 'default',
        actor_id: str | None = None,
        read: str = 'auto',
    ) -> SearchMemoryResponse:
        """
        Search turns, facts and perceptions; each result has a score from 0 to 1.

        The score omits recall's weights for real-world memories and for facts over turns, so that
        it can be compared with a threshold. A text that tells of another person, thing, number or
        time than the query scores low, however much it is like it.

        Args:
            query: Query in natural language.
            n: Maximum number of results; default: the setting default_results (5).
            threshold: Minimum score; default: the setting default_threshold (0.5).
            collection: Collection to search.
            actor_id: Restrict to what this actor said or did.
            read: auto: read times, events, bounds, order and counts in the query; off: search.

        Returns:
            result: Results, best match first.
            why_empty: Why the answer is empty: the condition that excludes all, and what is near
                to it.

        """
        answer: SearchMemoryResponse = self._run(
            'search_memory',
            True,
            {
                'query': query,
                'n': n,
                'threshold': threshold,
                'collection': collection,
                'actor_id': actor_id,
                'read': read,
            },
        )
        return answer

    def get_memory_stats(self) -> GetMemoryStatsResponse:
        """
        Count memories (total, today, this week), sessions and turns, and report the store size.

        Returns:
            total: Number of active memories: turns, facts and perceptions.
            today: Number of active memories stored since local midnight.
            this_week: Number of active memories stored since Monday, local midnight.
            size: Size of the database and its WAL, human-readable.
            size_mb: Size in megabytes (10^6 bytes).
            sessions: Number of sessions, open and ended.
            avg_turns_per_session: Mean number of turns per session that has turns.
            measured_today: Number of events measured since local midnight.
            measured_this_week: Number of events measured since Monday, local midnight.

        """
        answer: GetMemoryStatsResponse = self._run('get_memory_stats', True, {})
        return answer

    def clear_session(
        self,
        session_id: str | None = None,
        reason: str = '',
    ) -> ClearSessionResponse:
        """
        Soft-delete all memories of a session: turns, facts and perceptions.

        Rows and their audit trail are kept; list them with query_records and {"status":
        "invalidated"}.

        Args:
            session_id: Session id; empty: the newest open session.
            reason: Reason, stored in the audit trail.

        Returns:
            cleared: Whether the session has no active memories left.
            count: Number of memories soft-deleted.
            session_id: Session id.
            kept: Number of memories that were kept: they stand on a higher authority.

        """
        answer: ClearSessionResponse = self._run(
            'clear_session',
            False,
            {
                'session_id': session_id,
                'reason': reason,
            },
        )
        return answer

    def analyze(
        self,
        analysis_type: str,
        start: str | None = None,
        end: str | None = None,
        days: int = 0,
        collection: str | None = None,
        session_id: str | None = None,
        limit: int = 10000,
    ) -> AnalyzeResponse:
        """
        Analyze a window of records: topics, times, turn flow, associations, sentiment and outcome.

        Every claim cites its records (mem_12). Questions that the records cannot answer are listed
        in results.cannot_say.

        Args:
            analysis_type: TOPIC_CLUSTERING, TEMPORAL_PATTERNS, INTERACTION_FLOW, KNOWLEDGE_GRAPH
                or SENTIMENT_ANALYSIS; case-insensitive.
            start: Start of the window, ISO 8601, UTC unless it has an offset; empty: unbounded.
            end: End of the window, a date includes the whole day; empty: now.
            days: Length of the window in days, counted back from its end; 0: use start.
            collection: Collection; empty: all.
            session_id: Restrict to this session.
            limit: Maximum number of records, newest first; results.window reports how many were
                omitted.

        Returns:
            analysis_type: Analysis type.
            timestamp: Time of the analysis, UTC, ISO 8601.
            results: Results with record ids; window: records read; cannot_say: questions the data
                cannot answer.
            insights: Notable findings, each with its record ids.
            recommendations: Recommended actions, each with its record ids.

        """
        answer: AnalyzeResponse = self._run(
            'analyze',
            True,
            {
                'analysis_type': analysis_type,
                'start': start,
                'end': end,
                'days': days,
                'collection': collection,
                'session_id': session_id,
                'limit': limit,
            },
        )
        return answer

    def export(
        self,
        session_id: str | None = None,
        format: str = 'json',
        collection: str | None = None,
    ) -> ExportResponse:
        """
        Export a session or the whole store as json, markdown, text or lossless JSON Lines.

        `robot-memory export all --output store.jsonl.gz` streams a store of any size to a file;
        `robot-memory import store.jsonl.gz` imports it.

        Args:
            session_id: Session id; empty: the newest open session; "all": the whole store.
            format: json: session with messages and memories; markdown, text: for reading; jsonl:
                lossless, can be imported.
            collection: Restrict to this collection.

        Returns:
            session_id: Session id, or all.
            format: Format of the content.
            content: Exported text.
            count: Number of exported memories; jsonl includes soft-deleted ones.

        """
        answer: ExportResponse = self._run(
            'export',
            True,
            {
                'session_id': session_id,
                'format': format,
                'collection': collection,
            },
        )
        return answer

    def maintain(
        self,
        keep_free_room: bool = False,
        reclassify: bool = False,
        confirm: bool = False,
        all: bool = False,
    ) -> MaintainResponse:
        """
        Run database maintenance: statistics, indexes, integrity, audit, retention, WAL, backup.

        Recalls are not blocked. Writes are blocked during each short step, and while free pages
        are returned to the disk, which is done only if they are at least a quarter of the file.

        Args:
            keep_free_room: Do not shrink the file: releasing free pages blocks other writers.
            reclassify: Only infer the categories of active memories anew by the present rules: a
                preview, unless confirm is set.
            confirm: Apply what reclassify would change.
            all: Verify the audit from its first line, and the memories against it; otherwise from
                the last verified line.

        Returns:
            steps: Steps in the order they ran.
            file_bytes: Size of the database and its WAL after maintenance.
            freed_bytes: Reduction in bytes; negative if the file grew.
            ms: Total duration in milliseconds.

        """
        answer: MaintainResponse = self._run(
            'maintain',
            False,
            {
                'keep_free_room': keep_free_room,
                'reclassify': reclassify,
                'confirm': confirm,
                'all': all,
            },
        )
        return answer

    def set_map(
        self,
        name: str,
        revision: int | None = None,
        frame: str = 'map',
        mapping: bool = False,
        transform: dict[str, Any] | str | None = None,
        landmarks: dict[str, Any] | list[Any] | str | None = None,
        residual: float | None = None,
        old_name: str | None = None,
        old_revision: int | None = None,
        old_unnamed: bool = False,
    ) -> SetMapResponse:
        """
        Begin a revision of a map, or bring places of an older one into the one that holds.

        Call it when the robot has another map, or the same one was made anew, so that older places
        are not taken for places of today.

        Places in the frame of a map keep its name and revision. Those of another revision are not
        compared with new ones until transform or landmarks say how the two lie; rows are not
        changed.

        Args:
            name: Name of the map, e.g. kitchen.
            revision: Revision that holds now, a known one or a higher; default: the next one
                begins.
            frame: tf frame that the map defines.
            mapping: True while it is being mapped: what is stored is provisional.
            transform: Pose of the older map in this one, as JSON: {"position": [x, y, z] in
                metres, "orientation": [x, y, z, w]}.
            landmarks: In place of transform, at least 3 landmarks that do not lie on a line, as
                JSON: [{"from": [x, y, z] in the older map, "to": [x, y, z] in this one}].
            residual: What transform may be off by, in metres; of landmarks it is computed.
            old_name: Name of the older map; default: the one that held before.
            old_revision: Revision of the older map.
            old_unnamed: True: in place of an older map, places from before maps had names.

        Returns:
            name: Name of the map that holds now.
            revision: Its revision.
            frame: tf frame that it defines.
            mapping: True if what is stored now is provisional.
            begun: True if the revision holds from this call on.
            anchored: Older revision whose places can be compared now.
            residual: Root of the mean square of what landmarks are off, in metres; of a transform
                as given.

        """
        answer: SetMapResponse = self._run(
            'set_map',
            False,
            {
                'name': name,
                'revision': revision,
                'frame': frame,
                'mapping': mapping,
                'transform': transform,
                'landmarks': landmarks,
                'residual': residual,
                'old_name': old_name,
                'old_revision': old_revision,
                'old_unnamed': old_unnamed,
            },
        )
        return answer

    def set_region(
        self,
        name: str | None = None,
        frame: str | None = None,
        box: dict[str, Any] | list[Any] | str | None = None,
        polygon: dict[str, Any] | list[Any] | str | None = None,
        heights: dict[str, Any] | list[Any] | str | None = None,
        remove: bool = False,
    ) -> SetRegionResponse:
        """
        Name a box or a polygon that near takes as in, remove one, or list them.

        Call it when somebody says where something is called something: the left bin, the charger.

        A region of the same name is replaced. Those of regions_file are changed in that file. What
        an operator set only an operator changes. No-record zones are of the file alone.

        Args:
            name: Name of the region, e.g. left bin; without one they are only listed.
            frame: tf frame that it is in.
            box: Two opposite corners in metres as JSON: [[x, y, z], [x, y, z]], with or without z.
            polygon: In place of box, 3 to 256 corners in metres as JSON: [[x, y], [x, y], [x, y]].
            heights: Of a polygon, from where to where it goes up, in metres as JSON: [bottom,
                top]; null: no limit.
            remove: True: the region of that name is removed.

        Returns:
            status: set, removed or listed.
            regions: All regions, those of regions_file first.

        """
        answer: SetRegionResponse = self._run(
            'set_region',
            False,
            {
                'name': name,
                'frame': frame,
                'box': box,
                'polygon': polygon,
                'heights': heights,
                'remove': remove,
            },
        )
        return answer

    def review(
        self,
        accept: int | None = None,
        reject: int | None = None,
        confirm: int | None = None,
    ) -> ReviewResponse:
        """
        List proposals and unconfirmed changes of rules; accept, reject or confirm one.

        A call of lower authority that would change a memory of higher authority is stored as a
        proposal. Only an operator can call this.

        Args:
            accept: Proposal to carry out.
            reject: Proposal to reject.
            confirm: Protected memory whose changes by others are right.

        Returns:
            decided: What was decided: accepted, rejected, confirmed or nothing.
            proposals: Open proposals, oldest first.
            changes: Unconfirmed changes, newest first.

        """
        answer: ReviewResponse = self._run(
            'review',
            False,
            {
                'accept': accept,
                'reject': reject,
                'confirm': confirm,
            },
        )
        return answer

    def trust(
        self,
        action: str,
        confirm: str | None = None,
        authority: str = 'planner',
        limit: int = 20,
    ) -> TrustResponse:
        """
        List memories from before authorities were recorded, or confirm one or all of them.

        Until then they count as a planner's. Only an operator can call this.

        Args:
            action: Action.
            confirm: Memory id to confirm, or all.
            authority: Authority that the confirmed memories get.
            limit: Maximum number of memories listed.

        Returns:
            confirmed: Number of memories confirmed by this call.
            total: Number of memories that are not confirmed.
            memories: Memories not confirmed, facts first.

        """
        answer: TrustResponse = self._run(
            'trust',
            False,
            {
                'action': action,
                'confirm': confirm,
                'authority': authority,
                'limit': limit,
            },
        )
        return answer

    def sage_memory(
        self,
        action: str,
        query: str = '',
        title: str = '',
        limit: int | None = None,
        collection: str | None = None,
    ) -> SageMemoryResponse:
        """
        Save, search, forget, recall, analyze or export conversations and memories.

        forget requires an id: any other text returns matching candidates and deletes nothing.

        Args:
            action: Action to run.
            query: search: query text; forget: session id or mem_12; recall: session id or count;
                analyze: analysis type; export: session id, optionally followed by a format.
            title: save: title of the session.
            limit: search, recall: maximum number of results.
            collection: Collection to use; empty: default, or for sessions the newest open one of
                any collection.

        Returns:
            action: Action that was run.
            result: Structured result.
            text: Result as text.

        """
        answer: SageMemoryResponse = self._run(
            'sage_memory',
            False,
            {
                'action': action,
                'query': query,
                'title': title,
                'limit': limit,
                'collection': collection,
            },
        )
        return answer

    def sage_command(
        self,
        command: str,
        collection: str | None = None,
    ) -> SageCommandResponse:
        """
        Run a slash command: /save, /search, /forget, /recall, /status and others.

        /help lists all commands. /forget all keeps protected memories; over MCP it requires the
        setting allow_forget_all.

        Args:
            command: Command line, e.g. /search red cup; /help lists the commands.
            collection: Collection to use; empty: default, or for sessions the newest open one of
                any collection.

        Returns:
            command: Command that was run.
            result: Structured result.
            text: Result as text.

        """
        answer: SageCommandResponse = self._run(
            'sage_command',
            False,
            {
                'command': command,
                'collection': collection,
            },
        )
        return answer

    def sage_auto(
        self,
        action: str,
        user_input: str = '',
        limit: int = 5,
        collection: str = 'default',
    ) -> SageAutoResponse:
        """
        Run an agent hook: inject_context before a turn, check_save after it.

        `/mode off` disables both hooks, `/mode on` enables them.

        Args:
            action: Hook to run.
            user_input: User input of the turn; required by inject_context.
            limit: Maximum number of memories.
            collection: Collection to read from.

        Returns:
            action: Hook that was run.
            context: Text to insert before the prompt; empty while automatic mode is off.
            num_results: Number of memories in the context.
            should_save: Whether to call sage_memory with action save.
            reason: Reason for should_save.
            turns: Number of turns in the open session.

        """
        answer: SageAutoResponse = self._run(
            'sage_auto',
            True,
            {
                'action': action,
                'user_input': user_input,
                'limit': limit,
                'collection': collection,
            },
        )
        return answer

    def sage_smart_prompt(
        self,
        user_input: str,
        include_suggestions: bool = True,
        collection: str = 'default',
    ) -> SageSmartPromptResponse:
        """
        Classify a request by rules and return prompts based on matching memories.

        No language model is involved: every prompt except the last cites a memory.

        Args:
            user_input: User input or planned action.
            include_suggestions: Include suggested next steps.
            collection: Collection to read from.

        Returns:
            context: coding, debugging, learning, analysis, manipulation, navigation, perception,
                safety, calibration or general.
            intent: Classified intent.
            prompts: Prompts, highest priority first.
            suggestions: Suggested next steps.
            related_topics: Other topics of the retrieved memories.
            learning_path: Recorded steps for this task, in order.

        """
        answer: SageSmartPromptResponse = self._run(
            'sage_smart_prompt',
            True,
            {
                'user_input': user_input,
                'include_suggestions': include_suggestions,
                'collection': collection,
            },
        )
        return answer

    def sage_system_status(
        self,
        include_errors: bool = True,
        include_performance: bool = True,
        include_optimization: bool = True,
    ) -> SageSystemStatusResponse:
        """
        Report system status: health, capabilities, errors, performance and recommendations.

        Args:
            include_errors: Include errors since the start.
            include_performance: Include timings and resource usage.
            include_optimization: Include recommended actions.

        Returns:
            status: healthy or unhealthy.
            timestamp: Time of the report, UTC.
            version: Package version.
            memory_count: Number of active memories; null if the store cannot be read.
            database: connected or unavailable.
            cache_status: active, loading or inactive.
            capabilities: Eight flags; true if the capability is available.
            errors: Errors by code, severity and operation, the ten most recent ones, and extension
                status.
            performance: Timings of tools and operations, and usage of cache, model, memory and
                disk.
            optimization: List of {measured, command}: a measurement and the command that improves
                it.

        """
        answer: SageSystemStatusResponse = self._run(
            'sage_system_status',
            True,
            {
                'include_errors': include_errors,
                'include_performance': include_performance,
                'include_optimization': include_optimization,
            },
        )
        return answer


class ConversationMethods(ToolCaller):
    """Call save_conversation, get_context."""

    def save_conversation(
        self,
        user_prompt: str,
        assistant_response: str,
        metadata: dict[str, Any] | str | None = None,
        session_id: str | None = None,
        collection: str | None = None,
        actor_id: str | None = None,
    ) -> SaveConversationResponse:
        """
        Store a conversation exchange verbatim: the user's turn and the response.

        Statements of the user (a preference, a constraint, a decision, or text after "remember")
        are also stored as separate memories.

        Args:
            user_prompt: Text of the operator or planner.
            assistant_response: Text of the response.
            metadata: Metadata as JSON: topic, importance ("high"), actor_id of the speaker.
            session_id: Session id; empty: the newest open session, or a new one if none is open.
            collection: Collection to store it in; empty: that of the session.
            actor_id: Speaker, e.g. operator:anna; empty: operator.

        Returns:
            saved: True: it is committed.
            session_id: Session id.
            turn_id: Number of the first of the two turns in the session.
            memory_ids: Ids of the two turns, then of the statements extracted from them:
                preferences, constraints, decisions.
            event_id: Event id shared by all of them.

        """
        answer: SaveConversationResponse = self._run(
            'save_conversation',
            False,
            {
                'user_prompt': user_prompt,
                'assistant_response': assistant_response,
                'metadata': metadata,
                'session_id': session_id,
                'collection': collection,
                'actor_id': actor_id,
            },
        )
        return answer

    def get_context(
        self,
        query: str,
        max_results: int | None = None,
        strategy: str = '',
        collection: str = 'default',
        actor_id: str | None = None,
        max_characters: int = 4000,
        read: str = 'auto',
        situation: dict[str, Any] | str | None = None,
        max_age_s: float = 60.0,
    ) -> GetContextResponse:
        """
        Return prompt-ready context for a planned action.

        Call it before planning or acting, with the whole task in one sentence, and say in
        situation who is near.

        Rules come first: all constraints, gotchas and postmortems whose condition is met (applies)
        or unknown (may apply), each with why. Then what people said as quotes, then other facts,
        then quotes of what was seen and read; each line has the memory's id, kind, date and
        source. Rules that anyone but an operator changed are named with their old text. The text
        states how many memories did not fit into max_characters.

        Args:
            query: Planned action or topic.
            max_results: Maximum; default: default_results (5).
            strategy: HYBRID_ADVANCED, AGGRESSIVE (low-confidence memories too), CONSERVATIVE (only
                high-confidence ones) or a custom one; default: the setting default_strategy.
            collection: Collection to read from.
            actor_id: Restrict to what this actor said or did.
            max_characters: Maximum length of the text; rules that apply are never cut.
            read: auto: read times, events, bounds, order and counts in the query; off: search.
            situation: What is known now: {"people_near": ["Li"], "tool": "soft gripper", "place":
                "lab", "time": "14:30", "age_s": 5}; people_near: all who are near, [] for nobody.
            max_age_s: Age at which the situation is unknown.

        Returns:
            context: Prompt-ready text: rules of operators and planners first, with why they are
                there, then quotes of people and other memories, dated, with ids and sources.
            results: Memories that the search found, in the order of the text.
            strategy_used: Strategy that was used.
            num_results: Number of results.
            rules: Rules for the planned action, whatever the search found.
            rules_complete: False if a rule that applies or may apply is missing from the text.
            situation: What was known of the situation, and where each value came from.
            read_as: What was read in the query, e.g. "contacts, peak force over 5 N, newest
                first"; says if nothing is stored of its time.
            no_match: True if no event passes what was read: the memories are those of a plain
                search.
            events: Events that pass what was read, in its order; their memories come first.
            aggregate: The count, mean, sum, ... that the query asks for.
            aggregate_ids: Ids of the events that the aggregate rests on; the first 1,000.
            linked: Events linked to it, at most 10: its task, session, outcome, pictures, and what
                was at the same time.
            linked_total: Number of linked events that there are, up to 200.
            why_empty: Why the answer is empty: the condition that excludes all, and what is near
                to it.

        """
        answer: GetContextResponse = self._run(
            'get_context',
            True,
            {
                'query': query,
                'max_results': max_results,
                'strategy': strategy,
                'collection': collection,
                'actor_id': actor_id,
                'max_characters': max_characters,
                'read': read,
                'situation': situation,
                'max_age_s': max_age_s,
            },
        )
        return answer


class RecordMethods(ToolCaller):
    """Call query_records."""

    def query_records(
        self,
        actor_id: str | None = None,
        session_id: str | None = None,
        where: dict[str, Any] | str | None = None,
        limit: int = 10,
        offset: int = 0,
        as_of: str = '',
        near: dict[str, Any] | str | None = None,
    ) -> QueryRecordsResponse:
        """
        List matching records, newest first, with pagination.

        Call it for an exact, complete list; recall ranks instead.

        Without a condition on status only active records are listed; with one, soft-deleted and
        superseded records are included, with their audit trail.

        Args:
            actor_id: Actor who said or did it.
            session_id: Session id.
            where: Conditions as JSON, combined with AND: {"created_at": {"$gte":
                "2026-03-09T10:30:00Z"}, "category": "gotcha", "task.success": true}; $eq $ne $gt
                $gte $lt $lte $in $nin.
            limit: Maximum number of records.
            offset: Number of records to skip.
            as_of: As of an instant (ISO 8601) or audit line (#120).
            near: In any frame: {"frame": map, "position": [x,y,z]}, {"of": mem_12, frame or
                object} or {"in": region}; optional at, within (m), probability. Here within or in
                is required.

        Returns:
            memory_id: Store id.
            records: Page of records, newest first.
            total_count: Number of matching records on all pages.
            as_of: The state that was listed: line, at, gone, the memories of then that were erased
                or folded since, and instant, which as_of was read as (of a date its beginning in
                UTC).
            near: Of near: frame, position, at (the instant of the transforms), not_compared
                (reason and number of what passes but cannot be brought into the frame), moving
                (frames that move), map (the revision that is asked), anchored (older revisions
                among the answers, with residuals).
            why_empty: Why the answer is empty: the condition that excludes all, and what is near
                to it.

        """
        answer: QueryRecordsResponse = self._run(
            'query_records',
            True,
            {
                'actor_id': actor_id,
                'session_id': session_id,
                'where': where,
                'limit': limit,
                'offset': offset,
                'as_of': as_of,
                'near': near,
            },
        )
        return answer
