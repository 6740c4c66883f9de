-- Files that agents read and the daemon keeps.

-- name: rules_files
-- Where each lies.
SELECT cli, path FROM rules_file ORDER BY cli;

-- name: put_rules_file
-- Keep a file from now on.
INSERT INTO rules_file (cli, path) VALUES (:cli, :path)
ON CONFLICT (cli) DO UPDATE SET path = excluded.path;

-- name: drop_rules_file
-- Keep a file no more.
DELETE FROM rules_file WHERE cli = :cli;

-- name: project_activity
-- When an agent was last heard of in each project, or something else of it came into the feed.
SELECT
    project.id,
    max(
        COALESCE(heard.at_ms, 0),
        COALESCE(
            (SELECT received_at_ms FROM event WHERE event.project_id = project.id ORDER BY event.id DESC LIMIT 1), 0
        )
    )
FROM project
LEFT JOIN (SELECT project_id, max(last_at_ms) AS at_ms FROM agent_session GROUP BY project_id) AS heard
    ON heard.project_id = project.id;

-- name: next_change_of_any
-- When any decision begins, ends as stated, and is ended next; NULL where none is.
SELECT
    (SELECT min(valid_from_ms) FROM decision WHERE valid_from_ms > :after_ms),
    (SELECT min(valid_to_ms) FROM decision WHERE valid_to_ms > :after_ms),
    (SELECT min(ended_ms) FROM decision WHERE ended_ms > :after_ms);
