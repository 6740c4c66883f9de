-- name: add_decision
-- Record one decision, or one wording of it.
INSERT INTO decision (
    id, project_id, task, text, digest, author, source, ref, ref_text, valid_from_ms, valid_to_ms, recorded_at_ms,
    wording_of
) VALUES (
    :id, :project_id, :task, :text, :digest, :author, :source, :ref, :ref_text, :valid_from_ms, :valid_to_ms,
    :recorded_at_ms, :wording_of
)
RETURNING
    seq, id, project_id, task, text, author, source, ref, ref_text, valid_from_ms, valid_to_ms, recorded_at_ms,
    ended_ms, superseded_at_ms, superseded_by, reason;

-- name: end_decision
-- End one decision that nothing has ended before.
UPDATE decision
SET ended_ms = :ended_ms, superseded_at_ms = :superseded_at_ms, superseded_by = :superseded_by, reason = :reason
WHERE id = :id AND superseded_at_ms IS NULL
RETURNING
    seq, id, project_id, task, text, author, source, ref, ref_text, valid_from_ms, valid_to_ms, recorded_at_ms,
    ended_ms, superseded_at_ms, superseded_by, reason;

-- name: decision
-- One decision.
SELECT
    seq, id, project_id, task, text, author, source, ref, ref_text, valid_from_ms, valid_to_ms, recorded_at_ms,
    ended_ms, superseded_at_ms, superseded_by, reason
FROM decision
WHERE id = :id;

-- name: decisions_by_id
-- Certain decisions, in no order.
SELECT
    seq, id, project_id, task, text, author, source, ref, ref_text, valid_from_ms, valid_to_ms, recorded_at_ms,
    ended_ms, superseded_at_ms, superseded_by, reason
FROM decision
WHERE id IN (SELECT value FROM json_each(:ids));

-- name: decisions_alike
-- Decisions of one scope and task with one text that are not over at an instant, the oldest first.
SELECT
    seq, id, project_id, task, text, author, source, ref, ref_text, valid_from_ms, valid_to_ms, recorded_at_ms,
    ended_ms, superseded_at_ms, superseded_by, reason
FROM decision
WHERE
    digest = :digest
    AND COALESCE(project_id, 0) = COALESCE(:project_id, 0)
    AND COALESCE(task, '') = COALESCE(:task, '')
    AND (superseded_at_ms IS NULL OR ended_ms > :now_ms)
ORDER BY seq;

-- name: first_wording
-- Which wording of a decision was the first; no row if it is not there.
SELECT COALESCE(wording_of, id) FROM decision WHERE id = :id;

-- name: superseded_decisions
-- What a decision took the place of.
SELECT id FROM decision WHERE superseded_by = :id ORDER BY id;

-- name: decision_history
-- Decisions of a project and of all projects, or of all projects only, the newest first. Two halves, each of which is
-- read in this order by its index, so that a page reads a page.
SELECT
    seq, id, project_id, task, text, author, source, ref, ref_text, valid_from_ms, valid_to_ms, recorded_at_ms,
    ended_ms, superseded_at_ms, superseded_by, reason
FROM decision
WHERE
    project_id = :project_id
    AND (:before IS NULL OR id < :before)
UNION ALL
SELECT
    seq, id, project_id, task, text, author, source, ref, ref_text, valid_from_ms, valid_to_ms, recorded_at_ms,
    ended_ms, superseded_at_ms, superseded_by, reason
FROM decision
WHERE
    project_id IS NULL
    AND (:before IS NULL OR id < :before)
ORDER BY seq DESC
LIMIT :limit;

-- name: decisions_at
-- As `decision_history`, but only what holds at a moment.
SELECT
    seq, id, project_id, task, text, author, source, ref, ref_text, valid_from_ms, valid_to_ms, recorded_at_ms,
    ended_ms, superseded_at_ms, superseded_by, reason
FROM decision
WHERE
    project_id = :project_id
    AND (:before IS NULL OR id < :before)
    AND recorded_at_ms <= :known_at_ms
    AND (valid_from_ms <= :as_of_ms OR (:is_now AND valid_from_ms <= recorded_at_ms))
    AND (valid_to_ms IS NULL OR valid_to_ms > :as_of_ms)
    AND (
        superseded_at_ms IS NULL OR superseded_at_ms > :known_at_ms
        OR (
            ended_ms > :as_of_ms AND ended_ms > valid_from_ms
            AND (NOT :is_now OR ended_ms > superseded_at_ms)
        )
    )
UNION ALL
SELECT
    seq, id, project_id, task, text, author, source, ref, ref_text, valid_from_ms, valid_to_ms, recorded_at_ms,
    ended_ms, superseded_at_ms, superseded_by, reason
