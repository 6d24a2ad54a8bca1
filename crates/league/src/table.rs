use std::fmt::{self, Write as _};

use cmdkit::csv_cell;
use serde_json::{Value, json};

use crate::{
    certainty::{Order, Tally},
    protection::Protection,
    setup::Setup,
    standings::{Row, Standings},
};

impl fmt::Display for Standings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let width = self.rows.iter().map(|row| row.name.len()).max().unwrap_or(0).max(4);
        writeln!(
            f,
            "place  {:<width$}  {:>6}  {:>5}  {:>7}  {:>5}  {:>5}  {:>5}  {:>8}  {:>10}",
            "name", "rating", "+/-", "matches", "won", "drawn", "lost", "forfeits", "mean score"
        )?;
        for row in &self.rows {
            let Row { place, name, matches, won, drawn, lost, forfeits, mean, .. } = row;
            let (points, sure) = row.rating();
            let mean = mean.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.2}"));
            writeln!(
                f,
                "{place:>5}  {name:<width$}  {points:>6.0}  {sure:>5.0}  {matches:>7}  {won:>5}  {drawn:>5}  \
                 {lost:>5}  {forfeits:>8}  {mean:>10}"
            )?;
        }
        self.sentences().iter().try_for_each(|sentence| writeln!(f, "{sentence}"))
    }
}

pub(crate) fn csv(standings: &Standings) -> String {
    let mut text =
        "place,name,rating,uncertainty,matches,won,drawn,lost,forfeits,mean_score,ahead_of_next,behind_next,\
                    certainty_of_next,next,protection\n"
            .to_owned();
    let protection = standings.protection.map_or("", Protection::word);
    for row in &standings.rows {
        let Row { place, name, matches, won, drawn, lost, forfeits, mean, next, .. } = row;
        let (points, sure) = row.rating();
        // A name may begin with a hyphen.
        let name = csv_cell(name);
        let mean = mean.map_or_else(String::new, |mean| format!("{mean:.3}"));
        let next = next.map_or_else(
            || ",,,".to_owned(),
            |(tally, order)| {
                let Tally { ahead, behind } = tally;
                format!("{ahead},{behind},{:.4},{}", tally.certainty(), word(order))
            },
        );
        let _ = writeln!(
            text,
            "{place},{name},{points:.1},{sure:.1},{matches},{won},{drawn},{lost},{forfeits},{mean},{next},{protection}"
        );
    }
    text
}

pub(crate) fn json(setup: &Setup, standings: &Standings, state: &str) -> Value {
    let row = |row: &Row| {
        let Row { place, name, matches, won, drawn, lost, forfeits, mean, next, .. } = row;
        let (points, sure) = row.rating();
        let next = next.map(|(tally, order)| {
            let Tally { ahead, behind } = tally;
            json!({ "ahead": ahead, "behind": behind, "certainty": tally.certainty(), "order": word(order) })
        });
        json!({
            "place": place, "name": name, "rating": points, "uncertainty": sure, "matches": matches, "won": won,
            "drawn": drawn, "lost": lost, "forfeits": forfeits, "mean_score": mean, "next": next, "curve": row.curve,
        })
    };
    json!({
        "game": setup.game(), "rules": setup.rules, "seed": setup.seed, "seats": setup.seats, "state": state,
        "protection": standings.protection, "rounds": standings.rounds, "certain": standings.is_certain(), "sentences": standings.sentences(),
        "table": standings.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

const fn word(order: Order) -> &'static str {
    match order {
        Order::Better => "better",
        Order::Equal => "equal",
        Order::Uncertain => "uncertain",
        Order::Contrary => "contrary",
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::setup::{Entrant, Plan};

    #[test]
    fn names_in_csv_are_not_formulas() {
        let players = ["-1", "A"].map(|name| Entrant { name: name.into(), command: "bot:easy".into() });
        let plan: Plan = toml::from_str("game = \"robots\"").unwrap();
        let setup = Plan { players: players.into(), ..plan }.setup(1).unwrap();
        let csv = csv(&Standings::new(&setup, &BTreeMap::new(), 0.95));
        assert!(csv.contains(",'-1,") && csv.contains(",A,"), "{csv}");
    }
}
