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
