BEGIN TRANSACTION;
CREATE TABLE _sqlx_migrations (
    version BIGINT PRIMARY KEY,
    description TEXT NOT NULL,
    installed_on TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP,
    success BOOLEAN NOT NULL,
    checksum BLOB NOT NULL,
    execution_time BIGINT NOT NULL
);
INSERT INTO "_sqlx_migrations" VALUES(1,'fleet','2026-11-22 20:11:35',1,X'9FE98EB143A0F5E71B965966761A07C12D31BBA8FCD0FCC4FAFA312DAF13392A3DB9211FE9704B8D696E2254C638CDFA',1989327);
INSERT INTO "_sqlx_migrations" VALUES(2,'sandbox','2026-11-22 20:11:35',1,X'B3B1C48E5594345F9228565884D1B9279E775CFAD363A31E41F21B9908F5B43141FBAA6F6375411E9A5DAFEF3C5AB315',824171);
INSERT INTO "_sqlx_migrations" VALUES(3,'egress','2026-11-22 20:11:35',1,X'35DD5E9FDE01926822DC73E2F39A6A248E35ED5F1425E3794294F691258AC6653BE958C2BECDA8FBCE78C02B80EF4820',398811);
INSERT INTO "_sqlx_migrations" VALUES(4,'limits','2026-11-22 20:11:35',1,X'A465A1106FE4FB338A66A9CE08321A33B695FEA3E8858ADDD029B4E1DD42594A33FB448BE45BDF14F4192C5AA2A616D7',1074913);
INSERT INTO "_sqlx_migrations" VALUES(5,'housekeeping','2026-11-22 20:11:35',1,X'07EC071AF79940CF60A45C2AEFB733AABF140E7DC1A78B2BFBA7F469076BD55227196D6646BF4E8960BCB242F3B1A274',496936);
INSERT INTO "_sqlx_migrations" VALUES(6,'kinds','2026-11-22 20:11:35',1,X'02088094C19DBA38464D9D9C7226F2745A4239CEC82E4CBDA3631C7229B4E3592B896265338E9AF8C5DE20CC4D83C389',1305825);
INSERT INTO "_sqlx_migrations" VALUES(7,'checks','2026-11-22 20:11:35',1,X'A7E6C0590825A8D25C88913B129D36345B502C59FE0012637D6F1693E854ED17BA71596EC08F24391333FEC1E44395D7',505990);
INSERT INTO "_sqlx_migrations" VALUES(8,'short','2026-11-22 20:11:35',1,X'80BBD42F05F53F736F755E1F9197531AC60FBE8EE14FD9EC2B3EB08DDE9E80C9996F407718B08B72C142A53489997FE4',394865);
INSERT INTO "_sqlx_migrations" VALUES(9,'judged','2026-11-22 20:11:35',1,X'889E6955C626EBA441A3425FC9C26730FE73D7B362D594777267BD9CD8BF4C653C5D233D1647A5AE099FB2C5D872C519',1356089);
INSERT INTO "_sqlx_migrations" VALUES(10,'block claims','2026-11-22 20:11:35',1,X'E94CAE176C7A9A1BBD19DEFD55F2643BF2B9E77D4759751CA37157A44E6C5B283B2BF4CC516E0E26D84856C53EBE162F',618987);
CREATE TABLE account_block (
  account    TEXT NOT NULL PRIMARY KEY,
  until      TEXT,
  reason     TEXT NOT NULL,
  set_by     TEXT NOT NULL,
  set_at     TEXT NOT NULL,
  cleared_at TEXT
, kind TEXT, claim TEXT) STRICT;
INSERT INTO "account_block" VALUES('slow','2026-11-22T22:11:36.438620+00:00','x','operator','2026-11-22T20:11:36.438620+00:00','2026-11-22T20:11:36.449281+00:00','operator',NULL);
CREATE TABLE blocked_call (
  seq    INTEGER PRIMARY KEY AUTOINCREMENT,
  firing BLOB NOT NULL REFERENCES firing (id),
  rule   TEXT NOT NULL,
  tool   TEXT NOT NULL,
  call   TEXT NOT NULL,
  at     TEXT NOT NULL
) STRICT;
CREATE TABLE breaker (
  role       TEXT NOT NULL PRIMARY KEY,
  streak     INTEGER NOT NULL,
  rejections INTEGER NOT NULL,
  opened_at  TEXT,
  reason     TEXT
) STRICT;
INSERT INTO "breaker" VALUES('hand',1,0,NULL,NULL);
CREATE TABLE egress (
  firing     BLOB NOT NULL REFERENCES firing (id),
  host       TEXT NOT NULL,
  allowed    INTEGER NOT NULL,
  refused    INTEGER NOT NULL,
  bytes_up   INTEGER NOT NULL,
  bytes_down INTEGER NOT NULL,
  PRIMARY KEY (firing, host)
) STRICT;
CREATE TABLE event (
  seq    INTEGER PRIMARY KEY AUTOINCREMENT,
  at     TEXT NOT NULL,
  kind   TEXT NOT NULL,
  role   TEXT,
  firing BLOB,
  data   TEXT NOT NULL
) STRICT;
CREATE TABLE firing (
  seq          INTEGER PRIMARY KEY AUTOINCREMENT,
  id           BLOB NOT NULL UNIQUE,
  role         TEXT NOT NULL,
  slot         TEXT,
  host         TEXT NOT NULL,
  account      TEXT,
  engine       TEXT,
  repo         TEXT,
  work         TEXT,
  title        TEXT,
  missed       INTEGER NOT NULL DEFAULT 0,
  claimed_at   TEXT NOT NULL,
  deadline_at  TEXT NOT NULL,
  started_at   TEXT,
  ended_at     TEXT,
  pid          INTEGER,
  pid_start    INTEGER,
  stage        TEXT,
  branch       TEXT,
  base_sha     TEXT,
  bench        TEXT,
  pr_number    INTEGER,
  pr_url       TEXT,
  salvage_ref  TEXT,
  settled      TEXT,
  facts        TEXT,
  sentinel     TEXT,
  outcome      TEXT,
  reason       TEXT,
  attempts     INTEGER NOT NULL DEFAULT 0,
  sessions     INTEGER NOT NULL DEFAULT 0,
  turns        INTEGER NOT NULL DEFAULT 0,
  tokens_in    INTEGER NOT NULL DEFAULT 0,
  tokens_out   INTEGER NOT NULL DEFAULT 0,
  cost_usd     REAL
, sandbox TEXT, retries INTEGER NOT NULL DEFAULT 0, cost_estimated INTEGER NOT NULL DEFAULT 0, skip TEXT, verified_sha TEXT, reviewed_sha TEXT, pushed_sha TEXT) STRICT;
INSERT INTO "firing" VALUES(1,X'01A204E2B30A77A4B23DCE81AB8B24E5','hand',NULL,'here','sh','command','widget','issue-1','Do it',0,'2026-11-22T20:11:35.561182+00:00','2026-11-22T20:56:35.561182+00:00','2026-11-22T20:11:35.565196+00:00','2026-11-22T20:11:35.946711+00:00',10513,702670,'report','carson/hand/issue-1-ab8b24e5','3041db387be5bc92fdf29f24992b386b05734128','@ROOT@/home/benches/01a204e2-b30a-77a4-b23d-ce81ab8b24e5',4,'@ROOT@/home/forge/widget/pulls/0004.md',NULL,'{"outcome":"OK","reason":"1 commit"}','{"halt":null,"sentinel":{"Ok":"done"},"commits":1,"dirty":false,"promise":"NotRun","diff_review":"NotRun","blocked_calls":0,"reference_exists":false,"tip":"0e9160f9877869d191542f590f404d2f14dc498c","verified":null,"reviewed":null,"untaken":null,"unshown":[]}','[OK]','OK','1 commit',1,1,1,0,0,NULL,'{"asked":"best-effort","cgroup":{"kill":true,"memory":true,"pids":true},"landlock_abi":7,"namespaces":["pid","mount","ipc","net"],"network":"isolated","seatbelt":false,"seccomp":true,"weaker":[]}',0,0,NULL,NULL,NULL,'0e9160f9877869d191542f590f404d2f14dc498c');
INSERT INTO "firing" VALUES(2,X'01A204E2B50C731EBF73574005A6CAD4','hand',NULL,'here','sh','command','widget','issue-2','Give up',0,'2026-11-22T20:11:36.074813+00:00','2026-11-22T20:56:36.074813+00:00','2026-11-22T20:11:36.077832+00:00','2026-11-22T20:11:36.341695+00:00',10612,702721,'report','carson/hand/issue-2-05a6cad4','3041db387be5bc92fdf29f24992b386b05734128','@ROOT@/home/benches/01a204e2-b50c-731e-bf73-574005a6cad4',NULL,NULL,NULL,'{"outcome":"BLOCKED","reason":"the session could not go on: no"}','{"halt":null,"sentinel":{"Blocked":"no"},"commits":0,"dirty":false,"promise":"NotRun","diff_review":"NotRun","blocked_calls":0,"reference_exists":false,"tip":"3041db387be5bc92fdf29f24992b386b05734128","verified":null,"reviewed":null,"untaken":null,"unshown":[]}','[BLOCKED]','BLOCKED','the session could not go on: no',1,1,1,0,0,NULL,'{"asked":"best-effort","cgroup":{"kill":true,"memory":true,"pids":true},"landlock_abi":7,"namespaces":["pid","mount","ipc","net"],"network":"isolated","seatbelt":false,"seccomp":true,"weaker":[]}',0,0,NULL,NULL,NULL,NULL);
INSERT INTO "firing" VALUES(3,X'01A204E2B69074DC9C65E820E75FEAFC','slow',NULL,'here','slow','command','widget','issue-3','Slowly',0,'2026-11-22T20:11:36.462415+00:00','2026-11-22T20:56:36.462415+00:00','2026-11-22T20:11:36.465572+00:00',NULL,10695,702760,'execute','carson/slow/issue-3-e75feafc','3041db387be5bc92fdf29f24992b386b05734128','@ROOT@/home/benches/01a204e2-b690-74dc-9c65-e820e75feafc',NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,1,1,0,0,0,NULL,'{"asked":"best-effort","cgroup":{"kill":true,"memory":true,"pids":true},"landlock_abi":7,"namespaces":["pid","mount","ipc","net"],"network":"isolated","seatbelt":false,"seccomp":true,"weaker":[]}',0,0,NULL,NULL,NULL,NULL);
CREATE TABLE host (
  name      TEXT NOT NULL PRIMARY KEY,
  pid       INTEGER NOT NULL,
  pid_start INTEGER NOT NULL,
  version   TEXT NOT NULL,
  beat_at   TEXT NOT NULL
) STRICT;
CREATE TABLE job (
  host       TEXT NOT NULL,
  name       TEXT NOT NULL,
  started_at TEXT NOT NULL,
  ended_at   TEXT NOT NULL,
  next_at    TEXT NOT NULL,
  did        INTEGER NOT NULL,
  failures   INTEGER NOT NULL,
  said       TEXT NOT NULL,
  PRIMARY KEY (host, name)
) STRICT;
CREATE TABLE measured (
  host  TEXT NOT NULL,
  what  TEXT NOT NULL,
  value TEXT NOT NULL,
  at    TEXT NOT NULL,
  PRIMARY KEY (host, what)
) STRICT;
INSERT INTO "measured" VALUES('here','checkout widget','1 4096','2026-11-22T20:11:35.676287+00:00');
CREATE TABLE outbox (
  seq         INTEGER PRIMARY KEY AUTOINCREMENT,
  id          BLOB NOT NULL UNIQUE,
  sink        TEXT NOT NULL,
  thread      BLOB,
  kind        TEXT NOT NULL,
  body        TEXT NOT NULL,
  created_at  TEXT NOT NULL,
  due_at      TEXT,
  lease_until TEXT,
  tries       INTEGER NOT NULL DEFAULT 0,
  error       TEXT,
  sent_at     TEXT,
  remote_ts   TEXT
) STRICT;
INSERT INTO "outbox" VALUES(1,X'01A204E2B36171768BDE860FDC244081','slack',X'01A204E2B30A77A4B23DCE81AB8B24E5','root','{"fields":[["Firing","ab8b24e5"],["Repository","widget"],["Host","here"]],"link":"@ROOT@/home/forge/widget/issues/0001.md","severity":null,"text":"took this work and is on it","title":"hand · #1 Do it"}','2026-11-22T20:11:35.649136+00:00',NULL,NULL,0,NULL,NULL,NULL);
INSERT INTO "outbox" VALUES(2,X'01A204E2B48A746A8A0AD211DA56FFBA','slack',X'01A204E2B30A77A4B23DCE81AB8B24E5','update','{"fields":[["Firing","ab8b24e5"],["Repository","widget"],["Turns","1"]],"link":"@ROOT@/home/forge/widget/pulls/0004.md","severity":"info","text":"1 commit","title":"OK · hand · #1 Do it"}','2026-11-22T20:11:35.946711+00:00',NULL,NULL,0,NULL,NULL,NULL);
INSERT INTO "outbox" VALUES(3,X'01A204E2B48B7407AA0A2C1B4C585E8D','slack',X'01A204E2B30A77A4B23DCE81AB8B24E5','reply','{"fields":[["Firing","ab8b24e5"],["Repository","widget"]],"link":"@ROOT@/home/forge/widget/pulls/0004.md","severity":"info","text":"1 commit\nPull request #4","title":"OK · hand · #1 Do it"}','2026-11-22T20:11:35.946711+00:00',NULL,NULL,0,NULL,NULL,NULL);
INSERT INTO "outbox" VALUES(4,X'01A204E2B554757092919EEE6D82D9D6','slack',X'01A204E2B50C731EBF73574005A6CAD4','root','{"fields":[["Firing","05a6cad4"],["Repository","widget"],["Host","here"]],"link":"@ROOT@/home/forge/widget/issues/0002.md","severity":null,"text":"took this work and is on it","title":"hand · #2 Give up"}','2026-11-22T20:11:36.148613+00:00',NULL,NULL,0,NULL,NULL,NULL);
INSERT INTO "outbox" VALUES(5,X'01A204E2B615711C887D97388076410B','slack',X'01A204E2B50C731EBF73574005A6CAD4','update','{"fields":[["Firing","05a6cad4"],["Repository","widget"],["Turns","1"]],"link":null,"severity":"alert","text":"the session could not go on: no","title":"BLOCKED · hand · #2 Give up"}','2026-11-22T20:11:36.341695+00:00',NULL,NULL,0,NULL,NULL,NULL);
INSERT INTO "outbox" VALUES(6,X'01A204E2B616721390AF99E83E646708','slack',X'01A204E2B50C731EBF73574005A6CAD4','broadcast','{"fields":[["Firing","05a6cad4"],["Repository","widget"]],"link":null,"severity":"alert","text":"the session could not go on: no","title":"BLOCKED · hand · #2 Give up"}','2026-11-22T20:11:36.341695+00:00',NULL,NULL,0,NULL,NULL,NULL);
INSERT INTO "outbox" VALUES(7,X'01A204E2B6BB70B0956BC39D801672F8','slack',X'01A204E2B69074DC9C65E820E75FEAFC','root','{"fields":[["Firing","e75feafc"],["Repository","widget"],["Host","here"]],"link":"@ROOT@/home/forge/widget/issues/0003.md","severity":null,"text":"took this work and is on it","title":"slow · #3 Slowly"}','2026-11-22T20:11:36.507229+00:00',NULL,NULL,0,NULL,NULL,NULL);
CREATE TABLE pause (
  scope  TEXT NOT NULL PRIMARY KEY,
  reason TEXT NOT NULL,
  until  TEXT,
  set_by TEXT NOT NULL,
  set_at TEXT NOT NULL
) STRICT;
INSERT INTO "pause" VALUES('role hand','lunch',NULL,'operator','2026-11-22T20:11:36.427910+00:00');
CREATE TABLE preflight (
  host    TEXT NOT NULL,
  role    TEXT NOT NULL,
  failed  TEXT NOT NULL,
  why     TEXT NOT NULL,
  streak  INTEGER NOT NULL,
  since   TEXT NOT NULL,
  last_at TEXT NOT NULL,
  told_at TEXT,
  PRIMARY KEY (host, role)
) STRICT;
CREATE TABLE refused_work (
  repo    TEXT NOT NULL,
  work    TEXT NOT NULL,
  pull    INTEGER NOT NULL,
  seen_at TEXT NOT NULL,
  PRIMARY KEY (repo, work, pull)
) STRICT;
CREATE TABLE stage (
  seq        INTEGER PRIMARY KEY AUTOINCREMENT,
  firing     BLOB NOT NULL REFERENCES firing (id),
  name       TEXT NOT NULL,
  started_at TEXT NOT NULL,
  ended_at   TEXT
) STRICT;
INSERT INTO "stage" VALUES(1,X'01A204E2B30A77A4B23DCE81AB8B24E5','preflight','2026-11-22T20:11:35.565698+00:00','2026-11-22T20:11:35.568421+00:00');
INSERT INTO "stage" VALUES(2,X'01A204E2B30A77A4B23DCE81AB8B24E5','pick','2026-11-22T20:11:35.568421+00:00','2026-11-22T20:11:35.649803+00:00');
INSERT INTO "stage" VALUES(3,X'01A204E2B30A77A4B23DCE81AB8B24E5','workspace','2026-11-22T20:11:35.649803+00:00','2026-11-22T20:11:35.740226+00:00');
INSERT INTO "stage" VALUES(4,X'01A204E2B30A77A4B23DCE81AB8B24E5','execute','2026-11-22T20:11:35.740226+00:00','2026-11-22T20:11:35.898079+00:00');
INSERT INTO "stage" VALUES(5,X'01A204E2B30A77A4B23DCE81AB8B24E5','settle','2026-11-22T20:11:35.898079+00:00','2026-11-22T20:11:35.899540+00:00');
INSERT INTO "stage" VALUES(6,X'01A204E2B30A77A4B23DCE81AB8B24E5','salvage','2026-11-22T20:11:35.899540+00:00','2026-11-22T20:11:35.943936+00:00');
INSERT INTO "stage" VALUES(7,X'01A204E2B30A77A4B23DCE81AB8B24E5','report','2026-11-22T20:11:35.943936+00:00','2026-11-22T20:11:35.946711+00:00');
INSERT INTO "stage" VALUES(8,X'01A204E2B30A77A4B23DCE81AB8B24E5','teardown','2026-11-22T20:11:35.949377+00:00','2026-11-22T20:11:36.057663+00:00');
INSERT INTO "stage" VALUES(9,X'01A204E2B50C731EBF73574005A6CAD4','preflight','2026-11-22T20:11:36.078376+00:00','2026-11-22T20:11:36.080662+00:00');
INSERT INTO "stage" VALUES(10,X'01A204E2B50C731EBF73574005A6CAD4','pick','2026-11-22T20:11:36.080662+00:00','2026-11-22T20:11:36.149183+00:00');
INSERT INTO "stage" VALUES(11,X'01A204E2B50C731EBF73574005A6CAD4','workspace','2026-11-22T20:11:36.149183+00:00','2026-11-22T20:11:36.230602+00:00');
INSERT INTO "stage" VALUES(12,X'01A204E2B50C731EBF73574005A6CAD4','execute','2026-11-22T20:11:36.230602+00:00','2026-11-22T20:11:36.337339+00:00');
INSERT INTO "stage" VALUES(13,X'01A204E2B50C731EBF73574005A6CAD4','settle','2026-11-22T20:11:36.337339+00:00','2026-11-22T20:11:36.338493+00:00');
INSERT INTO "stage" VALUES(14,X'01A204E2B50C731EBF73574005A6CAD4','salvage','2026-11-22T20:11:36.338493+00:00','2026-11-22T20:11:36.339528+00:00');
INSERT INTO "stage" VALUES(15,X'01A204E2B50C731EBF73574005A6CAD4','report','2026-11-22T20:11:36.339528+00:00','2026-11-22T20:11:36.341695+00:00');
INSERT INTO "stage" VALUES(16,X'01A204E2B50C731EBF73574005A6CAD4','teardown','2026-11-22T20:11:36.342997+00:00','2026-11-22T20:11:36.413916+00:00');
INSERT INTO "stage" VALUES(17,X'01A204E2B69074DC9C65E820E75FEAFC','preflight','2026-11-22T20:11:36.466036+00:00','2026-11-22T20:11:36.467728+00:00');
INSERT INTO "stage" VALUES(18,X'01A204E2B69074DC9C65E820E75FEAFC','pick','2026-11-22T20:11:36.467728+00:00','2026-11-22T20:11:36.508058+00:00');
INSERT INTO "stage" VALUES(19,X'01A204E2B69074DC9C65E820E75FEAFC','workspace','2026-11-22T20:11:36.508058+00:00','2026-11-22T20:11:36.578770+00:00');
INSERT INTO "stage" VALUES(20,X'01A204E2B69074DC9C65E820E75FEAFC','execute','2026-11-22T20:11:36.578770+00:00',NULL);
CREATE TABLE stuck (
  host     TEXT NOT NULL,
  bench    TEXT NOT NULL,
  why      TEXT NOT NULL,
  since    TEXT NOT NULL,
  tried_at TEXT NOT NULL,
  tries    INTEGER NOT NULL,
  PRIMARY KEY (host, bench)
) STRICT;
CREATE TABLE usage_window (
  account     TEXT NOT NULL,
  name        TEXT NOT NULL,
  utilization REAL NOT NULL,
  resets_at   TEXT,
  seen_at     TEXT NOT NULL,
  PRIMARY KEY (account, name)
) STRICT;
CREATE UNIQUE INDEX firing_slot ON firing (role, slot);
CREATE UNIQUE INDEX firing_live_role ON firing (role) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX firing_live_work ON firing (repo, work) WHERE ended_at IS NULL AND work IS NOT NULL;
CREATE INDEX firing_newest_of_role ON firing (role, seq);
CREATE INDEX firing_live ON firing (seq) WHERE ended_at IS NULL;
CREATE INDEX stage_by_firing ON stage (firing);
CREATE INDEX blocked_call_by_firing ON blocked_call (firing);
CREATE INDEX outbox_unsent ON outbox (seq) WHERE sent_at IS NULL;
CREATE INDEX outbox_by_thread ON outbox (thread, seq);
CREATE INDEX event_by_firing ON event (firing) WHERE firing IS NOT NULL;
CREATE INDEX firing_of_work ON firing (repo, work, seq) WHERE work IS NOT NULL;
CREATE INDEX event_by_time ON event (at);
CREATE INDEX firing_by_role ON firing (role, claimed_at, outcome, cost_usd);
CREATE INDEX firing_cost ON firing (claimed_at, cost_usd) WHERE cost_usd IS NOT NULL;
CREATE INDEX firing_short ON firing (lower(substr(hex(id), 25)));
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('firing',3);
INSERT INTO "sqlite_sequence" VALUES('stage',20);
INSERT INTO "sqlite_sequence" VALUES('outbox',7);
COMMIT;