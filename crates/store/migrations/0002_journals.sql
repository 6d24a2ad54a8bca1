-- All matches of the journal that began before this time of its room, in microseconds, are over and stored. The time zero of its
-- room was then, in milliseconds since the Unix epoch.
ALTER TABLE journals ADD COLUMN known BIGINT NOT NULL DEFAULT 0;
ALTER TABLE journals ADD COLUMN zero BIGINT NOT NULL DEFAULT 0;
