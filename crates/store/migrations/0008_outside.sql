-- Rated matches against names of other hosts.
ALTER TABLE standings ADD COLUMN outside BIGINT NOT NULL DEFAULT 0;
