use std::fmt::Write as _;

use anyhow::Context as _;
use serde_json::Value;

use crate::hub::migration::Moved;

pub(crate) fn text(answer: &Value, seconds: u64) -> anyhow::Result<String> {
    let mut text = String::new();
    if let Some(moved) = answer.get("moved") {
        let moved: Moved = serde_json::from_value(moved.clone()).context("unexpected reply of the hub")?;
        text += &moved_text(&moved);
    }
    writeln!(
        text,
        "The hub is shutting down; {} running matches continue for at most {seconds} s.",
        answer["running"]
    )?;
    Ok(text)
}

fn moved_text(Moved { pauses_ms, stays }: &Moved) -> String {
    let mut text = match (pauses_ms.get(pauses_ms.len() / 2), pauses_ms.last()) {
        (Some(median), Some(longest)) => format!(
            "{} rooms continue at other hubs, after a pause of {median} ms (median) and {longest} ms (longest).\n",
            pauses_ms.len()
        ),
        _ => "No room has moved.\n".to_owned(),
    };
    for (why, rooms) in stays {
        let _ = writeln!(text, "{rooms} rooms stay: {}.", why.words());
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn moved_and_remaining_rooms_are_reported() {
        assert_eq!(
            text(&json!({ "running": 2 }), 60).unwrap(),
            "The hub is shutting down; 2 running matches continue for at most 60 s.\n"
        );
        let moved = json!({ "pauses_ms": [30, 41, 250], "stays": { "no-rules": 2, "ladder": 1 } });
        let told = text(&json!({ "running": 0, "moved": moved }), 5).unwrap();
        assert_eq!(
            told.lines().collect::<Vec<_>>(),
            [
                "3 rooms continue at other hubs, after a pause of 41 ms (median) and 250 ms (longest).",
                "2 rooms stay: no other hub supports their version of the rules.",
                "1 rooms stay: matches of the ladder do not move.",
                "The hub is shutting down; 0 running matches continue for at most 5 s.",
            ]
        );
        let moved = json!({ "pauses_ms": [], "stays": {} });
        assert!(text(&json!({ "running": 0, "moved": moved }), 5).unwrap().starts_with("No room has moved.\n"));
    }
}
