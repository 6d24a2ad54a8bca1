//! The ranking of the players at a table.

use alloc::{format, string::String, vec::Vec};
use core::fmt;

use crate::{name::Name, verdict::Score};

/// The results of one seat.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The seat, counted from 1.
    pub seat: usize,
    /// The name of the player.
    pub name: Name,
    /// The results of the rounds. Forfeited hands are losses.
    pub score: Score,
    /// Forfeited hands.
    pub forfeits: u64,
}

/// The ranking of a table, best first.
#[derive(Debug, Clone, PartialEq)]
pub struct Standings {
    /// The table, counted from 1.
    pub table: u32,
    /// One row per seat, ordered by wins, then by mean reward, then by seat.
    pub rows: Vec<Row>,
}

impl Standings {
    pub(super) fn new(table: u32, seats: Vec<(Name, Score, u64)>) -> Self {
        let row = |(at, (name, score, forfeits))| Row { seat: at + 1, name, score, forfeits };
        let mut rows: Vec<Row> = seats.into_iter().enumerate().map(row).collect();
        // The sort is stable, so ties keep the order of seats.
        rows.sort_by(|one, other| {
            other.score.wins.cmp(&one.score.wins).then(other.score.mean().total_cmp(&one.score.mean()))
        });
        Self { table, rows }
    }

    /// The standings as one line of JSON.
    pub fn to_json(&self) -> String {
        let rows: Vec<String> = self.rows.iter().enumerate().map(|(at, row)| json(at + 1, row)).collect();
        format!("{{\"table\":{},\"seats\":[{}]}}", self.table, rows.join(","))
    }
}

fn json(rank: usize, row: &Row) -> String {
    let Row { seat, name, score, forfeits } = row;
    // Names are printable ASCII, so other characters need no escapes.
    let name = name.as_str().replace('\\', "\\\\").replace('"', "\\\"");
    let Score { wins, pushes, losses, busts } = score;
    let (rounds, mean) = (score.rounds(), score.mean());
    let width = row.score.half_width().map_or_else(|| "null".into(), |width| format!("{width:.6}"));
    format!(
        "{{\"rank\":{rank},\"seat\":{seat},\"name\":\"{name}\",\"rounds\":{rounds},\"wins\":{wins},\"pushes\":{pushes},\
         \"losses\":{losses},\"busts\":{busts},\"forfeits\":{forfeits},\"mean\":{mean:.6},\"ci95\":{width}}}"
    )
}

impl fmt::Display for Standings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|row| row.name.as_str().len()).max().unwrap_or(0).max(4);
        write!(f, "Table {}\nrank  seat  {:<width$}", self.table, "name")?;
        write!(f, "      rounds        wins      pushes      losses       busts    forfeits  mean reward (95 %)")?;
        for (at, row) in self.rows.iter().enumerate() {
            let Row { seat, name, score, forfeits } = row;
            let Score { wins, pushes, losses, busts } = score;
            write!(f, "\n{:>4}  {seat:>4}  {name:<width$}  {:>10}", at + 1, score.rounds())?;
            write!(f, "  {wins:>10}  {pushes:>10}  {losses:>10}  {busts:>10}  {forfeits:>10}  {:+.4}", score.mean())?;
            if let Some(width) = row.score.half_width() {
                write!(f, " +/- {width:.4}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    fn standings(seats: &[(&str, [u64; 4], u64)]) -> Standings {
        let seat = |&(name, [wins, pushes, losses, busts], forfeits): &(&str, [u64; 4], u64)| {
            (Name::new(name.as_bytes()).unwrap(), Score { wins, pushes, losses, busts }, forfeits)
        };
        Standings::new(1, seats.iter().map(seat).collect())
    }

    #[test]
    fn wins_decide_then_the_mean_then_the_seat() {
        let table = standings(&[
            ("Ann", [4, 0, 6, 0], 0),
            ("Bob", [5, 0, 5, 0], 0),
            ("Cy", [4, 2, 2, 2], 0),
            ("Dee", [4, 0, 0, 6], 0),
        ]);
        let order: Vec<usize> = table.rows.iter().map(|row| row.seat).collect();
        assert_eq!(order, [2, 3, 1, 4]);
    }

    #[test]
    fn standings_are_printed_as_table_and_json() {
        let table = standings(&[("Ann", [43, 9, 30, 18], 1), ("a\"b\\", [0, 0, 1, 0], 1)]);
        assert_eq!(
            table.to_string().lines().map(str::trim_end).collect::<Vec<_>>().join("\n"),
            "Table 1\n\
             rank  seat  name      rounds        wins      pushes      losses       busts    forfeits  mean reward (95 %)\n   \
             1     1  Ann          100          43           9          30          18           1  -0.0500 +/- 0.1877\n   \
             2     2  a\"b\\           1           0           0           1           0           1  -1.0000"
        );
        assert_eq!(
            table.to_json(),
            r#"{"table":1,"seats":[{"rank":1,"seat":1,"name":"Ann","rounds":100,"wins":43,"pushes":9,"losses":30,"busts":18,"forfeits":1,"mean":-0.050000,"ci95":0.187656},{"rank":2,"seat":2,"name":"a\"b\\","rounds":1,"wins":0,"pushes":0,"losses":1,"busts":0,"forfeits":1,"mean":-1.000000,"ci95":null}]}"#
        );
    }
}
