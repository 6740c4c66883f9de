-- A queue's database as all migrations leave it; a test holds the two equal. Times are milliseconds of the
-- queue clock unless a name says otherwise.

-- The one destination and scope of this queue.
CREATE TABLE binding (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    server_url TEXT NOT NULL,
    producer TEXT NOT NULL,
    actor TEXT NOT NULL,
    workspace TEXT NOT NULL,
    project TEXT NOT NULL,
    mode TEXT NOT NULL CHECK (mode IN ('auto', 'manual')),
    created_at_ms INTEGER NOT NULL
) STRICT;

-- Where the queue clock stood, and the wall clock beside it, at the last commit.
CREATE TABLE clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    queue_ms INTEGER NOT NULL,
    wall_ms INTEGER NOT NULL
) STRICT;

-- Jumps of the wall clock that the queue clock did not follow; the newest are kept.
CREATE TABLE clock_jump (
    id INTEGER PRIMARY KEY,
    at_queue_ms INTEGER NOT NULL,
    delta_ms INTEGER NOT NULL,
    while_open INTEGER NOT NULL CHECK (while_open IN (0, 1))
) STRICT;

-- Which agent a session belongs to.
CREATE TABLE session (
    id INTEGER PRIMARY KEY,
    session_id TEXT NOT NULL UNIQUE,
    agent TEXT NOT NULL,
    last_seen_ms INTEGER NOT NULL
) STRICT;

-- Events without an acknowledgement. A row is written once and never updated: what changes is in head.
CREATE TABLE pending (
    seq INTEGER PRIMARY KEY,
    ingest_key TEXT NOT NULL,
    session INTEGER NOT NULL REFERENCES session (id),
    event_id TEXT NOT NULL,
    event TEXT NOT NULL,
    cwd TEXT NOT NULL,
    body TEXT NOT NULL,
    body_sha256 BLOB NOT NULL,
    body_bytes INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    enqueued_at_ms INTEGER NOT NULL
) STRICT;

-- Keys are spread at random, so an index over whole ones would touch a page for each event. Twelve digits tell
-- them apart, and whoever looks one up compares the rest; that a key is there once, admission sees to.
CREATE INDEX pending_key ON pending (substr(ingest_key, 1, 12));
CREATE INDEX pending_session ON pending (session, seq);

-- The oldest pending event of each session, the only one that may be sent. Narrow on purpose: choosing a batch
-- and stamping its attempts touches neither bodies nor what waits behind a head.
CREATE TABLE head (
    seq INTEGER PRIMARY KEY REFERENCES pending (seq),
    session INTEGER NOT NULL UNIQUE REFERENCES session (id),
    cost INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'ready' CHECK (state IN ('ready', 'failed', 'expired')),
    first_attempt_ms INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    failures INTEGER NOT NULL DEFAULT 0,
    due_at_ms INTEGER CHECK ((due_at_ms IS NULL) = (state <> 'failed')),
    last_error TEXT
) STRICT;

CREATE INDEX head_ready ON head (seq, cost) WHERE state = 'ready';
CREATE INDEX head_failed ON head (due_at_ms) WHERE state = 'failed';
CREATE INDEX head_window ON head (first_attempt_ms) WHERE state <> 'expired' AND first_attempt_ms IS NOT NULL;
CREATE INDEX head_attempts ON head (attempts) WHERE attempts > 0;

-- Events that left the queue, so that their keys stay recognized until the window is over.
CREATE TABLE receipt (
    id INTEGER PRIMARY KEY,
    ingest_key TEXT NOT NULL,
    body_sha256 BLOB NOT NULL,
    window_start_ms INTEGER NOT NULL,
    left_at_ms INTEGER NOT NULL,
    outcome TEXT NOT NULL
) STRICT;

CREATE INDEX receipt_key ON receipt (substr(ingest_key, 1, 12));
CREATE INDEX receipt_window ON receipt (window_start_ms, outcome);

-- What limits and status need, kept and not counted.
CREATE TABLE counter (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    last_seq INTEGER NOT NULL DEFAULT 0,
    pending_items INTEGER NOT NULL DEFAULT 0 CHECK (pending_items >= 0),
    pending_bytes INTEGER NOT NULL DEFAULT 0 CHECK (pending_bytes >= 0),
    pending_sessions INTEGER NOT NULL DEFAULT 0 CHECK (pending_sessions >= 0),
    attempted_items INTEGER NOT NULL DEFAULT 0 CHECK (attempted_items >= 0),
    failed_heads INTEGER NOT NULL DEFAULT 0 CHECK (failed_heads >= 0),
    expired_heads INTEGER NOT NULL DEFAULT 0 CHECK (expired_heads >= 0),
    receipts INTEGER NOT NULL DEFAULT 0 CHECK (receipts >= 0),
    known_sessions INTEGER NOT NULL DEFAULT 0 CHECK (known_sessions >= 0)
) STRICT;

-- Receipts by outcome.
CREATE TABLE receipt_outcome (
    outcome TEXT PRIMARY KEY,
    receipts INTEGER NOT NULL CHECK (receipts >= 0)
) STRICT, WITHOUT ROWID;

-- How delivery goes: back-off and batch size of the queue, and whether the last batch is still under way.
CREATE TABLE delivery (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    state TEXT NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'needs_auth')),
    failures INTEGER NOT NULL DEFAULT 0,
    due_at_ms INTEGER,
    bad_answers INTEGER NOT NULL DEFAULT 0,
    batch_items INTEGER,
    batches INTEGER NOT NULL DEFAULT 0,
    under_way INTEGER NOT NULL DEFAULT 0 CHECK (under_way IN (0, 1)),
    last_error TEXT,
    last_delivered_ms INTEGER
) STRICT;

-- What people did to held heads; the newest are kept.
CREATE TABLE intervention (
    id INTEGER PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    action TEXT NOT NULL CHECK (action IN ('retry', 'retry_may_duplicate', 'discard')),
    ingest_key TEXT NOT NULL,
    session_id TEXT NOT NULL,
    attempts INTEGER NOT NULL,
    last_error TEXT
) STRICT;

INSERT INTO counter (id) VALUES (1);
INSERT INTO delivery (id) VALUES (1);
