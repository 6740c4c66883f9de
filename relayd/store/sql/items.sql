-- name: items_between
-- What has an identifier from one text up to another, by identifier.
SELECT 'decision' AS kind, id FROM decision WHERE id >= :low AND id < :high
UNION ALL
SELECT 'preference' AS kind, id FROM preference WHERE id >= :low AND id < :high
ORDER BY id
LIMIT :limit;

-- name: preference
-- One value of a preference.
SELECT
    seq, id, key, value, scope, project_id, scope_id, author, reason, recorded_at_ms, superseded_at_ms, superseded_by,
    drop_reason
FROM preference
WHERE id = :id;

-- name: preference_project
-- The project of a preference, both NULL if it is of none; no row if it is not there.
SELECT project.slug, preference.project_id
FROM preference LEFT JOIN project ON project.id = preference.project_id
WHERE preference.id = :id;

-- name: superseded_preferences
-- What a value took the place of.
SELECT id FROM preference WHERE superseded_by = :id ORDER BY id;

-- name: wordings
-- Every wording of the decision that one wording belongs to, the oldest first.
SELECT id, superseded_by
FROM decision
WHERE COALESCE(wording_of, id) = (SELECT COALESCE(one.wording_of, one.id) FROM decision AS one WHERE one.id = :id)
ORDER BY seq;

-- name: mend_decisions
-- Let what was superseded by any of certain decisions be superseded by another one, or by nothing.
UPDATE decision SET superseded_by = :successor WHERE superseded_by IN (SELECT value FROM json_each(:ids));

-- name: remove_decisions
-- Remove certain decisions, which nothing refers to any more.
DELETE FROM decision WHERE id IN (SELECT value FROM json_each(:ids));

-- name: mend_preferences
-- Let what was superseded by a certain value be superseded by what superseded that, or by nothing.
UPDATE preference
SET superseded_by = (SELECT gone.superseded_by FROM preference AS gone WHERE gone.id = :id)
WHERE superseded_by = :id;

-- name: remove_preference
-- Remove one value of a preference, which nothing refers to any more.
DELETE FROM preference WHERE id = :id;

-- name: decisions_after
-- Decisions with a greater identifier, by identifier.
SELECT
    seq, id, project_id, task, text, author, source, ref, ref_text, valid_from_ms, valid_to_ms, recorded_at_ms,
    ended_ms, superseded_at_ms, superseded_by, reason
FROM decision
WHERE id > :after
ORDER BY id
LIMIT :limit;

-- name: preferences_after
-- Preferences with a greater identifier, by identifier.
SELECT
    seq, id, key, value, scope, project_id, scope_id, author, reason, recorded_at_ms, superseded_at_ms, superseded_by,
    drop_reason
FROM preference
WHERE id > :after
ORDER BY id
LIMIT :limit;

-- name: summaries_after
-- Projects that have a summary and a greater slug, by slug.
SELECT id, slug, repo, stack, check_command, priority, summary, created_at_ms, changed_at_ms
FROM project
WHERE slug > :after AND summary IS NOT NULL
ORDER BY slug
LIMIT :limit;

-- name: has_items
-- Whether there is anything to be found.
SELECT
    EXISTS (SELECT 1 FROM decision)
    OR EXISTS (SELECT 1 FROM preference)
    OR EXISTS (SELECT 1 FROM project WHERE summary IS NOT NULL);
