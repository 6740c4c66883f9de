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
