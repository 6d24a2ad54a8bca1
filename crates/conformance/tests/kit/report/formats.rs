//! Reports in all formats, with the output of a hostile program.

use conformance::{
    Basis, Breach, Excerpt, Finding, Format, Message, Outcome, Report, Scenario, Sender, Style, Trouble, Verdict,
    WrongByte,
};
use roxmltree::{Document, ParsingOptions};

const HOSTILE: [&str; 12] = [
    "\0\x07\x1b[2J\x1b]0;title\x07",
    "</script><script>alert(1)</script><img src=x onerror=alert(1)>",
    "]]></failure></testcase>",
    "&lt; &#0; &amp",
    "\u{202e}reversed\u{2066}\u{ffff}\u{fffe}\u{85}",
    "```\n````\n# heading\n| a | b |\n<b>bold</b>",
    "Bail out!\nok 1 - nothing\n1..0\n  ...\nnot ok 2",
    "'\"\\ \\n # TODO # SKIP",
    "- item: [yaml, {a: b}] &anchor *alias !tag %directive",
    "\r\rover the line",
    "{{7*7}} ${7*7} <%= 7*7 %>",
    "--> <!-- -- ?> <?xml",
];

fn message(text: &str) -> Message {
    Message {
        at_ms: 1234,
        channel: format!("seat <{text}>"),
        sender: Sender::Program,
        text: text.to_owned(),
        bytes: Some(Excerpt { from: 0, hex: "00 1b".into(), of: 2 }),
        wrong: Some(WrongByte { offset: 1, stream_offset: Some(77), byte: Some(0x1b), text: text.to_owned() }),
    }
}

fn finding(id: &str, asked_by: Basis, points: u32, verdict: Verdict) -> Finding {
    let failed = verdict == Verdict::Failed;
    let breach = |text: &&str| Breach {
        scenario: "a whole game".into(),
        text: (*text).to_owned(),
        conversation: vec![message(text)],
        program: vec![format!("standard error: {text}")],
    };
    Finding {
        id: id.into(),
        text: "The rule".into(),
        asked_by,
        task: if asked_by == Basis::Protocol { "The Task: Rules".into() } else { String::new() },
        points,
        page: "protocols/blackjack.md#messages".into(),
        hint: "Look twice.".into(),
        verdict,
        why: if verdict == Verdict::NotTested {
            "'a whole game' ended early because broken failed".into()
        } else {
            String::new()
        },
        count: 20,
        tested_in: 5,
        failed_in: if failed { 2 } else { 0 },
        breaches: if failed { HOSTILE.iter().map(breach).collect() } else { Vec::new() },
    }
}

fn hostile() -> Report {
    Report {
        kind: "dealer".into(),
        seed: Some(99),
        runs: 5,
        whole: true,
        trouble: None,
        limits: vec!["memory: 1 GiB (for all together)".into()],
        rules: vec![
            finding("kept", Basis::Protocol, 29, Verdict::Passed),
            finding("broken", Basis::Protocol, 1, Verdict::Failed),
            finding("noted", Basis::Advice, 0, Verdict::Failed),
            finding("unseen", Basis::Protocol, 1, Verdict::NotTested),
        ],
        scenarios: vec![Scenario {
            name: "a whole game".into(),
            meant_for: vec![],
            observed: vec!["broken".into()],
            ended_by: Some("broken".into()),
        }],
    }
}

fn acts(letter: char) -> bool {
    cmdkit::is_steering(letter) && letter != '\n' || matches!(letter, '\u{202e}' | '\u{2066}' | '\u{fffe}' | '\u{ffff}')
}

#[test]
fn reports_contain_no_control_characters_of_programs() {
    for format in Format::ALL {
        let written = hostile().write(format);
        // JSON contains the original output of the program.
        let is_kept = |letter| format == Format::Json && matches!(letter, '\u{fffe}' | '\u{ffff}');
        let found = written.chars().find(|&letter| acts(letter) && !is_kept(letter));
        assert_eq!(found, None, "{format:?}");
        assert!(written.ends_with('\n') && !written.ends_with("\n\n"), "{format:?}");
    }
}

#[test]
fn every_format_contains_score_seed_and_failure_counts() {
    for format in Format::ALL {
        let written = hostile().write(format);
        // The reason why a rule was not tested is included too, with quotes as the format requires.
        assert!(written.contains("ended early because broken failed"), "{format:?}");
        let parts: &[&str] = match format {
            Format::Json => &["\"points\":29", "\"of\":31", "\"score\":93", "\"seed\":99", "\"failed_in\":2"],
            Format::Junit => &["29 of 31 points", "name=\"seed\" value=\"99\"", "failed in 2 of 5 runs"],
            Format::Tap => &["29 of 31 points (93 %)", "seed 99, 5 runs", "failed_in: 2\n  runs: 5"],
            _ => &["29 of 31 points (93 %)", "seed 99, 5 runs", "failed in 2 of 5 runs"],
        };
        for part in parts {
            assert!(written.contains(part), "{format:?}: {part}\n{written}");
        }
    }
}

