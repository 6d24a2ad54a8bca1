use std::{
    fs,
    path::Path,
    time::{Duration, Instant, SystemTime},
};

/// Before this program was written, in seconds since the Unix epoch.
const PAST: u64 = 1_760_000_000;
const DIFFERENCE: Duration = Duration::from_secs(5);
/// Readings of the monotonic clock.
const READINGS: usize = 1_000;

/// Both clocks at the start.
pub(super) struct Clocks {
    steady: Instant,
    wall: SystemTime,
}

impl Clocks {
    pub(super) fn start() -> Self {
        Self { steady: Instant::now(), wall: SystemTime::now() }
    }

    /// `ahead` is the lead of the database server's clock in milliseconds.
    pub(super) fn examine(&self, data: &Path, ahead: Option<i64>) -> Result<String, String> {
        let now = SystemTime::now();
        let since = now.duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
        if since < PAST {
            return Err(
                "the clock is years behind, so journals and results would have wrong dates; set it (NTP)".into()
            );
        }
        let newest = fs::read_dir(data.join("journals")).ok().into_iter().flatten().flatten();
        let newest = newest.filter_map(|entry| entry.metadata().ok()?.modified().ok()).max();
        if newest.is_some_and(|newest| newest > now + Duration::from_mins(1)) {
            return Err("the clock is behind the newest journal; set it (NTP)".into());
        }
        if !self.is_steady(now) {
            return Err("the clock was changed during the check; repeat the check".into());
        }
        let Some(ahead) = ahead else { return Ok("the clock is not behind".into()) };
        let off = Duration::from_millis(ahead.unsigned_abs());
        let relation = if ahead < 0 { "behind" } else { "ahead of" };
        let text = format!("the clock of the database is {} ms {relation} this one", off.as_millis());
        if off > DIFFERENCE {
            return Err(format!("{text}, so names and ratings would get wrong dates; set both (NTP)"));
        }
        Ok(format!("the clock is not behind, and {text}"))
    }

    // Both clocks have advanced equally, and the monotonic one does not go back.
    fn is_steady(&self, now: SystemTime) -> bool {
        let steady = self.steady.elapsed();
        let readings: Vec<Instant> = (0..READINGS).map(|_| Instant::now()).collect();
        let wall = now.duration_since(self.wall);
        readings.is_sorted() && wall.is_ok_and(|wall| wall.abs_diff(steady) < DIFFERENCE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_clocks_are_reported() {
        let nowhere = Path::new("/nowhere");
        let say = |clocks: &Clocks, ahead| clocks.examine(nowhere, ahead);
        let clocks = Clocks::start();
        assert_eq!(say(&clocks, None), Ok("the clock is not behind".into()));
        assert!(
            say(&clocks, Some(-4_000)).is_ok_and(|text| text.ends_with("of the database is 4000 ms behind this one"))
        );
        assert!(say(&clocks, Some(6_000)).is_err_and(|text| text.contains("6000 ms ahead of this one, so names")));
        let set = Clocks { wall: clocks.wall - Duration::from_mins(1), ..clocks };
        assert!(say(&set, None).is_err_and(|text| text.contains("was changed during")));
    }
}
