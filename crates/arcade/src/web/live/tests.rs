use std::{cell::RefCell, convert::Infallible, future::pending, time::Duration};

use futures_util::{sink, stream};
use serde_json::{Value, json};
use tokio::time::timeout;

use super::*;

type Heard = RefCell<Vec<Value>>;

fn page(heard: &Heard) -> impl Sink<Message> + Unpin {
    Box::pin(sink::unfold((), move |(), message: Message| async move {
        if let Message::Text(text) = message {
            heard.borrow_mut().push(serde_json::from_str(&text).unwrap());
        }
        Ok::<_, Infallible>(())
    }))
}

// A page that says these things, and then only answers pings.
fn says(texts: &[Value]) -> impl Stream<Item = Result<Message, Infallible>> + Unpin + use<> {
    let texts: Vec<_> = texts.iter().map(|text| Ok(Message::text(text.to_string()))).collect();
    let pongs = stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        Some((Ok(Message::Pong(Bytes::new())), ()))
    });
    Box::pin(stream::iter(texts).chain(pongs))
}

const fn none(_: &str) -> Option<watch::Receiver<Arc<Shot>>> {
    None
}

#[tokio::test(start_paused = true)]
async fn a_page_that_takes_nothing_is_dropped() {
    let lists = Arc::<Lists>::default();
    let deaf = Box::pin(sink::unfold((), |(), _: Message| pending::<Result<(), Infallible>>()));
    let serve = Page::new((HostId::Other, &lists), none).serve(deaf, says(&[]), || true);
    timeout(Duration::from_hours(1), serve).await.expect("the page keeps its socket");
}

#[tokio::test(start_paused = true)]
async fn a_page_is_told_what_it_looks_at_and_that_it_is_connected() {
    let lists = Arc::<Lists>::default();
    let heard = Heard::default();
    let serve = Page::new((HostId::Other, &lists), none).serve(page(&heard), says(&[json!({ "look": {} })]), || true);
    timeout(Duration::from_secs(25), serve).await.expect_err("the page is there");
    let heard = heard.into_inner();
    assert_eq!((&heard[0]["ids"], &heard[0]["total"]), (&json!([]), &json!(0)));
    assert!((12..=25).contains(&heard[1..].len()) && heard[1..].iter().all(is_beat), "{heard:?}");
}

#[tokio::test(start_paused = true)]
async fn page_that_vanishes_without_a_word_loses_its_socket() {
    let lists = Arc::<Lists>::default();
    let heard = Heard::default();
    let silent = stream::pending::<Result<Message, Infallible>>();
    let serve = Page::new((HostId::Other, &lists), none).serve(page(&heard), silent, || true);
    timeout(Duration::from_secs(31), serve).await.expect("the page keeps its socket");
}

fn is_beat(message: &Value) -> bool {
    *message == json!({})
}

