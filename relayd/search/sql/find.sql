-- How questions are answered. Whose an item is and when it holds is asked before any limit.

-- name: probe
-- Which tokens there are in certain scopes, how many items hold those whose number is asked for, and how many there are.
SELECT
    json_extract(value, '$[0]') AS token,
    EXISTS (SELECT 1 FROM search_word WHERE search_word MATCH json_extract(value, '$[1]')) AS in_scope,
    CASE WHEN json_extract(value, '$[2]') IS NOT NULL THEN
        (SELECT count(*) FROM search_word WHERE search_word MATCH json_extract(value, '$[2]'))
    END AS held_by,
    COALESCE(:items, (SELECT count(*) FROM search_item)) AS items
FROM json_each(:tokens);

-- name: near
-- Tokens that hold certain ones, and those that certain ones may be errors for: as they would be with two neighbours in
-- the other order, or of about the same length and with a stretch in common.
SELECT
    json_extract(value, '$[0]') AS token,
    (
        SELECT json_group_array(marked) FROM (
            SELECT marked FROM search_part WHERE search_part MATCH json_extract(value, '$[1]')
            ORDER BY length(marked), marked LIMIT :parts
        )
    ) AS parts,
    (
        SELECT json_group_array(term) FROM search_term
        WHERE term IN (SELECT swapped.value FROM json_each(json_extract(json_each.value, '$[2]')) AS swapped)
    ) AS swapped,
    (
        SELECT json_group_array(marked) FROM (
            SELECT marked FROM search_part
            WHERE search_part MATCH json_extract(value, '$[3]')
                AND length(marked) BETWEEN json_extract(value, '$[4]') AND json_extract(value, '$[5]')
            LIMIT :alike
        )
    ) AS alike
FROM json_each(:tokens);

-- name: best
-- What holds most of the terms that are asked for, each by its weight, the newest first of what holds the same.
WITH asked AS MATERIALIZED (  -- or its JSON would be read for every item
    SELECT json_extract(value, '$[0]') AS match, json_extract(value, '$[1]') AS weight FROM json_each(:terms)
)
SELECT
    found.row, found.kind, found.id, found.project_id, found.task,
    COALESCE(
        decision.text, project.summary,
        preference.key || ' = ' || preference.value || COALESCE(' (' || preference.reason || ')', '')
    ) AS text,
    search_word.exact, search_word.stem, found.told,
    found.valid_from_ms, found.valid_to_ms, found.recorded_at_ms, found.ended_ms, found.superseded_at_ms
FROM (
    SELECT search_item.*, held.told
    FROM (
        SELECT search_word.rowid AS row, sum(asked.weight) AS told
        FROM asked CROSS JOIN search_word
        WHERE search_word MATCH asked.match
        GROUP BY search_word.rowid
    ) AS held
    INNER JOIN search_item ON search_item.row = held.row
    WHERE (search_item.project_id IS NULL OR search_item.project_id = :project_id)
        AND (:kinds IS NULL OR search_item.kind IN (SELECT value FROM json_each(:kinds)))
        AND (:task IS NULL OR search_item.task IS NULL OR search_item.task = :task)
        AND search_item.recorded_at_ms <= :known_at_ms
        AND (
            :history OR (
                (search_item.valid_from_ms <= :as_of_ms OR (:is_now AND search_item.valid_from_ms <= search_item.recorded_at_ms))
                AND (search_item.valid_to_ms IS NULL OR search_item.valid_to_ms > :as_of_ms)
                AND (
                    search_item.superseded_at_ms IS NULL OR search_item.superseded_at_ms > :known_at_ms
                    OR (
                        search_item.ended_ms > :as_of_ms AND search_item.ended_ms > search_item.valid_from_ms
                        AND (NOT :is_now OR search_item.ended_ms > search_item.superseded_at_ms)
                    )
                )
            )
        )
    ORDER BY held.told DESC, held.row DESC LIMIT :limit
) AS found
INNER JOIN search_word ON search_word.rowid = found.row
LEFT JOIN decision ON found.kind = 'decision' AND decision.id = found.id
LEFT JOIN preference ON found.kind = 'preference' AND preference.id = found.id
LEFT JOIN project ON found.kind = 'summary' AND project.slug = found.id
WHERE COALESCE(decision.text, project.summary, preference.key) IS NOT NULL;

