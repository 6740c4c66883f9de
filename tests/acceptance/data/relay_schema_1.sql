-- `relay.db` as the first version made it: five events in the feed, two queues.
PRAGMA application_id = 1919706210;
PRAGMA user_version = 1;
PRAGMA journal_mode = WAL;
BEGIN TRANSACTION;
CREATE TABLE bound_queue (
    queue_dir TEXT PRIMARY KEY,
    name TEXT,
    server_url TEXT NOT NULL,
    producer TEXT NOT NULL,
    actor TEXT NOT NULL,
    workspace TEXT NOT NULL,
    project TEXT NOT NULL,
    mode TEXT NOT NULL CHECK (mode IN ('auto', 'manual')),
    is_open INTEGER NOT NULL DEFAULT 0 CHECK (is_open IN (0, 1)),
    next_due_wall_ms INTEGER,
    problem TEXT
) STRICT;
INSERT INTO "bound_queue" VALUES('HOME-OF-THE-TEST/queue/default','default','local','relayd','ana','default','default','auto',0,NULL,NULL);
INSERT INTO "bound_queue" VALUES('HOME-OF-THE-TEST/queue/remote','remote','http://127.0.0.1:1','p','a','w','p','manual',0,NULL,NULL);
CREATE TABLE capture_session (
    session_id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    workspace TEXT NOT NULL,
    project TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('live', 'ended', 'subagent')),
    last_seen_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "capture_session" VALUES('s-0','claude-code','default','default','live',1795996135911);
INSERT INTO "capture_session" VALUES('s-1','claude-code','default','default','live',1795996135911);
CREATE TABLE clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    clock_ms INTEGER NOT NULL,
    wall_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "clock" VALUES(1,1795996136917,1795996136917);
CREATE TABLE event (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    received_at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    dedupe_key TEXT,
    actor TEXT NOT NULL,
    producer TEXT,
    agent TEXT NOT NULL,
    session_id TEXT,
    workspace TEXT NOT NULL,
    project TEXT NOT NULL,
    event TEXT NOT NULL,
    source_event TEXT,
    tokens_in INTEGER,
    tokens_out INTEGER,
    cost_micros INTEGER
) STRICT;
INSERT INTO "event" VALUES(1,1795996135911,1795996135911,'hook','7940df77117d1624d05804cf14abe9ee94ef3945aebd5b00d25b685b52954ce3','ana','relayd','claude-code','s-0','default','default','stop','stop',NULL,NULL,NULL);
INSERT INTO "event" VALUES(2,1795996135911,1795996135911,'hook','ab0ad351379d83de1c1926dd2dca863abebffd5bec8be933af8df384103698bb','ana','relayd','claude-code','s-1','default','default','stop','stop',NULL,NULL,NULL);
INSERT INTO "event" VALUES(3,1795996135914,1795996135914,'hook','0f7f3df6e80c7f25ecbcb58bf4e18f788e4e88a7e8cade9d30fad65cb4290175','ana','relayd','claude-code','s-0','default','default','stop','stop',NULL,NULL,NULL);
INSERT INTO "event" VALUES(4,1795996135914,1795996135914,'hook','96bb89fb56de5a7b7daa5a410865c05322fb36d554cd4f303529745c4f8841a4','ana','relayd','claude-code','s-1','default','default','stop','stop',NULL,NULL,NULL);
INSERT INTO "event" VALUES(5,1795996135917,1795996135917,'hook','7caedac61911fd70e8df7bc4f7aa1f4d1417c3c74916f0d96795b947862029cb','ana','relayd','claude-code','s-0','default','default','stop','stop',NULL,NULL,NULL);
CREATE TABLE excerpt (
    event_id INTEGER PRIMARY KEY REFERENCES event (id),
    kept_at_ms INTEGER NOT NULL,
    text TEXT NOT NULL
) STRICT;
INSERT INTO "excerpt" VALUES(1,1795996135911,'{"last_assistant_message":"answer 0"}');
INSERT INTO "excerpt" VALUES(2,1795996135911,'{"last_assistant_message":"answer 1"}');
INSERT INTO "excerpt" VALUES(3,1795996135914,'{"last_assistant_message":"answer 2"}');
INSERT INTO "excerpt" VALUES(4,1795996135914,'{"last_assistant_message":"answer 3"}');
INSERT INTO "excerpt" VALUES(5,1795996135917,'{"last_assistant_message":"answer 4"}');
CREATE TABLE ingest_key (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    ingest_key TEXT NOT NULL,
    workspace TEXT NOT NULL,
    project TEXT NOT NULL,
    claimed_at_ms INTEGER NOT NULL,
    UNIQUE (ingest_key, workspace, project)
) STRICT;
INSERT INTO "ingest_key" VALUES(1,'7940df77117d1624d05804cf14abe9ee94ef3945aebd5b00d25b685b52954ce3','default','default',1795996135911);
INSERT INTO "ingest_key" VALUES(2,'ab0ad351379d83de1c1926dd2dca863abebffd5bec8be933af8df384103698bb','default','default',1795996135911);
INSERT INTO "ingest_key" VALUES(3,'0f7f3df6e80c7f25ecbcb58bf4e18f788e4e88a7e8cade9d30fad65cb4290175','default','default',1795996135914);
INSERT INTO "ingest_key" VALUES(4,'96bb89fb56de5a7b7daa5a410865c05322fb36d554cd4f303529745c4f8841a4','default','default',1795996135914);
INSERT INTO "ingest_key" VALUES(5,'7caedac61911fd70e8df7bc4f7aa1f4d1417c3c74916f0d96795b947862029cb','default','default',1795996135917);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('event',5);
INSERT INTO "sqlite_sequence" VALUES('ingest_key',5);
COMMIT;
