use std::time::Duration;

use journal_core::Retention;

use crate::values::{byte_count, digits};

const RETENTION: &str = "expected an age in hours, days or weeks, a number of journals, a total size, or several of \
                         these, as in 30d,100,10G";

/// Parses limits on retained journals, as in `30d,100,10G`: at least one of an age with h, d or w, a number, and a size
/// with K, M, G or T.
pub fn retention(typed: &str) -> Result<Retention, String> {
    let mut retention = Retention::default();
    for part in typed.split(',') {
        let last = part.chars().next_back().map(|last| last.to_ascii_lowercase());
        let repeated = match last {
            Some(unit @ ('h' | 'd' | 'w')) => {
                let hours = match unit {
                    'h' => 1,
                    'd' => 24,
                    _ => 7 * 24,
                };
                let number = part.get(..part.len() - 1).and_then(digits).and_then(|digits| digits.parse::<u64>().ok());
                let seconds = number.and_then(|number| number.checked_mul(hours * 3_600)).ok_or(RETENTION)?;
                retention.age.replace(Duration::from_secs(least(seconds, "an hour")?)).is_some()
            }
            Some('0'..='9') => {
                let number = digits(part).and_then(|digits| digits.parse().ok()).ok_or(RETENTION)?;
                retention.count.replace(least(number, "one journal")?).is_some()
            }
            Some('k' | 'm' | 'g' | 't') => {
                let bytes = byte_count(part).map_err(|_| RETENTION)?;
                retention.size.replace(least(bytes, "1K")?).is_some()
            }
            _ => return Err(RETENTION.to_owned()),
        };
        if repeated {
            return Err(format!("two limits of the same kind, '{part}' is the second; {RETENTION}"));
        }
    }
    Ok(retention)
}

fn least<T: PartialEq + From<u8>>(number: T, least: &str) -> Result<T, String> {
    if number == T::from(0) { Err(format!("expected at least {least}, as in 30d,100,10G")) } else { Ok(number) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_on_journals_may_be_combined() {
        let hours = |hours| Some(Duration::from_hours(hours));
        for (typed, expected) in [
            ("30d", Retention { age: hours(30 * 24), ..Retention::default() }),
            ("12h", Retention { age: hours(12), ..Retention::default() }),
            ("100", Retention { count: Some(100), ..Retention::default() }),
            ("10G,2w", Retention { age: hours(14 * 24), size: Some(10 << 30), ..Retention::default() }),
            ("30d,100,512m", Retention { age: hours(30 * 24), count: Some(100), size: Some(512 << 20) }),
        ] {
            assert_eq!(retention(typed), Ok(expected), "{typed}");
        }
        for wrong in ["", ",", "30d,", "d", "K", "-1", "1.5d", "30x", "30 d", "1e30", "99999999999999999999d", "30d,7d"]
        {
            assert!(retention(wrong).unwrap_err().ends_with("as in 30d,100,10G"), "{wrong:?}");
        }
        assert!(retention("7d,30d").unwrap_err().contains("'30d' is the second"));
        for (nothing, least) in [("0", "one journal"), ("0d", "an hour"), ("30d,0G", "1K")] {
            assert_eq!(retention(nothing), Err(format!("expected at least {least}, as in 30d,100,10G")));
        }
    }
}
