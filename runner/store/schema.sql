CREATE TABLE runs (
    id TEXT PRIMARY KEY,
    session INTEGER NOT NULL,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    status TEXT,
    branch TEXT,
    revision TEXT,
    profile TEXT,
    place TEXT,
    reports TEXT NOT NULL,
    start TEXT NOT NULL,
    summary TEXT
);
CREATE INDEX runs_by_time ON runs (started_at);
CREATE TABLE suites (
    run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    suite TEXT NOT NULL,
    name TEXT NOT NULL,
    kind TEXT NOT NULL,
    session INTEGER NOT NULL,
    selected INTEGER,
    total INTEGER,
    ended INTEGER NOT NULL,
    PRIMARY KEY (run, suite)
);
CREATE TABLE results (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    session INTEGER NOT NULL,
    suite TEXT NOT NULL,
    position INTEGER NOT NULL,
    test TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    verdict TEXT NOT NULL,
    cause TEXT,
    passed INTEGER NOT NULL,
    judged INTEGER NOT NULL,
    score REAL,
    duration_ms REAL NOT NULL,
    tokens REAL,
    cost REAL,
    cost_estimated INTEGER NOT NULL DEFAULT 0,
    connector TEXT,
    made_of TEXT,
    line BLOB,
    UNIQUE (run, suite, position, attempt)
);
CREATE INDEX results_of_tests ON results (suite, test, attempt);
CREATE INDEX results_by_verdict ON results (run, attempt, verdict);
CREATE INDEX results_by_connector ON results (run, connector);
CREATE INDEX results_by_fingerprint ON results (made_of);
CREATE TABLE remarks (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    session INTEGER NOT NULL,
    line TEXT NOT NULL
);
CREATE INDEX remarks_of_runs ON remarks (run);
CREATE TABLE fingerprints (
    digest TEXT PRIMARY KEY,
    content TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE labels (
    run TEXT NOT NULL REFERENCES runs ON DELETE CASCADE,
    suite TEXT NOT NULL,
    test TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    turn INTEGER NOT NULL,
    criterion TEXT NOT NULL,
    passed INTEGER NOT NULL,
    score REAL,
    why TEXT NOT NULL,
    person TEXT NOT NULL,
    made_at TEXT NOT NULL,
    PRIMARY KEY (run, suite, test, attempt, turn, criterion, person)
);
