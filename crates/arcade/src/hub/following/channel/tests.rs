use tokio::time::timeout;

use super::*;

fn frame(text: &str) -> Item {
    Item::Frame(Bytes::copy_from_slice(text.as_bytes()))
}

fn bodies(kind: Kind, run: u64, number: u64, items: Vec<Item>) -> Vec<Bytes> {
    Event { kind, run, number, items }.write()
}

/// Publishes a snapshot, or a change.
fn publish(channel: &Channel, kind: Kind, (run, number): (u64, u64), items: Vec<Item>) -> bool {
    let bodies = bodies(kind, run, number, items).into_iter().enumerate();
    bodies.fold(true, |goes_on, (at, body)| goes_on && channel.take(kind != Kind::Change && at == 0, body))
}

const SNAPSHOT: Kind = Kind::Snapshot { complete: true };

/// A channel whose room lets everybody look on.
fn open(game: Game) -> Arc<Channel> {
    let (channel, mut asks) = Channel::new(game);
    tokio::spawn(async move {
        while let Some(ask) = asks.recv().await {
            if let Ask::Come { answer, .. } = ask {
                let _ = answer.send(Ok(()));
            }
        }
    });
    channel
}

async fn come(channel: &Arc<Channel>) -> Guest {
    channel.come("127.0.0.1:9".parse().unwrap()).await.unwrap()
}

/// What a guest can take now.
async fn taken(guest: &Guest) -> Vec<Said> {
    let mut said = vec![];
    while let Ok(next) = timeout(std::time::Duration::from_millis(1), guest.next()).await {
        let is_end = matches!(next, Said::End(_));
        said.push(next);
        if is_end {
            break;
        }
    }
    said
}

fn items(items: &[Item]) -> Vec<Said> {
    items.iter().cloned().map(Said::Item).collect()
}

