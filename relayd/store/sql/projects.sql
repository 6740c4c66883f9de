-- Projects, their names, and the directories that are linked to them.

-- name: projects
-- Every project, by slug.
SELECT id, slug, repo, stack, check_command, priority, summary, created_at_ms, changed_at_ms FROM project ORDER BY slug;

-- name: project_aliases
-- Every further name, and the project it stands for.
SELECT alias, project_id FROM project_alias ORDER BY alias;

-- name: add_project
-- Make a project.
INSERT INTO project (slug, repo, stack, check_command, priority, summary, created_at_ms, changed_at_ms)
VALUES (:slug, :repo, :stack, :check_command, :priority, :summary, :created_at_ms, :changed_at_ms)
RETURNING id;

-- name: change_project
-- Write a project anew.
UPDATE project
SET
    slug = :slug,
    repo = :repo,
    stack = :stack,
    check_command = :check_command,
    priority = :priority,
    summary = :summary,
    changed_at_ms = :changed_at_ms
WHERE id = :id;

-- name: add_project_alias
-- Give a project a further name.
INSERT INTO project_alias (alias, project_id) VALUES (:alias, :project_id);

-- name: drop_project_alias
-- Take a further name away.
DELETE FROM project_alias WHERE alias = :alias;

-- name: move_links
-- Have the linked directories of a project follow its new name.
UPDATE link SET project = :slug WHERE project = :former;

-- name: project_counts
-- How many decisions and preferences of each project hold now, and how many of its own decisions are in the history.
SELECT
    project.id,
    (
        SELECT count(*) FROM decision
        WHERE
            decision.project_id = project.id
            AND (decision.valid_from_ms <= :now_ms OR decision.valid_from_ms <= decision.recorded_at_ms)
            AND (decision.valid_to_ms IS NULL OR decision.valid_to_ms > :now_ms)
            AND (
                decision.superseded_at_ms IS NULL
                OR (
                    decision.ended_ms > :now_ms AND decision.ended_ms > decision.valid_from_ms
                    AND decision.ended_ms > decision.superseded_at_ms
                )
            )
    ),
    (SELECT count(*) FROM decision WHERE decision.project_id = project.id),
    (
        SELECT count(*) FROM preference
        WHERE
            preference.scope = 'project'
            AND preference.project_id = project.id
            AND preference.superseded_at_ms IS NULL
    )
FROM project
WHERE :project_id IS NULL OR project.id = :project_id
ORDER BY project.id;

-- name: projects_with_items
-- Which of certain projects have a decision or a preference that holds now; one is enough, for there may be many.
SELECT project.id
FROM project
WHERE
    project.id IN (SELECT value FROM json_each(:project_ids))
    AND (
        EXISTS (
            SELECT 1 FROM decision
            WHERE
                decision.project_id = project.id
                AND (decision.valid_from_ms <= :now_ms OR decision.valid_from_ms <= decision.recorded_at_ms)
                AND (decision.valid_to_ms IS NULL OR decision.valid_to_ms > :now_ms)
                AND (
                    decision.superseded_at_ms IS NULL
                    OR (
                        decision.ended_ms > :now_ms AND decision.ended_ms > decision.valid_from_ms
                        AND decision.ended_ms > decision.superseded_at_ms
                    )
                )
        )
        OR EXISTS (
            SELECT 1 FROM preference
            WHERE
                preference.scope = 'project'
                AND preference.project_id = project.id
                AND preference.superseded_at_ms IS NULL
        )
    );

-- name: project_items
-- The identifiers of everything a project has in the memory.
SELECT 'decision' AS kind, id FROM decision WHERE project_id = :project_id
UNION ALL
SELECT 'preference' AS kind, id FROM preference WHERE scope = 'project' AND project_id = :project_id;

-- name: drop_decisions_of
-- Remove a project's decisions; they only took the place of one another.
DELETE FROM decision WHERE project_id = :project_id;

-- name: drop_preferences_of
-- Remove a project's preferences; they only took the place of one another.
DELETE FROM preference WHERE scope = 'project' AND project_id = :project_id;

-- name: part_from_events
-- Have the events of a project belong to none, so that no later project sees them. Their keys told events of this project
-- apart, and another event of none may have the same.
UPDATE event SET project_id = NULL, dedupe_key = NULL WHERE project_id = :project_id;

-- name: drop_aliases_of
-- Remove the further names of a project.
DELETE FROM project_alias WHERE project_id = :project_id;

-- name: drop_links_of
-- Forget the linked directories of a project.
DELETE FROM link WHERE project = :slug;

-- name: drop_project
-- Remove a project that nothing refers to any more.
DELETE FROM project WHERE id = :id;
