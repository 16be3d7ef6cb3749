CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;
CREATE TABLE sessions (
            id TEXT PRIMARY KEY,
            collection TEXT NOT NULL,
            context TEXT NOT NULL,
            status TEXT NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'ended')),
            outcome_score REAL,
            created_at INTEGER NOT NULL,
            ended_at INTEGER
        , title TEXT NOT NULL DEFAULT '', tags TEXT NOT NULL DEFAULT '[]', metadata TEXT NOT NULL DEFAULT '{}', updated_at INTEGER NOT NULL DEFAULT 0, saved_at INTEGER, created_epoch INTEGER REFERENCES clock_epochs (id), updated_epoch INTEGER REFERENCES clock_epochs (id), saved_epoch INTEGER REFERENCES clock_epochs (id), ended_epoch INTEGER REFERENCES clock_epochs (id)) WITHOUT ROWID;
CREATE TABLE memories (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            type TEXT NOT NULL CHECK (type IN ('fact', 'perception', 'turn')),
            collection TEXT NOT NULL,
            session_id TEXT REFERENCES sessions (id),
            content TEXT NOT NULL,
            content_hash BLOB NOT NULL,
            guard TEXT NOT NULL,
            token_count INTEGER NOT NULL,
            category TEXT NOT NULL,
            confidence REAL NOT NULL,
            confidence_base REAL NOT NULL,
            tags TEXT NOT NULL,
            scope_files TEXT NOT NULL,
            perception_type TEXT,
            context TEXT NOT NULL,
            actor_id TEXT,
            event_id TEXT,
            strategy_name TEXT NOT NULL,
            stamp INTEGER,
            frame_id TEXT,
            pose TEXT,
            status TEXT NOT NULL DEFAULT 'active'
                CHECK (status IN ('active', 'invalidated', 'superseded')),
            superseded_by INTEGER REFERENCES memories (id),
            access_count INTEGER NOT NULL DEFAULT 0,
            last_accessed INTEGER,
            created_at INTEGER NOT NULL,
            updated_at INTEGER NOT NULL
        , created_epoch INTEGER REFERENCES "clock_epochs" (id), accessed_epoch INTEGER REFERENCES "clock_epochs" (id), writer_id INTEGER REFERENCES writers (id), authority TEXT NOT NULL DEFAULT 'planner', stands INTEGER NOT NULL DEFAULT 1, updated_epoch INTEGER REFERENCES clock_epochs (id), stamp_is_local INTEGER NOT NULL DEFAULT 0, salt BLOB);
CREATE INDEX memories_by_guard ON memories (collection, guard, token_count)
            WHERE status = 'active' AND type = 'fact';
CREATE INDEX memories_by_session ON memories (session_id) WHERE session_id IS NOT NULL;
CREATE INDEX memories_by_collection ON memories (collection, confidence)
            WHERE status = 'active';
CREATE TABLE payloads (
            memory_id INTEGER PRIMARY KEY REFERENCES memories (id),
            data TEXT,
            metadata TEXT
        );
CREATE TABLE audit (
            id INTEGER PRIMARY KEY,
            memory_id INTEGER,
            action TEXT NOT NULL,
            actor TEXT NOT NULL,
            reason TEXT NOT NULL,
            detail TEXT NOT NULL,
            at INTEGER NOT NULL
        , writer_id INTEGER REFERENCES writers (id), epoch INTEGER REFERENCES clock_epochs (id), last_memory_id INTEGER NOT NULL DEFAULT 0, digest BLOB, salt BLOB, note BLOB NOT NULL DEFAULT x'', chain BLOB NOT NULL DEFAULT x'');
CREATE INDEX audit_by_memory ON audit (memory_id);
CREATE VIRTUAL TABLE memories_fts USING fts5 (
            terms,
            content = '',
            contentless_delete = 1,
            tokenize = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
        );
