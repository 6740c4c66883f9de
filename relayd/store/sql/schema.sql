-- The store's own clock, saved with every commit: ages below are measured on it, so that a jump of the wall clock
-- neither forgets a key nor keeps an excerpt.
CREATE TABLE clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    clock_ms INTEGER NOT NULL,
    wall_ms INTEGER NOT NULL
) STRICT;

-- Every queue bound on this machine, so that a restart delivers all of them.
CREATE TABLE bound_queue (
    queue_dir TEXT PRIMARY KEY,
    name TEXT,
    server_url TEXT NOT NULL,
    producer TEXT NOT NULL,
    actor TEXT NOT NULL,
    workspace TEXT NOT NULL,
    project TEXT NOT NULL,
    mode TEXT NOT NULL CHECK (mode IN ('auto', 'manual')),
    is_open INTEGER NOT NULL DEFAULT 0 CHECK (is_open IN (0, 1)),
    next_due_wall_ms INTEGER,
    problem TEXT
) STRICT;

-- The feed: append-only; the id is the cursor of its readers. Times are wall clock, Unix milliseconds. An event without
-- a project is of none; `project` is the name as it was then, `project_id` whose feed it is in.
CREATE TABLE "event" (
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

CREATE INDEX event_by_project ON event (project_id, id);

CREATE INDEX event_by_kind ON event (kind, id);

CREATE INDEX event_by_project_kind ON event (project_id, kind, id);

CREATE UNIQUE INDEX event_by_dedupe_key ON event (kind, COALESCE(project_id, 0), dedupe_key)
WHERE dedupe_key IS NOT NULL AND kind <> 'hook';

-- The start of a body, scrubbed; apart from the event, so that retention never touches the feed itself.
CREATE TABLE excerpt (
    event_id INTEGER PRIMARY KEY REFERENCES event (id),
    kept_at_ms INTEGER NOT NULL,
    text TEXT NOT NULL
) STRICT;

-- Keys that were taken, so that a repeat is recognized; claimed together with the event.
CREATE TABLE ingest_key (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    ingest_key TEXT NOT NULL,
    workspace TEXT NOT NULL,
    project TEXT NOT NULL,
    claimed_at_ms INTEGER NOT NULL,
    UNIQUE (ingest_key, workspace, project)
) STRICT;

-- Sessions that were seen: whose they are, where they belong, and whether an end of theirs still means something.
CREATE TABLE capture_session (
    session_id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    workspace TEXT NOT NULL,
    project TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('live', 'ended', 'subagent')),
    last_seen_ms INTEGER NOT NULL
) STRICT;

-- Directories in which hooks may capture, each with what else tells that a directory belongs to its project.
CREATE TABLE link (
    root TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    git_common_dir TEXT,
    remote TEXT,
    linked_at_ms INTEGER NOT NULL
) STRICT;

CREATE INDEX link_by_git_common_dir ON link (git_common_dir) WHERE git_common_dir IS NOT NULL;

CREATE INDEX link_by_remote ON link (remote) WHERE remote IS NOT NULL;

-- Where queues that hooks make deliver to; no row means the daemon's own receiver.
CREATE TABLE upstream (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    server_url TEXT NOT NULL,
    producer TEXT NOT NULL,
    actor TEXT NOT NULL,
    workspace TEXT NOT NULL
) STRICT;

-- The queue of each session's first event from a hook, where the session stays.
CREATE TABLE hook_session (
    agent TEXT NOT NULL,
    session_id TEXT NOT NULL,
    queue_dir TEXT NOT NULL,
    last_seen_ms INTEGER NOT NULL,
    PRIMARY KEY (agent, session_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX hook_session_by_age ON hook_session (last_seen_ms);

-- When each hook of each agent CLI last reached the daemon; wall clock, Unix milliseconds.
CREATE TABLE hook_seen (
    cli TEXT NOT NULL,
    event TEXT NOT NULL,
    last_at_ms INTEGER NOT NULL,
    PRIMARY KEY (cli, event)
) STRICT, WITHOUT ROWID;

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

-- Sessions of agent CLIs in linked directories, as their hooks told of them. Times are wall clock, Unix milliseconds, but
-- for seen_ms: the store's own clock, less how old the newest event was when it came. `told` is JSON text with
-- identifiers only: what the session was told of the memory.
CREATE TABLE agent_session (
    cli TEXT NOT NULL,
    session_id TEXT NOT NULL,
    project_id INTEGER NOT NULL REFERENCES project (id),
    directory TEXT NOT NULL,
    transcript TEXT,
    model TEXT,
    began_at_ms INTEGER NOT NULL,
    last_at_ms INTEGER NOT NULL,
    seen_ms INTEGER NOT NULL,
    closed_at_ms INTEGER,
    closed TEXT CHECK (closed IN ('ended', 'quiet')),
    told TEXT,
    PRIMARY KEY (cli, session_id),
    CHECK ((closed IS NULL) = (closed_at_ms IS NULL))
) STRICT;

CREATE INDEX agent_session_by_age ON agent_session (seen_ms);

CREATE INDEX agent_session_open ON agent_session (seen_ms) WHERE closed IS NULL;

-- Files outside of the home that agents read and the daemon keeps, one for each agent CLI at most.
CREATE TABLE rules_file (
    cli TEXT PRIMARY KEY,
    path TEXT NOT NULL
) STRICT;
