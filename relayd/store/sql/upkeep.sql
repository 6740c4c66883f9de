-- What must still be done to this file.

-- name: note_upkeep
-- Remember that something must be done to this file; its value counts how often that was said.
INSERT INTO upkeep (name, value) VALUES (:name, 1) ON CONFLICT (name) DO UPDATE SET value = value + 1;

-- name: finish_upkeep
-- It was done, unless it was said again since.
DELETE FROM upkeep WHERE name = :name AND value = :value;

-- name: drop_upkeep
-- What had to be done to this file was done.
DELETE FROM upkeep WHERE name = :name;

-- name: upkeep
-- What must be done to this file; no row if nothing.
SELECT name, value FROM upkeep ORDER BY name;
