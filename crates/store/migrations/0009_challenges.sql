-- The attempts at the daily challenges: one for each day, in days since 1970, and key of a browser. The days before the last ones are
-- removed. `score` and `match_id` follow once the match is over.
CREATE TABLE challenges (
    game TEXT NOT NULL,
    day BIGINT NOT NULL,
    key_hash TEXT NOT NULL,
    room TEXT NOT NULL,
    score BIGINT,
    match_id TEXT,
    PRIMARY KEY (game, day, key_hash)
);
CREATE INDEX challenges_by_score ON challenges (game, day, score);
CREATE INDEX challenges_by_day ON challenges (day);
CREATE INDEX challenges_by_room ON challenges (room);
