//! A self-contained file, for a wall display.

use std::{collections::BTreeMap, fmt::Write as _};

use ladder::Latency;
use picture::escape;

use crate::{
    chart,
    record::{Record, Seat},
    setup::Setup,
    standings::{Row, Standings},
};

/// The latest matches; `matches.jsonl` has all.
const LISTED: usize = 500;
/// In seconds, while the league runs.
const REFRESH: u32 = 20;

const STYLE: &str = "body{font:16px/1.5 system-ui,sans-serif;color:#222;max-width:1000px;margin:2em auto;padding:0 1em}\
table{border-collapse:collapse;width:100%}th,td{padding:.3em .6em;text-align:right;border-bottom:1px solid #ddd}\
th:nth-child(2),td:nth-child(2){text-align:left}svg{max-width:100%;height:auto}.forfeit{color:#a40000}\
#table td:nth-child(2){font-weight:bold}#matches td,#matches th{text-align:left;font-size:14px}";

pub(crate) fn write(
    setup: &Setup,
    standings: &Standings,
    records: &BTreeMap<u64, Record>,
    (state, playing): (&str, bool),
) -> String {
    let game = setup.game();
    let refresh =
        if playing { format!("<meta http-equiv=\"refresh\" content=\"{REFRESH}\">\n") } else { String::new() };
    let seats = if game.is_solo() {
        "each player plays the same deals alone".to_owned()
    } else {
        format!("{} seats; each seed is played in each seating", setup.seats)
    };
    let rows: String = standings.rows.iter().map(row).collect();
    let sentences: Vec<String> =
        standings.sentences().iter().map(|sentence| format!("<li>{}</li>\n", escape(sentence))).collect();
    let sentences = sentences.concat();
    let matches: String = records.values().rev().take(LISTED).map(match_row).collect();
    let count = records.len();
    let chart = chart::draw(standings);
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width\">\n{refresh}<title>League of {game}</title>\n\
         <style>{STYLE}</style>\n</head>\n<body>\n<h1>League of {game}</h1>\n<p>{rules}; {seats}. {state}.</p>\n\
         <table id=\"table\">\n<tr><th>place</th><th>name</th><th>rating</th><th>matches</th><th>won</th><th>drawn</th>\
         <th>lost</th><th>forfeits</th><th>mean of {unit}</th></tr>\n{rows}</table>\n<ul>\n{sentences}</ul>\n{chart}\
         <details>\n<summary>Matches: {count}</summary>\n<table id=\"matches\">\n<tr><th>match</th><th>round</th>\
         <th>players and scores</th><th>journal</th></tr>\n{matches}</table>\n</details>\n</body>\n</html>\n",
        rules = escape(&setup.rules.to_string()),
        state = escape(state),
        unit = game.unit(),
    )
}

fn row(row: &Row) -> String {
    let Row { place, name, matches, won, drawn, lost, forfeits, mean, .. } = row;
    let (points, sure) = row.rating();
    let name = escape(name);
    let mean = mean.map_or_else(|| "–".to_owned(), |mean| format!("{mean:.2}"));
    format!(
        "<tr><td>{place}</td><td>{name}</td><td>{points:.0} ± {sure:.0}</td><td>{matches}</td><td>{won}</td>\
         <td>{drawn}</td><td>{lost}</td><td>{forfeits}</td><td>{mean}</td></tr>\n"
    )
}

fn match_row(record: &Record) -> String {
    let Record { number, round, seats, journal, .. } = record;
    let mut players = String::new();
    for (at, Seat { player, score, forfeit, stderr, latency, note }) in seats.iter().enumerate() {
        let gap = if at > 0 { ", " } else { "" };
        let score = score.map_or_else(|| "–".to_owned(), |score| score.to_string());
        let _ = write!(players, "{gap}{} {score}", escape(player));
        if let Some(Latency { mean_micros, longest_micros, .. }) = latency {
            let (mean, longest) = (millis(*mean_micros), millis(*longest_micros));
            let _ = write!(players, " <span title=\"mean latency, longest latency\">({mean}, {longest} ms)</span>");
        }
        for why in forfeit.iter().chain(note) {
            let _ = write!(players, " <span class=\"forfeit\">({})</span>", escape(why));
        }
        if let Some(file) = stderr {
            let _ = write!(players, " <a href=\"{}\">stderr</a>", escape(file));
        }
    }
    let journal = escape(journal);
    format!(
        "<tr><td>{number}</td><td>{round}</td><td>{players}</td><td><a href=\"{journal}\">{journal}</a></td></tr>\n"
    )
}

fn millis(micros: u64) -> String {
    format!("{}.{}", micros / 1_000, micros / 100 % 10)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        record::tests::record,
        setup::{Entrant, Plan},
    };

    #[test]
    fn page_escapes_texts_of_programs_and_loads_nothing() {
        let player = |name: &str| Entrant { name: name.into(), command: "bot:easy".into() };
        let plan: Plan = toml::from_str("game = \"robots\"").unwrap();
        let setup = Plan { players: vec![player("A"), player("B")], ..plan }.setup(1).unwrap();
        let mut records = BTreeMap::new();
        for number in 1..=2 {
            let mut record = record(number, 1, 1, &[("A", Some(2)), ("B", None)]);
            record.seats[0].latency = Some(Latency { answers: 2, mean_micros: 12_345, longest_micros: 20_060 });
            record.seats[1].forfeit = Some("it ended: <script>alert(\"1\")</script> & more".into());
            records.insert(number, record);
        }
        let standings = Standings::new(&setup, &records, 0.95);
        let page = write(&setup, &standings, &records, ("1 round", true));
        assert!(!page.contains("<script"), "{page}");
        assert!(page.contains("(it ended: &lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; more)"));
        assert!(page.contains(">(12.3, 20.0 ms)</span>"), "{page}");
        assert!(page.contains("<svg") && page.contains("A: ") && page.contains("http-equiv=\"refresh\""));
        assert!(page.contains("<a href=\"journals/0001\">"));
        for loads in ["src=", "href=\"http", "url(", "@import"] {
            assert!(!page.contains(loads), "{loads}");
        }
        assert!(!write(&setup, &standings, &records, ("over", false)).contains("refresh"));
    }
}
