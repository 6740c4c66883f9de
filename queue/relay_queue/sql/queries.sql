-- name: binding_read
-- The binding of this queue and its mode, if it is bound.
SELECT server_url, producer, actor, workspace, project, mode FROM binding;

-- name: binding_write
-- Bind a new queue.
INSERT INTO binding (id, server_url, producer, actor, workspace, project, mode, created_at_ms)
VALUES (1, :server_url, :producer, :actor, :workspace, :project, :mode, :now_ms);

-- name: binding_mode
-- Choose who delivers.
UPDATE binding SET mode = :mode;

-- name: clock_read
-- Where both clocks stood at the last commit.
SELECT queue_ms, wall_ms FROM clock;

-- name: clock_write
-- Keep where both clocks stand.
INSERT INTO clock (id, queue_ms, wall_ms) VALUES (1, :queue_ms, :wall_ms)
ON CONFLICT (id) DO UPDATE SET queue_ms = excluded.queue_ms, wall_ms = excluded.wall_ms;

-- name: clock_jump_write
-- Record a jump of the wall clock.
INSERT INTO clock_jump (at_queue_ms, delta_ms, while_open) VALUES (:at_queue_ms, :delta_ms, :while_open);

-- name: clock_jump_trim
-- Keep the newest jumps; the newest id stays the number of all.
DELETE FROM clock_jump WHERE id <= (SELECT max(id) FROM clock_jump) - :kept;

-- name: counter_read
-- All counters.
SELECT last_seq, pending_items, pending_bytes, pending_sessions, attempted_items, failed_heads, expired_heads,
    receipts, known_sessions
FROM counter;

-- name: counter_add
-- Add to all counters.
UPDATE counter SET
    last_seq = last_seq + :last_seq,
    pending_items = pending_items + :pending_items,
    pending_bytes = pending_bytes + :pending_bytes,
    pending_sessions = pending_sessions + :pending_sessions,
    attempted_items = attempted_items + :attempted_items,
    failed_heads = failed_heads + :failed_heads,
    expired_heads = expired_heads + :expired_heads,
    receipts = receipts + :receipts,
    known_sessions = known_sessions + :known_sessions;

-- name: admit_look_up
-- One row: pins of these sessions as [session_id, row, agent, has a head]; which of these keys are pending or have
-- a receipt, as [key, content]; the last row of a session; all counters.
SELECT
    (
        SELECT json_group_array(json_array(s.session_id, s.id, s.agent, h.seq IS NOT NULL))
        FROM json_each(:session_ids) AS asked
        CROSS JOIN session AS s ON s.session_id = asked.value
        LEFT JOIN head AS h ON h.session = s.id
    ),
    (
        SELECT json_group_array(json_array(ingest_key, hex(body_sha256)))
        FROM (
            SELECT p.ingest_key, p.body_sha256
            FROM json_each(:keys) AS asked
            CROSS JOIN pending AS p
                ON substr(p.ingest_key, 1, 12) = substr(asked.value, 1, 12) AND p.ingest_key = asked.value
            UNION ALL
            SELECT r.ingest_key, r.body_sha256
            FROM json_each(:keys) AS asked
            CROSS JOIN receipt AS r
                ON substr(r.ingest_key, 1, 12) = substr(asked.value, 1, 12) AND r.ingest_key = asked.value
        )
    ),
    (SELECT coalesce(max(id), 0) FROM session),
    c.last_seq, c.pending_items, c.pending_bytes, c.pending_sessions, c.attempted_items, c.failed_heads,
    c.expired_heads, c.receipts, c.known_sessions
FROM counter AS c;

-- name: admit_seen
-- Refresh the pins of known sessions.
UPDATE session SET last_seen_ms = :now_ms WHERE id IN (SELECT value FROM json_each(:sessions));

-- name: admit_sessions
-- Pin new sessions, each given as [row, session_id, agent].
INSERT INTO session (id, session_id, agent, last_seen_ms)
SELECT json_extract(new.value, '$[0]'), json_extract(new.value, '$[1]'), json_extract(new.value, '$[2]'), :now_ms
FROM json_each(:sessions) AS new;

-- name: admit_events
-- Store events, each given as [seq, key, session, event_id, event, cwd, where its body begins, bytes of it, cost];
-- bodies and their 32-byte hashes come end to end.
INSERT INTO pending
    (seq, ingest_key, session, event_id, event, cwd, body, body_sha256, body_bytes, cost, enqueued_at_ms)
