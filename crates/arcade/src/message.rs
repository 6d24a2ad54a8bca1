use std::{error::Error, fmt};

use serde_json::{Map, Value};

/// An English text, and the code and values from which a page makes a text in its own language.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    code: &'static str,
    text: String,
    values: Vec<(&'static str, Value)>,
}

impl Message {
    pub(crate) fn new(code: &'static str, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), values: vec![] }
    }

    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Value>) -> Self {
        self.values.push((name, value.into()));
        self
    }

    /// `error` with the text, `code`, and the values.
    pub(crate) fn to_json(&self) -> Value {
        let mut object =
            Map::from_iter([("error".into(), self.text.clone().into()), ("code".into(), self.code.into())]);
        object.extend(self.values.iter().map(|(name, value)| ((*name).to_owned(), value.clone())));
        object.into()
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Error for Message {}

/// `message!("full", "all {count} seats are taken", count = 4)`: a code, a text with values in braces, and the values.
macro_rules! message {
    ($code:literal, $text:literal $(, $name:ident = $value:expr)* $(,)?) => {{
        $(
            #[allow(clippy::redundant_locals, reason = "a value may be a variable of the same name")]
            let $name = $value;
        )*
        $crate::message::Message::new($code, format!($text))$(.with(stringify!($name), $name))*
    }};
}
pub(crate) use message;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn json_has_the_text_the_code_and_the_values() {
        let message = message!("name_taken", "'{other}' is taken {count} times", other = "Ann", count = 2);
        let expected = json!({ "error": "'Ann' is taken 2 times", "code": "name_taken", "other": "Ann", "count": 2 });
        assert_eq!((message.to_json(), message.to_string()), (expected, "'Ann' is taken 2 times".to_owned()));
        assert_eq!(Message::new("busy", "wait").to_json(), json!({ "error": "wait", "code": "busy" }));
    }
}
