//! Checks responses against `openapi.json`.

use std::collections::BTreeSet;

use serde_json::Value;

pub(crate) struct Description(pub(crate) Value);

impl Description {
    pub(crate) fn of_this_hub() -> Self {
        Self(serde_json::from_str(include_str!("../../openapi.json")).unwrap())
    }

    pub(crate) fn routes(&self) -> BTreeSet<(String, String)> {
        let mut routes = BTreeSet::new();
        for (path, methods) in self.0["paths"].as_object().unwrap() {
            routes.extend(methods.as_object().unwrap().keys().map(|method| (path.clone(), method.clone())));
        }
        routes
    }

    pub(crate) fn check(&self, method: &str, path: &str, status: u16, answer: &Value) {
        let paths = self.0["paths"].as_object().unwrap();
        let (_, methods) = paths
            .iter()
            .filter(|(pattern, _)| fits(pattern, path))
            // Literal paths take precedence over placeholders.
            .min_by_key(|(pattern, _)| pattern.matches('{').count())
            .unwrap_or_else(|| panic!("{path} is not described"));
        let responses = &methods[method.to_ascii_lowercase()]["responses"];
        let response = &responses[status.to_string()];
        assert!(response.is_object(), "{method} {path}: {status} is not described; {answer}");
        match &response["content"]["application/json"]["schema"] {
            Value::Null => assert!(answer.is_null(), "{method} {path}: {answer}"),
            schema => self.compare(schema, answer, &format!("{method} {path} {status}")),
        }
    }

    fn compare(&self, schema: &Value, value: &Value, at: &str) {
        if let Some(reference) = schema["$ref"].as_str() {
            let schema = self.0.pointer(reference.strip_prefix('#').unwrap()).unwrap();
            return self.compare(schema, value, at);
        }
        let types: Vec<&str> = match &schema["type"] {
            Value::Array(types) => types.iter().map(|name| name.as_str().unwrap()).collect(),
            Value::String(name) => vec![name],
            _ => vec![],
        };
        let is = |name: &str| match name {
            "object" => value.is_object(),
            "array" => value.is_array(),
            "string" => value.is_string(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "boolean" => value.is_boolean(),
            "null" => value.is_null(),
            other => panic!("{at}: the type {other} is unknown"),
        };
        assert!(types.is_empty() || types.iter().any(|name| is(name)), "{at}: {value} is not {types:?}");
        if let Some(allowed) = schema["enum"].as_array() {
            assert!(allowed.contains(value), "{at}: {value} is not one of {allowed:?}");
        }
        if let Some(items) = value.as_array() {
            let least = schema["minItems"].as_u64().unwrap_or(0);
            assert!(items.len() as u64 >= least, "{at}: {value} is too short");
            items
                .iter()
                .filter(|_| schema["items"].is_object())
                .for_each(|item| self.compare(&schema["items"], item, at));
        }
        let Some(fields) = value.as_object() else { return };
        for name in schema["required"].as_array().into_iter().flatten() {
            assert!(fields.contains_key(name.as_str().unwrap()), "{at}: {name} is missing in {value}");
        }
        for (name, field) in fields {
            let at = format!("{at}, {name}");
            match (&schema["properties"][name], &schema["additionalProperties"]) {
                (known @ Value::Object(_), _) | (_, known @ Value::Object(_)) => self.compare(known, field, &at),
                _ => assert!(!schema["properties"].is_object(), "{at} is not described"),
            }
        }
    }
}

fn fits(pattern: &str, path: &str) -> bool {
    let (pattern, path): (Vec<&str>, Vec<&str>) = (pattern.split('/').collect(), path.split('/').collect());
    pattern.len() == path.len() && pattern.iter().zip(path).all(|(part, given)| part.starts_with('{') || *part == given)
}