SELECT
    json_extract(new.value, '$[0]'),
    json_extract(new.value, '$[1]'),
    json_extract(new.value, '$[2]'),
    json_extract(new.value, '$[3]'),
    json_extract(new.value, '$[4]'),
    json_extract(new.value, '$[5]'),
    CAST(substr(:bodies, 1 + json_extract(new.value, '$[6]'), json_extract(new.value, '$[7]')) AS TEXT),
    substr(:hashes, 1 + 32 * new.key, 32),
    json_extract(new.value, '$[7]'),
    json_extract(new.value, '$[8]'),
    :now_ms
FROM json_each(:events) AS new;

-- name: admit_heads
-- Make events the heads of their sessions.
INSERT INTO head (seq, session, cost)
SELECT p.seq, p.session, p.cost FROM json_each(:seqs) AS first CROSS JOIN pending AS p ON p.seq = first.value;

-- name: head_expiring
-- How many heads, by state, have come to the end of their window.
SELECT state, count(*) FROM head
WHERE state <> 'expired' AND first_attempt_ms <= :cutoff_ms GROUP BY state;

-- name: head_expire
-- Hold the heads whose window is over.
UPDATE head SET state = 'expired', due_at_ms = NULL
WHERE state <> 'expired' AND first_attempt_ms <= :cutoff_ms;

-- name: head_promote
-- Make failed heads ready whose due time has come.
UPDATE head SET state = 'ready', due_at_ms = NULL WHERE state = 'failed' AND due_at_ms <= :now_ms;

-- name: head_ready
-- Ready heads, oldest first.
SELECT seq, cost FROM head WHERE state = 'ready' ORDER BY seq LIMIT :scanned;

-- name: head_items
-- What a batch sends of its heads.
SELECT h.seq, p.ingest_key, h.session, h.first_attempt_ms, h.failures,
    p.event_id, s.agent, p.event, s.session_id, p.cwd, p.body, p.body_sha256
FROM json_each(:seqs) AS chosen
CROSS JOIN head AS h ON h.seq = chosen.value
JOIN pending AS p ON p.seq = h.seq
JOIN session AS s ON s.id = h.session
ORDER BY h.seq;

-- name: head_stamp
-- Note an attempt, and where the window starts if it is the first.
UPDATE head SET attempts = attempts + 1, first_attempt_ms = coalesce(first_attempt_ms, :now_ms)
WHERE seq IN (SELECT value FROM json_each(:seqs));

-- name: head_unstamp
-- Take the start of the window back.
UPDATE head SET first_attempt_ms = NULL WHERE seq IN (SELECT value FROM json_each(:seqs));

-- name: head_fail
-- Let a head back off by itself.
UPDATE head SET state = 'failed', failures = failures + 1, due_at_ms = :due_at_ms, last_error = :last_error
WHERE seq = :seq;

-- name: head_leaving
-- What counters need of heads that leave the queue, in one row, and their sessions.
SELECT
    count(*),
    ifnull(sum(p.body_bytes), 0),
    count(h.first_attempt_ms),
    count(*) FILTER (WHERE h.state = 'failed'),
    count(*) FILTER (WHERE h.state = 'expired'),
    json_group_array(h.session)
FROM json_each(:seqs) AS leaving
CROSS JOIN head AS h ON h.seq = leaving.value
JOIN pending AS p ON p.seq = h.seq;

-- name: head_receipt
-- Write receipts for heads that leave the queue; each comes as [seq, outcome].
INSERT INTO receipt (ingest_key, body_sha256, window_start_ms, left_at_ms, outcome)
SELECT p.ingest_key, p.body_sha256, coalesce(:window_start_ms, h.first_attempt_ms), :now_ms,
    json_extract(leaving.value, '$[1]')
FROM json_each(:leaving) AS leaving
CROSS JOIN head AS h ON h.seq = json_extract(leaving.value, '$[0]')
JOIN pending AS p ON p.seq = h.seq;

-- name: head_remove
-- Remove heads.
DELETE FROM head WHERE seq IN (SELECT value FROM json_each(:seqs));

-- name: pending_remove
-- Remove events.
DELETE FROM pending WHERE seq IN (SELECT value FROM json_each(:seqs));

