-- `relay.db` as the third version made it: five events of hooks and more of the memory, three projects of which one was
-- renamed and one removed, decisions and preferences of which some were replaced; without its search index.
PRAGMA application_id = 1919706210;
PRAGMA user_version = 3;
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
INSERT INTO "bound_queue" VALUES('HOME-OF-THE-TEST/queue/p-gateway.1','p-gateway.1','local','relayd','ana','default','gateway','auto',0,NULL,NULL);
INSERT INTO "bound_queue" VALUES('HOME-OF-THE-TEST/queue/p-gone.1','p-gone.1','local','relayd','ana','default','gone','auto',0,NULL,NULL);
CREATE TABLE capture_session (
    session_id TEXT PRIMARY KEY,
    agent TEXT NOT NULL,
    workspace TEXT NOT NULL,
    project TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('live', 'ended', 'subagent')),
    last_seen_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "capture_session" VALUES('s-0','claude-code','default','shop','live',1796021657062);
INSERT INTO "capture_session" VALUES('s-1','claude-code','default','shop','live',1796021657062);
INSERT INTO "capture_session" VALUES('s-2','claude-code','default','gateway','ended',1796021657104);
INSERT INTO "capture_session" VALUES('s-3','claude-code','default','gone','live',1796021657129);
CREATE TABLE clock (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    clock_ms INTEGER NOT NULL,
    wall_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "clock" VALUES(1,1796021657161,1796021657161);
CREATE TABLE decision (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    project_id INTEGER REFERENCES project (id),
    task TEXT,
    text TEXT NOT NULL,
    digest TEXT NOT NULL,
    author TEXT NOT NULL,
    source TEXT NOT NULL CHECK (source IN ('claude', 'codex', 'grok', 'pr', 'human', 'nightly')),
    ref TEXT,
    ref_text TEXT,
    valid_from_ms INTEGER NOT NULL,
    valid_to_ms INTEGER,
    recorded_at_ms INTEGER NOT NULL,
    ended_ms INTEGER,
    superseded_at_ms INTEGER,
    superseded_by TEXT REFERENCES decision (id),
    reason TEXT,
    wording_of TEXT,
    CHECK ((ended_ms IS NULL) = (superseded_at_ms IS NULL))
) STRICT;
INSERT INTO "decision" VALUES(1,'01M8NKQ7DFFBE6D43J0ZNB347C',1,NULL,'Prices are kept in cents.','afa393b5ed0e07e2c6fadcae9105068943bbd17abcc4f5bff68d80d81fed3278','ana','human',NULL,NULL,1796021657007,NULL,1796021657007,1796021657010,1796021657010,'01M8NKQ7DJCZPXCWC8HM1CA4RV',NULL,NULL);
INSERT INTO "decision" VALUES(2,'01M8NKQ7DJCZPXCWC8HM1CA4RV',1,NULL,'Prices are kept in tenths of a cent.','ee818605dd84c5759c516afb20b764f9c6007643c7ce92a52a144dac89512e4a','ana','claude',NULL,NULL,1796021657010,NULL,1796021657010,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "decision" VALUES(3,'01M8NKQ7DN9Q83WD7B4BB5S04K',NULL,NULL,'Everything is reviewed.','a38f50032f29091b07af1637a00b8ed1647b796f829d26f6e82c307c41a1c279','ana','human',NULL,NULL,1796021657013,NULL,1796021657013,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "decision" VALUES(4,'01M8NKQ7DP83F1NJEEWMCBKC52',2,NULL,'The gateway speaks HTTP only.','a16aea101165c5bd6b1e4105490bf9f10aa3415ca3f28e6e359847acc140bcaa','ana','codex',NULL,NULL,1796021657014,NULL,1796021657014,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE "event" (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    at_ms INTEGER NOT NULL,
    received_at_ms INTEGER NOT NULL,
    kind TEXT NOT NULL,
    dedupe_key TEXT,
    actor TEXT NOT NULL,
    producer TEXT,
    agent TEXT,
    session_id TEXT,
    workspace TEXT,
    project TEXT,
    project_id INTEGER REFERENCES project (id),
    event TEXT,
    source_event TEXT,
    ref TEXT,
    data TEXT,
    subscription TEXT,
    lane TEXT,
    model TEXT,
    tokens_in INTEGER,
    tokens_out INTEGER,
    cost_micros INTEGER
) STRICT;
INSERT INTO "event" VALUES(1,1796021656964,1796021656964,'project.added',NULL,'ana',NULL,NULL,NULL,NULL,'shop',1,NULL,NULL,'shop','{"fields":[]}',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(2,1796021656964,1796021656964,'project.linked',NULL,'ana',NULL,NULL,NULL,NULL,'shop',1,NULL,NULL,'shop',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(3,1796021656966,1796021656966,'project.added',NULL,'ana',NULL,NULL,NULL,NULL,'api',2,NULL,NULL,'api','{"fields":[]}',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(4,1796021656966,1796021656966,'project.linked',NULL,'ana',NULL,NULL,NULL,NULL,'api',2,NULL,NULL,'api',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(5,1796021656968,1796021656968,'project.added',NULL,'ana',NULL,NULL,NULL,NULL,'gone',NULL,NULL,NULL,'gone','{"fields":[]}',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(6,1796021656968,1796021656968,'project.linked',NULL,'ana',NULL,NULL,NULL,NULL,'gone',NULL,NULL,NULL,'gone',NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(7,1796021656988,1796021656988,'project.changed',NULL,'ana',NULL,NULL,NULL,NULL,'shop',1,NULL,NULL,'shop','{"fields":["stack","summary"]}',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(8,1796021657003,1796021657003,'project.renamed',NULL,'ana',NULL,NULL,NULL,NULL,'gateway',2,NULL,NULL,'gateway','{"former":"api"}',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(9,1796021657005,1796021657005,'project.aliased',NULL,'ana',NULL,NULL,NULL,NULL,'shop',1,NULL,NULL,'shop','{"alias":"store"}',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(10,1796021657007,1796021657007,'decision.captured',NULL,'ana',NULL,NULL,NULL,NULL,'shop',1,NULL,NULL,'01M8NKQ7DFFBE6D43J0ZNB347C','{"scope":"project","source":"human"}',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(11,1796021657010,1796021657010,'decision.captured',NULL,'ana',NULL,NULL,NULL,NULL,'shop',1,NULL,NULL,'01M8NKQ7DJCZPXCWC8HM1CA4RV','{"scope":"project","source":"claude"}',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(12,1796021657010,1796021657010,'decision.superseded',NULL,'ana',NULL,NULL,NULL,NULL,'shop',1,NULL,NULL,'01M8NKQ7DFFBE6D43J0ZNB347C','{"scope":"project","source":"human","superseded_by":"01M8NKQ7DJCZPXCWC8HM1CA4RV"}',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(13,1796021657013,1796021657013,'decision.captured',NULL,'ana',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'01M8NKQ7DN9Q83WD7B4BB5S04K','{"scope":"global","source":"human"}',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(14,1796021657014,1796021657014,'decision.captured',NULL,'ana',NULL,NULL,NULL,NULL,'gateway',2,NULL,NULL,'01M8NKQ7DP83F1NJEEWMCBKC52','{"scope":"project","source":"codex"}',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(15,1796021657017,1796021657017,'preference.set',NULL,'ana',NULL,NULL,NULL,NULL,'shop',1,NULL,NULL,'01M8NKQ7DS5VD1Y0HB7A3QX69E','{"scope":"project"}',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(16,1796021657019,1796021657019,'preference.set',NULL,'ana',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'01M8NKQ7DV1PWM6DN4H7P9EMWD','{"scope":"global"}',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(17,1796021657021,1796021657021,'preference.set',NULL,'ana',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'01M8NKQ7DXABVHW6H7BVX2D6KA','{"scope":"global"}',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(18,1796021657022,1796021657061,'hook','dec7dc5d8406330529aac2e391804f68de8a36648392a601b62f95fe4f9aa7e0','ana','relayd','claude-code','s-0','default','shop',1,'stop','stop',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(19,1796021657040,1796021657061,'hook','edeb5139861529ebf64b229cf139048e9f813c6a30c21e456d1b134850cf24b4','ana','relayd','claude-code','s-1','default','shop',1,'user-prompt-submit','user-prompt-submit',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(20,1796021657043,1796021657104,'hook','0ef900fd15d1fa8a8a475e83006f13329466b8f3c8e6bdf6914e7ffd6166bad2','ana','relayd','claude-code','s-2','default','gateway',2,'stop','stop',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(21,1796021657083,1796021657111,'hook','6fe5bd9704af9ae7b2ceea53dfc99d13b9a0074579e224a5c15095840fd5e577','ana','relayd','claude-code','s-2','default','gateway',2,'session-end','session-end',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(22,1796021657086,1796021657129,'hook',NULL,'ana','relayd','claude-code','s-3','default','gone',NULL,'stop','stop',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(23,1796021657145,1796021657145,'project.removed',NULL,'ana',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'{"decisions":0,"preferences":0,"aliases":0,"links":1}',NULL,NULL,NULL,NULL,NULL,NULL);
INSERT INTO "event" VALUES(24,1796021657154,1796021657154,'note.left',NULL,'ana',NULL,NULL,NULL,NULL,'shop',1,NULL,NULL,NULL,'{"text":"hello"}',NULL,NULL,NULL,NULL,NULL,NULL);
CREATE TABLE excerpt (
    event_id INTEGER PRIMARY KEY REFERENCES event (id),
    kept_at_ms INTEGER NOT NULL,
    text TEXT NOT NULL
) STRICT;
INSERT INTO "excerpt" VALUES(18,1796021657062,'number 0');
INSERT INTO "excerpt" VALUES(19,1796021657062,'number 1');
INSERT INTO "excerpt" VALUES(20,1796021657104,'number 2');
INSERT INTO "excerpt" VALUES(22,1796021657129,'number 4');
CREATE TABLE hook_seen (
    cli TEXT NOT NULL,
    event TEXT NOT NULL,
    last_at_ms INTEGER NOT NULL,
    PRIMARY KEY (cli, event)
) STRICT, WITHOUT ROWID;
INSERT INTO "hook_seen" VALUES('claude','session-end',1796021657083);
INSERT INTO "hook_seen" VALUES('claude','stop',1796021657022);
INSERT INTO "hook_seen" VALUES('claude','user-prompt-submit',1796021657040);
CREATE TABLE hook_session (
    agent TEXT NOT NULL,
    session_id TEXT NOT NULL,
    queue_dir TEXT NOT NULL,
    last_seen_ms INTEGER NOT NULL,
    PRIMARY KEY (agent, session_id)
) STRICT, WITHOUT ROWID;
INSERT INTO "hook_session" VALUES('claude-code','s-0','HOME-OF-THE-TEST/queue/p-shop.1',1796021657037);
INSERT INTO "hook_session" VALUES('claude-code','s-1','HOME-OF-THE-TEST/queue/p-shop.1',1796021657041);
INSERT INTO "hook_session" VALUES('claude-code','s-2','HOME-OF-THE-TEST/queue/p-gateway.1',1796021657059);
INSERT INTO "hook_session" VALUES('claude-code','s-3','HOME-OF-THE-TEST/queue/p-gone.1',1796021657099);
CREATE TABLE ingest_key (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    ingest_key TEXT NOT NULL,
    workspace TEXT NOT NULL,
    project TEXT NOT NULL,
    claimed_at_ms INTEGER NOT NULL,
    UNIQUE (ingest_key, workspace, project)
) STRICT;
INSERT INTO "ingest_key" VALUES(1,'dec7dc5d8406330529aac2e391804f68de8a36648392a601b62f95fe4f9aa7e0','default','shop',1796021657062);
INSERT INTO "ingest_key" VALUES(2,'edeb5139861529ebf64b229cf139048e9f813c6a30c21e456d1b134850cf24b4','default','shop',1796021657062);
INSERT INTO "ingest_key" VALUES(3,'0ef900fd15d1fa8a8a475e83006f13329466b8f3c8e6bdf6914e7ffd6166bad2','default','gateway',1796021657104);
INSERT INTO "ingest_key" VALUES(4,'6fe5bd9704af9ae7b2ceea53dfc99d13b9a0074579e224a5c15095840fd5e577','default','gateway',1796021657111);
INSERT INTO "ingest_key" VALUES(5,'beb585ac7db87b2746ad80448bd377492eb6b9fed6e024e38f8bdd0e8f426af0','default','gone',1796021657129);
CREATE TABLE link (
    root TEXT PRIMARY KEY,
    project TEXT NOT NULL,
    git_common_dir TEXT,
    remote TEXT,
    linked_at_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "link" VALUES('USER-OF-THE-TEST/code/shop','shop','USER-OF-THE-TEST/code/shop/.git',NULL,1796021656964);
INSERT INTO "link" VALUES('USER-OF-THE-TEST/code/api','gateway','USER-OF-THE-TEST/code/api/.git',NULL,1796021656966);
CREATE TABLE preference (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    scope TEXT NOT NULL CHECK (scope IN ('global', 'project', 'lane', 'model')),
    project_id INTEGER REFERENCES project (id),
    scope_id TEXT,
    author TEXT NOT NULL,
    reason TEXT,
    recorded_at_ms INTEGER NOT NULL,
    superseded_at_ms INTEGER,
    superseded_by TEXT REFERENCES preference (id),
    drop_reason TEXT,
    CHECK ((scope = 'project') = (project_id IS NOT NULL)),
    CHECK ((scope IN ('lane', 'model')) = (scope_id IS NOT NULL))
) STRICT;
INSERT INTO "preference" VALUES(1,'01M8NKQ7DS5VD1Y0HB7A3QX69E','tests','Run the tests before a commit.','project',1,NULL,'ana',NULL,1796021657017,NULL,NULL,NULL);
INSERT INTO "preference" VALUES(2,'01M8NKQ7DV1PWM6DN4H7P9EMWD','tone','Short sentences.','global',NULL,NULL,'ana',NULL,1796021657019,1796021657021,'01M8NKQ7DXABVHW6H7BVX2D6KA',NULL);
INSERT INTO "preference" VALUES(3,'01M8NKQ7DXABVHW6H7BVX2D6KA','tone','Short words.','global',NULL,NULL,'ana',NULL,1796021657021,NULL,NULL,NULL);
CREATE TABLE project (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    slug TEXT NOT NULL UNIQUE,
    repo TEXT,
    stack TEXT,
    check_command TEXT,
    priority INTEGER NOT NULL DEFAULT 3 CHECK (priority BETWEEN 1 AND 5),
    summary TEXT,
    created_at_ms INTEGER NOT NULL,
    changed_at_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "project" VALUES(1,'shop',NULL,'Python',NULL,3,'Sells things.',1796021656964,1796021656988);
INSERT INTO "project" VALUES(2,'gateway',NULL,NULL,NULL,3,NULL,1796021656966,1796021657003);
CREATE TABLE project_alias (
    alias TEXT PRIMARY KEY,
    project_id INTEGER NOT NULL REFERENCES project (id)
) STRICT, WITHOUT ROWID;
INSERT INTO "project_alias" VALUES('store',1);
INSERT INTO "project_alias" VALUES('api',2);
CREATE TABLE upkeep (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE TABLE upstream (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    server_url TEXT NOT NULL,
    producer TEXT NOT NULL,
    actor TEXT NOT NULL,
    workspace TEXT NOT NULL
) STRICT;
CREATE INDEX link_by_git_common_dir ON link (git_common_dir) WHERE git_common_dir IS NOT NULL;
CREATE INDEX link_by_remote ON link (remote) WHERE remote IS NOT NULL;
CREATE INDEX hook_session_by_age ON hook_session (last_seen_ms);
CREATE INDEX project_alias_by_project ON project_alias (project_id);
CREATE INDEX decision_by_project ON decision (project_id, seq);
CREATE INDEX decision_by_task ON decision (project_id, task, seq) WHERE task IS NOT NULL;
CREATE INDEX decision_by_digest ON decision (digest);
CREATE INDEX decision_by_successor ON decision (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX decision_by_beginning ON decision (valid_from_ms);
CREATE INDEX decision_by_end ON decision (valid_to_ms) WHERE valid_to_ms IS NOT NULL;
CREATE INDEX decision_by_ending ON decision (ended_ms) WHERE ended_ms IS NOT NULL;
CREATE INDEX preference_by_scope ON preference (scope, project_id, scope_id, key);
CREATE INDEX preference_by_successor ON preference (superseded_by) WHERE superseded_by IS NOT NULL;
CREATE INDEX event_by_project ON event (project_id, id);
CREATE INDEX event_by_kind ON event (kind, id);
CREATE INDEX event_by_project_kind ON event (project_id, kind, id);
CREATE UNIQUE INDEX event_by_dedupe_key ON event (kind, COALESCE(project_id, 0), dedupe_key)
WHERE dedupe_key IS NOT NULL AND kind <> 'hook';
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('decision',4);
INSERT INTO "sqlite_sequence" VALUES('event',24);
INSERT INTO "sqlite_sequence" VALUES('ingest_key',5);
INSERT INTO "sqlite_sequence" VALUES('preference',3);
INSERT INTO "sqlite_sequence" VALUES('project',3);
COMMIT;