#[tokio::test(start_paused = true)]
async fn what_a_page_says_wrongly_is_answered_with_what_would_be_right() {
    let lists = Arc::<Lists>::default();
    let heard = Heard::default();
    let rooms: Vec<String> = (0..13).map(|number| format!("nuggets-{number}")).collect();
    let said = [json!({ "lok": {} }), json!({ "look": { "game": "chess" } }), json!({ "pictures": rooms })];
    let serve = Page::new((HostId::Other, &lists), none).serve(page(&heard), says(&said), || true);
    timeout(Duration::from_secs(5), serve).await.expect_err("the page is there");
    let heard = heard.into_inner();
    let errors: Vec<&str> =
        heard.iter().filter(|answer| !is_beat(answer)).map(|answer| answer["error"].as_str().unwrap()).collect();
    assert!(errors[0].starts_with("unknown field `lok`, expected `look` or `pictures`"), "{errors:?}");
    assert!(errors[1].contains("expected one of `nuggets`"), "{errors:?}");
    assert_eq!(errors[2], "13 pictures are too many; a page is sent those of 12 rooms");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_is_not_welcome_any_more_is_left() {
    let lists = Arc::<Lists>::default();
    let heard = Heard::default();
    let rounds = std::cell::Cell::new(0);
    let serve = Page::new((HostId::Other, &lists), none)
        .serve(page(&heard), says(&[]), || rounds.replace(rounds.get() + 1) < 2);
    timeout(Duration::from_hours(1), serve).await.expect("the page keeps its socket");
    assert_eq!(heard.into_inner(), [json!({}), json!({})]);
}

#[tokio::test(start_paused = true)]
async fn what_a_page_says_is_read_no_faster_than_people_click() {
    let lists = Arc::<Lists>::default();
    let heard = Heard::default();
    let start = Instant::now();
    // A page that asks and asks, also by frames that say nothing.
    let asks = Box::pin(stream::iter((0..).map(|number| {
        let message = if number % 2 == 0 { Message::text(r#"{"no":1}"#) } else { Message::Ping(Bytes::new()) };
        Ok::<_, Infallible>(message)
    })));
    let serve =
        Page::new((HostId::Other, &lists), none).serve(page(&heard), asks, || start.elapsed() < Duration::from_mins(1));
    timeout(Duration::from_hours(1), serve).await.expect("the page keeps its socket");
    let answers = heard.into_inner().iter().filter(|answer| !answer["error"].is_null()).count();
    assert!((60..=80).contains(&answers), "{answers} answers in a minute");
}

fn shot(number: u64, whole: &str, change: &str) -> Arc<Shot> {
    Arc::new(Shot { number, whole: whole.to_owned(), change: change.to_owned() })
}

#[tokio::test(start_paused = true)]
async fn pictures_are_sent_once_then_what_changes_and_at_most_four_times_a_second() {
    let lists = Arc::<Lists>::default();
    let heard = Heard::default();
    let (sender, shots) = watch::channel(shot(7, r#"{"whole":{"a":1}}"#, r#"{"change":{"a":1}}"#));
    let pictures = |id: &str| (id == "nuggets-1").then(|| shots.clone());
    let said = [json!({ "pictures": ["nuggets-1", "nuggets-2"] })];
    let serve = Page::new((HostId::Other, &lists), pictures).serve(page(&heard), says(&said), || true);
    let play = async {
        for number in 8..=52 {
            tokio::time::sleep(Duration::from_millis(25)).await;
            let part = format!(r#"{{"change":{{"a":{number}}}}}"#);
            sender.send_replace(shot(number, &part.replace("change", "whole"), &part));
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        sender.send_replace(shot(53, "whole", r#"{"change":{"a":53}}"#));
        tokio::time::sleep(Duration::from_secs(1)).await;
        drop(sender);
        tokio::time::sleep(Duration::from_secs(1)).await;
    };
    tokio::select! {
        () = serve => panic!("the page is there"),
        () = play => {}
    }
    let heard: Vec<Value> = heard.into_inner().into_iter().filter(|told| !is_beat(told)).collect();
    assert_eq!(heard[0], json!({ "pictures": { "nuggets-1": { "whole": { "a": 1 } } } }));
    let rest = &heard[heard.len() - 3..];
    // One that was missed is told whole; the next is a change; and then there is none any more.
    assert_eq!(rest[0]["pictures"]["nuggets-1"], json!({ "whole": { "a": 52 } }));
    assert_eq!(rest[1]["pictures"]["nuggets-1"], json!({ "change": { "a": 53 } }));
    assert_eq!(rest[2]["pictures"], json!({ "nuggets-1": null }));
    assert!(heard.len() <= 9, "{heard:?}");
}

#[tokio::test(start_paused = true)]
async fn a_page_is_sent_so_many_bytes_of_pictures_and_every_room_has_its_turn() {
    let lists = Arc::<Lists>::default();
    let large = "x".repeat(4_000);
    let rooms: Vec<String> = (0..12).map(|number| format!("nuggets-{number:02}")).collect();
    let channels: Vec<_> = rooms.iter().map(|_| watch::channel(shot(1, r#"{"whole":{}}"#, ""))).collect();
    let bytes = RefCell::new(BTreeMap::<String, usize>::new());
    let sink = Box::pin(sink::unfold((), |(), message: Message| {
        let text = message.into_text().unwrap();
        let message: Value = if text.is_empty() { Value::Null } else { serde_json::from_str(&text).unwrap() };
        for (id, picture) in message["pictures"].as_object().into_iter().flatten() {
            *bytes.borrow_mut().entry(id.clone()).or_default() += picture.to_string().len();
        }
        async { Ok::<_, Infallible>(()) }
    }));
    let pictures = |id: &str| Some(channels[rooms.iter().position(|room| room == id)?].1.clone());
    let serve =
        Page::new((HostId::Other, &lists), pictures).serve(sink, says(&[json!({ "pictures": rooms })]), || true);
    let play = async {
        for number in 2..=240 {
            for (sender, _) in &channels {
                let part = format!(r#"{{"whole":{{"a":"{large}{number}"}}}}"#);
                sender.send_replace(shot(number, &part, &part));
            }
            tokio::time::sleep(PAUSE).await;
        }
    };
    tokio::select! {
        () = serve => panic!("the page is there"),
        () = play => {}
    }
    let bytes = bytes.into_inner();
    let (all, least) = (bytes.values().sum::<usize>(), bytes.values().min().copied().unwrap_or_default());
    // A minute at 8 kB a second, after what may be sent at once.
    assert!(all < 60 * 8_000 + 48_000, "{all} bytes");
    assert!(bytes.len() == 12 && least * 12 * 2 > all, "{bytes:?}");
}