-- name: head_succeed
-- Make the oldest pending event of each of these sessions its head.
INSERT INTO head (seq, session, cost)
SELECT p.seq, p.session, p.cost
FROM json_each(:sessions) AS left_behind
CROSS JOIN pending AS p
    ON p.seq = (SELECT seq FROM pending WHERE session = left_behind.value ORDER BY seq LIMIT 1);

-- name: head_lift
-- Make all failed heads ready; their failures stay counted.
UPDATE head SET state = 'ready', due_at_ms = NULL WHERE state = 'failed';

-- name: receipt_count
-- Add to the receipts of an outcome.
INSERT INTO receipt_outcome (outcome, receipts) VALUES (:outcome, :receipts)
ON CONFLICT (outcome) DO UPDATE SET receipts = receipts + excluded.receipts;

-- name: receipt_uncount
-- Take from the receipts of an outcome.
UPDATE receipt_outcome SET receipts = receipts - :receipts WHERE outcome = :outcome;

-- name: delivery_read
-- How delivery goes.
SELECT state, failures, due_at_ms, bad_answers, batch_items, batches, under_way, last_error, last_delivered_ms
FROM delivery;

-- name: delivery_write
-- Keep how delivery goes.
UPDATE delivery SET
    state = :state,
    failures = :failures,
    due_at_ms = :due_at_ms,
    bad_answers = :bad_answers,
    batch_items = :batch_items,
    batches = :batches,
    under_way = :under_way,
    last_error = :last_error,
    last_delivered_ms = :last_delivered_ms;

-- name: held_list
-- Heads that may not go now, in order, with why.
SELECT h.seq, p.ingest_key, s.session_id, s.agent, p.event, p.event_id,
    CASE
        WHEN h.state = 'expired' OR h.first_attempt_ms <= :cutoff_ms THEN 'expired'
        WHEN h.state = 'failed' THEN 'failed'
        ELSE 'needs_auth'
    END,
    CASE
        WHEN h.state = 'failed' AND ifnull(h.first_attempt_ms > :cutoff_ms, 1)
        THEN max(h.due_at_ms - :now_ms, 0)
    END,
    h.attempts,
    ifnull(h.last_error, CASE WHEN h.state = 'ready' THEN d.last_error END),
    :now_ms - p.enqueued_at_ms
FROM head AS h
JOIN delivery AS d
JOIN pending AS p ON p.seq = h.seq
JOIN session AS s ON s.id = h.session
WHERE h.seq > :after
    AND (h.state <> 'ready' OR h.first_attempt_ms <= :cutoff_ms OR d.state = 'needs_auth')
ORDER BY h.seq LIMIT :limit;

-- name: held_count
-- How many heads may not go now.
SELECT CASE
    WHEN d.state = 'needs_auth' THEN c.pending_sessions
    ELSE c.failed_heads + c.expired_heads
        + (SELECT count(*) FROM head
            WHERE state <> 'expired' AND first_attempt_ms <= :cutoff_ms AND state = 'ready')
    END
FROM counter AS c JOIN delivery AS d;

-- name: event_find
-- Pending events whose key lies in one of these ranges, and the range.
SELECT asked.key, p.seq, p.ingest_key, h.state, h.first_attempt_ms
FROM json_each(:ranges) AS asked
CROSS JOIN pending AS p
    ON substr(p.ingest_key, 1, 12)
        BETWEEN substr(json_extract(asked.value, '$[0]'), 1, 12) AND substr(json_extract(asked.value, '$[1]'), 1, 12)
    AND p.ingest_key BETWEEN json_extract(asked.value, '$[0]') AND json_extract(asked.value, '$[1]')
LEFT JOIN head AS h ON h.seq = p.seq;

-- name: event_export
-- The parts of an envelope of pending events whose key lies between two.
SELECT p.event_id, s.agent, p.event, p.body
FROM pending AS p JOIN session AS s ON s.id = p.session
WHERE substr(p.ingest_key, 1, 12) BETWEEN substr(:low, 1, 12) AND substr(:high, 1, 12)
    AND p.ingest_key BETWEEN :low AND :high
LIMIT 2;

-- name: retry_all
-- Heads that are held, the expired ones among them only if asked for.
SELECT seq, state, first_attempt_ms FROM head
WHERE (state = 'failed' AND ifnull(first_attempt_ms > :cutoff_ms, 1))
    OR (:expired AND (state = 'expired' OR first_attempt_ms <= :cutoff_ms));

