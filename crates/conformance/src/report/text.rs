use std::fmt;

use textwrap::{Options, WordSplitter, core::display_width, fill, wrap};

use super::{Breach, Finding, Message, Outcome, Report, Sender, Verdict, WrongByte, clean};

const INDENT: usize = 16;
/// Narrower terminals wrap by themselves.
const NARROWEST: usize = 40;
/// Lines of a terminal for one line of a conversation.
const MAX_LINES: usize = 6;
/// The columns for the text of a message below which continuation lines begin further left.
const LEAST_TEXT: usize = 24;

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// `None` disables wrapping.
    pub width: Option<usize>,
    /// With escape sequences.
    pub colour: bool,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text(Style::default()))
    }
}

impl Report {
    pub fn text(&self, style: Style) -> String {
        let mut page = Page { style, text: String::new() };
        page.head(self);
        for rule in self.of("FAIL").chain(self.of("note")) {
            page.broken(self, rule);
        }
        page.untested(self);
        if self.count("pass") > 0 {
            page.line("\nPassed");
        }
        for rule in self.of("pass") {
            page.row(self, rule);
        }
        if let Some(limits) = limits(self) {
            page.line("");
            page.wrapped("", "", &limits);
        }
        page.text
    }

    fn of(&self, word: &'static str) -> impl Iterator<Item = &Finding> {
        self.rules.iter().filter(move |rule| rule.word() == word)
    }
}

pub(super) fn broken(report: &Report, rule: &Finding) -> String {
    let mut page = Page { style: Style::default(), text: String::new() };
    if rule.verdict == Verdict::Failed {
        page.broken(report, rule);
    }
    page.text.trim().to_owned()
}

struct Page {
    style: Style,
    text: String,
}

impl Page {
    fn line(&mut self, line: &str) {
        self.text += line.trim_end();
        self.text.push('\n');
    }

    fn wrapped(&mut self, first: &str, indent: &str, text: &str) {
        let line = match self.style.width {
            Some(width) if width >= NARROWEST => {
                let options = Options::new(width).word_splitter(WordSplitter::NoHyphenation);
                fill(text, options.initial_indent(first).subsequent_indent(indent))
            }
            _ => format!("{first}{text}"),
        };
        self.line(&line);
    }

    fn coloured(&self, word: &str, code: &str) -> String {
        if self.style.colour { format!("\u{1b}[{code}m{word}\u{1b}[0m") } else { word.to_owned() }
    }

    fn head(&mut self, report: &Report) {
        let code = match report.outcome() {
            Outcome::Passed => "1;32",
            Outcome::Failed | Outcome::CannotStart => "1;31",
            Outcome::Incomplete | Outcome::Unfinished => "1;33",
        };
        let verdict = self.coloured(report.outcome().word(), code);
        let (points, of) = report.points();
        let score = report.score().map_or_else(String::new, |score| format!(" ({score} %)"));
        self.line(&format!("{}: {verdict}, {points} of {of} points{score}", clean(&report.kind)));
        self.line(&format!("{}; {}", counts(report), settings(report)));
        if let Some(trouble) = &report.trouble {
            self.wrapped("", "", &format!("The report is not complete: {}", clean(&trouble.to_string())));
        }
    }

    fn broken(&mut self, report: &Report, rule: &Finding) {
        let word = self.coloured(rule.word(), if rule.is_required() { "1;31" } else { "33" });
        let points = match rule.points {
            0 => String::new(),
            1 => " (1 point)".to_owned(),
            points => format!(" ({points} points)"),
        };
        let often = how_often(report, rule.failed_in).map_or_else(String::new, |often| format!(", {often}"));
        self.line(&format!("\n{word}  {}{points}{often}", rule.id));
        let mut breaches = rule.breaches.iter();
        if let Some(breach) = breaches.next() {
            self.field("failure", &what(breach));
            self.field("rule", &rule.text);
            self.field("where", &place(breach));
        } else {
            self.field("rule", &rule.text);
        }
        if !rule.hint.is_empty() {
            self.field("hint", &rule.hint);
        }
        let more = rule.count.saturating_sub(rule.breaches.len() as u64);
        let others = breaches.map(|breach| format!("{}; {}", what(breach), place(breach)));
        let others = others.chain((more > 0).then(|| format!("{more} more")));
        for (number, other) in others.enumerate() {
            self.field(if number == 0 { "also" } else { "" }, &other);
        }
        self.field("see", &sources(rule));
        rule.breaches.first().into_iter().for_each(|breach| self.evidence(breach));
    }

    fn evidence(&mut self, breach: &Breach) {
        for (number, line) in last_output(breach).iter().enumerate() {
            self.field(if number == 0 { "program" } else { "" }, line);
        }
        let column = channel_width(&breach.conversation);
        for message in &breach.conversation {
            let picture = message.text.starts_with("DISPLAY\n");
            let text_lines = message.text.lines().count().max(1);
            for (number, line) in message_lines(message, column).into_iter().enumerate() {
                let line = format!("    {line}");
                match self.style.width {
                    Some(width) if width >= NARROWEST && picture && number < text_lines => {
                        self.line(&cut(&line, width));
                    }
                    Some(width) if width >= NARROWEST => self.hanging(&line, width, 4 + front_width(message, column)),
                    _ => self.line(&line),
                }
            }
        }
    }

