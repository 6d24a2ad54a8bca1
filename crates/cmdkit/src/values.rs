//! Parsers for the values of options, whose errors describe valid values.

use std::{fmt::Display, net::IpAddr, ops::RangeInclusive, str::FromStr};

/// Parses a decimal number from `range`, of digits only. The error names the range and the `example`.
///
/// ```
/// let port = cmdkit::whole_number(0..=u16::MAX, 2000);
/// assert_eq!(port("80"), Ok(80));
/// assert_eq!(port("2e3").unwrap_err(), "expected a whole number from 0 to 65535, as in 2000");
/// ```
pub fn whole_number<T>(range: RangeInclusive<T>, example: T) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + Display + PartialOrd + Clone,
{
    number(range, example, |typed| are_digits(typed).then(|| typed.to_owned()))
}

/// As [`whole_number`], for large numbers: groups of three digits may be separated by `_`, as in `1_000_000`, and a
/// power of ten may follow, as in `1e6` or `25e5`.
///
/// ```
/// let rounds = cmdkit::count(1..=1_000_000_000_u64, 1_000_000);
/// assert_eq!((rounds("1e6"), rounds("2_000")), (Ok(1_000_000), Ok(2_000)));
/// ```
pub fn count<T>(range: RangeInclusive<T>, example: T) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + Display + PartialOrd + Clone,
{
    number(range, example, digits)
}

fn number<T>(
    range: RangeInclusive<T>,
    example: T,
    digits: fn(&str) -> Option<String>,
) -> impl Fn(&str) -> Result<T, String> + Clone
where
    T: FromStr + Display + PartialOrd + Clone,
{
    move |typed| {
        let number = digits(typed).and_then(|digits| digits.parse().ok());
        number.filter(|number| range.contains(number)).ok_or_else(|| {
            let (least, most) = (range.start(), range.end());
            format!("expected a whole number from {least} to {most}, as in {example}")
        })
    }
}

pub(crate) fn are_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Zeros of the largest power of ten below 2^64.
const MOST_ZEROS: usize = 19;

/// Writes out `1_000` and `1e3`; `None` for a text with a sign, a fraction or other characters.
pub(crate) fn digits(typed: &str) -> Option<String> {
    let (mantissa, zeros) = match typed.split_once(['e', 'E']) {
        Some((mantissa, exponent)) if are_digits(exponent) => (mantissa, exponent.parse().ok()?),
        Some(_) => return None,
        None => (typed, 0),
    };
    let mut groups = mantissa.split('_');
    let first = groups.next().filter(|first| are_digits(first))?;
    let mut digits = first.to_owned();
    for group in groups {
        if first.len() > 3 || group.len() != 3 || !are_digits(group) {
            return None;
        }
        digits += group;
    }
    if zeros > MOST_ZEROS {
        return None;
    }
    Some(digits + &"0".repeat(zeros))
}

/// Parses a whole number, optionally with a suffix K, M, G or T for powers of 1,024, as in `64M`.
pub fn byte_count(typed: &str) -> Result<u64, String> {
    let (digits, power) = match typed.trim_end_matches(['k', 'K', 'm', 'M', 'g', 'G', 't', 'T']) {
        digits if digits.len() + 1 == typed.len() => {
            let unit = typed.as_bytes()[digits.len()].to_ascii_uppercase();
            (digits, 1 + b"KMGT".iter().position(|&letter| letter == unit).unwrap_or_default())
        }
        _ => (typed, 0),
    };
    let number = digits.parse::<u64>().ok().filter(|_| are_digits(digits));
    let bytes = number.and_then(|number| number.checked_mul(1 << (10 * power)));
    bytes.ok_or_else(|| "expected a number of bytes, optionally with K, M, G or T after it, as in 64M".to_owned())
}

/// Accepts brackets, as before a port.
pub fn ip_address(typed: &str) -> Result<IpAddr, String> {
    let bare = typed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).filter(|inside| inside.contains(':'));
    bare.unwrap_or(typed)
        .parse()
        .map_err(|_| "expected an IP address without a port, as in 127.0.0.1 or ::1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_digits_within_its_range() {
        let number = whole_number(1..=100_u8, 7);
        assert_eq!((number("1"), number("100"), number("007")), (Ok(1), Ok(100), Ok(7)));
        for wrong in ["", " ", "0", "101", "256", "-1", "+1", "1.5", "1 ", "0x1", "1e1", "1_0", "ten", "\u{661}"] {
            let said = number(wrong).unwrap_err();
            assert_eq!(said, "expected a whole number from 1 to 100, as in 7", "{wrong:?}");
        }
    }

    #[test]
    fn large_numbers_may_be_written_short_or_in_groups() {
        let number = count(0..=1_000_000_000_000_u64, 1_000_000);
        for (typed, read) in [
            ("1e6", 1_000_000),
            ("25E5", 2_500_000),
            ("1e0", 1),
            ("0e19", 0),
            ("1_000_000", 1_000_000),
            ("12_000", 12_000),
            ("1_000e3", 1_000_000),
        ] {
            assert_eq!(number(typed), Ok(read), "{typed}");
        }
        let huge = "1e99999999999999999999";
        for wrong in [
            "e6", "1e", "1e-6", "1e+6", "1.5e6", "1e6e6", "1e13", "1e20", huge, "_1", "1_", "1__000", "1_00",
            "1000_000", "1_0000", "1e1_0",
        ] {
            assert!(number(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_count_of_bytes_may_have_a_unit() {
        let read = [("0", 0), ("17", 17), ("64K", 64 << 10), ("64m", 64 << 20), ("1G", 1 << 30), ("16T", 16 << 40)];
        for (typed, bytes) in read {
            assert_eq!(byte_count(typed), Ok(bytes), "{typed}");
        }
        for wrong in ["", "K", "-1", "1.5M", "64MB", "64KK", "64 M", "99999999999999999999", "99999999T"] {
            assert!(byte_count(wrong).unwrap_err().ends_with("as in 64M"), "{wrong:?}");
        }
    }

    #[test]
    fn address_may_have_brackets() {
        for (typed, address) in [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("[::1]", "::1"), ("::", "::")] {
            assert_eq!(ip_address(typed).map(|ip| ip.to_string()), Ok(address.to_owned()));
        }
        for wrong in ["", "foo", "localhost", "127.0.0.1:80", "[::1]:80", "[127.0.0.1]", "[::1", "1.2.3", "fe80::1%lo"]
        {
            assert!(ip_address(wrong).unwrap_err().contains("as in 127.0.0.1 or ::1"), "{wrong:?}");
        }
    }
}
