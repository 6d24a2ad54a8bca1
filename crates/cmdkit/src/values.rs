//! Reading the values of options, in words that say what would be right.

use std::{fmt::Display, net::IpAddr, ops::RangeInclusive, str::FromStr};

/// Reads a decimal number from `range`. Who types anything else is told the range and the `example`.
///
/// ```
/// let port = cmdkit::whole_number(0..=u16::MAX, 2000);
/// assert_eq!(port("80"), Ok(80));
/// assert_eq!(port("80x").unwrap_err(), "give a whole number from 0 to 65535, as in 2000");
/// ```
pub fn whole_number<T>(
    range: RangeInclusive<T>,
    example: T,
) -> impl Fn(&str) -> Result<T, String> + Clone + Send + Sync + 'static
where
    T: FromStr + Display + PartialOrd + Clone + Send + Sync + 'static,
{
    move |typed| {
        // Digits only, though a sign before them could be understood.
        let digits = typed.bytes().all(|byte| byte.is_ascii_digit());
        typed.parse().ok().filter(|number| digits && range.contains(number)).ok_or_else(|| {
            let (least, most) = (range.start(), range.end());
            format!("give a whole number from {least} to {most}, as in {example}")
        })
    }
}

/// Reads an IP address, also in the brackets in which a port would stand behind it.
///
/// # Errors
/// What would be right, for whoever typed something else.
pub fn ip_address(typed: &str) -> Result<IpAddr, String> {
    let bare = typed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).filter(|inside| inside.contains(':'));
    bare.unwrap_or(typed).parse().map_err(|_| "give an IP address without a port, as in 127.0.0.1 or ::1".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_digits_within_its_range() {
        let number = whole_number(1..=100_u8, 7);
        assert_eq!((number("1"), number("100"), number("007")), (Ok(1), Ok(100), Ok(7)));
        for wrong in ["", " ", "0", "101", "256", "-1", "+1", "1.5", "1 ", "0x1", "ten", "\u{661}"] {
            let said = number(wrong).unwrap_err();
            assert_eq!(said, "give a whole number from 1 to 100, as in 7", "{wrong:?}");
        }
    }

    #[test]
    fn an_address_may_stand_in_brackets() {
        for (typed, address) in [("127.0.0.1", "127.0.0.1"), ("::1", "::1"), ("[::1]", "::1"), ("::", "::")] {
            assert_eq!(ip_address(typed).map(|ip| ip.to_string()), Ok(address.to_owned()));
        }
        for wrong in ["", "foo", "localhost", "127.0.0.1:80", "[::1]:80", "[127.0.0.1]", "[::1", "1.2.3", "fe80::1%lo"]
        {
            assert!(ip_address(wrong).unwrap_err().contains("as in 127.0.0.1 or ::1"), "{wrong:?}");
        }
    }
}
