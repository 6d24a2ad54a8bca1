//! What docs/conformance.md says about the rules.

use conformance::{Tester, dealer, nuggets_client, nuggets_server, player, robots_client, robots_server};

const PAGE: &str = include_str!("../../../docs/conformance.md");

#[test]
fn the_page_lists_every_rule_as_it_is() {
    let testers: &[(&str, &Tester)] = &[
        ("Dealers", &dealer::TESTER),
        ("Players", &player::TESTER),
        ("Servers of nuggets", &nuggets_server::TESTER),
        ("Clients of nuggets", &nuggets_client::TESTER),
        ("Servers of robots", &robots_server::TESTER),
        ("Clients of robots", &robots_client::TESTER),
    ];
    let kinds = ["| required |", "| advice |"];
    for (heading, tester) in testers {
        let (_, section) = PAGE.split_once(&format!("\n## {heading}\n")).expect(heading);
        let section = section.split("\n## ").next().unwrap_or_default();
        let listed: Vec<&str> = section.lines().filter(|line| kinds.iter().any(|kind| line.contains(kind))).collect();
        let rules = tester.rules.iter().map(|rule| {
            let required = if rule.required { "required" } else { "advice" };
            format!("| `{}` | {required} | {} |", rule.id, rule.text)
        });
        assert_eq!(listed, rules.collect::<Vec<_>>(), "{heading}");
    }
}