#[test]
fn no_format_contains_a_secret_seed() {
    for format in Format::ALL {
        let written = Report { seed: None, ..hostile() }.write(format);
        let part = match format {
            Format::Json => "\"seed\":null",
            Format::Junit => "failed in 2 of 5 runs",
            _ => "secret seed, 5 runs",
        };
        assert!(written.contains(part) && !written.contains("\"seed\" value="), "{format:?}: {written}");
    }
}

#[test]
fn every_format_marks_incomplete_reports_with_the_reason() {
    let troubles = [
        (Trouble::Tester("no <socket>".into()), Outcome::Unfinished, "no "),
        (Trouble::Stopped, Outcome::Unfinished, "stopped"),
        (Trouble::CannotStart("cannot start 'x'".into()), Outcome::CannotStart, "cannot start"),
    ];
    for (trouble, outcome, words) in troubles {
        let mut report = hostile();
        report.trouble = Some(trouble);
        assert_eq!(report.outcome(), outcome);
        for format in Format::ALL {
            let written = report.write(format);
            assert!(written.contains(words) && written.contains("broken"), "{format:?}: {written}");
            let marks = match format {
                Format::Junit => "<error ",
                Format::Tap => "\nBail out! ",
                Format::Json => "\"error\":{",
                _ => "not complete",
            };
            assert!(written.contains(marks), "{format:?}: {written}");
            assert!(!hostile().write(format).contains(marks), "{format:?}");
        }
    }
}

#[test]
fn text_shows_verdict_then_failed_rules_then_others() {
    let mut report = hostile();
    report.rules.truncate(2);
    let broken = &mut report.rules[1];
    broken.breaches.truncate(1);
    let breach = &mut broken.breaches[0];
    breach.text = "seat 1: it is wrong".into();
    breach.program = vec!["standard error: why".into()];
    breach.conversation[0].channel = "seat 1".into();
    breach.conversation[0].text = "BEGIN?".into();
    breach.conversation[0].wrong =
        Some(WrongByte { offset: 5, stream_offset: Some(11), byte: Some(b'?'), text: "expected its end".into() });
    assert_eq!(
        report.to_string(),
        "dealer: failed, 29 of 30 points (96 %)\n\
         1 passed, 1 failed; seed 99, 5 runs\n\
         \n\
         FAIL  broken (1 point), failed in 2 of 5 runs\n\
         \x20 failure       seat 1: it is wrong\n\
         \x20 rule          The rule\n\
         \x20 where         a whole game, after 1.234 s, seat 1, byte 11 of the connection\n\
         \x20 hint          Look twice.\n\
         \x20 also          19 more\n\
         \x20 see           The Task: Rules; docs/protocols/blackjack.md#messages\n\
         \x20 program       standard error: why\n\
         \x20      1.234 s  seat 1  program  BEGIN?\n\
         \x20                                bytes: 00 1b\n\
         \x20                                WRONG at byte 5 (byte 11 of the connection): 3f '?'; expected its end\n\
         \n\
         Passed\n\
         \x20 \u{2713} kept    The rule\n\
         \n\
         Limits: memory: 1 GiB\n"
    );
}

#[test]
fn text_at_a_terminal_is_wrapped_and_coloured() {
    let mut report = hostile();
    report.rules[1].hint = "Many words that fill a line of a narrow terminal. ".repeat(3);
    let shown = report.text(Style { width: Some(60), colour: true });
    assert!(shown.starts_with("dealer: \u{1b}[1;31mfailed\u{1b}[0m, 29 of 31 points"), "{shown}");
    assert!(shown.contains("\n  \u{1b}[32m\u{2713}\u{1b}[0m kept    The rule\n"), "{shown}");
    let visible =
        shown.replace("\u{1b}[1;31m", "").replace("\u{1b}[33m", "").replace("\u{1b}[32m", "").replace("\u{1b}[0m", "");
    assert!(
        visible.contains("  hint          Many words that fill a line of a narrow\n                terminal."),
        "{visible}"
    );
    assert!(!visible.contains('\u{1b}'), "{visible}");
    assert!(visible.lines().all(|line| line.chars().count() <= 60), "{visible}");
}

