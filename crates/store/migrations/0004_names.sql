-- What a name looks like (the skeleton of UTS 39): no new name looks like another. Null until it is known, and for the second of two names
-- that were claimed before this was held.
ALTER TABLE names ADD COLUMN looks TEXT;
CREATE UNIQUE INDEX names_by_looks ON names (looks);

-- 1 once its owner has joined a match with it. Names that are not used are given up after a while.
ALTER TABLE names ADD COLUMN used BIGINT NOT NULL DEFAULT 0;
UPDATE names SET used = 1 WHERE EXISTS (SELECT 1 FROM players p WHERE p.name = names.name AND p.kind = 1)
    OR name IN (SELECT name FROM seats WHERE kind = 1);
CREATE INDEX names_by_age ON names (claimed) WHERE used = 0;
