use serde_json::json;

use super::*;

fn picture(parts: &Value) -> Picture {
    parts.as_object().unwrap().clone().into_iter().collect()
}

#[test]
fn a_picture_is_told_by_what_has_changed() {
    let (empty, one, two) = (
        Picture::new(),
        picture(&json!({ "size": [2, 3], "0": "+-+", "1": "|.|" })),
        picture(&json!({ "size": [2, 3], "1": "|A|" })),
    );
    let first = Shot::default().next(&empty, &one).unwrap();
    assert_eq!((first.number, first.whole.as_str()), (1, r#"{"whole":{"0":"+-+","1":"|.|","size":[2,3]}}"#));
    assert!(first.next(&one, &one).is_none());
    let second = first.next(&one, &two).unwrap();
    assert_eq!((second.number, second.change.as_str()), (2, r#"{"change":{"0":null,"1":"|A|"}}"#));
    assert_eq!(second.whole, r#"{"whole":{"1":"|A|","size":[2,3]}}"#);
    // Also a room of which nothing is to be seen yet has a picture.
    assert_eq!(Shot::default().next(&empty, &empty).unwrap().whole, r#"{"whole":{}}"#);
}