CREATE VIRTUAL TABLE memories_vocabulary USING fts5vocab (memories_fts, row);
CREATE TABLE parts (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            memory_id INTEGER NOT NULL REFERENCES memories (id),
            name TEXT NOT NULL,
            media_type TEXT NOT NULL,
            size INTEGER NOT NULL,
            protected INTEGER NOT NULL,
            content BLOB,
            removed_at INTEGER,
            UNIQUE (memory_id, name)
        );
CREATE INDEX parts_to_remove ON parts (id) WHERE protected = 0 AND content IS NOT NULL;
CREATE INDEX parts_removed ON parts (removed_at) WHERE removed_at IS NOT NULL;
CREATE INDEX memories_by_stamp ON memories (collection, stamp)
            WHERE stamp IS NOT NULL AND status = 'active';
CREATE TABLE indexed (
            memory_id INTEGER PRIMARY KEY,
            collection TEXT NOT NULL,
            real INTEGER NOT NULL,
            terms BLOB NOT NULL,
            coarse BLOB,
            fine BLOB
        , form INTEGER);
CREATE INDEX indexed_by_collection ON indexed (collection);
CREATE TABLE collections (
            name TEXT PRIMARY KEY,
            memories INTEGER NOT NULL
        ) WITHOUT ROWID;
CREATE TABLE changes (
            seq INTEGER PRIMARY KEY AUTOINCREMENT,
            memory_id INTEGER NOT NULL,
            collection TEXT NOT NULL
        );
