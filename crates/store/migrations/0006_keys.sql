-- Keys that prove a name besides the one that it was claimed with: those of other devices of its owner.
CREATE TABLE name_keys (
    name TEXT NOT NULL REFERENCES names (name) ON DELETE CASCADE,
    key_hash TEXT NOT NULL,
    added BIGINT NOT NULL,
    PRIMARY KEY (name, key_hash)
);
CREATE INDEX name_keys_by_key ON name_keys (key_hash, added, name);
