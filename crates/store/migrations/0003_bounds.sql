-- What questions about a player need stands beside its name, so that an index answers them without reading all its matches.
ALTER TABLE players ADD COLUMN game TEXT NOT NULL DEFAULT '';
ALTER TABLE players ADD COLUMN ended BIGINT NOT NULL DEFAULT 0;
UPDATE players SET
    game = (SELECT m.game FROM matches m WHERE m.id = players.match_id),
    ended = (SELECT m.ended FROM matches m WHERE m.id = players.match_id);
DROP INDEX players_by_name;
CREATE INDEX players_by_person ON players (name, kind, ended, match_id);
CREATE INDEX players_by_game ON players (name, kind, game, ended, match_id);
CREATE INDEX players_by_rating ON players (name, kind, game, ended, match_id, rating) WHERE rating > 0;

-- Leaderboards are read in the order in which they are shown.
ALTER TABLE ratings ADD COLUMN average DOUBLE PRECISION NOT NULL DEFAULT 0;
UPDATE ratings SET average = CAST(score AS DOUBLE PRECISION) / matches WHERE matches > 0;
DROP INDEX ratings_by_rating;
CREATE INDEX ratings_by_rating ON ratings (game, rating DESC, matches DESC, name, kind);
CREATE INDEX ratings_by_average ON ratings (game, average, matches DESC, name, kind);
CREATE INDEX ratings_by_person ON ratings (name, kind, game);

-- 1 if people have played in a match of the journal.
ALTER TABLE journals ADD COLUMN people BIGINT NOT NULL DEFAULT 0;
UPDATE journals SET people = 1 WHERE EXISTS (
    SELECT 1 FROM matches m JOIN players p ON p.match_id = m.id WHERE m.journal = journals.file AND p.kind <> 2
);
DROP INDEX matches_by_journal;
CREATE INDEX journals_by_room ON journals (room);

-- When it was noted, in milliseconds since the Unix epoch: of each room only the newest seats are kept.
ALTER TABLE seats ADD COLUMN noted BIGINT NOT NULL DEFAULT 0;
CREATE INDEX seats_by_age ON seats (room, noted);
