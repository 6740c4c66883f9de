-- name: current_preference
-- The value of a key in one scope that counts now.
SELECT
    seq, id, key, value, scope, project_id, scope_id, author, reason, recorded_at_ms, superseded_at_ms, superseded_by,
    drop_reason
FROM preference
WHERE scope = :scope AND COALESCE(project_id, 0) = :project_id AND COALESCE(scope_id, '') = :scope_id AND key = :key
AND superseded_at_ms IS NULL;

-- name: preferences_at
-- What counts at an instant: for everything, in a project, in a lane and for a model; NULL names none.
SELECT
    seq, id, key, value, scope, project_id, scope_id, author, reason, recorded_at_ms, superseded_at_ms, superseded_by,
    drop_reason
FROM preference
WHERE (
    scope = 'global' OR (scope = 'project' AND project_id = :project_id)
    OR (scope = 'lane' AND scope_id = :lane) OR (scope = 'model' AND scope_id = :model)
)
AND recorded_at_ms <= :at_ms AND (superseded_at_ms IS NULL OR superseded_at_ms > :at_ms)
ORDER BY seq;

-- name: preference_history
-- Every value that was set in the same scopes until an instant, the newest first.
SELECT
    seq, id, key, value, scope, project_id, scope_id, author, reason, recorded_at_ms, superseded_at_ms, superseded_by,
    drop_reason
FROM preference
WHERE (
    scope = 'global' OR (scope = 'project' AND project_id = :project_id)
    OR (scope = 'lane' AND scope_id = :lane) OR (scope = 'model' AND scope_id = :model)
)
AND recorded_at_ms <= :at_ms
ORDER BY seq DESC;

-- name: preferences_by_id
-- Certain values, in no order.
SELECT
    seq, id, key, value, scope, project_id, scope_id, author, reason, recorded_at_ms, superseded_at_ms, superseded_by,
    drop_reason
FROM preference
WHERE id IN (SELECT value FROM json_each(:ids));

-- name: add_preference
-- Set a value.
INSERT INTO preference (id, key, value, scope, project_id, scope_id, author, reason, recorded_at_ms)
VALUES (:id, :key, :value, :scope, :project_id, :scope_id, :author, :reason, :recorded_at_ms)
RETURNING
    seq, id, key, value, scope, project_id, scope_id, author, reason, recorded_at_ms, superseded_at_ms, superseded_by,
    drop_reason;

-- name: end_preference
-- Let a value count no more: another one took its place, or it was dropped.
UPDATE preference
SET superseded_at_ms = :superseded_at_ms, superseded_by = :superseded_by, drop_reason = :drop_reason
WHERE id = :id AND superseded_at_ms IS NULL;
