-- The chain of entries goes. What tells the register from others stays, with a counter of changes; every release gets a keyed digest.
DROP TRIGGER IF EXISTS data_set_insert_is_an_entry;
DROP TRIGGER IF EXISTS data_set_update_is_an_entry;
DROP TRIGGER IF EXISTS cap_change_insert_is_an_entry;
DROP TRIGGER IF EXISTS cap_change_update_is_an_entry;
DROP TRIGGER IF EXISTS fingerprint_insert_is_an_entry;
DROP TRIGGER IF EXISTS fingerprint_update_is_an_entry;
DROP TRIGGER IF EXISTS release_insert_is_an_entry;
DROP TRIGGER IF EXISTS release_update_is_an_entry;
DROP TRIGGER IF EXISTS exploration_insert_is_an_entry;
DROP TRIGGER IF EXISTS exploration_update_is_an_entry;
DROP TRIGGER IF EXISTS restoration_insert_is_an_entry;
DROP TRIGGER IF EXISTS restoration_update_is_an_entry;
DROP TRIGGER IF EXISTS renyi_account_insert_is_an_entry;
DROP TRIGGER IF EXISTS renyi_account_update_is_an_entry;
DROP TRIGGER IF EXISTS renyi_loss_insert_is_an_entry;
DROP TRIGGER IF EXISTS renyi_loss_update_is_an_entry;
DROP TRIGGER entry_stays;
DROP TRIGGER entry_keeps;
DROP TRIGGER released_stays;
CREATE TABLE register (identity TEXT NOT NULL, item TEXT NOT NULL, keyed TEXT NOT NULL, counter INTEGER NOT NULL);
INSERT INTO register SELECT substr(head, 1, 16), item, content, (SELECT count(*) FROM entry) FROM entry WHERE number = 1;
ALTER TABLE release ADD COLUMN seal TEXT NOT NULL DEFAULT '';
ALTER TABLE release ADD COLUMN digest TEXT NOT NULL DEFAULT '';
UPDATE release SET digest = keyed(digest(token, data_set, started, learner, settings, epsilon, delta, disclosures)),
seal = coalesce((SELECT head FROM entry WHERE kind = 'release' AND item = digest(token) ORDER BY entry.number LIMIT 1), '');
DROP TABLE entry;
CREATE TRIGGER released_stays BEFORE UPDATE ON release WHEN OLD.state = 'released'
BEGIN SELECT RAISE (ABORT, 'a release is never undone'); END;
CREATE TRIGGER digest_stays BEFORE UPDATE OF seal, digest, started, learner, settings, disclosures ON release
BEGIN SELECT RAISE (ABORT, 'what was spent stays spent'); END;
