-- The board that a match counts for, which follows from its game and its options, and why it does not count; empty if it does. The options
-- of what was stored before are not known, and its ratings could be had by playing against oneself. So it keeps boards of its own, and
-- all others begin anew.
ALTER TABLE matches ADD COLUMN class TEXT NOT NULL DEFAULT 'earlier';
ALTER TABLE matches ADD COLUMN casual TEXT NOT NULL DEFAULT 'earlier';
ALTER TABLE players ADD COLUMN class TEXT NOT NULL DEFAULT 'earlier';
-- 1 if the player left before the end.
ALTER TABLE players ADD COLUMN quit BIGINT NOT NULL DEFAULT 0;
DROP INDEX players_by_rating;
CREATE INDEX players_by_rating ON players (name, kind, game, class, ended, match_id, rating) WHERE rating > 0;

CREATE TABLE standings (
    game TEXT NOT NULL,
    class TEXT NOT NULL,
    -- As 2026-4, or empty for all time.
    season TEXT NOT NULL,
    name TEXT NOT NULL,
    kind BIGINT NOT NULL,
    -- As they were after the match that ended at `last`, in milliseconds since the Unix epoch.
    mean DOUBLE PRECISION NOT NULL,
    deviation DOUBLE PRECISION NOT NULL,
    last BIGINT NOT NULL,
    -- 1 after enough matches, and the points that the strength lies above.
    ranked BIGINT NOT NULL,
    sure BIGINT NOT NULL,
    matches BIGINT NOT NULL,
    wins BIGINT NOT NULL,
    -- The sum of all scores and their mean, for boards that are ordered by that.
    score BIGINT NOT NULL,
    average DOUBLE PRECISION NOT NULL,
    PRIMARY KEY (game, class, season, name, kind)
);
INSERT INTO standings
SELECT r.game, 'earlier', '', r.name, r.kind, r.mean, r.deviation,
    COALESCE((SELECT MAX(p.ended) FROM players p WHERE p.name = r.name AND p.kind = r.kind AND p.game = r.game), 0),
    CASE WHEN r.matches >= 10 THEN 1 ELSE 0 END, CAST(40.0 * (r.mean - 2.0 * r.deviation) AS BIGINT),
    r.matches, r.wins, r.score, r.average
FROM ratings r;
DROP TABLE ratings;
CREATE INDEX standings_by_rating ON standings (game, class, season, ranked, sure DESC, matches DESC, name, kind);
CREATE INDEX standings_by_average ON standings (game, class, season, ranked, average, matches DESC, name, kind);
CREATE INDEX standings_by_person ON standings (name, kind, season, game, class);
CREATE INDEX standings_by_season ON standings (season);

-- How often two names of one host have met on a day; unproven names of a host are one, which is empty. A host is a keyed hash that is
-- another one each day. Days before the last ones are removed.
CREATE TABLE meetings (
    day BIGINT NOT NULL,
    host TEXT NOT NULL,
    one TEXT NOT NULL,
    other TEXT NOT NULL,
    matches BIGINT NOT NULL,
    PRIMARY KEY (day, host, one, other)
);

-- Who has had its attempt at the puzzle of a day.
CREATE TABLE attempts (
    day BIGINT NOT NULL,
    name TEXT NOT NULL,
    PRIMARY KEY (day, name)
);

-- What the rooms of journals count for.
ALTER TABLE journals ADD COLUMN class TEXT NOT NULL DEFAULT 'earlier';
ALTER TABLE journals ADD COLUMN casual TEXT NOT NULL DEFAULT 'earlier';

-- The host of whoever has a seat, as in `meetings`, and how well a bot plays.
ALTER TABLE seats ADD COLUMN host TEXT NOT NULL DEFAULT '';
ALTER TABLE seats ADD COLUMN level TEXT NOT NULL DEFAULT '';
