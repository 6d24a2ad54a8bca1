use robots::protocol::shape::{Label, PartError, Value};

use crate::report::{Around, Fault, Field, Report, ReportLine};

/// In columns.
const WIDTH: usize = 80;
const ROW: usize = 8;
const MAX_SHOWN_BYTES: usize = 32;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TransportKind {
    /// With offsets in the stream and in the message.
    Stream,
    Datagram,
}

/// `source` describes the source of the bytes and may be empty.
pub(crate) fn report(report: &Report, source: &str, transport: TransportKind) -> String {
    let mut out = String::new();
    let Report { number, at, length, .. } = report;
    let from = if source.is_empty() { String::new() } else { format!("{source}  ") };
    let name = report.name.unwrap_or("unknown");
    let bytes = counted(*length as u64, "byte");
    let head = match transport {
        TransportKind::Stream => format!("{from}message {number}: {name}, {bytes} from byte {at}"),
        TransportKind::Datagram => format!("{from}datagram {number}: {name}, {bytes}"),
    };
    wrap(&mut out, "", &head);
    if !report.lines.is_empty() {
        out.push_str(match transport {
            TransportKind::Stream => "   stream message  bytes\n",
            TransportKind::Datagram => "     byte  bytes\n",
        });
    }
    for line in &report.lines {
        match line {
            ReportLine::Field(shown) => field(&mut out, shown, report.at, transport),
            ReportLine::LeftOut { items, depth } => {
                out.push_str(&" ".repeat(margin(transport) + 2 * depth));
                out.push_str("... and ");
                out.push_str(&grouped(u64::from(*items)));
                out.push_str(" more\n");
            }
        }
    }
    if report.lines_left_out > 0 {
        wrap(&mut out, "  ", &format!("... and {} lines more", grouped(report.lines_left_out as u64)));
    }
    if let Some(fault) = &report.fault {
        wrap(
            &mut out,
            "  ",
            &format!("WRONG at {}: {}", place(report.at, fault.at(), transport), explained(fault, report, transport)),
        );
    }
    if let Some(around) = report.around.as_ref().filter(|around| !around.bytes.is_empty()) {
        wrap(&mut out, "  ", &format!("around it: {}", marked(around)));
    }
    for note in &report.notes {
        wrap(&mut out, "  ", &format!("note, {}: {}", place(report.at, note.at, transport), note.text));
    }
    if report.notes_left_out > 0 {
        wrap(&mut out, "  ", &format!("... and {} more", counted(report.notes_left_out as u64, "note")));
    }
    out.push('\n');
    out
}

pub(crate) fn line(words: &str, source: &str) -> String {
    let mut out = String::new();
    let gap = if source.is_empty() { "" } else { "  " };
    wrap(&mut out, "", &format!("{source}{gap}{words}"));
    out.push('\n');
    out
}

pub(crate) fn explained(fault: &Fault, report: &Report, transport: TransportKind) -> String {
    match fault {
        Fault::Malformed(PartError::UnknownTag { tag, of, .. }) => {
            let mut tags: Vec<String> =
                of.variants.iter().enumerate().map(|(tag, variant)| format!("{tag} {}", variant.name)).collect();
            let last = tags.pop().unwrap_or_default();
            format!("{} {tag}; expected {} or {last}", of.name, tags.join(", "))
        }
        Fault::Malformed(PartError::NotUtf8 { byte, label, length, .. }) => {
            let length = counted(u64::from(*length), "byte");
            format!("{byte:02x} is not UTF-8 there; {} is a text of {length} of UTF-8", named(*label))
        }
        Fault::Malformed(PartError::TooMany { count, max, label, .. }) => {
            let turned = count.swap_bytes();
            let hint = if turned <= *max {
                format!("; the high byte comes first: is it meant to be {turned}?")
            } else {
                String::new()
            };
            format!("{} announces {count} items, and {max} are allowed at most{hint}", named(*label))
        }
        Fault::Malformed(PartError::TooLong { max, .. }) => {
            format!("a message of more than {} bytes, which is the limit", grouped(*max as u64))
        }
        Fault::Trailing { extra, .. } => {
            let extra = counted(*extra as u64, "byte");
            format!(
                "{extra} after the end of {}; a datagram contains exactly one message",
                report.name.unwrap_or("the message")
            )
        }
        Fault::Unfinished { label, cut, missing, .. } => {
            let missing = counted(*missing as u64, "byte");
            let transport = match transport {
                TransportKind::Stream => "stream",
                TransportKind::Datagram => "datagram",
            };
            let place = if *cut { "within" } else { "before" };
            match label {
                Label::Message => format!("the {transport} is empty; a message has {missing} at least"),
                label => {
                    let length = counted(report.length as u64, "byte");
                    let name = report.name.unwrap_or("message");
                    format!(
                        "the {transport} ends {place} {}: {length} of an unfinished {name}, {missing} more at least",
                        named(*label)
                    )
                }
            }
        }
    }
}