CREATE TABLE facet_paths (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE facets (
            path_id INTEGER NOT NULL,
            value NOT NULL,
            memory_id INTEGER NOT NULL,
            PRIMARY KEY (path_id, value, memory_id)
        ) WITHOUT ROWID;
CREATE TABLE place_paths (
            id INTEGER PRIMARY KEY,
            collection TEXT NOT NULL,
            path TEXT NOT NULL,
            length INTEGER NOT NULL,
            UNIQUE (collection, path, length)
        );
CREATE TABLE places (
            path_id INTEGER NOT NULL,
            cell BLOB NOT NULL,
            memory_id INTEGER NOT NULL,
            PRIMARY KEY (path_id, cell, memory_id)
        ) WITHOUT ROWID;
CREATE INDEX memories_by_actor ON memories (actor_id) WHERE actor_id IS NOT NULL;
CREATE INDEX memories_by_event ON memories (event_id) WHERE event_id IS NOT NULL;
CREATE INDEX memories_by_category ON memories (category)
            WHERE category <> 'observation';
CREATE INDEX memories_by_measurement ON memories (stamp) WHERE stamp IS NOT NULL;
CREATE INDEX memories_by_access ON memories (last_accessed)
            WHERE last_accessed IS NOT NULL;
CREATE INDEX memories_by_change ON memories (updated_at)
            WHERE updated_at <> created_at;
CREATE INDEX memories_ended ON memories (status) WHERE status <> 'active';
CREATE INDEX sessions_by_change ON sessions (updated_at);
CREATE TABLE turns (
            memory_id INTEGER PRIMARY KEY REFERENCES memories (id),
            session_id TEXT NOT NULL REFERENCES sessions (id),
            number INTEGER NOT NULL,
            role TEXT NOT NULL CHECK (role IN ('user', 'assistant')),
            UNIQUE (session_id, number)
        );
CREATE VIEW conversations AS
            SELECT 'mem_' || m.id AS id,
                t.session_id AS session_id,
                t.number AS turn_id,
                t.role AS role,
                m.content AS content,
                i.coarse AS embedding,
                m.context AS metadata,
                strftime('%Y-%m-%dT%H:%M:%f', m.created_at / 1e6, 'unixepoch') AS created_at,
                strftime('%Y-%m-%dT%H:%M:%f', m.updated_at / 1e6, 'unixepoch') AS updated_at
            FROM turns AS t
            JOIN memories AS m ON m.id = t.memory_id
            LEFT JOIN indexed AS i ON i.memory_id = m.id
            WHERE m.status = 'active';
CREATE TABLE counts (
            type TEXT NOT NULL,
            status TEXT NOT NULL,
            memories INTEGER NOT NULL,
            PRIMARY KEY (type, status)
        ) WITHOUT ROWID;
CREATE TABLE origins (
            memory_id INTEGER PRIMARY KEY,
            store_id TEXT NOT NULL,
            first_id INTEGER NOT NULL,
            created_at INTEGER NOT NULL,
            UNIQUE (store_id, first_id, created_at)
        );
CREATE INDEX memories_by_perception ON memories (perception_type)
            WHERE perception_type IS NOT NULL;
CREATE INDEX memories_by_frame ON memories (frame_id) WHERE frame_id IS NOT NULL;
CREATE TABLE "clock_epochs" (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            wall INTEGER NOT NULL,
            boot INTEGER NOT NULL DEFAULT 0, last_wall INTEGER NOT NULL DEFAULT 0, last_boot INTEGER NOT NULL DEFAULT 0, boot_id TEXT NOT NULL DEFAULT '', time_namespace TEXT NOT NULL DEFAULT '', segment INTEGER NOT NULL DEFAULT 0, evidence TEXT NOT NULL DEFAULT '', trusted INTEGER NOT NULL DEFAULT 1, reason TEXT NOT NULL DEFAULT '', offset INTEGER NOT NULL DEFAULT 0, uncertain INTEGER NOT NULL DEFAULT 0, settled INTEGER NOT NULL DEFAULT 1);
CREATE TABLE retired_by_age (
            memory_id INTEGER PRIMARY KEY REFERENCES memories (id),
            at INTEGER NOT NULL
        , epoch INTEGER REFERENCES clock_epochs (id));
CREATE TABLE writers (
            id INTEGER PRIMARY KEY,
            face TEXT NOT NULL,
            client TEXT NOT NULL,
            principal TEXT NOT NULL,
            actor TEXT NOT NULL,
            authority TEXT NOT NULL CHECK (authority IN
                ('operator', 'planner', 'robot', 'person', 'observed', 'imported')),
            UNIQUE (face, client, principal, actor, authority)
        );
CREATE TABLE observations (
            id INTEGER PRIMARY KEY,
            memory_id INTEGER NOT NULL REFERENCES memories (id),
            at INTEGER NOT NULL,
            epoch INTEGER,
            writer_id INTEGER NOT NULL REFERENCES writers (id),
            session_id TEXT REFERENCES sessions (id),
            text TEXT,
            context TEXT NOT NULL,
            stamp INTEGER,
            outcome TEXT,
            simulated INTEGER,
            audit_id INTEGER REFERENCES audit (id)
        , actor_id TEXT, newer INTEGER NOT NULL DEFAULT 0, ended_by INTEGER);
CREATE TABLE proposals (
            id INTEGER PRIMARY KEY,
            memory_id INTEGER NOT NULL REFERENCES memories (id),
            action TEXT NOT NULL CHECK (action IN ('update', 'forget', 'replace')),
            content TEXT,
            context TEXT,
            reason TEXT NOT NULL,
            writer_id INTEGER NOT NULL REFERENCES writers (id),
            at INTEGER NOT NULL,
            epoch INTEGER,
            state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'accepted', 'rejected')),
            decided_by INTEGER REFERENCES writers (id),
            decided_at INTEGER,
            decided_epoch INTEGER
        , replacing_id INTEGER REFERENCES memories (id));
CREATE INDEX proposals_by_memory ON proposals (memory_id);
CREATE INDEX open_proposals ON proposals (id) WHERE state = 'open';
CREATE TABLE protected_changes (
            id INTEGER PRIMARY KEY,
            memory_id INTEGER NOT NULL REFERENCES memories (id),
            action TEXT NOT NULL,
            content TEXT NOT NULL,
            writer_id INTEGER NOT NULL REFERENCES writers (id),
            at INTEGER NOT NULL,
            epoch INTEGER,
            confirmed_by INTEGER REFERENCES writers (id),
            confirmed_at INTEGER,
            confirmed_epoch INTEGER
        );
