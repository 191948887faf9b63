CREATE TABLE data_set (
    name TEXT PRIMARY KEY NOT NULL,
    role TEXT NOT NULL,
    unit TEXT NOT NULL,
    rows_per_unit INTEGER NOT NULL CHECK (rows_per_unit >= 1),
    epsilon_cap REAL NOT NULL CHECK (epsilon_cap > 0),
    delta_cap REAL NOT NULL CHECK (delta_cap >= 0 AND delta_cap < 1),
    declared TEXT NOT NULL
);
CREATE TABLE cap_change (
    data_set TEXT NOT NULL REFERENCES data_set (name),
    at TEXT NOT NULL,
    epsilon_cap REAL NOT NULL,
    delta_cap REAL NOT NULL
);
CREATE TABLE fingerprint (
    fingerprint TEXT PRIMARY KEY NOT NULL,
    data_set TEXT NOT NULL REFERENCES data_set (name),
    assigned TEXT NOT NULL
);
CREATE TABLE release (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    token TEXT NOT NULL UNIQUE,
    data_set TEXT NOT NULL REFERENCES data_set (name),
    state TEXT NOT NULL CHECK (state IN ('started', 'released')),
    started TEXT NOT NULL,
    finished TEXT NOT NULL DEFAULT '',
    learner TEXT NOT NULL,
    settings TEXT NOT NULL,
    epsilon REAL NOT NULL CHECK (epsilon >= 0),
    delta REAL NOT NULL CHECK (delta >= 0 AND delta < 1),
    disclosures TEXT NOT NULL,
    file TEXT NOT NULL,
    sha256 TEXT NOT NULL DEFAULT ''
);
CREATE TABLE exploration (
    fingerprint TEXT NOT NULL,
    what TEXT NOT NULL,
    learner TEXT NOT NULL,
    settings TEXT NOT NULL,
    times INTEGER NOT NULL,
    at TEXT NOT NULL,
    PRIMARY KEY (fingerprint, what, learner, settings)
);
CREATE TRIGGER release_is_for_good BEFORE DELETE ON release BEGIN SELECT RAISE (ABORT, 'a release is never undone'); END;
CREATE TRIGGER fingerprint_stays BEFORE DELETE ON fingerprint BEGIN SELECT RAISE (ABORT, 'an assignment is never undone'); END;
CREATE TRIGGER fingerprint_keeps BEFORE UPDATE ON fingerprint BEGIN SELECT RAISE (ABORT, 'an assignment is never undone'); END;
CREATE TRIGGER cost_stays BEFORE UPDATE OF number, token, data_set, epsilon, delta ON release
BEGIN SELECT RAISE (ABORT, 'what was spent stays spent'); END;
CREATE TRIGGER released_stays BEFORE UPDATE ON release WHEN OLD.state = 'released'
BEGIN SELECT RAISE (ABORT, 'a release is never undone'); END;
