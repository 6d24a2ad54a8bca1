//! What docs/conformance.md says about the kinds of programs.

use conformance::{Tester, dealer, nuggets_client, nuggets_server, player, robots_client, robots_server};

const PAGE: &str = include_str!("../../../docs/conformance.md");

#[test]
fn the_page_says_of_every_kind_its_placeholders_and_how_many_rules_it_has() {
    let testers: [&Tester; 6] = [
        &dealer::TESTER,
        &player::TESTER,
        &nuggets_server::TESTER,
        &nuggets_client::TESTER,
        &robots_server::TESTER,
        &robots_client::TESTER,
    ];
    for tester in testers {
        let front = format!("| `{}` | ", tester.kind);
        let rows: Vec<&str> = PAGE.lines().filter(|line| line.starts_with(&front)).collect();
        let [row] = rows[..] else { panic!("one row for {}: {rows:?}", tester.kind) };
        for placeholder in tester.known {
            assert!(row.contains(&format!("{{{placeholder}}}")), "{placeholder}: {row}");
        }
        let required = tester.rules.iter().filter(|rule| rule.required).count();
        let advice = tester.rules.len() - required;
        assert!(row.ends_with(&format!("| {required} and {advice} advice |")), "{required} and {advice}: {row}");
    }
}