#[tokio::test(start_paused = true)]
async fn whoever_comes_is_told_all_from_the_beginning_once_and_then_what_follows() {
    let channel = open(Game::Robots);
    let early = come(&channel).await;
    assert_eq!(taken(&early).await, [], "nothing is known yet");
    assert!(publish(&channel, SNAPSHOT, (1, 0), vec![Item::News("1".into())]));
    assert!(channel.is_ready().await);
    assert!(publish(&channel, Kind::Change, (1, 0), vec![frame("a"), frame("b")]));
    assert_eq!(taken(&early).await, items(&[Item::News("1".into()), frame("a"), frame("b")]));
    let late = come(&channel).await;
    assert!(publish(&channel, Kind::Change, (1, 2), vec![frame("c"), Item::Word("w".into())]));
    assert_eq!(taken(&early).await, items(&[frame("c"), Item::Word("w".into())]));
    // What was said before it looked is not told.
    assert_eq!(taken(&late).await, items(&[Item::News("1".into()), frame("a"), frame("b"), frame("c")]));
    // A snapshot of what everybody knows tells nothing.
    assert!(publish(&channel, SNAPSHOT, (1, 4), vec![Item::News("1".into()), frame("abc")]));
    assert!(publish(&channel, Kind::Change, (1, 4), vec![frame("d")]));
    assert_eq!(taken(&early).await, items(&[frame("d")]));
    assert_eq!(taken(&late).await, items(&[frame("d")]));
    // Neither does it hide that something is missing.
    assert!(publish(&channel, SNAPSHOT, (1, 9), vec![frame("x")]));
    assert_eq!(taken(&late).await, items(&[frame("x")]));
    assert!(publish(&channel, SNAPSHOT, (2, 0), vec![frame("y")]));
    assert_eq!(taken(&late).await, items(&[frame("y")]));
    assert!(!publish(&channel, Kind::Change, (2, 0), vec![frame("z"), Item::End(Ending::Closed), frame("?")]));
    let end = Said::End(Some(Ending::Closed));
    assert_eq!(taken(&late).await, [items(&[frame("z")]), vec![end]].concat());
    assert!(channel.is_over() && channel.come("127.0.0.1:9".parse().unwrap()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn what_does_not_follow_is_refused() {
    let channel = open(Game::Robots);
    assert!(!publish(&channel, Kind::Change, (1, 0), vec![frame("a")]), "before a snapshot");
    assert!(publish(&channel, SNAPSHOT, (1, 5), vec![]));
    for (run, number) in [(1, 4), (1, 6), (2, 5)] {
        assert!(!publish(&channel, Kind::Change, (run, number), vec![frame("a")]));
    }
    assert!(!channel.take(false, Bytes::from_static(b"junk")));
    let long = vec![frame(&"x".repeat(400 << 10)); 3];
    let pieces = bodies(SNAPSHOT, 3, 3, long);
    assert_eq!(pieces.len(), 3);
    assert!(channel.take(true, pieces[0].clone()) && channel.take(false, pieces[1].clone()));
    assert!(!channel.take(false, bodies(SNAPSHOT, 4, 4, vec![]).remove(0)), "a piece of another one");
}

#[tokio::test(start_paused = true)]
async fn a_slow_watcher_is_told_everything_anew_and_others_do_not_wait_for_it() {
    let channel = open(Game::Nuggets);
    let (slow, quick) = (come(&channel).await, come(&channel).await);
    assert!(publish(&channel, SNAPSHOT, (1, 0), vec![frame("GRID 1 1")]));
    assert_eq!((taken(&slow).await.len(), taken(&quick).await.len()), (1, 1));
    let picture = |number: u64| frame(&format!("DISPLAY\n{number} {}", "x".repeat(60_000)));
    for number in 0..100 {
        assert!(publish(&channel, Kind::Change, (1, number), vec![picture(number)]));
        assert_eq!(taken(&quick).await, items(&[picture(number)]));
    }
    let told = taken(&slow).await;
    // What fitted, and then all that there is to see.
    assert!((10..25).contains(&told.len()), "{}", told.len());
    assert_eq!(told[..2], items(&[picture(0), picture(1)]));
    assert_eq!(told[told.len() - 2..], items(&[frame("GRID 1 1"), picture(99)]));
    assert!(publish(&channel, Kind::Change, (1, 100), vec![picture(100)]));
    assert_eq!(taken(&slow).await, items(&[picture(100)]));
}

#[tokio::test(start_paused = true)]
async fn the_node_of_the_room_decides_who_looks_on() {
    let (channel, mut asks) = Channel::new(Game::Nuggets);
    assert!(publish(&channel, SNAPSHOT, (1, 0), vec![frame("a")]));
    let address = "192.0.2.1:7".parse().unwrap();
    let coming = tokio::spawn({
        let channel = Arc::clone(&channel);
        async move { channel.come(address).await }
    });
    let Some(Ask::Come { number, address: from, answer }) = asks.recv().await else { panic!() };
    assert_eq!(from, address);
    answer.send(Err(Ending::Banned)).unwrap();
    assert_eq!(coming.await.unwrap().unwrap_err(), Some(Ending::Banned));
    assert!(matches!(asks.recv().await, Some(Ask::Gone(gone)) if gone == number));
    assert!(channel.is_empty());
    let coming = tokio::spawn({
        let channel = Arc::clone(&channel);
        async move { channel.come(address).await }
    });
    let Some(Ask::Come { number, answer, .. }) = asks.recv().await else { panic!() };
    answer.send(Ok(())).unwrap();
    let guest = coming.await.unwrap().unwrap();
    assert_eq!(taken(&guest).await, items(&[frame("a")]));
    channel.remove(number, Ending::RemovedByOwner);
    assert_eq!(taken(&guest).await, [Said::End(Some(Ending::RemovedByOwner))]);
    drop(guest);
    assert!(matches!(asks.recv().await, Some(Ask::Gone(gone)) if gone == number));
    assert!(channel.is_empty() && !channel.is_over());
}