-- name: head_retry
-- Make held heads ready and forget their failures.
UPDATE head SET state = 'ready', due_at_ms = NULL, failures = 0
WHERE seq IN (SELECT value FROM json_each(:seqs));

-- name: intervention_write
-- Leave a trace of what was done to heads.
INSERT INTO intervention (at_ms, action, ingest_key, session_id, attempts, last_error)
SELECT :now_ms, :action, p.ingest_key, s.session_id, h.attempts, h.last_error
FROM json_each(:seqs) AS touched
CROSS JOIN head AS h ON h.seq = touched.value
JOIN pending AS p ON p.seq = h.seq
JOIN session AS s ON s.id = h.session;

-- name: intervention_trim
-- Keep the newest traces.
DELETE FROM intervention WHERE id <= (SELECT max(id) FROM intervention) - :kept;

-- name: prune_receipts
-- Forget some receipts whose window is over.
DELETE FROM receipt WHERE id IN (
    SELECT id FROM receipt WHERE window_start_ms < :cutoff_ms ORDER BY window_start_ms LIMIT :slice
)
RETURNING outcome;

-- name: prune_reach
-- The last session of the slice that follows one, if any does.
SELECT max(id) FROM (SELECT id FROM session WHERE id > :after ORDER BY id LIMIT :slice);

-- name: prune_sessions
-- Forget sessions of a slice that nothing names and nobody used within the window.
DELETE FROM session
WHERE id > :after AND id <= :reach AND last_seen_ms < :cutoff_ms
    AND NOT EXISTS (SELECT 1 FROM head WHERE head.session = session.id);

-- name: due
-- When delivery may go on by itself, at the earliest; null if it will not.
SELECT CASE
    WHEN b.mode = 'manual' OR d.state = 'needs_auth' THEN NULL
    ELSE max(
        ifnull(d.due_at_ms, 0),
        CASE
            WHEN EXISTS (
                SELECT 1 FROM head WHERE state = 'ready' AND ifnull(first_attempt_ms > :cutoff_ms, 1)
            ) THEN 0
            ELSE (
                SELECT due_at_ms FROM head
                WHERE state = 'failed' AND ifnull(first_attempt_ms > :cutoff_ms, 1)
                ORDER BY due_at_ms LIMIT 1
            )
        END
    )
    END
FROM binding AS b JOIN delivery AS d;

-- name: status
-- Everything that status shows, in the order of its row.
SELECT
    b.server_url, b.producer, b.actor, b.workspace, b.project, b.mode,
    c.pending_items, c.pending_bytes, c.pending_sessions, c.attempted_items, c.failed_heads,
    c.expired_heads
        + (SELECT count(*) FROM head WHERE state <> 'expired' AND first_attempt_ms <= :cutoff_ms),
    (SELECT count(*) FROM head WHERE state = 'failed' AND first_attempt_ms <= :cutoff_ms),
    c.receipts, c.known_sessions,
    d.state, d.batch_items, d.last_error, :now_ms - d.last_delivered_ms,
    (SELECT :now_ms - enqueued_at_ms FROM pending ORDER BY seq LIMIT 1),
    (SELECT max(attempts) FROM head WHERE attempts > 0),
    max(
        ifnull(d.due_at_ms, 0),
        CASE
            WHEN EXISTS (
                SELECT 1 FROM head WHERE state = 'ready' AND ifnull(first_attempt_ms > :cutoff_ms, 1)
            ) THEN 0
            ELSE (
                SELECT due_at_ms FROM head
                WHERE state = 'failed' AND ifnull(first_attempt_ms > :cutoff_ms, 1)
                ORDER BY due_at_ms LIMIT 1
            )
        END
    ) - :now_ms,
    (SELECT json_group_object(outcome, receipts) FROM receipt_outcome),
    (SELECT json_group_object(outcome, past) FROM (
        SELECT outcome, count(*) AS past FROM receipt WHERE window_start_ms < :cutoff_ms GROUP BY outcome
    )),
    (SELECT max(id) FROM clock_jump),
    (SELECT json_array(:now_ms - at_queue_ms, delta_ms, while_open)
        FROM clock_jump ORDER BY id DESC LIMIT 1)
FROM binding AS b JOIN counter AS c JOIN delivery AS d;
