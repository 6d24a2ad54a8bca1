use std::{
    path::Path,
    time::{Duration, UNIX_EPOCH},
};

use journal_core::SegmentState;
use netcore::Time;

pub(crate) use ::games::plain;

/// The end of the year 9999.
const LAST_DATE: u64 = 253_402_300_799;

/// `4:05`, or `1:04:05`.
pub(crate) fn clock(time: Time) -> String {
    let seconds = time.as_nanos() / 1_000_000_000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

/// With milliseconds.
pub(crate) fn exact_clock(time: Time) -> String {
    format!("{}.{:03}", clock(time), time.as_nanos() / 1_000_000 % 1_000)
}

/// `mm:ss` or `h:mm:ss`.
pub(crate) fn parse_clock(typed: &str) -> Option<Time> {
    let mut parts = typed.split(':').map(|part| {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        part.parse::<u64>().ok().filter(|_| digits)
    });
    let first = parts.next()??;
    let mut seconds = first;
    let mut count = 1;
    for part in parts {
        let part = part.filter(|&part| part < 60)?;
        seconds = seconds.checked_mul(60)?.checked_add(part)?;
        count += 1;
    }
    (2..=3).contains(&count).then(|| Time::ZERO.plus(Duration::from_secs(seconds)))
}

pub(crate) fn date(seconds: u64) -> String {
    if seconds > LAST_DATE {
        return "at an invalid date".into();
    }
    let moment = humantime::format_rfc3339_seconds(UNIX_EPOCH + Duration::from_secs(seconds)).to_string();
    moment.replace('T', " ").replace('Z', " UTC")
}

pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut shown = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

pub(crate) fn count(number: u64, one: &str) -> String {
    format!("{} {one}{}", grouped(number), if number == 1 { "" } else { "s" })
}

pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..10_000 => count(bytes, "byte"),
        10_000..10_000_000 => format!("{} kB", grouped(bytes / 1_000)),
        _ => format!("{} MB", grouped(bytes / 1_000_000)),
    }
}

/// Without its directory.
pub(crate) fn name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| plain(&name.to_string_lossy()))
}

pub(crate) const fn state(state: SegmentState, in_use: bool) -> &'static str {
    match (state, in_use) {
        (SegmentState::Open | SegmentState::Continued, true) => "open: a server is writing it",
        (SegmentState::Open | SegmentState::Continued, false) => "open: its server was killed; --resume continues it",
        (SegmentState::Closed, _) => "closed",
        (SegmentState::Cut, _) => "cut: the match continued, and the rest is not recorded",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_parsed_as_they_are_formatted() {
        for (millis, shown) in [(0, "0:00"), (842_999, "14:02"), (3_600_000, "1:00:00"), (90_061_000, "25:01:01")] {
            assert_eq!(clock(Time::from_millis(millis)), shown);
            assert_eq!(parse_clock(shown), Some(Time::from_millis(millis / 1_000 * 1_000)));
        }
        assert_eq!(exact_clock(Time::from_millis(842_009)), "14:02.009");
        for wrong in ["", "7", ":", "1:", ":1", "1:60", "1:2:3:4", "-1:00", "+1:00", "99999999999999999999:00"] {
            assert_eq!(parse_clock(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn numbers_have_separators_and_dates_four_digits() {
        assert_eq!([7, 1_234, 1_234_567].map(grouped), ["7", "1,234", "1,234,567"]);
        assert_eq!([size(1), size(9_999), size(12_345), size(12_345_678)], ["1 byte", "9,999 bytes", "12 kB", "12 MB"]);
        assert_eq!(date(1_795_329_471), "2026-11-22 06:37:51 UTC");
        assert_eq!([date(LAST_DATE + 1), date(u64::MAX)], ["at an invalid date"; 2]);
        assert_eq!(plain("a\n\u{202e}'b"), "a\\n\\u{202e}'b");
    }
}
