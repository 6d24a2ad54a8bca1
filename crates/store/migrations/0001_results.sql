-- The same text for SQLite and PostgreSQL. Times are milliseconds since the Unix epoch.

CREATE TABLE matches (
    id TEXT NOT NULL PRIMARY KEY,
    game TEXT NOT NULL,
    title TEXT NOT NULL,
    room TEXT NOT NULL,
    -- The file that the match was recorded in, its number there, and the times of its room, in microseconds, between which it
    -- was played.
    journal TEXT NOT NULL,
    number BIGINT NOT NULL,
    begins BIGINT NOT NULL,
    ends BIGINT NOT NULL,
    started BIGINT NOT NULL,
    ended BIGINT NOT NULL,
    -- 1 if it was played to its end.
    complete BIGINT NOT NULL
);
CREATE INDEX matches_by_time ON matches (ended, id);
CREATE INDEX matches_by_game ON matches (game, ended, id);
CREATE INDEX matches_by_journal ON matches (journal);

-- A person is a name and a kind: 0 without proof, 1 proven, 2 a bot.
CREATE TABLE players (
    match_id TEXT NOT NULL REFERENCES matches (id),
    -- The order in the result.
    place BIGINT NOT NULL,
    standing BIGINT NOT NULL,
    name TEXT NOT NULL,
    kind BIGINT NOT NULL,
    seat TEXT NOT NULL,
    score BIGINT NOT NULL,
    -- The rating after the match, or 0 if the match was not rated.
    rating BIGINT NOT NULL,
    PRIMARY KEY (match_id, place)
);
CREATE INDEX players_by_name ON players (name, kind, match_id);

CREATE TABLE ratings (
    game TEXT NOT NULL,
    name TEXT NOT NULL,
    kind BIGINT NOT NULL,
    mean DOUBLE PRECISION NOT NULL,
    deviation DOUBLE PRECISION NOT NULL,
    -- What is shown of these two.
    rating BIGINT NOT NULL,
    matches BIGINT NOT NULL,
    wins BIGINT NOT NULL,
    -- The sum of all scores, for games that are ranked by the mean.
    score BIGINT NOT NULL,
    PRIMARY KEY (game, name, kind)
);
CREATE INDEX ratings_by_rating ON ratings (game, rating);

-- Names and the SHA-256 of the key of their owner, in hexadecimal digits.
CREATE TABLE names (
    name TEXT NOT NULL PRIMARY KEY,
    key_hash TEXT NOT NULL,
    claimed BIGINT NOT NULL
);
CREATE INDEX names_by_key ON names (key_hash);

-- Which room a journal is of, and how many of its bytes were looked through for results.
CREATE TABLE journals (
    file TEXT NOT NULL PRIMARY KEY,
    room TEXT NOT NULL,
    title TEXT NOT NULL,
    examined BIGINT NOT NULL
);

-- What is known of the address of a seat besides its journal: that its player owns this name, or is a bot.
CREATE TABLE seats (
    room TEXT NOT NULL,
    address TEXT NOT NULL,
    name TEXT NOT NULL,
    kind BIGINT NOT NULL,
    PRIMARY KEY (room, address, name)
);
