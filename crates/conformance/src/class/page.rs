//! The table of a class as one page, and the page of a student whose program could not be tested.

use std::fmt::Write as _;

use conformance::{Escaped, Verdict, html_page};

use super::{
    grade::Grade,
    student::file_stem,
    table::{OPEN, Table},
};

const STYLE: &str = "
:root { color-scheme: light dark }
body { font: 15px/1.45 system-ui, sans-serif; margin: 2rem auto; max-width: 75rem; padding: 0 1rem }
h1 { font-size: 1.5rem }
.wide { overflow-x: auto }
table { border-collapse: collapse; margin: 1rem 0 }
th, td { border-bottom: 1px solid #8884; padding: .25rem .6rem; text-align: left; vertical-align: top }
th { position: sticky; top: 0; background: Canvas }
td.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
td.mark { text-align: center; padding: .25rem }
.pass { color: #176f3c } .fail { color: #b3261e; font-weight: 600 } .open { color: #777 }
@media (prefers-color-scheme: dark) { .pass { color: #6fcf97 } .fail { color: #ff8a80 } .open { color: #999 } }
th.rule { writing-mode: vertical-rl; font-weight: normal; padding: .4rem .2rem; vertical-align: bottom }
pre { white-space: pre-wrap; overflow-wrap: anywhere }
";

// Escapes text for a page.
fn shown(text: &str) -> String {
    Escaped(text).to_string()
}

// Escapes a name for a URL.
fn address(name: &str) -> String {
    let mut address = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            address.push(char::from(byte));
        } else {
            // Writing into memory cannot fail.
            let _ = write!(address, "%{byte:02X}");
        }
    }
    address
}

/// The page of a student whose program could not be tested.
pub(super) fn untested(student: &str, text: &str) -> String {
    html_page(student, STYLE, &format!("<pre>{}</pre>\n", shown(text)))
}

/// The table. The students' reports are in the folder `students` beside it.
pub(super) fn table(table: &Table<'_>) -> String {
    let tested = table.rows.iter().filter(|(_, grade)| grade.is_some()).count();
    let whole = table.rows.iter().filter(|(_, grade)| grade.is_some_and(|grade| grade.outcome == "passed")).count();
    let mut body = format!("<p>{tested} of {} students tested; {whole} passed all rules.</p>\n", table.rows.len());
    body += &students(table);
    body += &rules(table);
    html_page(&format!("Results: {}", table.kind), STYLE, &body)
}

fn students(table: &Table<'_>) -> String {
    let mut text = String::from("<div class=\"wide\"><table>\n<tr><th>student<th>result<th>points<th>since last time");
    for rule in &table.rules {
        let _ = write!(text, "<th class=\"rule\" title=\"{}\">{}", shown(rule.text), shown(rule.id));
    }
    for (student, grade) in &table.rows {
        text += "\n<tr>";
        let name = shown(student);
        let _ = match grade {
            Some(_) => write!(text, "<td><a href=\"students/{}.html\">{name}</a>", address(&file_stem(student))),
            None => write!(text, "<td>{name}"),
        };
        let outcome = grade.map_or(OPEN, |grade| &grade.outcome);
        let class = match outcome {
            "passed" => "pass",
            OPEN => "open",
            _ => "fail",
        };
        let points = grade.map_or_else(String::new, |grade| format!("{} of {}", grade.marks.points, table.of()));
        let change = grade.and_then(Grade::change).map_or_else(String::new, |change| {
            let kept = change.kept_now.iter().map(|rule| format!("<span class=\"pass\">{}</span>", shown(rule)));
            let broken = change.broken_now.iter().map(|rule| format!("<span class=\"fail\">{}</span>", shown(rule)));
            let rules: Vec<String> = kept.chain(broken).collect();
            format!("{:+} {}", change.points, rules.join(" "))
        });
        let _ = write!(text, "<td class=\"{class}\">{outcome}<td class=\"number\">{points}<td>{change}");
        for rule in &table.rules {
            let mark = grade.and_then(|grade| grade.marks.rules.get(rule.id));
            let (class, word) = match mark.map(|mark| mark.verdict) {
                Some(Verdict::Passed) => ("pass", mark.map_or(0, |mark| mark.points).to_string()),
                Some(Verdict::Failed) => ("fail", "0".to_owned()),
                Some(Verdict::NotTested) | None => ("open", "&middot;".to_owned()),
            };
            let _ = write!(text, "<td class=\"mark {class}\" title=\"{}\">{word}", shown(rule.id));
        }
    }
    text + "\n</table></div>\n"
}

fn rules(table: &Table<'_>) -> String {
    let mut text =
        String::from("<h2>Rules</h2>\n<table>\n<tr><th>rule<th>points<th>passed<th>failed<th>not tested<th>text");
    for rule in &table.rules {
        let [kept, broken, open] = table.counts(rule);
        let _ = write!(
            text,
            "\n<tr><td>{}<td class=\"number\">{}<td class=\"number\">{kept}<td class=\"number\">{broken}<td class=\"number\">{open}<td>{}",
            shown(rule.id),
            rule.points,
            shown(rule.text)
        );
    }
    text + "\n</table>\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_text_of_students() {
        let page = untested("<b>", "build failed\n\n</pre><script>\n");
        assert!(page.contains("<title>&lt;b&gt;</title>") && page.contains("&lt;/pre&gt;&lt;script&gt;"), "{page}");
        assert_eq!(address("Jan Kowalski/ż"), "Jan%20Kowalski%2F%C5%BC");
    }
}
