//! A breach as lines of text, for several formats.

use super::{
    clean::clean,
    model::{Breach, Finding, Message, Report, Sender, WrongByte},
};

/// The observed behavior on one line.
pub(super) fn what(breach: &Breach) -> String {
    clean(&breach.text.replace('\n', "\\n"))
}

/// The place of a breach: the scenario, and the time, connection and byte of the last message.
pub(super) fn place(breach: &Breach) -> String {
    let last = breach.conversation.iter().rfind(|message| message.sender == Sender::Program);
    let last = last.map_or_else(String::new, |Message { at_ms, channel, wrong, .. }| {
        let wrong = wrong.as_ref().map_or_else(String::new, |wrong| match wrong.stream_offset {
            Some(offset) => format!(", byte {offset} of the connection"),
            None => format!(", byte {} of the datagram", wrong.offset),
        });
        format!(", after {}.{:03} s, {channel}{wrong}", at_ms / 1000, at_ms % 1000)
    });
    clean(&format!("{}{last}", breach.scenario))
}

/// The section of the task with the requirement, and the page that describes the rule.
pub(super) fn sources(rule: &Finding) -> String {
    let task = if rule.task.is_empty() { "advice".to_owned() } else { clean(&rule.task) };
    format!("{task}; docs/{}", clean(&rule.page))
}

/// How the program ended, and its last output.
pub(super) fn program(breach: &Breach) -> Vec<String> {
    breach.program.iter().map(|line| clean(line)).collect()
}

/// The messages before a breach in columns: seconds, connection, sender, message.
pub(super) fn conversation(messages: &[Message]) -> Vec<String> {
    let width = messages.iter().map(|message| message.channel.chars().count()).max().unwrap_or(0);
    messages.iter().flat_map(|message| of(message, width)).collect()
}

/// One message in these columns, with `width` characters for the connection.
pub(crate) fn of(message: &Message, width: usize) -> Vec<String> {
    let Message { at_ms, channel, sender, text, bytes, wrong } = message;
    let (seconds, millis, channel, sender) = (at_ms / 1000, at_ms % 1000, clean(channel), sender.word());
    let front = format!("{seconds:>4}.{millis:03} s  {channel:<width$}  {sender:<7}  ");
    let gap = " ".repeat(front.chars().count());
    let text = clean(text);
    let mut lines: Vec<String> = text.lines().map(|line| format!("{gap}{line}")).collect();
    if lines.is_empty() {
        lines.push(gap.clone());
    }
    if let Some(first) = lines.first_mut() {
        first.replace_range(..gap.len(), &front);
    }
    if let Some(bytes) = bytes {
        let end = bytes.from + bytes.hex.split(' ').filter(|pair| !pair.is_empty()).count() as u64;
        let which = if bytes.from == 0 && end == bytes.of {
            "bytes".to_owned()
        } else {
            format!("bytes {} to {} of {}", bytes.from, end.saturating_sub(1), bytes.of)
        };
        lines.push(format!("{gap}{which}: {}", bytes.hex));
    }
    lines.extend(wrong.iter().map(|wrong| format!("{gap}{}", wrong_byte(wrong))));
    lines.into_iter().map(|line| line.trim_end().to_owned()).collect()
}

/// The place of the error in a message.
pub(super) fn wrong_byte(wrong: &WrongByte) -> String {
    let WrongByte { offset, stream_offset, byte, text } = wrong;
    let stream = stream_offset.filter(|stream| stream != offset);
    let stream = stream.map_or_else(String::new, |stream| format!(" (byte {stream} of the connection)"));
    let byte = match byte {
        Some(byte @ 0x21..=0x7e) => format!("{byte:02x} '{}'", char::from(*byte)),
        Some(byte) => format!("{byte:02x}"),
        None => "its end".to_owned(),
    };
    format!("WRONG at byte {offset}{stream}: {byte}; {}", clean(text))
}

/// The numbers of passed and failed rules, and the points.
pub(super) fn summary(report: &Report) -> String {
    let (points, of) = report.points();
    let score = report.score().map_or_else(String::new, |score| format!(" ({score} %)"));
    format!("{}: {}; {points} of {of} points{score}", report.kind, counts(report))
}

/// The number of rules with each verdict.
pub(super) fn counts(report: &Report) -> String {
    let counted = |word: &str, what: &str| match report.count(word) {
        0 => String::new(),
        number => format!(", {number} {what}"),
    };
    format!(
        "{} passed, {} failed{}{}",
        report.count("pass"),
        report.count("FAIL"),
        counted("note", "noted"),
        counted("not tested", "not tested")
    )
}

/// The seed and the number of runs.
pub(super) fn settings(report: &Report) -> String {
    let runs = if report.runs > 1 { format!(", {} runs", report.runs) } else { String::new() };
    let seed = report.seed.map_or_else(|| "secret seed".to_owned(), |seed| format!("seed {seed}"));
    format!("{seed}{runs}")
}

/// The limits of the program, in short form.
pub(super) fn limits(report: &Report) -> Option<String> {
    let short: Vec<&str> = report.limits.iter().filter_map(|line| line.split(" (").next()).collect();
    (!short.is_empty()).then(|| clean(&format!("Limits: {}", short.join("; "))))
}

/// How often a rule failed that was tested in several runs.
pub(super) fn how_often(report: &Report, failed_in: u32) -> Option<String> {
    (report.runs > 1 && failed_in > 0).then(|| format!("failed in {failed_in} of {} runs", report.runs))
}
