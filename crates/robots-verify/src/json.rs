use serde_json::{Map, Value as Json, json};

use robots::protocol::shape::{Label, PartError, Value};

use crate::{
    report::{Fault, Field, Report, ReportLine},
    text::{self, TransportKind},
};

/// `at` counts from the start of the stream in the report itself, and from the start of the message in its parts.
pub(crate) fn report(report: &Report, source: &Map<String, Json>, transport: TransportKind) -> Json {
    let mut out = source.clone();
    let mut put = |key: &str, value: Json| {
        out.insert(key.to_owned(), value);
    };
    put("message", report.number.into());
    put("at", report.at.into());
    put("length", report.length.into());
    put("name", report.name.into());
    put("fields", report.lines.iter().map(line).collect());
    put("fields_left_out", report.lines_left_out.into());
    put("notes", report.notes.iter().map(|note| json!({"at": note.at, "text": note.text})).collect());
    put("notes_left_out", report.notes_left_out.into());
    put("error", report.fault.as_ref().map_or(Json::Null, |fault| error(fault, report, transport)));
    Json::Object(out)
}

fn error(fault: &Fault, report: &Report, transport: TransportKind) -> Json {
    let kind = match fault {
        Fault::Malformed(PartError::UnknownTag { .. }) => "unknown tag",
        Fault::Malformed(PartError::NotUtf8 { .. }) => "not UTF-8",
        Fault::Malformed(PartError::TooMany { .. }) => "too many items",
        Fault::Malformed(PartError::TooLong { .. }) => "too long",
        Fault::Trailing { .. } => "bytes left over",
        Fault::Unfinished { .. } => "unfinished",
    };
    let around = report.around.as_ref().map(|around| json!({"bytes": text::hex(&around.bytes), "wrong": around.wrong}));
    json!({"at": fault.at(), "kind": kind, "text": text::explained(fault, report, transport), "around": around})
}

fn line(line: &ReportLine) -> Json {
    match line {
        ReportLine::LeftOut { items, depth } => json!({"depth": depth, "items_left_out": items}),
        ReportLine::Field(Field { at, bytes, depth, label, value }) => {
            let mut out = json!({"at": at, "depth": depth, "bytes": text::hex(bytes), "value": plain(value)});
            let (key, label): (&str, Json) = match *label {
                Label::Message => ("name", "message".into()),
                Label::Field(name) => ("name", name.into()),
                Label::Item(_, number) => ("item", number.into()),
                Label::Key(..) => ("name", "key".into()),
            };
            out[key] = label;
            out
        }
    }
}

fn plain(value: &Value) -> Json {
    match value {
        Value::Variant(name) => (*name).into(),
        Value::Player(player) => (*player).into(),
        Value::Number(number) | Value::BombId(number) | Value::Items(number) | Value::Entries(number) => {
            (*number).into()
        }
        Value::Position(x, y) => json!({"x": x, "y": y}),
        Value::Bomb(x, y, timer) => json!({"x": x, "y": y, "timer": timer}),
        Value::Text(text) => text.as_str().into(),
    }
}
