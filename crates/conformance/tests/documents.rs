//! What docs/conformance.md says about the kinds of programs, and what the rules say about the other pages.

use std::{collections::BTreeSet, fs, path::Path};

use conformance::TESTERS;

const PAGE: &str = include_str!("../../../docs/conformance.md");

#[test]
fn the_page_says_of_every_kind_its_placeholders() {
    for tester in TESTERS {
        let front = format!("| `{}` | ", tester.kind);
        let rows: Vec<&str> = PAGE.lines().filter(|line| line.starts_with(&front)).collect();
        let [row] = rows[..] else { panic!("one row for {}: {rows:?}", tester.kind) };
        for placeholder in tester.known {
            assert!(row.contains(&format!("{{{placeholder}}}")), "{placeholder}: {row}");
        }
    }
}

#[test]
fn every_rule_has_a_name_of_its_own_and_a_section_that_exists() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for tester in TESTERS {
        let names: BTreeSet<_> = tester.rules.iter().map(|rule| rule.id).collect();
        assert_eq!(names.len(), tester.rules.len(), "{}", tester.kind);
        for rule in tester.rules {
            let (page, section) = rule.page.split_once('#').unwrap_or_else(|| panic!("{}: {}", rule.id, rule.page));
            let text = fs::read_to_string(docs.join(page)).unwrap();
            let headings = text.lines().filter_map(|line| line.strip_prefix('#')).map(anchor);
            assert!(headings.into_iter().any(|anchor| anchor == section), "{}: {}", rule.id, rule.page);
            assert_eq!(rule.is_required(), rule.points > 0, "{}", rule.id);
            assert!(
                !rule.text.ends_with('.') && (rule.hint.is_empty() || rule.hint.ends_with(['.', '?'])),
                "{}",
                rule.id
            );
        }
    }
}

// As pages of a repository link to headings.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}
