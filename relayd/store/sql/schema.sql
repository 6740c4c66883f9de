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

-- The feed: append-only; the id is the cursor of its readers. Times are wall clock, Unix milliseconds.
CREATE TABLE event (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    received_at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    dedupe_key TEXT,
    actor TEXT NOT NULL,
    producer TEXT,
    agent TEXT NOT NULL,
    session_id TEXT,
    workspace TEXT NOT NULL,
    project TEXT NOT NULL,
    event TEXT NOT NULL,
    source_event TEXT,
    tokens_in INTEGER,
    tokens_out INTEGER,
    cost_micros INTEGER
) STRICT;

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