CREATE INDEX unconfirmed_changes ON protected_changes (memory_id)
            WHERE confirmed_by IS NULL;
CREATE INDEX clock_epochs_corrected ON clock_epochs (id) WHERE offset <> 0;
CREATE INDEX clock_epochs_unsettled ON clock_epochs (id) WHERE settled = 0;
CREATE TABLE decay_rates (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            epoch INTEGER REFERENCES clock_epochs (id),
            at INTEGER NOT NULL,
            rate REAL NOT NULL
        );
CREATE TABLE decays (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            collection TEXT NOT NULL,
            epoch INTEGER REFERENCES clock_epochs (id),
            at INTEGER NOT NULL
        );
CREATE INDEX decays_by_collection ON decays (collection, id);
CREATE TABLE accesses (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            memory_id INTEGER NOT NULL REFERENCES memories (id),
            epoch INTEGER NOT NULL REFERENCES clock_epochs (id),
            at INTEGER NOT NULL,
            decay_id INTEGER NOT NULL,
            applied INTEGER NOT NULL,
            base REAL,
            last_accessed INTEGER,
            last_epoch INTEGER REFERENCES clock_epochs (id)
        );
CREATE INDEX accesses_by_memory ON accesses (memory_id, id);
CREATE INDEX accesses_by_epoch ON accesses (epoch);
CREATE INDEX accesses_waiting ON accesses (epoch) WHERE applied = 0;
CREATE INDEX retired_by_age_by_epoch ON retired_by_age (epoch);
CREATE INDEX sessions_open ON sessions (created_epoch, created_at) WHERE status = 'open';
CREATE TABLE revisions (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            memory_id INTEGER NOT NULL REFERENCES memories (id),
            audit_id INTEGER NOT NULL,
            content TEXT NOT NULL,
            actor_id TEXT,
            category TEXT NOT NULL,
            confidence REAL NOT NULL,
            confidence_base REAL NOT NULL,
            tags TEXT NOT NULL,
            scope_files TEXT NOT NULL,
            context TEXT NOT NULL,
            strategy_name TEXT NOT NULL,
            status TEXT NOT NULL,
            superseded_by INTEGER,
            authority TEXT NOT NULL,
            stands INTEGER NOT NULL,
            writer_id INTEGER REFERENCES writers (id),
            updated_at INTEGER NOT NULL,
            updated_epoch INTEGER,
            last_accessed INTEGER,
            accessed_epoch INTEGER,
            salt BLOB
        );
