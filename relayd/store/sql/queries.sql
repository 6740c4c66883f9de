-- name: saved_clock
-- The store's clock and the wall clock at the last commit.
SELECT clock_ms, wall_ms FROM clock WHERE id = 1;

-- name: save_clock
-- Remember both clocks of this commit.
INSERT INTO clock (id, clock_ms, wall_ms) VALUES (1, :clock_ms, :wall_ms)
ON CONFLICT (id) DO UPDATE SET clock_ms = excluded.clock_ms, wall_ms = excluded.wall_ms;

-- name: known_sessions
-- The sessions among the given ids that were seen before.
SELECT session_id, agent, workspace, project, state, last_seen_ms
FROM capture_session
WHERE session_id IN (SELECT value FROM json_each(:session_ids));

-- name: claimed_keys
-- The keys among the given ones that are taken, with the scope each is taken in.
SELECT ingest_key, workspace, project
FROM ingest_key
WHERE ingest_key IN (SELECT value FROM json_each(:ingest_keys));

-- name: claim_key
-- Take one key in its scope.
INSERT INTO ingest_key (ingest_key, workspace, project, claimed_at_ms)
VALUES (:ingest_key, :workspace, :project, :claimed_at_ms);

-- name: add_event
-- Append one event to the feed.
INSERT INTO event (
    at_ms, received_at_ms, kind, dedupe_key, actor, producer, agent, session_id, workspace, project, project_id, event,
    source_event
) VALUES (
    :at_ms, :received_at_ms, 'hook', :ingest_key, :actor, :producer, :agent, :session_id, :workspace, :project,
    COALESCE(
        (SELECT id FROM project WHERE slug = :project),
        (SELECT project_id FROM project_alias WHERE alias = :project)
    ),
    :event, :source_event
);

-- name: newest_event
-- The id of the newest event; ids of one transaction have no gaps.
SELECT MAX(id) FROM event;

-- name: keep_excerpt
-- Keep the start of one event's body.
INSERT INTO excerpt (event_id, kept_at_ms, text) VALUES (:event_id, :kept_at_ms, :text);

-- name: see_session
-- Remember a session's owner, scope and state.
INSERT INTO capture_session (session_id, agent, workspace, project, state, last_seen_ms)
VALUES (:session_id, :agent, :workspace, :project, :state, :last_seen_ms)
ON CONFLICT (session_id) DO UPDATE SET
    agent = excluded.agent,
    workspace = excluded.workspace,
    project = excluded.project,
    state = excluded.state,
    last_seen_ms = excluded.last_seen_ms;

-- name: prune_keys
-- Forget some of the oldest keys that no sender may use any more.
DELETE FROM ingest_key
WHERE claimed_at_ms < :before_ms AND id IN (SELECT id FROM ingest_key ORDER BY id LIMIT :slice);

-- name: prune_excerpts
-- Drop some of the oldest excerpts that are past their time.
DELETE FROM excerpt
WHERE kept_at_ms < :before_ms AND event_id IN (SELECT event_id FROM excerpt ORDER BY event_id LIMIT :slice);

-- name: prune_sessions
-- Forget some sessions that were not seen for long.
DELETE FROM capture_session
WHERE session_id IN (SELECT session_id FROM capture_session WHERE last_seen_ms < :before_ms LIMIT :slice);

-- name: record_queue
-- List a queue, or what it is bound to now.
INSERT INTO bound_queue (queue_dir, name, server_url, producer, actor, workspace, project, mode)
VALUES (:queue_dir, :name, :server_url, :producer, :actor, :workspace, :project, :mode)
ON CONFLICT (queue_dir) DO UPDATE SET
    name = excluded.name,
    server_url = excluded.server_url,
    producer = excluded.producer,
    actor = excluded.actor,
    workspace = excluded.workspace,
    project = excluded.project,
    mode = excluded.mode,
    problem = NULL;

-- name: note_queue
-- Remember how a listed queue stands.
UPDATE bound_queue
SET is_open = :is_open, next_due_wall_ms = :next_due_wall_ms, problem = :problem
WHERE queue_dir = :queue_dir;

-- name: forget_queue
-- Take a queue off the list.
DELETE FROM bound_queue WHERE queue_dir = :queue_dir;

-- name: queues
-- Every listed queue, by directory.
SELECT
    queue_dir, name, server_url, producer, actor, workspace, project, mode, is_open, next_due_wall_ms, problem
FROM bound_queue
ORDER BY queue_dir;

-- name: put_link
-- Link a directory to a project, or to another one.
INSERT INTO link (root, project, git_common_dir, remote, linked_at_ms)
VALUES (:root, :project, :git_common_dir, :remote, :linked_at_ms)
ON CONFLICT (root) DO UPDATE SET
    project = excluded.project, git_common_dir = excluded.git_common_dir, remote = excluded.remote;

-- name: drop_link
-- Forget a linked directory.
DELETE FROM link WHERE root = :root;

-- name: links
-- Every linked directory.
SELECT root, project, git_common_dir, remote, linked_at_ms FROM link ORDER BY root;

-- name: put_upstream
-- Choose where queues that hooks make deliver to from now on.
INSERT INTO upstream (id, server_url, producer, actor, workspace)
VALUES (1, :server_url, :producer, :actor, :workspace)
ON CONFLICT (id) DO UPDATE SET
    server_url = excluded.server_url,
    producer = excluded.producer,
    actor = excluded.actor,
    workspace = excluded.workspace;

-- name: drop_upstream
-- Deliver to the daemon's own receiver again.
DELETE FROM upstream;

-- name: upstream
-- Where queues that hooks make deliver to; no row if nobody chose.
SELECT server_url, producer, actor, workspace FROM upstream WHERE id = 1;

-- name: hook_session
-- The queue that a session of an agent belongs to.
SELECT queue_dir, last_seen_ms FROM hook_session WHERE agent = :agent AND session_id = :session_id;

-- name: pin_hook_session
-- Remember the queue of a session, and that it was seen.
INSERT INTO hook_session (agent, session_id, queue_dir, last_seen_ms)
VALUES (:agent, :session_id, :queue_dir, :last_seen_ms)
ON CONFLICT (agent, session_id) DO UPDATE SET
    queue_dir = excluded.queue_dir, last_seen_ms = excluded.last_seen_ms;

-- name: prune_hook_sessions
-- Forget some sessions from hooks that were not seen for long.
DELETE FROM hook_session
WHERE (agent, session_id) IN (
    SELECT agent, session_id FROM hook_session WHERE last_seen_ms < :before_ms LIMIT :slice
);

-- name: see_hook
-- Remember when a hook last came.
INSERT INTO hook_seen (cli, event, last_at_ms) VALUES (:cli, :event, :last_at_ms)
ON CONFLICT (cli, event) DO UPDATE SET last_at_ms = max(last_at_ms, excluded.last_at_ms);

-- name: hooks_seen
-- When each hook last came.
SELECT cli, event, last_at_ms FROM hook_seen ORDER BY cli, event;

-- name: newest_id
-- The greatest identifier of all; NULL if there is none.
SELECT max(id) FROM (SELECT max(id) AS id FROM decision UNION ALL SELECT max(id) FROM preference);
