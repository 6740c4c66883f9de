-- Sessions of agent CLIs.

-- name: agent_session
-- One session.
SELECT
    cli, session_id, project_id, directory, transcript, model, began_at_ms, last_at_ms, seen_ms, closed_at_ms, closed,
    told
FROM agent_session
WHERE cli = :cli AND session_id = :session_id;

-- name: keep_agent_session
-- Write a session, new or anew; not if its project was removed meanwhile.
INSERT INTO agent_session (
    cli, session_id, project_id, directory, transcript, model, began_at_ms, last_at_ms, seen_ms, closed_at_ms, closed,
    told
)
SELECT
    :cli, :session_id, id, :directory, :transcript, :model, :began_at_ms, :last_at_ms, :seen_ms, :closed_at_ms, :closed,
    :told
FROM project
WHERE id = :project_id
ON CONFLICT (cli, session_id) DO UPDATE SET
    project_id = excluded.project_id,
    directory = excluded.directory,
    transcript = excluded.transcript,
    model = excluded.model,
    began_at_ms = excluded.began_at_ms,
    last_at_ms = excluded.last_at_ms,
    seen_ms = excluded.seen_ms,
    closed_at_ms = excluded.closed_at_ms,
    closed = excluded.closed,
    told = excluded.told;

-- name: latest_agent_sessions
-- The sessions that were seen last, of one project or of all, open ones only or all.
SELECT
    cli, session_id, project_id, directory, transcript, model, began_at_ms, last_at_ms, seen_ms, closed_at_ms, closed,
    told
FROM agent_session
WHERE (:project_id IS NULL OR project_id = :project_id) AND (closed IS NULL OR NOT :open_only)
ORDER BY seen_ms DESC
LIMIT :limit;

-- name: silent_agent_sessions
-- Some of the open sessions that were not seen for a while.
SELECT
    cli, session_id, project_id, directory, transcript, model, began_at_ms, last_at_ms, seen_ms, closed_at_ms, closed,
    told
FROM agent_session
WHERE closed IS NULL AND seen_ms < :before_ms
ORDER BY seen_ms
LIMIT :limit;

-- name: drop_agent_sessions_of
-- Forget the sessions of a project.
DELETE FROM agent_session WHERE project_id = :project_id;

-- name: prune_agent_sessions
-- Forget some sessions of agent CLIs that were not seen for long.
DELETE FROM agent_session
WHERE (cli, session_id) IN (
    SELECT cli, session_id FROM agent_session WHERE seen_ms < :before_ms LIMIT :slice
);
