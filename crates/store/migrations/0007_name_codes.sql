-- The code that moves a name to another device: at most one per name. It is void once the key that issued it does not prove the name.
-- Only hashes are stored. Released names delete their codes. Times are milliseconds since the Unix epoch.
CREATE TABLE name_codes (
    name TEXT NOT NULL PRIMARY KEY REFERENCES names (name) ON DELETE CASCADE,
    code_hash TEXT NOT NULL UNIQUE,
    key_hash TEXT NOT NULL,
    expires BIGINT NOT NULL
);

CREATE INDEX name_codes_by_age ON name_codes (expires);

-- Names that lost a key, for other hubs with the same database, which have cached what keys prove. `id` is random, and new with each
-- change.
CREATE TABLE name_changes (
    name TEXT NOT NULL PRIMARY KEY,
    id TEXT NOT NULL,
    changed BIGINT NOT NULL
);
CREATE INDEX name_changes_by_time ON name_changes (changed, name);
