-- What a directory or a name can belong to. The id is never used twice; slugs may change.
CREATE TABLE project (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    slug TEXT NOT NULL UNIQUE,
    repo TEXT,
    stack TEXT,
    check_command TEXT,
    priority INTEGER NOT NULL DEFAULT 3 CHECK (priority BETWEEN 1 AND 5),
    summary TEXT,
    created_at_ms INTEGER NOT NULL,
    changed_at_ms INTEGER NOT NULL
) STRICT;

-- Further names of projects, former slugs among them.
CREATE TABLE project_alias (
    alias TEXT PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES project (id)
) STRICT, WITHOUT ROWID;

CREATE INDEX project_alias_by_project ON project_alias (project_id);

INSERT INTO project (slug, created_at_ms, changed_at_ms)
SELECT project, min(linked_at_ms), min(linked_at_ms) FROM link GROUP BY project ORDER BY min(linked_at_ms), project;

-- Decisions, one row a wording, on two time axes; no project means all. Times are wall clock, Unix milliseconds.
-- True in the world: valid_from_ms to valid_to_ms as the author said, or to ended_ms where something ended it sooner.
-- Known here: recorded_at_ms, and superseded_at_ms when ended_ms became known.
-- A later wording of the same decision names the first one in wording_of.
CREATE TABLE decision (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    project_id INTEGER REFERENCES project (id),
    task TEXT,
    text TEXT NOT NULL,
    digest TEXT NOT NULL,
    author TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('claude', 'codex', 'grok', 'pr', 'human', 'nightly')),
    ref TEXT,
    ref_text TEXT,
    valid_from_ms INTEGER NOT NULL,
    valid_to_ms INTEGER,
    recorded_at_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    superseded_at_ms INTEGER,
    superseded_by TEXT REFERENCES decision (id),
    reason TEXT,
    wording_of TEXT,
    CHECK ((ended_ms IS NULL) = (superseded_at_ms IS NULL))
) STRICT;

CREATE INDEX decision_by_project ON decision (project_id, seq);

CREATE INDEX decision_by_task ON decision (project_id, task, seq) WHERE task IS NOT NULL;

CREATE INDEX decision_by_digest ON decision (digest);

CREATE INDEX decision_by_successor ON decision (superseded_by) WHERE superseded_by IS NOT NULL;

CREATE INDEX decision_by_beginning ON decision (valid_from_ms);

CREATE INDEX decision_by_end ON decision (valid_to_ms) WHERE valid_to_ms IS NOT NULL;

CREATE INDEX decision_by_ending ON decision (ended_ms) WHERE ended_ms IS NOT NULL;

-- Preferences, one row a value that was set; the newest of a key in its scope counts until superseded_at_ms.
CREATE TABLE preference (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('global', 'project', 'lane', 'model')),
    project_id INTEGER REFERENCES project (id),
    scope_id TEXT,
    author TEXT NOT NULL,
    reason TEXT,
    recorded_at_ms INTEGER NOT NULL,
    superseded_at_ms INTEGER,
    superseded_by TEXT REFERENCES preference (id),
    drop_reason TEXT,
    CHECK ((scope = 'project') = (project_id IS NOT NULL)),
    CHECK ((scope IN ('lane', 'model')) = (scope_id IS NOT NULL))
) STRICT;

CREATE INDEX preference_by_scope ON preference (scope, project_id, scope_id, key);

CREATE INDEX preference_by_successor ON preference (superseded_by) WHERE superseded_by IS NOT NULL;

-- What must still be done to this file: an index that is behind, free pages that may hold what was purged.
CREATE TABLE upkeep (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- The feed again, now for events of every kind: those that come from no agent have none, and say more in `data`.
CREATE TABLE event_of_any_kind (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    received_at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    dedupe_key TEXT,
    actor TEXT NOT NULL,
    producer TEXT,
    agent TEXT,
    session_id TEXT,
    workspace TEXT,
    project TEXT,
    project_id INTEGER REFERENCES project (id),
    event TEXT,
    source_event TEXT,
    ref TEXT,
    data TEXT,
    subscription TEXT,
    lane TEXT,
    model TEXT,
    tokens_in INTEGER,
    tokens_out INTEGER,
    cost_micros INTEGER
) STRICT;

-- Ids go on where they were, even if the newest events are gone.
INSERT INTO sqlite_sequence (name, seq)
SELECT 'event_of_any_kind', seq FROM sqlite_sequence WHERE name = 'event';

INSERT INTO event_of_any_kind (
    id, at_ms, received_at_ms, kind, dedupe_key, actor, producer, agent, session_id, workspace, project, project_id,
    event, source_event, tokens_in, tokens_out, cost_micros
)
SELECT
    event.id, at_ms, received_at_ms, kind, dedupe_key, actor, producer, agent, session_id, workspace, project,
    project.id, event, source_event, tokens_in, tokens_out, cost_micros
FROM event LEFT JOIN project ON project.slug = event.project
ORDER BY event.id;

DROP TABLE event;

ALTER TABLE event_of_any_kind RENAME TO event;

CREATE INDEX event_by_project ON event (project_id, id);

CREATE INDEX event_by_kind ON event (kind, id);

CREATE INDEX event_by_project_kind ON event (project_id, kind, id);

CREATE UNIQUE INDEX event_by_dedupe_key ON event (kind, COALESCE(project_id, 0), dedupe_key)
WHERE dedupe_key IS NOT NULL AND kind <> 'hook';
