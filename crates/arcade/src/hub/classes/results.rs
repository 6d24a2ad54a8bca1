//! The table and the results of a class, as pure functions of its matches.

use std::{collections::BTreeMap, fmt::Write as _};

use cmdkit::csv_cell;
use serde::Serialize;

use super::ClassMatch;
use crate::results::views::date;

/// A line of the table.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct Score {
    pub(crate) name: String,
    pub(crate) matches: u32,
    /// First places among at least two members.
    pub(crate) wins: u32,
}

/// The table of these members: most wins first, then fewest matches.
pub(crate) fn scores<'a>(members: impl Iterator<Item = &'a str>, results: &[ClassMatch]) -> Vec<Score> {
    let mut scores: BTreeMap<&str, Score> =
        members.map(|name| (name, Score { name: name.to_owned(), matches: 0, wins: 0 })).collect();
    for ClassMatch { players, .. } in results {
        for player in players {
            let Some(score) = scores.get_mut(&*player.name) else { continue };
            score.matches += 1;
            score.wins += u32::from(players.len() > 1 && player.rank == 1 && !player.left);
        }
    }
    let mut scores: Vec<Score> = scores.into_values().collect();
    scores.sort_by(|one, other| {
        other.wins.cmp(&one.wins).then(one.matches.cmp(&other.matches)).then_with(|| one.name.cmp(&other.name))
    });
    scores
}

/// The results for a spreadsheet, a line for each player of each match.
pub(crate) fn csv(results: &[ClassMatch]) -> String {
    let mut csv = "ended,game,room,options,match,player,rank,score,left\n".to_owned();
    for result in results {
        let ClassMatch { id, room, game, title, ended, players } = result;
        for player in players {
            // Writing to a string cannot fail.
            let _ = writeln!(
                csv,
                "{},{game},{room},{},{id},{},{},{},{}",
                date(*ended),
                csv_cell(title),
                csv_cell(&player.name),
                player.rank,
                player.score,
                if player.left { "yes" } else { "" }
            );
        }
    }
    csv
}

#[cfg(test)]
mod tests {
    use super::{super::MatchPlayer, *};

    fn result(players: &[(&str, u32, bool)]) -> ClassMatch {
        let player = |&(name, rank, left): &(&str, u32, bool)| MatchPlayer { name: name.into(), rank, score: -1, left };
        ClassMatch {
            id: "1-1".into(),
            room: "robots-7".into(),
            game: "robots".into(),
            title: "2 robots, small".into(),
            ended: 0,
            players: players.iter().map(player).collect(),
        }
    }

    #[test]
    fn table_counts_first_places_among_members() {
        let results = [
            result(&[("Ann", 1, false), ("Bob", 1, true)]),
            result(&[("Bob", 1, false)]),
            result(&[("Cid", 1, false), ("Bob", 2, false)]),
            result(&[("Cid", 2, false), ("Bob", 1, false)]),
        ];
        let table = scores(["Dan", "Bob", "Ann", "Cid"].into_iter(), &results);
        let table: Vec<_> = table.iter().map(|score| (&*score.name, score.wins, score.matches)).collect();
        assert_eq!(table, [("Ann", 1, 1), ("Cid", 1, 2), ("Bob", 1, 4), ("Dan", 0, 0)]);
    }

    #[test]
    fn csv_has_a_line_for_each_player_and_no_formulas() {
        let text = csv(&[result(&[("=Ann", 1, false), ("Bob", 2, true)])]);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines[1], "1970-01-01T00:00:00.000Z,robots,robots-7,\"2 robots, small\",1-1,'=Ann,1,-1,");
        assert_eq!(lines[2], "1970-01-01T00:00:00.000Z,robots,robots-7,\"2 robots, small\",1-1,Bob,2,-1,yes");
        assert_eq!(lines.len(), 3);
    }
}
