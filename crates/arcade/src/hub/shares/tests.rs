//! Who gets what, and whose turn it is.

use std::future::Future;

use futures_util::FutureExt as _;

use std::iter;

use super::*;

fn host(number: u8) -> HostId {
    HostId::V4([10, 0, 0, number])
}

/// Takes as many as there are for a host.
fn take_all(shares: &Arc<Shares>, host: HostId) -> Vec<Share> {
    iter::from_fn(|| shares.take(host, 1).ok()).collect()
}

#[test]
fn greedy_hosts_leave_something_for_another_one() {
    let shares = Shares::new(Kind::Sockets, 224);
    let taken: Vec<Vec<Share>> = (1..=7).map(|number| take_all(&shares, host(number))).collect();
    assert_eq!(taken.iter().map(Vec::len).collect::<Vec<_>>(), [112, 56, 28, 14, 7, 4, 2]);
    assert_eq!(shares.take(host(1), 1).unwrap_err(), Refusal { kind: Kind::Sockets, full: Full::Share(112) });
    let last = shares.take(host(8), 1).unwrap();
    assert_eq!(shares.take(host(9), 1).unwrap_err().full, Full::All(224));
    drop((taken, last));
    assert_eq!(shares.taken(), 0);
    assert_eq!(take_all(&shares, host(9)).len(), 112);
}

#[test]
fn an_amount_counts_as_that_many() {
    let shares = Shares::new(Kind::Answers, 64);
    let first = shares.take(host(1), 30).unwrap();
    assert_eq!(shares.take(host(1), 3).unwrap_err().full, Full::Share(30));
    assert_eq!(shares.take(host(2), 33).unwrap_err().full, Full::Share(0), "at once it is at most half, too");
    assert_eq!(shares.take(host(2), 35).unwrap_err().full, Full::All(64));
    let second = shares.take(host(1), 2).unwrap();
    drop(first);
    assert_eq!(shares.taken(), 2);
    drop(second);
}

#[test]
fn an_operator_sets_what_a_host_has_at_most_and_a_proxy_has_no_share() {
    let shares = Shares::with_cap(Kind::Sockets, 10, 2);
    let held = take_all(&shares, host(1));
    assert_eq!(held.len(), 2);
    let proxied: Vec<Share> = iter::from_fn(|| shares.take_unshared().ok()).collect();
    assert_eq!((proxied.len(), shares.taken()), (8, 10));
    drop(proxied);
    assert_eq!(shares.taken(), 2);
}

/// Begins to wait.
fn queue<'a>(
    shares: &'a Arc<Shares>,
    host: HostId,
) -> std::pin::Pin<Box<dyn Future<Output = Result<Share, Refusal>> + 'a>> {
    let mut waiting = Box::pin(shares.wait(host));
    assert!(waiting.as_mut().now_or_never().is_none(), "it waits");
    waiting
}

#[tokio::test(start_paused = true)]
async fn those_who_wait_are_served_host_by_host_in_turn() {
    let shares = Shares::new(Kind::Replays, 2);
    let held = shares.wait(host(1)).await.unwrap();
    // A host alone has half, though the rest is free.
    let mut greedy: Vec<_> = (0..50).map(|_| queue(&shares, host(1))).collect();
    let innocent = shares.wait(host(2)).now_or_never().expect("it is free for others").unwrap();
    let mut second = queue(&shares, host(2));
    let mut third = queue(&shares, host(3));
    drop(innocent);
    // The first host has its share, so it is passed over.
    let of_second = second.as_mut().now_or_never().expect("it is the turn of the second host").unwrap();
    assert!(third.as_mut().now_or_never().is_none());
    drop(held);
    let of_third = third.as_mut().now_or_never().expect("it is the turn of the third host").unwrap();
    drop(of_second);
    assert!(greedy[0].as_mut().now_or_never().is_some(), "it is the turn of the first host");
    assert!(greedy[1].as_mut().now_or_never().is_some(), "what the one before got is back, and nobody else waits");
    assert!(greedy[2].as_mut().now_or_never().is_some());
    // The next one has got it, and leaves without it.
    drop((of_third, greedy, second, third));
    assert_eq!(shares.taken(), 0);
    let state = shares.state();
    assert!(state.queues.is_empty() && state.turns.is_empty() && state.waiting.taken() == 0);
}

#[tokio::test(start_paused = true)]
async fn each_turn_is_of_another_host_and_of_one_host_the_first_comes_first() {
    let shares = Shares::new(Kind::Slices, 1);
    let held = shares.wait(host(9)).await.unwrap();
    let (sender, mut order) = tokio::sync::mpsc::unbounded_channel();
    for (from, count) in [(1, 3), (2, 1), (3, 2)] {
        for number in 0..count {
            let (shares, sender) = (Arc::clone(&shares), sender.clone());
            tokio::spawn(async move {
                let share = shares.wait(host(from)).await.unwrap();
                sender.send((from, number)).unwrap();
                drop(share);
            });
            // In this order.
            tokio::task::yield_now().await;
        }
    }
    drop((held, sender));
    let mut served = vec![];
    while let Some(next) = order.recv().await {
        served.push(next);
    }
    assert_eq!(served, [(1, 0), (2, 0), (3, 0), (1, 1), (3, 1), (1, 2)]);
}

#[tokio::test(start_paused = true)]
async fn few_wait_and_not_for_ever() {
    let shares = Shares::new(Kind::Queries, 1);
    let held = shares.wait(host(9)).await.unwrap();
    let greedy: Vec<_> = (0..MAX_WAITING / 2).map(|_| queue(&shares, host(1))).collect();
    let refused = shares.wait(host(1)).now_or_never().expect("a host has its share of those who wait").unwrap_err();
    assert_eq!(refused, Refusal { kind: Kind::Queries, full: Full::Share(128) });
    let patient = queue(&shares, host(2));
    assert_eq!(patient.await.unwrap_err().full, Full::All(1), "after a while");
    drop(greedy);
    {
        let state = shares.state();
        assert!(state.queues.is_empty() && state.turns.is_empty(), "whoever does not wait any more takes no place");
    }
    // One that has left while it was served gives back what it got.
    let gone = queue(&shares, host(3));
    drop((held, gone));
    assert_eq!(shares.taken(), 0);
}
