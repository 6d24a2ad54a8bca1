//! What docs/conformance.md says about the kinds of programs.

use conformance::TESTERS;

const PAGE: &str = include_str!("../../../docs/conformance.md");

#[test]
fn the_page_says_of_every_kind_its_placeholders_and_how_many_rules_it_has() {
    for tester in TESTERS {
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