#[test]
fn conversation_at_a_terminal_is_wrapped_at_words() {
    let conversation = |text: &str, width| {
        let mut report = hostile();
        let wrong = None;
        report.rules.truncate(2);
        let message = Message { channel: "seat 1".into(), bytes: None, wrong, ..message(text) };
        report.rules[1].breaches.truncate(1);
        report.rules[1].breaches[0] = Breach { conversation: vec![message], ..report.rules[1].breaches[0].clone() };
        let shown = report.text(Style { width: Some(width), colour: false });
        let lines = shown.lines().skip_while(|line| !line.contains("1.234 s  seat 1"));
        lines.take_while(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    };
    let text = "expected a digit of the score but the message ended immediately";
    assert_eq!(
        conversation(text, 60),
        [
            "       1.234 s  seat 1  program  expected a digit of the",
            "                                   score but the message",
            "                                   ended immediately",
        ]
    );
    assert_eq!(conversation(text, 40)[1], "        expected a digit of the score", "a narrow window");
    let long = conversation(&"words without an end ".repeat(60), 60);
    assert_eq!(long.len(), 6);
    assert!(long[5].ends_with('…') && long.iter().all(|line| line.chars().count() <= 60), "{long:#?}");
    // Rows of a map stay in their columns.
    let map = conversation(&format!("DISPLAY\n{}\n{}", "+ ".repeat(30), "| ".repeat(5)), 60);
    assert_eq!(map.len(), 3);
    assert_eq!((map[1].chars().count(), map[1].ends_with('…')), (60, true));
    assert_eq!(map[2].trim_start(), "| | | | |");
}

#[test]
fn failed_advice_is_noted_and_untested_rules_neither_pass_nor_fail() {
    let report = |rules: Vec<Finding>| Report { rules, ..hostile() };
    let kept = || finding("one", Basis::Protocol, 3, Verdict::Passed);
    let noted = report(vec![kept(), finding("two", Basis::Advice, 0, Verdict::Failed)]);
    assert_eq!((noted.outcome(), noted.failed(), noted.points()), (Outcome::Passed, vec!["two"], (3, 3)));
    let mut untested = report(vec![kept(), finding("two", Basis::Protocol, 1, Verdict::NotTested)]);
    assert_eq!((untested.outcome(), untested.points()), (Outcome::Incomplete, (3, 4)));
    // A test of a running server cannot cover all rules.
    untested.whole = false;
    assert_eq!(untested.outcome(), Outcome::Passed);
    untested.rules.remove(0);
    assert_eq!(untested.outcome(), Outcome::Incomplete, "nothing at all was found");
    let only = report(vec![finding("two", Basis::Advice, 0, Verdict::Failed)]);
    assert_eq!((only.outcome(), only.score()), (Outcome::Passed, None));
}

#[test]
fn report_round_trips_through_json() {
    for trouble in [None, Some(Trouble::Stopped), Some(Trouble::Tester("x".into()))] {
        let report = Report { trouble, ..hostile() };
        let written = report.write(Format::Json);
        assert_eq!(written.lines().count(), 1);
        assert_eq!(serde_json::from_str::<Report>(&written).unwrap(), report);
    }
    let json = hostile().to_json();
    assert_eq!((&json["outcome"], &json["rules"][1]["verdict"]), (&"failed".into(), &"fail".into()));
    assert_eq!(json["rules"][1]["breaches"][0]["conversation"][0]["wrong"]["byte"], 0x1b);
}

#[test]
fn junit_is_xml_with_a_test_case_for_each_rule() {
    let report = Report { trouble: Some(Trouble::Tester(HOSTILE.concat())), ..hostile() };
    let written = report.write(Format::Junit);
    let document = Document::parse(&written).unwrap();
    let suite = document.descendants().find(|node| node.has_tag_name("testsuite")).unwrap();
    let named = |tag: &'static str| document.descendants().filter(move |node| node.has_tag_name(tag));
    for (attribute, tag) in
        [("tests", "testcase"), ("failures", "failure"), ("errors", "error"), ("skipped", "skipped")]
    {
        assert_eq!(suite.attribute(attribute), Some(&*named(tag).count().to_string()), "{attribute}");
    }
    let failure = named("failure").next().unwrap();
    assert_eq!(failure.parent().unwrap().attribute("name"), Some("broken"));
    let text = failure.text().unwrap();
    assert!(text.contains(HOSTILE[1]) && text.contains(HOSTILE[2]) && text.contains("\\x1b[2J"), "{text}");
}

#[test]
fn tap_has_a_test_point_for_each_rule_and_yaml_for_failures() {
    let written = hostile().write(Format::Tap);
    let mut lines = written.lines();
    assert_eq!((lines.next(), lines.next()), (Some("TAP version 14"), Some("1..4")));
    let mut points = Vec::new();
    while let Some(line) = lines.next() {
        if line == "  ---" {
            // The lines of the block are indented up to its end. Each text is a quoted string, as JSON and YAML
            // require.
            let block: Vec<_> = lines.by_ref().take_while(|line| *line != "  ...").collect();
            assert!(block.iter().all(|line| line.starts_with("  ")), "{block:?}");
            let quoted = |key: &str| block.iter().filter(|line| line.trim_start().starts_with(key)).count();
            assert_eq!((quoted("- scenario: \""), quoted("message: \"")), (HOSTILE.len(), HOSTILE.len()));
            for line in block {
                if let Some((_, text)) = line.split_once('"') {
                    let text: Result<String, _> = serde_json::from_str(&format!("\"{text}"));
                    assert!(text.is_ok(), "{line}");
                }
            }
        } else if !line.starts_with('#') {
            points.push(line);
        }
    }
    assert_eq!(
        points,
        [
            "ok 1 - kept: The rule",
            "not ok 2 - broken: The rule",
            "not ok 3 - noted: The rule # TODO advice",
            "ok 4 - unseen: The rule # SKIP 'a whole game' ended early because broken failed"
        ]
    );
}

#[test]
fn markdown_has_a_row_for_each_rule_and_fences_program_output() {
    let mut report = hostile();
    report.kind = HOSTILE.concat();
    report.trouble = Some(Trouble::Tester(HOSTILE.concat()));
    let written = report.write(Format::Markdown);
    let mut fence: Option<&str> = None;
    let (mut blocks, mut rows) = (0, 0);
    for line in written.lines() {
        let ticks = line.get(..line.len() - line.trim_start_matches('`').len()).unwrap();
        match fence {
            Some(open) if line == open => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 => {
                blocks += 1;
                fence = Some(ticks);
            }
            None => {
                assert!(!line.replace("\\<", "").contains('<'), "{line}");
                rows += usize::from(line.starts_with('|'));
                if line.starts_with('|') {
                    assert_eq!(line.replace("\\|", "").matches('|').count(), 5, "{line}");
                }
                let heading = line.starts_with('#');
                assert!(
                    !heading || line.starts_with("# \\\\x00") || ["## broken", "## noted"].contains(&line),
                    "{line}"
                );
            }
        }
    }
    assert_eq!((fence, blocks, rows), (None, 2 * HOSTILE.len(), 2 + report.rules.len()));
}

#[test]
fn html_is_one_page_without_scripts_or_external_resources() {
    let mut report = hostile();
    report.trouble = Some(Trouble::Tester(HOSTILE.concat()));
    let written = report.write(Format::Html);
    let document =
        Document::parse_with_options(&written, ParsingOptions { allow_dtd: true, ..ParsingOptions::default() })
            .unwrap();
    let allowed = [
        "html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "table", "thead", "tbody", "tr", "th",
        "td", "a", "b", "code", "pre", "section",
    ];
    for node in document.descendants().filter(roxmltree::Node::is_element) {
        assert!(allowed.contains(&node.tag_name().name()), "{:?}", node.tag_name());
        for attribute in node.attributes() {
            assert!(["lang", "charset", "name", "content", "class", "id", "href"].contains(&attribute.name()));
            assert!(attribute.name() != "href" || attribute.value().starts_with('#'), "{attribute:?}");
        }
    }
    let style = document.descendants().find(|node| node.has_tag_name("style")).and_then(|node| node.text()).unwrap();
    assert!(["url(", "@import"].iter().all(|foreign| !style.contains(foreign)));
    assert!(["color-scheme: light dark", "@media print"].iter().all(|wanted| style.contains(wanted)));
    let text: String = document.descendants().filter(roxmltree::Node::is_text).filter_map(|node| node.text()).collect();
    assert!(text.contains(HOSTILE[1]) && text.contains("WRONG at byte 1 (byte 77 of the connection): 1b"));
}

#[test]
fn lines_of_a_megabyte_are_truncated() {
    let mut report = hostile();
    let breach = &mut report.rules[1].breaches[0];
    breach.text = "x".repeat(1 << 20);
    breach.conversation[0].text.clone_from(&breach.text);
    breach.program.push(breach.text.clone());
    for format in Format::ALL.into_iter().filter(|format| *format != Format::Json) {
        let written = report.write(format);
        assert!(written.len() < 100_000 && written.contains("... (1048"), "{format:?}: {}", written.len());
    }
}