pub(crate) fn value(value: &Value) -> String {
    match value {
        Value::Variant(name) => (*name).to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Player(player) => format!("player {player}"),
        Value::BombId(bomb) => format!("bomb {bomb}"),
        Value::Position(x, y) => format!("({x}, {y})"),
        Value::Bomb(x, y, timer) => format!("({x}, {y}), timer {timer}"),
        Value::Text(text) => format!("\"{}\"", escaped(text)),
        Value::Items(count) => counted(u64::from(*count), "item"),
        Value::Entries(1) => "1 entry".to_owned(),
        Value::Entries(count) => format!("{} entries", grouped(u64::from(*count))),
    }
}

pub(crate) fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

// Escapes characters that would end the line or the quotes, or that are invisible.
fn escaped(text: &str) -> String {
    text.chars().map(|c| if c == '\'' { c.to_string() } else { c.escape_debug().to_string() }).collect()
}

fn named(label: Label) -> String {
    match label {
        Label::Message => "the message".to_owned(),
        Label::Field(name) => name.to_owned(),
        Label::Item(list, number) => format!("item {number} of {list}"),
        Label::Key(map, _) => format!("the next player of {map}"),
    }
}

fn place(start: u64, at: usize, transport: TransportKind) -> String {
    match transport {
        TransportKind::Stream => format!("byte {} of the stream, byte {at} of the message", start + at as u64),
        TransportKind::Datagram => format!("byte {at}"),
    }
}

const fn margin(transport: TransportKind) -> usize {
    let offsets = match transport {
        TransportKind::Stream => 17,
        TransportKind::Datagram => 9,
    };
    offsets + 2 + 3 * ROW - 1 + 2
}

fn field(out: &mut String, field: &Field, start: u64, transport: TransportKind) {
    let indent = "  ".repeat(field.depth);
    let value = value(&field.value);
    let labelled = match field.label {
        Label::Message | Label::Key(..) => value,
        Label::Field(name) => format!("{name}: {value}"),
        Label::Item(_, number) => format!("{number}. {value}"),
    };
    let room = WIDTH - margin(transport);
    let mut words = pieces(&format!("{indent}{labelled}"), room, &format!("{indent}  ")).into_iter();
    let mut rows = field.bytes[..field.bytes.len().min(MAX_SHOWN_BYTES)].chunks(ROW);
    let left_out = field.bytes.len().saturating_sub(MAX_SHOWN_BYTES);
    let mut more = (left_out > 0).then(|| format!("... and {left_out} more"));
    for index in 0.. {
        let (bytes, words) = (rows.next().map(hex).or_else(|| more.take()), words.next());
        if bytes.is_none() && words.is_none() {
            break;
        }
        let offsets = match (index, transport) {
            (0, TransportKind::Stream) => format!("{:>9}{:>8}", start + field.at as u64, field.at),
            (0, TransportKind::Datagram) => format!("{:>9}", field.at),
            (_, TransportKind::Stream) => " ".repeat(17),
            (_, TransportKind::Datagram) => " ".repeat(9),
        };
        let line = format!("{offsets}  {:<23}  {}", bytes.unwrap_or_default(), words.unwrap_or_default());
        out.push_str(line.trim_end());
        out.push('\n');
    }
}

// All lines but the first begin with `indent`.
fn pieces(line: &str, room: usize, indent: &str) -> Vec<String> {
    let (mut pieces, mut piece, mut length) = (vec![], String::new(), 0);
    for c in line.chars() {
        if length == room {
            pieces.push(std::mem::replace(&mut piece, indent.to_owned()));
            length = indent.chars().count();
        }
        piece.push(c);
        length += 1;
    }
    pieces.push(piece);
    pieces
}

fn wrap(out: &mut String, indent: &str, words: &str) {
    let mut line = indent.to_owned();
    let mut begun = false;
    for word in words.split(' ') {
        if begun && line.chars().count() + 1 + word.chars().count() > WIDTH {
            out.push_str(&line);
            out.push('\n');
            line = format!("{indent}    ");
            begun = false;
        }
        if begun {
            line.push(' ');
        }
        line.push_str(word);
        begun = true;
    }
    out.push_str(&line);
    out.push('\n');
}

// Empty brackets mark a missing byte.
fn marked(Around { bytes, wrong }: &Around) -> String {
    let (before, after) = bytes.split_at(*wrong);
    let (byte, after) =
        after.split_first().map_or((String::new(), after), |(byte, after)| (format!("{byte:02x}"), after));
    let parts = [hex(before), format!("[{byte}]"), hex(after)];
    parts.iter().filter(|part| !part.is_empty()).map(String::as_str).collect::<Vec<_>>().join(" ")
}
