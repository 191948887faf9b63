-- Fingerprints become keyed, and caps get reasons and names. The chain of entries that this version had went with version 4.
DROP TRIGGER fingerprint_keeps;
DROP TRIGGER released_stays;
CREATE TABLE entry (
    number INTEGER PRIMARY KEY,
    kind TEXT NOT NULL,
    item TEXT NOT NULL,
    content TEXT NOT NULL,
    head TEXT NOT NULL UNIQUE
);
INSERT INTO entry SELECT 1, 'register', item, content, digest('', 1, 'register', item, content)
FROM (SELECT item, keyed(item) AS content FROM (SELECT hex(randomblob(16)) AS item));
CREATE TABLE restoration (
    number INTEGER PRIMARY KEY,
    at TEXT NOT NULL,
    reason TEXT NOT NULL,
    made_by TEXT NOT NULL,
    lost TEXT NOT NULL
);
ALTER TABLE cap_change RENAME TO cap_change_before;
CREATE TABLE cap_change (
    number INTEGER PRIMARY KEY,
    data_set TEXT NOT NULL REFERENCES data_set (name),
    at TEXT NOT NULL,
    epsilon_cap REAL NOT NULL,
    delta_cap REAL NOT NULL,
    reason TEXT NOT NULL DEFAULT '',
    made_by TEXT NOT NULL DEFAULT ''
);
INSERT INTO cap_change (data_set, at, epsilon_cap, delta_cap)
SELECT data_set, at, epsilon_cap, delta_cap FROM cap_change_before ORDER BY rowid;
DROP TABLE cap_change_before;
ALTER TABLE fingerprint ADD COLUMN columns TEXT NOT NULL DEFAULT '[]';
UPDATE fingerprint SET fingerprint = keyed(fingerprint);
UPDATE exploration SET fingerprint = keyed(fingerprint);
CREATE TRIGGER fingerprint_keeps BEFORE UPDATE ON fingerprint BEGIN SELECT RAISE (ABORT, 'an assignment is never undone'); END;
CREATE TRIGGER released_stays BEFORE UPDATE ON release WHEN OLD.state = 'released'
BEGIN SELECT RAISE (ABORT, 'a release is never undone'); END;
CREATE TRIGGER data_set_stays BEFORE DELETE ON data_set BEGIN SELECT RAISE (ABORT, 'a data set is never undone'); END;
CREATE TRIGGER cap_stays BEFORE DELETE ON cap_change BEGIN SELECT RAISE (ABORT, 'the history of a cap stays'); END;
CREATE TRIGGER cap_keeps BEFORE UPDATE ON cap_change BEGIN SELECT RAISE (ABORT, 'the history of a cap stays'); END;
CREATE TRIGGER look_stays BEFORE DELETE ON exploration BEGIN SELECT RAISE (ABORT, 'a look is never undone'); END;
CREATE TRIGGER entry_stays BEFORE DELETE ON entry BEGIN SELECT RAISE (ABORT, 'an entry is never undone'); END;
CREATE TRIGGER entry_keeps BEFORE UPDATE ON entry BEGIN SELECT RAISE (ABORT, 'an entry is never undone'); END;
