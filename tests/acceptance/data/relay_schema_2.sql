-- `relay.db` as the second version made it: nine events of hooks, two of them of a project that was never linked, four
-- linked directories of three projects, an upstream, two queues.
PRAGMA application_id = 1919706210;
PRAGMA user_version = 2;
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
INSERT INTO "bound_queue" VALUES('HOME-OF-THE-TEST/queue/p-shop.1','p-shop.1','local','relayd','ana','default','shop','auto',0,NULL,NULL);
INSERT INTO "bound_queue" VALUES('HOME-OF-THE-TEST/queue/p-api.1','p-api.1','local','relayd','ana','default','api','auto',0,NULL,NULL);
CREATE TABLE capture_session (
    session_id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    workspace TEXT NOT NULL,
    project TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('live', 'ended', 'subagent')),
    last_seen_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "capture_session" VALUES('s-0','claude-code','default','shop','live',1796005309277);
INSERT INTO "capture_session" VALUES('s-1','claude-code','default','shop','live',1796005309277);
INSERT INTO "capture_session" VALUES('s-2','claude-code','default','api','ended',1796005309322);
INSERT INTO "capture_session" VALUES('s-3','codex','default','archive','live',1796005309337);
CREATE TABLE clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    clock_ms INTEGER NOT NULL,
    wall_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "clock" VALUES(1,1796005309377,1796005309377);
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
INSERT INTO "event" VALUES(1,1796005309239,1796005309277,'hook','cee66cf5f2c04f926f18f429bef7071aa7bc4f9f92874f3ae304a09119171688','ana','relayd','claude-code','s-0','default','shop','stop','stop',NULL,NULL,NULL);
INSERT INTO "event" VALUES(2,1796005309263,1796005309277,'hook','c31235fc744a0a1257ec0e5952ebcc25275802b074402dcc371de5145a84ca95','ana','relayd','claude-code','s-1','default','shop','stop','stop',NULL,NULL,NULL);
INSERT INTO "event" VALUES(3,1796005309275,1796005309280,'hook','25ba13d829b0bb1beca8687c08979ff8855a9f480569c6494087b7f9f76a0a82','ana','relayd','claude-code','s-0','default','shop','stop','stop',NULL,NULL,NULL);
INSERT INTO "event" VALUES(4,1796005309287,1796005309322,'hook','b1170030cb272738f1158c6c47ec2151bf10a01e06185bfe49b281b47a1dc3b7','ana','relayd','claude-code','s-2','default','api','session-start','session-start',NULL,NULL,NULL);
INSERT INTO "event" VALUES(5,1796005309311,1796005309326,'hook','acc95344b2f2f632f0fb1269a88e2759960e796173c99368832d04d5e4806266','ana','relayd','claude-code','s-2','default','api','user-prompt-submit','user-prompt-submit',NULL,NULL,NULL);
INSERT INTO "event" VALUES(6,1796005309322,1796005309327,'hook','edf31c04895a7fb8f755decdc3a916620173517a8f6ea494938f2a168aecc418','ana','relayd','claude-code','s-2','default','api','stop','stop',NULL,NULL,NULL);
INSERT INTO "event" VALUES(7,1796005309337,1796005309337,'hook','key-5','ana',NULL,'codex','s-3','default','archive','stop',NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(8,1796005309338,1796005309338,'hook','key-6','ana',NULL,'codex','s-3','default','archive','stop',NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(9,1796005309333,1796005309350,'hook','5d657184db2b06000e935e9841109f8ce9013a77b845585a7aee2b4f2e46633f','ana','relayd','claude-code','s-2','default','api','session-end','session-end',NULL,NULL,NULL);
CREATE TABLE excerpt (
    event_id INTEGER PRIMARY KEY REFERENCES event (id),
    kept_at_ms INTEGER NOT NULL,
    text TEXT NOT NULL
) STRICT;
INSERT INTO "excerpt" VALUES(1,1796005309277,'number 0');
INSERT INTO "excerpt" VALUES(2,1796005309277,'number 1');
INSERT INTO "excerpt" VALUES(3,1796005309280,'number 2');
INSERT INTO "excerpt" VALUES(4,1796005309322,'{"source":"startup"}');
INSERT INTO "excerpt" VALUES(5,1796005309326,'number 3');
INSERT INTO "excerpt" VALUES(6,1796005309327,'number 4');
INSERT INTO "excerpt" VALUES(7,1796005309337,'number 5');
INSERT INTO "excerpt" VALUES(8,1796005309339,'number 6');
INSERT INTO "excerpt" VALUES(9,1796005309350,'{"reason":"exit"}');
CREATE TABLE hook_seen (
    cli TEXT NOT NULL,
    event TEXT NOT NULL,
    last_at_ms INTEGER NOT NULL,
    PRIMARY KEY (cli, event)
) STRICT, WITHOUT ROWID;
INSERT INTO "hook_seen" VALUES('claude','session-end',1796005309333);
INSERT INTO "hook_seen" VALUES('claude','session-start',1796005309287);
INSERT INTO "hook_seen" VALUES('claude','stop',1796005309239);
INSERT INTO "hook_seen" VALUES('claude','user-prompt-submit',1796005309311);
CREATE TABLE hook_session (
    agent TEXT NOT NULL,
    session_id TEXT NOT NULL,
    queue_dir TEXT NOT NULL,
    last_seen_ms INTEGER NOT NULL,
    PRIMARY KEY (agent, session_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "hook_session" VALUES('claude-code','s-0','HOME-OF-THE-TEST/queue/p-shop.1',1796005309251);
INSERT INTO "hook_session" VALUES('claude-code','s-1','HOME-OF-THE-TEST/queue/p-shop.1',1796005309264);
INSERT INTO "hook_session" VALUES('claude-code','s-2','HOME-OF-THE-TEST/queue/p-api.1',1796005309298);
CREATE TABLE ingest_key (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    ingest_key TEXT NOT NULL,
    workspace TEXT NOT NULL,
    project TEXT NOT NULL,
    claimed_at_ms INTEGER NOT NULL,
    UNIQUE (ingest_key, workspace, project)
) STRICT;
INSERT INTO "ingest_key" VALUES(1,'cee66cf5f2c04f926f18f429bef7071aa7bc4f9f92874f3ae304a09119171688','default','shop',1796005309277);
INSERT INTO "ingest_key" VALUES(2,'c31235fc744a0a1257ec0e5952ebcc25275802b074402dcc371de5145a84ca95','default','shop',1796005309277);
INSERT INTO "ingest_key" VALUES(3,'25ba13d829b0bb1beca8687c08979ff8855a9f480569c6494087b7f9f76a0a82','default','shop',1796005309280);
INSERT INTO "ingest_key" VALUES(4,'b1170030cb272738f1158c6c47ec2151bf10a01e06185bfe49b281b47a1dc3b7','default','api',1796005309322);
INSERT INTO "ingest_key" VALUES(5,'acc95344b2f2f632f0fb1269a88e2759960e796173c99368832d04d5e4806266','default','api',1796005309326);
INSERT INTO "ingest_key" VALUES(6,'edf31c04895a7fb8f755decdc3a916620173517a8f6ea494938f2a168aecc418','default','api',1796005309327);
INSERT INTO "ingest_key" VALUES(7,'key-5','default','archive',1796005309337);
INSERT INTO "ingest_key" VALUES(8,'key-6','default','archive',1796005309339);
INSERT INTO "ingest_key" VALUES(9,'5d657184db2b06000e935e9841109f8ce9013a77b845585a7aee2b4f2e46633f','default','api',1796005309350);
CREATE TABLE link (
    root TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    git_common_dir TEXT,
    remote TEXT,
    linked_at_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "link" VALUES('USER-OF-THE-TEST/code/shop','shop','USER-OF-THE-TEST/code/shop/.git',NULL,1796005309132);
INSERT INTO "link" VALUES('USER-OF-THE-TEST/code/shop-again','shop',NULL,'git.example.com/ana/shop',1796005309150);
INSERT INTO "link" VALUES('USER-OF-THE-TEST/code/api','api','USER-OF-THE-TEST/code/api/.git',NULL,1796005309177);
INSERT INTO "link" VALUES('USER-OF-THE-TEST/code/atlas','atlas','USER-OF-THE-TEST/code/atlas/.git',NULL,1796005309227);
CREATE TABLE upstream (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    server_url TEXT NOT NULL,
    producer TEXT NOT NULL,
    actor TEXT NOT NULL,
    workspace TEXT NOT NULL
) STRICT;
INSERT INTO "upstream" VALUES(1,'http://127.0.0.1:9','p','ana','w');
CREATE INDEX link_by_git_common_dir ON link (git_common_dir) WHERE git_common_dir IS NOT NULL;
CREATE INDEX link_by_remote ON link (remote) WHERE remote IS NOT NULL;
CREATE INDEX hook_session_by_age ON hook_session (last_seen_ms);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('event',9);
INSERT INTO "sqlite_sequence" VALUES('ingest_key',9);
COMMIT;
