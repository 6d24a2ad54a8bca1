//! `JUnit` XML, which CI services read: each rule is a test case.

use std::fmt::{self, Write as _};

use super::{Escaped, Report, Verdict, text};

pub(super) fn write(report: &Report, out: &mut String) -> fmt::Result {
    let kind = Escaped(&report.kind);
    let errors = usize::from(report.trouble.is_some());
    let (tests, failures) = (report.rules.len() + errors, report.count("FAIL"));
    let skipped = report.count("not tested");
    let counts = format!(r#"tests="{tests}" failures="{failures}" errors="{errors}" skipped="{skipped}""#);
    writeln!(out, r#"<?xml version="1.0" encoding="UTF-8"?>"#)?;
    writeln!(out, r#"<testsuites name="conformance" tests="{tests}" failures="{failures}" errors="{errors}">"#)?;
    writeln!(out, r#"<testsuite name="{kind}" {counts}>"#)?;
    let (points, of) = report.points();
    writeln!(out, "<properties>")?;
    let outcome = report.outcome().word().to_owned();
    let properties = [
        ("outcome", Some(outcome)),
        ("points", Some(points.to_string())),
        ("of", Some(of.to_string())),
        ("seed", report.seed.map(|seed| seed.to_string())),
        ("runs", Some(report.runs.to_string())),
    ];
    for (name, value) in properties.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        writeln!(out, r#"<property name="{name}" value="{value}"/>"#)?;
    }
    writeln!(out, "</properties>")?;
    for rule in &report.rules {
        let (id, page) = (Escaped(&rule.id), Escaped(&rule.page));
        write!(out, r#"<testcase classname="conformance.{kind}" name="{id}" file="docs/{page}">"#)?;
        let details = text::broken(report, rule);
        match rule.verdict {
            Verdict::Passed => {}
            Verdict::NotTested => write!(out, r#"<skipped message="not tested {}"/>"#, Escaped(&rule.why))?,
            Verdict::Failed if rule.is_required() => {
                write!(out, r#"<failure message="{}" type="{}">"#, Escaped(&rule.text), rule.asked_by.word())?;
                write!(out, "{}</failure>", Escaped(&details))?;
            }
            Verdict::Failed => {
                write!(out, "<system-out>advice: {}\n{}</system-out>", Escaped(&rule.text), Escaped(&details))?;
            }
        }
        writeln!(out, "</testcase>")?;
    }
    if let Some(trouble) = &report.trouble {
        let trouble = trouble.to_string();
        writeln!(out, r#"<testcase classname="conformance.{kind}" name="the whole test">"#)?;
        writeln!(out, r#"<error message="{}" type="{}"/></testcase>"#, Escaped(&trouble), report.outcome().word())?;
    }
    let end: Vec<String> = [text::summary(report)].into_iter().chain(text::limits(report)).collect();
    writeln!(out, "<system-out>{}</system-out>", Escaped(&end.join("\n")))?;
    writeln!(out, "</testsuite>\n</testsuites>")
}
