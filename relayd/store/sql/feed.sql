-- name: append_event
-- Append one event that is of no hook; no row comes back if its dedupe key is taken.
INSERT INTO event (
    at_ms, received_at_ms, kind, dedupe_key, actor, agent, session_id, project, project_id, ref, data, subscription, lane,
    model, tokens_in, tokens_out, cost_micros
) VALUES (
    :at_ms, :received_at_ms, :kind, :dedupe_key, :actor, :agent, :session_id, :project, :project_id, :ref, :data,
    :subscription, :lane, :model, :tokens_in, :tokens_out, :cost_micros
)
ON CONFLICT DO NOTHING
RETURNING id;
