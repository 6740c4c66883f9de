-- The tables of the index and how they are filled. They are made when the file is opened, not by migrations:
-- they can be made anew from the memory at any time, and are, where the way of indexing changed.

-- name: has_index
-- Whether there was ever an index in this file.
SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'search_index');

-- name: make_index
-- What is known of the index as a whole.
CREATE TABLE search_index (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    version TEXT NOT NULL
) STRICT;

-- name: index_version
-- How the file is indexed; none if it is not, or if it was changed by a SQLite that cannot index.
SELECT version FROM search_index;

-- name: set_index_version
-- Say how it is indexed from now on.
INSERT INTO search_index (one, version) VALUES (1, :version)
ON CONFLICT (one) DO UPDATE SET version = excluded.version;

-- name: make_items
-- Every item: whose it is and when it holds. Its row is that in `search_word`, and never used twice.
CREATE TABLE search_item (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    project_id INTEGER,
    task TEXT,
    valid_from_ms INTEGER NOT NULL,
    valid_to_ms INTEGER,
    recorded_at_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    superseded_at_ms INTEGER,
    UNIQUE (kind, id)
) STRICT;

-- name: make_words
-- Its tokens; `scope` is one token that says whose it is. All but ASCII belongs to tokens: they are made before.
CREATE VIRTUAL TABLE search_word USING fts5 (scope, exact, stem, tokenize = 'ascii');

-- name: make_counts
-- How many items hold a token.
CREATE VIRTUAL TABLE search_count USING fts5vocab (search_word, 'row');

-- name: make_terms
-- Every token of three characters or more, once; for parts of words, and for words that are nearly right.
CREATE TABLE search_term (
    row INTEGER PRIMARY KEY AUTOINCREMENT,
    term TEXT NOT NULL UNIQUE
) STRICT;

-- name: make_parts
-- Their trigrams, with a mark where a token begins and where it ends.
CREATE VIRTUAL TABLE search_part USING fts5 (marked, tokenize = 'trigram');

-- name: remove_counts
-- Before it is made anew.
DROP TABLE IF EXISTS search_count;

-- name: remove_words
-- Before it is made anew.
DROP TABLE IF EXISTS search_word;

-- name: remove_parts
-- Before it is made anew.
DROP TABLE IF EXISTS search_part;

-- name: remove_terms
-- Before it is made anew.
DROP TABLE IF EXISTS search_term;

-- name: remove_items
-- Before it is made anew.
DROP TABLE IF EXISTS search_item;

-- name: put_item
-- Take an item in, or in place of what was known of it; its row.
INSERT INTO search_item (
    kind, id, project_id, task, valid_from_ms, valid_to_ms, recorded_at_ms, ended_ms, superseded_at_ms
)
VALUES (
    :kind, :id, :project_id, :task, :valid_from_ms, :valid_to_ms, :recorded_at_ms, :ended_ms, :superseded_at_ms
)
ON CONFLICT (kind, id) DO UPDATE SET
    project_id = excluded.project_id,
    task = excluded.task,
    valid_from_ms = excluded.valid_from_ms,
    valid_to_ms = excluded.valid_to_ms,
    recorded_at_ms = excluded.recorded_at_ms,
    ended_ms = excluded.ended_ms,
    superseded_at_ms = excluded.superseded_at_ms
RETURNING row;

-- name: drop_item
-- Forget an item; the row it had.
DELETE FROM search_item WHERE kind = :kind AND id = :id RETURNING row;

-- name: drop_words
-- Forget what an item says.
DELETE FROM search_word WHERE rowid = :row;

-- name: put_words
-- Index what an item says.
INSERT INTO search_word (rowid, scope, exact, stem) VALUES (:row, :scope, :exact, :stem);

-- name: newest_term
-- What was there before.
SELECT COALESCE(max(row), 0) FROM search_term;

-- name: put_terms
-- Take in the tokens that are new.
INSERT INTO search_term (term) SELECT value FROM json_each(:terms) WHERE true ON CONFLICT (term) DO NOTHING;

-- name: put_parts
-- Index the parts of tokens that were taken in after a row.
INSERT INTO search_part (rowid, marked) SELECT row, '^' || term || '$' FROM search_term WHERE row > :after;

-- name: drop_unused_parts
-- Forget the parts of tokens that no item holds any more.
DELETE FROM search_part
WHERE rowid IN (SELECT row FROM search_term WHERE term NOT IN (SELECT term FROM search_count));

-- name: drop_unused_terms
-- Forget tokens that no item holds any more.
DELETE FROM search_term WHERE term NOT IN (SELECT term FROM search_count);

-- name: merge_words
-- Write all segments anew: what was deleted stays in older ones. Not by `optimize`, each of which adds levels for good,
-- until SQLite takes the index for damaged.
INSERT INTO search_word (search_word) VALUES ('rebuild');

-- name: merge_parts
-- The same for the parts.
INSERT INTO search_part (search_part) VALUES ('rebuild');

-- name: has_shadows
-- Whether there are tables of an index, which SQLite may not be able to read as one.
SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'search_word_content');

-- What follows is for a SQLite that cannot read the index: it takes out of its ordinary tables all that items say, and
-- leaves what has no text but is needed to remove the index once there is one that can.

-- name: empty_word_content
-- The tokens as they were put.
DELETE FROM search_word_content;

-- name: empty_word_segments
-- The tokens as they are searched; records 1 and 10 only say how many there are and in which segments.
DELETE FROM search_word_data WHERE id NOT IN (1, 10);

-- name: empty_word_borders
-- Where pages of tokens begin.
DELETE FROM search_word_idx;

-- name: empty_part_content
-- The same of the parts.
DELETE FROM search_part_content;

-- name: empty_part_segments
-- The same of the parts.
DELETE FROM search_part_data WHERE id NOT IN (1, 10);

-- name: empty_part_borders
-- The same of the parts.
DELETE FROM search_part_idx;

-- name: empty_terms
-- All tokens.
DELETE FROM search_term;
