//! Compares docs/conformance.md with the kinds of programs, and other pages with the rules.

use std::{collections::BTreeSet, path::Path};

use conformance::{TESTERS, section};

const PAGE: &str = include_str!("../../../../docs/conformance.md");

#[test]
fn page_lists_placeholders_of_every_kind() {
    for tester in TESTERS {
        let front = format!("| `{}` | ", tester.kind);
        let rows: Vec<&str> = PAGE.lines().filter(|line| line.starts_with(&front)).collect();
        let [row] = rows[..] else { panic!("expected one row for {}: {rows:?}", tester.kind) };
        for placeholder in tester.known {
            assert!(row.contains(&format!("{{{placeholder}}}")), "{placeholder}: {row}");
        }
    }
}

#[test]
fn rules_have_unique_names_and_existing_sections() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    for tester in TESTERS {
        let names: BTreeSet<_> = tester.rules.iter().map(|rule| rule.id).collect();
        assert_eq!(names.len(), tester.rules.len(), "{}", tester.kind);
        for rule in tester.rules {
            let (page, _) = rule.page.split_once('#').unwrap_or_else(|| panic!("{}: {}", rule.id, rule.page));
            assert!(docs.join(page).is_file(), "{}: {page}", rule.id);
            assert!(section(rule.page).is_some_and(|text| !text.is_empty()), "{}: {}", rule.id, rule.page);
            assert_eq!(
                (rule.is_required(), rule.is_required()),
                (rule.points > 0, !rule.task.is_empty()),
                "{}",
                rule.id
            );
            assert!(!rule.text.ends_with('.') && rule.hint.ends_with(['.', '?']), "{}", rule.id);
        }
    }
}
