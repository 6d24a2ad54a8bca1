use super::{backlog::Backlog, *};
use crate::games::Game;

fn frame(text: impl Into<Bytes>) -> Item {
    Item::Frame(text.into())
}

#[test]
fn what_is_told_comes_back_and_what_is_damaged_is_none() {
    let items = vec![
        frame("GRID 1 1"),
        Item::News("{\"room\":{}}".into()),
        Item::Word("{}".into()),
        frame(""),
        Item::End(Ending::Closed),
    ];
    let told = Told { kind: Kind::Change, run: 7, number: 1 << 40, items };
    let [body] = &told.write()[..] else { panic!("one event") };
    assert_eq!(Told::read(body.clone()), Some(told));
    for length in 0..body.len() {
        // It may end between two messages.
        if let Some(read) = Told::read(body.slice(..length)) {
            assert!(read.items.len() < 5, "{length}");
        }
    }
    let mut other = body.to_vec();
    other[0] = 2;
    assert_eq!(Told::read(other.into()), None);
    let mut long = body.to_vec();
    long[HEAD + 1] = 0xff;
    assert_eq!(Told::read(long.into()), None, "a length beyond the end");
}

#[test]
fn what_does_not_fit_into_one_event_is_told_in_several() {
    let items: Vec<Item> =
        (0..5).map(|_| frame(vec![b'x'; MAX_ITEM / 2 - HEAD])).chain([frame(vec![b'y'; MAX_ITEM])]).collect();
    for (kind, complete) in [
        (Kind::Change, [Kind::Change; 4]),
        (Kind::Snapshot { complete: true }, [false, false, false, true].map(|complete| Kind::Snapshot { complete })),
    ] {
        let told = Told { kind, run: 1, number: 10, items: items.clone() };
        let bodies = told.write();
        assert!(bodies.iter().all(|body| body.len() <= MAX_EVENT));
        let read: Vec<Told> = bodies.into_iter().map(|body| Told::read(body).unwrap()).collect();
        assert_eq!(read.iter().map(|told| told.kind).collect::<Vec<_>>(), complete[..read.len()], "{}", read.len());
        assert_eq!(read.iter().flat_map(|told| told.items.clone()).collect::<Vec<_>>(), items);
        let mut number = 10;
        for told in read {
            assert_eq!(told.number, number);
            number += if kind == Kind::Change { told.items.len() as u64 } else { 0 };
        }
    }
    let none = Told { kind: Kind::Snapshot { complete: true }, run: 1, number: 0, items: vec![] };
    assert_eq!(none.write().len(), 1, "nothing is told too");
}

#[test]
fn a_backlog_has_what_somebody_has_to_be_told_who_comes_now() {
    let mut backlog = Backlog::new(Game::Nuggets);
    backlog.take(&Item::News("1".into()));
    for told in ["GRID 2 2", "GOLD 0 0 250", "DISPLAY\nab", "GOLD 0 0 240", "DISPLAY\ncd"] {
        backlog.take(&frame(told));
        backlog.take(&Item::Word("said".into()));
    }
    backlog.take(&Item::News("2".into()));
    let expected =
        [Item::News("2".into()), frame("GRID 2 2"), frame("GOLD 0 0 250"), frame("GOLD 0 0 240"), frame("DISPLAY\ncd")];
    assert_eq!(backlog.all()[..], expected);
    for _ in 0..10_000 {
        backlog.take(&frame("DISPLAY\nef"));
    }
    assert!(!backlog.is_full() && backlog.all().len() == 5);
    let mut backlog = Backlog::new(Game::Robots);
    let mut taken = 0;
    while !backlog.is_full() {
        backlog.take(&frame(vec![3; 200]));
        taken += 1;
    }
    assert!(taken > 5_000 && backlog.all().len() == taken);
    backlog.clear();
    assert!(!backlog.is_full() && backlog.all().is_empty());
}