    // Wraps at words, with continuation lines two columns right of the message's text.
    fn hanging(&mut self, line: &str, width: usize, indent: usize) {
        let indent = if indent + 2 + LEAST_TEXT <= width { indent + 2 } else { 8 };
        let indent = " ".repeat(indent);
        let options = Options::new(width).word_splitter(WordSplitter::NoHyphenation).subsequent_indent(&indent);
        let lines = wrap(line, options);
        for (number, line) in lines.iter().take(MAX_LINES).enumerate() {
            let more = number + 1 == MAX_LINES && lines.len() > MAX_LINES;
            self.line(&if more { cut(&format!("{line} \u{2026}"), width) } else { line.to_string() });
        }
    }

    fn field(&mut self, name: &str, text: &str) {
        let first = format!("  {name:<width$}", width = INDENT - 2);
        self.wrapped(&first, &" ".repeat(INDENT), text);
    }

    fn untested(&mut self, report: &Report) {
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for rule in report.of("not tested") {
            match reasons.iter_mut().find(|(why, _)| *why == rule.why) {
                Some((_, rules)) => rules.push(&rule.id),
                None => reasons.push((&rule.why, vec![&rule.id])),
            }
        }
        if !reasons.is_empty() {
            self.line("\nNot tested");
        }
        for (why, rules) in reasons {
            self.wrapped("  ", "    ", &format!("{}: {}", clean(why), rules.join(", ")));
        }
    }

    fn row(&mut self, report: &Report, rule: &Finding) {
        let width = report.rules.iter().map(|rule| rule.id.len()).max().unwrap_or(0);
        let mark = self.coloured("\u{2713}", "32");
        // Replaced afterwards, since escape sequences have no width.
        let first = format!("  * {:<width$}  ", rule.id);
        let start = self.text.len() + 2;
        self.wrapped(&first, &" ".repeat(width + 6), &rule.text);
        self.text.replace_range(start..=start, &mark);
    }
}

pub(super) fn what(breach: &Breach) -> String {
    clean(&breach.text.replace('\n', "\\n"))
}

/// The scenario, and the time, connection and byte of the last message.
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

pub(super) fn sources(rule: &Finding) -> String {
    let task = if rule.task.is_empty() { "advice".to_owned() } else { clean(&rule.task) };
    format!("{task}; docs/{}", clean(&rule.page))
}

pub(super) fn last_output(breach: &Breach) -> Vec<String> {
    breach.program.iter().map(|line| clean(line)).collect()
}

/// In columns: seconds, connection, sender, message.
pub(super) fn conversation(messages: &[Message]) -> Vec<String> {
    let width = channel_width(messages);
    messages.iter().flat_map(|message| message_lines(message, width)).collect()
}

fn channel_width(messages: &[Message]) -> usize {
    messages.iter().map(|message| message.channel.chars().count()).max().unwrap_or(0)
}

// A cut line ends with an ellipsis.
fn cut(line: &str, width: usize) -> String {
    if display_width(line) <= width {
        return line.to_owned();
    }
    let (mut shown, mut used) = (String::new(), 1);
    for letter in line.chars() {
        used += display_width(letter.encode_utf8(&mut [0; 4]));
        if used > width {
            break;
        }
        shown.push(letter);
    }
    shown + "\u{2026}"
}

fn front(message: &Message, width: usize) -> String {
    let Message { at_ms, channel, sender, .. } = message;
    let (seconds, millis, channel, sender) = (at_ms / 1000, at_ms % 1000, clean(channel), sender.word());
    format!("{seconds:>4}.{millis:03} s  {channel:<width$}  {sender:<7}  ")
}

fn front_width(message: &Message, width: usize) -> usize {
    front(message, width).chars().count()
}

/// `width` is that of the connection's column, in characters.
pub(crate) fn message_lines(message: &Message, width: usize) -> Vec<String> {
    let Message { text, bytes, wrong, .. } = message;
    let front = front(message, width);
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

pub(super) fn summary(report: &Report) -> String {
    let (points, of) = report.points();
    let score = report.score().map_or_else(String::new, |score| format!(" ({score} %)"));
    format!("{}: {}; {points} of {of} points{score}", report.kind, counts(report))
}

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

pub(super) fn settings(report: &Report) -> String {
    let runs = if report.runs > 1 { format!(", {} runs", report.runs) } else { String::new() };
    let seed = report.seed.map_or_else(|| "secret seed".to_owned(), |seed| format!("seed {seed}"));
    format!("{seed}{runs}")
}

pub(super) fn limits(report: &Report) -> Option<String> {
    let short: Vec<&str> = report.limits.iter().filter_map(|line| line.split(" (").next()).collect();
    (!short.is_empty()).then(|| clean(&format!("Limits: {}", short.join("; "))))
}

pub(super) fn how_often(report: &Report, failed_in: u32) -> Option<String> {
    (report.runs > 1 && failed_in > 0).then(|| format!("failed in {failed_in} of {} runs", report.runs))
}
