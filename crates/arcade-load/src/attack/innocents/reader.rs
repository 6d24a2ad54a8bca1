//! An innocent that reads pages.

use std::time::{Duration, Instant};

use tokio::time::{MissedTickBehavior, interval};

use super::{
    super::net::{Http, word},
    Seat,
};

/// Between two pages.
const PAUSE: Duration = Duration::from_millis(250);
/// What it reads in turn. The last one asks for a room where it could play.
const PAGES: [(&str, &str); 4] =
    [("GET", "/"), ("GET", "/api/rooms"), ("GET", "/api/leaders?game=nuggets"), ("POST", "/api/play/nuggets")];

/// Reads pages.
pub(super) async fn read(seat: Seat) {
    let mut http = Http::new(seat.from, seat.hub);
    let mut pauses = interval(PAUSE);
    pauses.set_missed_tick_behavior(MissedTickBehavior::Delay);
    for (method, path) in PAGES.into_iter().cycle() {
        pauses.tick().await;
        let start = Instant::now();
        match http.request(method, path, "", "").await {
            Ok(answer) if answer.status == 200 => seat.recorder.answered(start.elapsed()),
            Ok(answer) => seat.recorder.failed(format!("{path}: {}", answer.status)),
            Err(error) => seat.recorder.failed(format!("{path}: {}", word(&error))),
        }
    }
}