FROM decision
WHERE
    project_id IS NULL
    AND (:before IS NULL OR id < :before)
    AND recorded_at_ms <= :known_at_ms
    AND (valid_from_ms <= :as_of_ms OR (:is_now AND valid_from_ms <= recorded_at_ms))
    AND (valid_to_ms IS NULL OR valid_to_ms > :as_of_ms)
    AND (
        superseded_at_ms IS NULL OR superseded_at_ms > :known_at_ms
        OR (
            ended_ms > :as_of_ms AND ended_ms > valid_from_ms
            AND (NOT :is_now OR ended_ms > superseded_at_ms)
        )
    )
ORDER BY seq DESC
LIMIT :limit;

-- name: task_history
-- Decisions of one task of a project, the newest first.
SELECT
    seq, id, project_id, task, text, author, source, ref, ref_text, valid_from_ms, valid_to_ms, recorded_at_ms,
    ended_ms, superseded_at_ms, superseded_by, reason
FROM decision
WHERE
    project_id = :project_id
    AND task = :task
    AND (:before IS NULL OR id < :before)
ORDER BY seq DESC
LIMIT :limit;

-- name: task_decisions_at
-- As `task_history`, but only what holds at a moment.
SELECT
    seq, id, project_id, task, text, author, source, ref, ref_text, valid_from_ms, valid_to_ms, recorded_at_ms,
    ended_ms, superseded_at_ms, superseded_by, reason
FROM decision
WHERE
    project_id = :project_id
    AND task = :task
    AND (:before IS NULL OR id < :before)
    AND recorded_at_ms <= :known_at_ms
    AND (valid_from_ms <= :as_of_ms OR (:is_now AND valid_from_ms <= recorded_at_ms))
    AND (valid_to_ms IS NULL OR valid_to_ms > :as_of_ms)
    AND (
        superseded_at_ms IS NULL OR superseded_at_ms > :known_at_ms
        OR (
            ended_ms > :as_of_ms AND ended_ms > valid_from_ms
            AND (NOT :is_now OR ended_ms > superseded_at_ms)
        )
    )
ORDER BY seq DESC
LIMIT :limit;

-- name: latest_of_project
-- What holds at a moment in one project, the newest first; of tasks only the one that is named.
SELECT
    seq, id, project_id, task, text, author, source, ref, ref_text, valid_from_ms, valid_to_ms, recorded_at_ms,
    ended_ms, superseded_at_ms, superseded_by, reason
FROM decision
WHERE
    project_id = :project_id
    AND (task IS NULL OR task = :task)
    AND recorded_at_ms <= :known_at_ms
    AND (valid_from_ms <= :as_of_ms OR (:is_now AND valid_from_ms <= recorded_at_ms))
    AND (valid_to_ms IS NULL OR valid_to_ms > :as_of_ms)
    AND (
        superseded_at_ms IS NULL OR superseded_at_ms > :known_at_ms
        OR (
            ended_ms > :as_of_ms AND ended_ms > valid_from_ms
            AND (NOT :is_now OR ended_ms > superseded_at_ms)
        )
    )
ORDER BY seq DESC
LIMIT :limit;

-- name: latest_of_all_projects
-- As `latest_of_project`, of what belongs to all projects.
SELECT
    seq, id, project_id, task, text, author, source, ref, ref_text, valid_from_ms, valid_to_ms, recorded_at_ms,
    ended_ms, superseded_at_ms, superseded_by, reason
FROM decision
WHERE
    project_id IS NULL
    AND (task IS NULL OR task = :task)
    AND recorded_at_ms <= :known_at_ms
    AND (valid_from_ms <= :as_of_ms OR (:is_now AND valid_from_ms <= recorded_at_ms))
    AND (valid_to_ms IS NULL OR valid_to_ms > :as_of_ms)
    AND (
        superseded_at_ms IS NULL OR superseded_at_ms > :known_at_ms
        OR (
            ended_ms > :as_of_ms AND ended_ms > valid_from_ms
            AND (NOT :is_now OR ended_ms > superseded_at_ms)
        )
    )
ORDER BY seq DESC
LIMIT :limit;

-- name: next_decision_changes
-- When decisions of a project or of all projects begin, end as stated, and are ended next; NULL where none is.
-- Few have any of these times still before them: `+` has them found by time, not by project.
SELECT
    (
        SELECT min(valid_from_ms) FROM decision
        WHERE valid_from_ms > :after_ms AND (+project_id = :project_id OR +project_id IS NULL)
    ),
    (
        SELECT min(valid_to_ms) FROM decision
        WHERE valid_to_ms > :after_ms AND (+project_id = :project_id OR +project_id IS NULL)
    ),
    (
        SELECT min(ended_ms) FROM decision
        WHERE ended_ms > :after_ms AND (+project_id = :project_id OR +project_id IS NULL)
    );

-- name: decision_project
-- The project of a decision, both NULL if it belongs to all projects; no row if it is not there.
SELECT project.slug, decision.project_id
FROM decision LEFT JOIN project ON project.id = decision.project_id
WHERE decision.id = :id;
