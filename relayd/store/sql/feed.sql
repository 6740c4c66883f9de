-- name: append_event
-- Append one event that is of no hook; no row comes back if its dedupe key is taken.
INSERT INTO event (
    at_ms, received_at_ms, kind, dedupe_key, actor, session_id, project, project_id, ref, data, subscription, lane, model,
    tokens_in, tokens_out, cost_micros
) VALUES (
    :at_ms, :received_at_ms, :kind, :dedupe_key, :actor, :session_id, :project, :project_id, :ref, :data, :subscription,
    :lane, :model, :tokens_in, :tokens_out, :cost_micros
)
ON CONFLICT DO NOTHING
RETURNING id;

-- name: feed_since
-- Ids of events after a cursor, oldest first.
SELECT id FROM event WHERE id > :since ORDER BY id LIMIT :limit;

-- name: feed_newest
-- Ids of the newest events, newest first.
SELECT id FROM event ORDER BY id DESC LIMIT :limit;

-- name: feed_since_of_project
-- Ids of events of a project after a cursor, oldest first.
SELECT id FROM event WHERE project_id = :project_id AND id > :since ORDER BY id LIMIT :limit;

-- name: feed_newest_of_project
-- Ids of the newest events of a project, newest first.
SELECT id FROM event WHERE project_id = :project_id ORDER BY id DESC LIMIT :limit;

-- name: feed_since_of_kinds
-- Ids of events of certain kinds, after a cursor, oldest first. `kinds` is a list of ranges, each from a kind
-- to what is beyond. Which kinds are there is found by seeking in the index, and then the ids of each.
WITH RECURSIVE
asked (first, beyond) AS (
    SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:kinds)
),
wanted (kind, beyond) AS (
    SELECT (SELECT min(kind) FROM event WHERE kind >= asked.first AND kind < asked.beyond), beyond FROM asked
    UNION ALL
    SELECT
        (SELECT min(kind) FROM event WHERE event.kind > wanted.kind AND event.kind < wanted.beyond), beyond
    FROM wanted
    WHERE wanted.kind IS NOT NULL
)
SELECT DISTINCT own.value
FROM wanted CROSS JOIN json_each((
    SELECT json_group_array(id) FROM (
        SELECT id FROM event WHERE kind = wanted.kind AND id > :since ORDER BY id LIMIT :limit
    )
)) AS own
ORDER BY own.value
LIMIT :limit;

-- name: feed_newest_of_kinds
-- Ids of events of certain kinds, the newest ones, newest first. `kinds` is a list of ranges, each from a kind
-- to what is beyond. Which kinds are there is found by seeking in the index, and then the ids of each.
WITH RECURSIVE
asked (first, beyond) AS (
    SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:kinds)
),
wanted (kind, beyond) AS (
    SELECT (SELECT min(kind) FROM event WHERE kind >= asked.first AND kind < asked.beyond), beyond FROM asked
    UNION ALL
    SELECT
        (SELECT min(kind) FROM event WHERE event.kind > wanted.kind AND event.kind < wanted.beyond), beyond
    FROM wanted
    WHERE wanted.kind IS NOT NULL
)
SELECT DISTINCT own.value
FROM wanted CROSS JOIN json_each((
    SELECT json_group_array(id) FROM (
        SELECT id FROM event WHERE kind = wanted.kind ORDER BY id DESC LIMIT :limit
    )
)) AS own
ORDER BY own.value DESC
LIMIT :limit;

-- name: feed_since_of_project_of_kinds
-- Ids of events of a project of certain kinds, after a cursor, oldest first. `kinds` is a list of ranges, each from a
-- kind to what is beyond. Which kinds are there is found by seeking in the index, and then the ids of each.
WITH RECURSIVE
asked (first, beyond) AS (
    SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:kinds)
),
wanted (kind, beyond) AS (
    SELECT (
        SELECT min(kind) FROM event
        WHERE project_id = :project_id AND kind >= asked.first AND kind < asked.beyond
    ), beyond FROM asked
    UNION ALL
    SELECT (
        SELECT min(kind) FROM event
        WHERE project_id = :project_id AND event.kind > wanted.kind AND event.kind < wanted.beyond
    ), beyond
    FROM wanted
    WHERE wanted.kind IS NOT NULL
)
SELECT DISTINCT own.value
FROM wanted CROSS JOIN json_each((
    SELECT json_group_array(id) FROM (
        SELECT id FROM event
        WHERE project_id = :project_id AND kind = wanted.kind AND id > :since
        ORDER BY id
        LIMIT :limit
    )
)) AS own
ORDER BY own.value
LIMIT :limit;