CREATE INDEX revisions_by_memory ON revisions (memory_id, audit_id);
CREATE INDEX revisions_by_line ON revisions (audit_id);
CREATE TABLE event_names (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
CREATE TABLE figures (
            id INTEGER PRIMARY KEY,
            kind INTEGER NOT NULL REFERENCES event_names (id),
            name TEXT NOT NULL,
            unit TEXT NOT NULL,
            slot INTEGER,
            UNIQUE (kind, name, unit)
        );
CREATE TABLE events (
            id INTEGER PRIMARY KEY,
            kind INTEGER NOT NULL,
            active INTEGER NOT NULL,
            onset INTEGER NOT NULL,
            "end" INTEGER,
            value_1 REAL,
            value_2 REAL,
            value_3 REAL,
            value_4 REAL,
            epoch INTEGER,
            label INTEGER,
            topic INTEGER,
            task INTEGER,
            session INTEGER,
            robot INTEGER,
            recording INTEGER,
            recording_offset INTEGER,
            collection INTEGER NOT NULL,
            frame INTEGER,
            source INTEGER,
            subject INTEGER,
            peak INTEGER NOT NULL,
            look TEXT,
            broken_off INTEGER NOT NULL,
            memory_id INTEGER,
            others TEXT
        );
CREATE INDEX events_of_sessions ON events (session) WHERE id < 0;
CREATE INDEX events_of_memories ON events (memory_id) WHERE memory_id IS NOT NULL;
CREATE INDEX events_whole ON events (kind, label, onset) WHERE id = memory_id;
CREATE INDEX memories_superseding ON memories (superseded_by)
            WHERE superseded_by IS NOT NULL;
CREATE TABLE sizes (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE audit_gaps (
            first INTEGER PRIMARY KEY,
            last INTEGER NOT NULL,
            chain BLOB NOT NULL
        );
CREATE INDEX audit_of_removals ON audit (at)
            WHERE action = 'payload_removed' AND memory_id IS NULL;
CREATE INDEX events_by_kind ON events (kind, onset);
CREATE INDEX events_long ON events (kind, topic, onset, peak, "end")
            WHERE "end" IS NULL OR "end" - onset > 3600000000000;
CREATE INDEX events_pictured ON events (topic, peak) WHERE look IS NOT NULL;
CREATE TABLE event_hours (
            kind INTEGER NOT NULL,
            hour INTEGER NOT NULL,
            number INTEGER NOT NULL,
            shortest INTEGER,
            longest INTEGER,
            low_1 REAL, high_1 REAL, low_2 REAL, high_2 REAL, low_3 REAL, high_3 REAL, low_4 REAL, high_4 REAL,
            PRIMARY KEY (kind, hour)
        ) WITHOUT ROWID;
CREATE TRIGGER events_inserted AFTER INSERT ON events BEGIN INSERT INTO event_hours (kind, hour, number, shortest, longest, low_1, high_1, low_2, high_2, low_3, high_3, low_4, high_4) VALUES (new.kind, new.onset / 3600000000000, 1, new."end" - new.onset, new."end" - new.onset, new.value_1, new.value_1, new.value_2, new.value_2, new.value_3, new.value_3, new.value_4, new.value_4) ON CONFLICT (kind, hour) DO UPDATE SET number = number + 1, shortest = min(coalesce(shortest, excluded.shortest), coalesce(excluded.shortest, shortest)), low_1 = min(coalesce(low_1, excluded.low_1), coalesce(excluded.low_1, low_1)), low_2 = min(coalesce(low_2, excluded.low_2), coalesce(excluded.low_2, low_2)), low_3 = min(coalesce(low_3, excluded.low_3), coalesce(excluded.low_3, low_3)), low_4 = min(coalesce(low_4, excluded.low_4), coalesce(excluded.low_4, low_4)), longest = max(coalesce(longest, excluded.longest), coalesce(excluded.longest, longest)), high_1 = max(coalesce(high_1, excluded.high_1), coalesce(excluded.high_1, high_1)), high_2 = max(coalesce(high_2, excluded.high_2), coalesce(excluded.high_2, high_2)), high_3 = max(coalesce(high_3, excluded.high_3), coalesce(excluded.high_3, high_3)), high_4 = max(coalesce(high_4, excluded.high_4), coalesce(excluded.high_4, high_4)); END;
CREATE TRIGGER events_changed AFTER UPDATE OF kind, onset, "end", value_1, value_2, value_3, value_4 ON events BEGIN INSERT INTO event_hours (kind, hour, number, shortest, longest, low_1, high_1, low_2, high_2, low_3, high_3, low_4, high_4) VALUES (new.kind, new.onset / 3600000000000, 1, new."end" - new.onset, new."end" - new.onset, new.value_1, new.value_1, new.value_2, new.value_2, new.value_3, new.value_3, new.value_4, new.value_4) ON CONFLICT (kind, hour) DO UPDATE SET number = number + 0, shortest = min(coalesce(shortest, excluded.shortest), coalesce(excluded.shortest, shortest)), low_1 = min(coalesce(low_1, excluded.low_1), coalesce(excluded.low_1, low_1)), low_2 = min(coalesce(low_2, excluded.low_2), coalesce(excluded.low_2, low_2)), low_3 = min(coalesce(low_3, excluded.low_3), coalesce(excluded.low_3, low_3)), low_4 = min(coalesce(low_4, excluded.low_4), coalesce(excluded.low_4, low_4)), longest = max(coalesce(longest, excluded.longest), coalesce(excluded.longest, longest)), high_1 = max(coalesce(high_1, excluded.high_1), coalesce(excluded.high_1, high_1)), high_2 = max(coalesce(high_2, excluded.high_2), coalesce(excluded.high_2, high_2)), high_3 = max(coalesce(high_3, excluded.high_3), coalesce(excluded.high_3, high_3)), high_4 = max(coalesce(high_4, excluded.high_4), coalesce(excluded.high_4, high_4)); END;
CREATE INDEX observations_by_memory ON observations
            (memory_id, ended_by, newer, outcome, simulated, at, epoch);
CREATE INDEX observations_by_session ON observations (session_id)
            WHERE session_id IS NOT NULL;
CREATE INDEX observations_by_actor ON observations (actor_id) WHERE actor_id IS NOT NULL;
CREATE TABLE replacements (
            id INTEGER PRIMARY KEY,
            replacing_id INTEGER NOT NULL REFERENCES memories (id),
            replaced_id INTEGER NOT NULL REFERENCES memories (id),
            audit_id INTEGER NOT NULL REFERENCES audit (id),
            settled INTEGER NOT NULL,
            ended_by INTEGER
        );
CREATE INDEX replacements_by_replacing ON replacements (replacing_id);
CREATE INDEX replacements_by_replaced ON replacements (replaced_id);
CREATE TABLE rule_conditions (
            memory_id INTEGER PRIMARY KEY,
            content_hash BLOB NOT NULL,
            version INTEGER NOT NULL,
            condition TEXT NOT NULL
        );
CREATE TABLE models (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            dimension INTEGER NOT NULL
        );
CREATE TABLE other_vectors (
            model INTEGER NOT NULL REFERENCES models (id),
            memory_id INTEGER NOT NULL,
            collection TEXT NOT NULL,
            coarse BLOB,
            fine BLOB,
            PRIMARY KEY (model, memory_id)
        ) WITHOUT ROWID;
CREATE INDEX other_vectors_missing ON other_vectors (model, memory_id)
            WHERE coarse IS NULL;
CREATE INDEX other_vectors_by_collection ON other_vectors (model, collection);
CREATE TABLE forms (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            collection TEXT NOT NULL,
            digest BLOB NOT NULL UNIQUE
        );
CREATE INDEX forms_by_collection ON forms (collection);
CREATE TABLE form_vectors (
            form INTEGER NOT NULL REFERENCES forms (id),
            model INTEGER NOT NULL,
            coarse BLOB,
            fine BLOB,
            PRIMARY KEY (form, model)
        ) WITHOUT ROWID;
CREATE INDEX form_vectors_missing ON form_vectors (model, form) WHERE coarse IS NULL;
CREATE INDEX indexed_by_form ON indexed (form) WHERE form IS NOT NULL;
CREATE INDEX indexed_without_vector ON indexed (memory_id)
            WHERE coarse IS NULL AND form IS NULL;
CREATE TABLE situations (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            digest BLOB NOT NULL UNIQUE
        );
CREATE TABLE situation_vectors (
            situation INTEGER NOT NULL REFERENCES situations (id),
            model TEXT NOT NULL,
            vector BLOB NOT NULL,
            PRIMARY KEY (situation, model)
        ) WITHOUT ROWID;
CREATE TABLE trials (
            memory_id INTEGER PRIMARY KEY,
            version INTEGER NOT NULL,
            collection TEXT NOT NULL,
            skill TEXT NOT NULL,
            situation INTEGER NOT NULL REFERENCES situations (id),
            figures TEXT NOT NULL,
            success INTEGER,
            simulated INTEGER NOT NULL,
            robot TEXT,
            surprise REAL,
            key TEXT,
            body TEXT
        );
CREATE INDEX trials_by_skill ON trials (collection, skill, memory_id);
CREATE INDEX trials_by_situation ON trials (situation);
CREATE INDEX trials_by_key ON trials (collection, key) WHERE key IS NOT NULL;
CREATE TABLE trial_uses (
            used INTEGER NOT NULL,
            trial INTEGER NOT NULL,
            PRIMARY KEY (used, trial)
        ) WITHOUT ROWID;
CREATE INDEX trial_uses_by_trial ON trial_uses (trial);
CREATE TABLE skill_states (
            collection TEXT NOT NULL,
            skill TEXT NOT NULL,
            trials INTEGER NOT NULL,
            last INTEGER NOT NULL,
            state TEXT NOT NULL,
            PRIMARY KEY (collection, skill)
        ) WITHOUT ROWID;
CREATE TABLE tombstones (
            id INTEGER PRIMARY KEY,
            erasure INTEGER NOT NULL,
            store_id TEXT,
            first_id INTEGER,
            created_at INTEGER,
            source TEXT,
            topic TEXT,
            subject BLOB,
            onset INTEGER,
            peak INTEGER,
            "end" INTEGER
        );
CREATE INDEX tombstones_by_origin ON tombstones (first_id, store_id)
            WHERE store_id IS NOT NULL;
CREATE INDEX tombstones_by_onset ON tombstones (onset) WHERE topic IS NOT NULL;
CREATE INDEX tombstones_by_peak ON tombstones (peak) WHERE topic IS NOT NULL;
CREATE INDEX tombstones_by_end ON tombstones ("end") WHERE topic IS NOT NULL;
CREATE TABLE confirmations (
            token BLOB PRIMARY KEY,
            action TEXT NOT NULL,
            principal TEXT NOT NULL,
            at INTEGER NOT NULL,
            items TEXT NOT NULL
        ) WITHOUT ROWID;
CREATE TABLE erasures (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            state TEXT NOT NULL CHECK (state IN ('pending', 'cleaning', 'done')),
            at INTEGER NOT NULL,
            epoch INTEGER REFERENCES clock_epochs (id),
            writer_id INTEGER NOT NULL REFERENCES writers (id),
            reason TEXT NOT NULL,
            items TEXT NOT NULL,
            counts TEXT NOT NULL,
            digests TEXT NOT NULL,
            -- What the proof looks for; removed before it.
            words TEXT,
            waits_for TEXT NOT NULL DEFAULT '',
            receipt TEXT
        );
CREATE INDEX erasures_unfinished ON erasures (id) WHERE state <> 'done';
CREATE TABLE place_frames (
            id INTEGER PRIMARY KEY,
            collection TEXT NOT NULL,
            frame TEXT NOT NULL,
            map TEXT NOT NULL,
            revision INTEGER NOT NULL,
            UNIQUE (collection, frame, map, revision)
        );
CREATE TABLE placed (
            memory_id INTEGER PRIMARY KEY,
            frame_id INTEGER NOT NULL REFERENCES place_frames (id),
            x REAL NOT NULL,
            y REAL NOT NULL,
            z REAL NOT NULL,
            spread BLOB
        );
CREATE INDEX placed_by_frame ON placed (frame_id, memory_id);
CREATE TABLE transform_instants (
            source TEXT NOT NULL,
            stamp INTEGER NOT NULL,
            PRIMARY KEY (source, stamp)
        ) WITHOUT ROWID;
CREATE TABLE transforms (
            source TEXT NOT NULL,
            child TEXT NOT NULL,
            stamp INTEGER NOT NULL,
            parent TEXT NOT NULL,
            static INTEGER NOT NULL,
            numbers BLOB,
            PRIMARY KEY (source, child, stamp)
        ) WITHOUT ROWID;
CREATE TABLE part_digests (
            part_id INTEGER PRIMARY KEY,
            digest BLOB NOT NULL
        );
CREATE TRIGGER parts_deleted AFTER DELETE ON parts BEGIN
            DELETE FROM part_digests WHERE part_id = old.id;
        END;
CREATE TABLE maps (
            id INTEGER PRIMARY KEY,
            frame TEXT NOT NULL,
            name TEXT NOT NULL,
            revision INTEGER NOT NULL,
            mapping INTEGER NOT NULL,
            digest BLOB,
            at INTEGER NOT NULL,
            epoch INTEGER REFERENCES clock_epochs (id),
            writer_id INTEGER NOT NULL REFERENCES writers (id)
        );
CREATE TABLE map_anchors (
            id INTEGER PRIMARY KEY,
            old_name TEXT NOT NULL,
            old_revision INTEGER NOT NULL,
            name TEXT NOT NULL,
            revision INTEGER NOT NULL,
            numbers BLOB NOT NULL,
            residual REAL NOT NULL,
            landmarks INTEGER NOT NULL,
            at INTEGER NOT NULL,
            epoch INTEGER REFERENCES clock_epochs (id),
            writer_id INTEGER NOT NULL REFERENCES writers (id)
        );
CREATE TABLE regions (
            key TEXT PRIMARY KEY,
            name TEXT NOT NULL,
            frame TEXT NOT NULL,
            map TEXT NOT NULL,
            revision INTEGER NOT NULL,
            shape TEXT NOT NULL,
            at INTEGER NOT NULL,
            epoch INTEGER REFERENCES clock_epochs (id),
            writer_id INTEGER NOT NULL REFERENCES writers (id)
        ) WITHOUT ROWID;
CREATE INDEX memories_before_decay ON memories (collection, confidence_base)
            WHERE status = 'active';
CREATE INDEX memories_by_strategy ON memories (strategy_name)
            WHERE strategy_name <> 'episodic';
CREATE INDEX memories_of_turns ON memories (type) WHERE type = 'turn';
CREATE INDEX memories_without_modality ON memories (type)
            WHERE type = 'perception' AND perception_type IS NULL;
CREATE INDEX memories_by_occurrence ON memories
            (coalesce(stamp / 1000, created_at), id, type, perception_type)
            WHERE status = 'active';
CREATE INDEX memories_by_hash ON memories (substr(content_hash, 1, 8))
            WHERE status = 'active' AND type = 'fact';
CREATE INDEX memories_by_time ON memories (created_at);
INSERT INTO event_names (id, name) VALUES (1, 'contact');
INSERT INTO event_names (id, name) VALUES (2, 'motion');
INSERT INTO event_names (id, name) VALUES (3, 'scene');
INSERT INTO figures (id, kind, name, unit, slot) VALUES (1, 1, 'peak_force', 'N', 1);
INSERT INTO figures (id, kind, name, unit, slot) VALUES (2, 1, 'mean_force', 'N', 2);
INSERT INTO figures (id, kind, name, unit, slot) VALUES (3, 1, 'peak_torque', 'N m', 3);
INSERT INTO figures (id, kind, name, unit, slot) VALUES (4, 1, 'impulse', 'N s', 4);
INSERT INTO figures (id, kind, name, unit, slot) VALUES (5, 2, 'peak_speed', 'rad/s', 1);
INSERT INTO figures (id, kind, name, unit, slot) VALUES (6, 2, 'peak_effort', 'N m', 2);
INSERT INTO figures (id, kind, name, unit, slot) VALUES (7, 2, 'travel', 'rad', 3);
INSERT INTO figures (id, kind, name, unit, slot) VALUES (8, 3, 'changed_share', '', 1);
INSERT INTO sizes (name, value) VALUES ('payloads', 0);
