-- The register, version 6. Every epsilon and delta is that of one unit, with all its rows. `digest` and `keyed` are functions of dpviz.
CREATE TABLE register (identity TEXT NOT NULL, item TEXT NOT NULL, keyed TEXT NOT NULL, counter INTEGER NOT NULL);
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
    number INTEGER PRIMARY KEY,
    data_set TEXT NOT NULL REFERENCES data_set (name),
    at TEXT NOT NULL,
    epsilon_cap REAL NOT NULL,
    delta_cap REAL NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    made_by TEXT NOT NULL DEFAULT ''
);
CREATE TABLE fingerprint (
    fingerprint TEXT PRIMARY KEY NOT NULL,
    data_set TEXT NOT NULL REFERENCES data_set (name),
    assigned TEXT NOT NULL,
    columns TEXT NOT NULL DEFAULT '[]'
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
    sha256 TEXT NOT NULL DEFAULT '',
    seal TEXT NOT NULL DEFAULT '',
    digest TEXT NOT NULL DEFAULT '',
    text TEXT NOT NULL DEFAULT ''  -- of its file, until that stands in its place
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
CREATE TABLE restoration (number INTEGER PRIMARY KEY, at TEXT NOT NULL, reason TEXT NOT NULL, made_by TEXT NOT NULL, lost TEXT NOT NULL);
CREATE TRIGGER data_set_stays BEFORE DELETE ON data_set BEGIN SELECT RAISE (ABORT, 'a data set is never undone'); END;
CREATE TRIGGER cap_stays BEFORE DELETE ON cap_change BEGIN SELECT RAISE (ABORT, 'the history of a cap stays'); END;
CREATE TRIGGER cap_keeps BEFORE UPDATE ON cap_change BEGIN SELECT RAISE (ABORT, 'the history of a cap stays'); END;
CREATE TRIGGER fingerprint_stays BEFORE DELETE ON fingerprint BEGIN SELECT RAISE (ABORT, 'an assignment is never undone'); END;
CREATE TRIGGER fingerprint_keeps BEFORE UPDATE ON fingerprint BEGIN SELECT RAISE (ABORT, 'an assignment is never undone'); END;
CREATE TRIGGER look_stays BEFORE DELETE ON exploration BEGIN SELECT RAISE (ABORT, 'a look is never undone'); END;
CREATE TRIGGER release_is_for_good BEFORE DELETE ON release BEGIN SELECT RAISE (ABORT, 'a release is never undone'); END;
CREATE TRIGGER cost_stays BEFORE UPDATE OF number, token, data_set, epsilon, delta ON release
BEGIN SELECT RAISE (ABORT, 'what was spent stays spent'); END;
CREATE TRIGGER digest_stays BEFORE UPDATE OF seal, digest, started, learner, settings, disclosures ON release
BEGIN SELECT RAISE (ABORT, 'what was spent stays spent'); END;
CREATE TRIGGER released_stays BEFORE UPDATE ON release WHEN OLD.state = 'released'
BEGIN SELECT RAISE (ABORT, 'a release is never undone'); END;
