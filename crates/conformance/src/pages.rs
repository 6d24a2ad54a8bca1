//! The pages of `docs/` that rules refer to.

/// The pages with their paths in `docs/`.
const PAGES: [(&str, &str); 7] = [
    ("blackjack.md", include_str!("../../../docs/blackjack.md")),
    ("mastermind.md", include_str!("../../../docs/mastermind.md")),
    ("nuggets.md", include_str!("../../../docs/nuggets.md")),
    ("protocols/blackjack.md", include_str!("../../../docs/protocols/blackjack.md")),
    ("protocols/mastermind.md", include_str!("../../../docs/protocols/mastermind.md")),
    ("protocols/nuggets.md", include_str!("../../../docs/protocols/nuggets.md")),
    ("protocols/robots.md", include_str!("../../../docs/protocols/robots.md")),
];

/// The text of a section of `docs/`, named as in links: `protocols/blackjack.md#messages`. It ends before the next
/// heading.
pub fn section(page: &str) -> Option<String> {
    let (path, wanted) = page.split_once('#')?;
    let (_, text) = PAGES.iter().find(|(other, _)| *other == path)?;
    let mut lines = text.lines();
    let mut is_code = false;
    let mut is_heading = move |line: &str| {
        is_code ^= line.starts_with("```");
        line.starts_with('#') && !is_code
    };
    lines.by_ref().find(|line| is_heading(line) && anchor(line) == wanted)?;
    let section: Vec<_> = lines.take_while(|line| !is_heading(line)).collect();
    Some(section.join("\n").trim().to_owned())
}

// The anchor of a heading in links.
fn anchor(heading: &str) -> String {
    let words = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = words.chars().filter(|letter| letter.is_alphanumeric() || matches!(letter, ' ' | '-'));
    kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn section_ends_at_the_next_heading() {
        let draws = section("protocols/robots.md#draws").unwrap();
        assert!(draws.starts_with("The generator has a state") && draws.ends_with("before `y`."), "{draws}");
        assert_eq!(section("protocols/robots.md#nothing"), None);
    }
}
