//! Tests of statements that fail, or whose caller is cancelled.

use std::time::Duration;

use super::{a_match, check, on_each};
use crate::{MatchFilter, RoomTime, Trouble, probe::Fault};

#[tokio::test]
async fn a_result_is_stored_once_whichever_statement_breaks() {
    on_each(async |store, server| {
        let mut faults = vec![Fault::Full, Fault::Unheard];
        faults.extend(server.map(|server| Fault::Killed(server.to_owned())));
        let mut number = 0;
        for fault in faults {
            for step in 0.. {
                number += 1;
                store.writer.probe.plan(step, fault.clone());
                let first = store.record(&a_match(number)).await;
                if store.writer.probe.cancel() {
                    assert!(first.unwrap() && step > 10, "{step}");
                    break;
                }
                let expected = if fault == Fault::Full { Trouble::NoSpace } else { Trouble::Away };
                assert_eq!(first.unwrap_err().trouble(), expected, "{fault:?} at {step}");
                let again = store.record(&a_match(number)).await.unwrap();
                // If only the reply to COMMIT is lost, the match is stored.
                assert!(again || fault == Fault::Unheard, "{fault:?} at {step}");
                check(&store, number).await;
            }
        }
    })
    .await;
}

#[tokio::test]
async fn notes_and_questions_work_again_after_each_broken_statement() {
    on_each(async |store, server| {
        store.record(&a_match(1)).await.unwrap();
        let mut faults = vec![Fault::Full, Fault::Unheard];
        faults.extend(server.map(|server| Fault::Killed(server.to_owned())));
        for fault in faults {
            for pool in [&store.writer, &store.readers, &store.keys] {
                for step in 0.. {
                    pool.probe.plan(step, fault.clone());
                    let _ = store.note_examined("a.journal", 7, RoomTime::default()).await;
                    let _ = store.claim("Ann", &[1; 32], 7).await;
                    let _ = store.matches(&MatchFilter { limit: 1, ..MatchFilter::default() }).await;
                    let is_over = pool.probe.cancel();
                    store.note_examined("a.journal", 7, RoomTime::default()).await.unwrap();
                    assert_eq!(store.journal("a.journal").await.unwrap().examined, 7);
                    store.claim("Ann", &[1; 32], 7).await.unwrap();
                    assert_eq!(store.names_of(&[1; 32]).await.unwrap(), ["Ann"]);
                    if is_over {
                        break;
                    }
                }
            }
        }
    })
    .await;
}

#[tokio::test]
async fn a_caller_that_does_not_wait_leaves_no_broken_connection() {
    on_each(async |store, _| {
        for number in 1..=20 {
            // Cancelled at another point each time.
            let limit = Duration::from_micros(u64::from(number) * 150);
            let first = tokio::time::timeout(limit, store.record(&a_match(number))).await;
            let again = store.record(&a_match(number)).await.unwrap();
            if let Ok(first) = first {
                assert_ne!(first.unwrap(), again);
            }
        }
        check(&store, 20).await;
    })
    .await;
}