-- name: newest
-- The newest of what matches, unranked: where ranking all of it takes too long.
SELECT
    found.row, found.kind, found.id, found.project_id, found.task,
    COALESCE(
        decision.text, project.summary,
        preference.key || ' = ' || preference.value || COALESCE(' (' || preference.reason || ')', '')
    ) AS text,
    search_word.exact, search_word.stem, 0.0 AS told,
    found.valid_from_ms, found.valid_to_ms, found.recorded_at_ms, found.ended_ms, found.superseded_at_ms
FROM (
    SELECT search_item.*
    FROM search_word INNER JOIN search_item ON search_item.row = search_word.rowid
    WHERE search_word MATCH :match
        AND (search_item.project_id IS NULL OR search_item.project_id = :project_id)
        AND (:kinds IS NULL OR search_item.kind IN (SELECT value FROM json_each(:kinds)))
        AND (:task IS NULL OR search_item.task IS NULL OR search_item.task = :task)
        AND search_item.recorded_at_ms <= :known_at_ms
        AND (
            :history OR (
                (search_item.valid_from_ms <= :as_of_ms OR (:is_now AND search_item.valid_from_ms <= search_item.recorded_at_ms))
                AND (search_item.valid_to_ms IS NULL OR search_item.valid_to_ms > :as_of_ms)
                AND (
                    search_item.superseded_at_ms IS NULL OR search_item.superseded_at_ms > :known_at_ms
                    OR (
                        search_item.ended_ms > :as_of_ms AND search_item.ended_ms > search_item.valid_from_ms
                        AND (NOT :is_now OR search_item.ended_ms > search_item.superseded_at_ms)
                    )
                )
            )
        )
    ORDER BY search_word.rowid DESC LIMIT :limit
) AS found
INNER JOIN search_word ON search_word.rowid = found.row
LEFT JOIN decision ON found.kind = 'decision' AND decision.id = found.id
LEFT JOIN preference ON found.kind = 'preference' AND preference.id = found.id
LEFT JOIN project ON found.kind = 'summary' AND project.slug = found.id
WHERE COALESCE(decision.text, project.summary, preference.key) IS NOT NULL;

-- name: alike
-- The memory itself, read from end to end: what holds most of certain patterns, where there is no index.
SELECT
    0 AS row, item.kind, item.id, item.project_id, item.task, item.text, '' AS exact, '' AS stem,
    (SELECT count(*) FROM json_each(:patterns) WHERE item.text LIKE value ESCAPE '~') AS told,
    item.valid_from_ms, item.valid_to_ms, item.recorded_at_ms, item.ended_ms, item.superseded_at_ms
FROM (
    SELECT
        'decision' AS kind, id, project_id, task, text,
        valid_from_ms, valid_to_ms, recorded_at_ms, ended_ms, superseded_at_ms
    FROM decision
    UNION ALL
    SELECT
        'preference', id, project_id, NULL, key || ' = ' || value || COALESCE(' (' || reason || ')', ''),
        recorded_at_ms, NULL, recorded_at_ms, superseded_at_ms, superseded_at_ms
    FROM preference
    UNION ALL
    SELECT 'summary', slug, id, NULL, summary, changed_at_ms, NULL, changed_at_ms, NULL, NULL
    FROM project
    WHERE summary IS NOT NULL
) AS item
WHERE (item.project_id IS NULL OR item.project_id = :project_id)
    AND (:kinds IS NULL OR item.kind IN (SELECT value FROM json_each(:kinds)))
    AND (:task IS NULL OR item.task IS NULL OR item.task = :task)
    AND item.recorded_at_ms <= :known_at_ms
    AND (
        :history OR (
            (item.valid_from_ms <= :as_of_ms OR (:is_now AND item.valid_from_ms <= item.recorded_at_ms))
            AND (item.valid_to_ms IS NULL OR item.valid_to_ms > :as_of_ms)
            AND (
                item.superseded_at_ms IS NULL OR item.superseded_at_ms > :known_at_ms
                OR (
                    item.ended_ms > :as_of_ms AND item.ended_ms > item.valid_from_ms
                    AND (NOT :is_now OR item.ended_ms > item.superseded_at_ms)
                )
            )
        )
    )
    AND EXISTS (SELECT 1 FROM json_each(:patterns) WHERE item.text LIKE value ESCAPE '~')
ORDER BY told DESC, item.recorded_at_ms DESC
LIMIT :limit;
