-- Data sets whose account adds up Renyi losses, and these losses. Data sets of before have neither, and stay as they are.
CREATE TABLE renyi_account (
    name TEXT PRIMARY KEY NOT NULL REFERENCES data_set (name),
    renyi_order REAL NOT NULL CHECK (renyi_order > 1)
);
CREATE TABLE renyi_loss (
    token TEXT PRIMARY KEY NOT NULL REFERENCES release (token),
    renyi REAL NOT NULL CHECK (renyi >= 0)
);
CREATE TRIGGER account_stays BEFORE DELETE ON renyi_account BEGIN SELECT RAISE (ABORT, 'an account is fixed for good'); END;
CREATE TRIGGER account_keeps BEFORE UPDATE ON renyi_account BEGIN SELECT RAISE (ABORT, 'an account is fixed for good'); END;
CREATE TRIGGER loss_stays BEFORE DELETE ON renyi_loss BEGIN SELECT RAISE (ABORT, 'what was spent stays spent'); END;
CREATE TRIGGER loss_keeps BEFORE UPDATE ON renyi_loss BEGIN SELECT RAISE (ABORT, 'what was spent stays spent'); END;