-- name: feed_newest_of_project_of_kinds
-- Ids of events of a project of certain kinds, the newest ones, newest first. `kinds` is a list of ranges, each from a
-- kind to what is beyond. Which kinds are there is found by seeking in the index, and then the ids of each.
WITH RECURSIVE
asked (first, beyond) AS (
    SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]') FROM json_each(:kinds)
),
wanted (kind, beyond) AS (
    SELECT (
        SELECT min(kind) FROM event
        WHERE project_id = :project_id AND kind >= asked.first AND kind < asked.beyond
    ), beyond FROM asked
    UNION ALL
    SELECT (
        SELECT min(kind) FROM event
        WHERE project_id = :project_id AND event.kind > wanted.kind AND event.kind < wanted.beyond
    ), beyond
    FROM wanted
    WHERE wanted.kind IS NOT NULL
)
SELECT DISTINCT own.value
FROM wanted CROSS JOIN json_each((
    SELECT json_group_array(id) FROM (
        SELECT id FROM event WHERE project_id = :project_id AND kind = wanted.kind
        ORDER BY id DESC
        LIMIT :limit
    )
)) AS own
ORDER BY own.value DESC
LIMIT :limit;

-- name: feed_rows
-- Events by id, oldest first, each with the present name of its project.
SELECT
    event.id, at_ms, kind, actor, producer, agent, session_id, workspace, COALESCE(project.slug, event.project),
    CASE event WHEN 'other' THEN COALESCE(source_event, event) ELSE event END, excerpt.text, ref, data, subscription,
    lane, model, tokens_in, tokens_out, cost_micros
FROM event
LEFT JOIN excerpt ON excerpt.event_id = event.id
LEFT JOIN project ON project.id = event.project_id
WHERE event.id IN (SELECT value FROM json_each(:ids))
ORDER BY event.id;

-- name: feed_position
-- The cursor before what was recorded from an instant on, by halving: ids and times of recording grow together.
WITH RECURSIVE
narrowed (low, high) AS (
    SELECT 0, COALESCE(max(id), 0) FROM event
    UNION ALL
    SELECT
        CASE WHEN (SELECT received_at_ms FROM event WHERE id > (low + high) / 2 ORDER BY id LIMIT 1) < :from_ms
            THEN (low + high) / 2 + 1 ELSE low END,
        CASE WHEN (SELECT received_at_ms FROM event WHERE id > (low + high) / 2 ORDER BY id LIMIT 1) < :from_ms
            THEN high ELSE (low + high) / 2 END
    FROM narrowed
    WHERE low < high
)
SELECT low FROM narrowed WHERE low >= high;

-- name: event_of_dedupe_key
-- The event that has a dedupe key, among those of its kind and project.
SELECT id FROM event
WHERE kind = :kind AND COALESCE(project_id, 0) = COALESCE(:project_id, 0) AND dedupe_key = :dedupe_key AND kind <> 'hook';

-- name: usage
-- Sums over events of one kind that happened in a span of time, grouped by what is asked for.
SELECT
    CASE WHEN :by_subscription = 1 THEN subscription END,
    CASE WHEN :by_lane = 1 THEN lane END,
    CASE WHEN :by_model = 1 THEN model END,
    COUNT(*), SUM(tokens_in), SUM(tokens_out), SUM(cost_micros)
FROM event
WHERE kind = :kind AND at_ms >= :from_ms AND at_ms <= :to_ms
GROUP BY 1, 2, 3
ORDER BY 7 DESC, 1, 2, 3;

-- name: usage_of_project
-- The same of one project.
SELECT
    CASE WHEN :by_subscription = 1 THEN subscription END,
    CASE WHEN :by_lane = 1 THEN lane END,
    CASE WHEN :by_model = 1 THEN model END,
    COUNT(*), SUM(tokens_in), SUM(tokens_out), SUM(cost_micros)
FROM event
WHERE project_id = :project_id AND kind = :kind AND at_ms >= :from_ms AND at_ms <= :to_ms
GROUP BY 1, 2, 3
ORDER BY 7 DESC, 1, 2, 3;
