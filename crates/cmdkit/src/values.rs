//! Parsers for the values of options, whose errors describe valid values.

use std::{
    fmt::{self, Display},
    net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs},
    ops::RangeInclusive,
    str::FromStr,
};

use anyhow::Context;

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

const RIGHT: &str = "expected host:port, as in localhost:2022, 127.0.0.1:2022 or [::1]:2022";

/// A host and a port: `name:port`, `1.2.3.4:port`, `[::1]:port` or `::1:port`. The last colon separates them.
///
/// ```
/// let there: cmdkit::HostPort = "::1:2022".parse()?;
/// assert_eq!((&*there.host, there.port), ("::1", 2022));
/// assert_eq!(there.to_string(), "[::1]:2022");
/// # Ok::<(), String>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostPort {
    /// Without brackets.
    pub host: String,
    /// Never 0.
    pub port: u16,
}

impl HostPort {
    /// Without duplicates, in the order to try them.
    pub fn resolve(&self) -> anyhow::Result<Vec<SocketAddr>> {
        resolve(&self.host, self.port)
    }
}

impl Display for HostPort {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }
    }
}

impl FromStr for HostPort {
    type Err = String;

    fn from_str(typed: &str) -> Result<Self, String> {
        host_port(typed)
    }
}

pub fn host_port(typed: &str) -> Result<HostPort, String> {
    let (host, port) = typed.rsplit_once(':').ok_or_else(|| format!("the port is missing; {RIGHT}"))?;
    let bare = without_brackets(host);
    if bare.contains(['[', ']', ':']) && !is_ipv6(bare) {
        // Probably an IPv6 address whose last group was taken for the port.
        return Err(format!("invalid host '{host}' before the last colon; {RIGHT}"));
    }
    if bare.trim().is_empty() {
        return Err(format!("the host is missing; {RIGHT}"));
    }
    match port.parse() {
        Ok(number) if are_digits(port) && number > 0 => Ok(HostPort { host: bare.to_owned(), port: number }),
        _ if port.is_empty() => Err(format!("the port is missing; {RIGHT}")),
        // Probably swapped.
        _ if are_digits(host) => {
            Err(format!("invalid port '{port}': expected a number from 1 to 65535 after the host; {RIGHT}"))
        }
        _ => Err(format!("invalid port '{port}': expected a number from 1 to 65535; {RIGHT}")),
    }
}

/// Parses a [`HostPort`] whose port may be omitted; `port` is the default.
///
/// ```
/// assert_eq!(cmdkit::host_port_or(2022)("localhost")?.to_string(), "localhost:2022");
/// # Ok::<(), String>(())
/// ```
pub fn host_port_or(port: u16) -> impl Fn(&str) -> Result<HostPort, String> + Clone {
    move |typed| {
        if are_digits(typed) {
            return Err(format!("the host before the port '{typed}' is missing; {RIGHT}"));
        }
        let inside = typed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let host = match inside.filter(|inside| is_ipv6(inside)) {
            Some(inside) => inside,
            None if typed.contains(':') => match host_port(typed) {
                // The last group is not a port.
                Err(_) if is_ipv6(typed) => typed,
                done => return done,
            },
            None if typed.trim().is_empty() => return Err(format!("the host is missing; {RIGHT}")),
            None => typed,
        };
        Ok(HostPort { host: host.to_owned(), port })
    }
}

/// Parses a host, by name or IP address, optionally in brackets, if the port is the next argument. `port` is for the
/// example in an error.
///
/// ```
/// assert_eq!(cmdkit::host(2000)("[::1]")?, "::1");
/// assert!(cmdkit::host(2000)("localhost:2000").is_err());
/// # Ok::<(), String>(())
/// ```
pub fn host(port: u16) -> impl Fn(&str) -> Result<String, String> + Clone {
    move |typed| {
        let host = without_brackets(typed);
        if host.trim().is_empty() {
            Err("expected a name or an address, as in localhost, 127.0.0.1 or ::1".into())
        } else if host.contains(':') && !is_ipv6(host) {
            Err(format!("expected a host without a port; the port is the next argument, as in localhost {port}"))
        } else {
            Ok(host.to_owned())
        }
    }
}

fn without_brackets(typed: &str) -> &str {
    let inside = typed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    inside.filter(|inside| is_ipv6(inside)).unwrap_or(typed)
}

/// Without duplicates, in the order to try them.
pub fn resolve(host: &str, port: u16) -> anyhow::Result<Vec<SocketAddr>> {
    let found = (host, port).to_socket_addrs().with_context(|| format!("cannot find the host '{host}'"))?;
    let mut addresses: Vec<SocketAddr> = vec![];
    for address in found {
        if !addresses.contains(&address) {
            addresses.push(address);
        }
    }
    anyhow::ensure!(!addresses.is_empty(), "the host '{host}' has no address");
    Ok(addresses)
}

/// Accepts the zone that a link-local address needs.
pub(crate) fn is_ipv6(text: &str) -> bool {
    text.split('%').next().is_some_and(|address| address.parse::<Ipv6Addr>().is_ok())
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

    #[test]
    fn last_colon_separates_the_port_and_brackets_are_optional() {
        for (typed, host, port) in [
            ("localhost:2022", "localhost", 2022),
            ("127.0.0.1:1", "127.0.0.1", 1),
            ("[::1]:65535", "::1", 65535),
            ("::1:2022", "::1", 2022),
            ("::1:2", "::1", 2),
            ("[fe80::1%eth0]:007", "fe80::1%eth0", 7),
            ("::ffff:1.2.3.4:5", "::ffff:1.2.3.4", 5),
        ] {
            assert_eq!(host_port(typed), Ok(HostPort { host: host.to_owned(), port }), "{typed}");
        }
    }

    #[test]
    fn shown_values_parse_again() {
        for typed in ["localhost:2022", "[::1]:9", "1.2.3.4:5"] {
            assert_eq!(host_port(typed).unwrap().to_string(), typed);
        }
    }

    #[test]
    fn invalid_input_is_reported() {
        for (typed, wrong) in [
            ("", "the port is missing"),
            ("localhost", "the port is missing"),
            ("localhost:", "the port is missing"),
            (":2022", "the host is missing"),
            (" :2022", "the host is missing"),
            ("[]:2022", "'[]' before the last colon"),
            ("::1", "':' before the last colon"),
            ("[::1]", "'[:' before the last colon"),
            ("[::1:2022", "'[::1' before the last colon"),
            ("[localhost]:2022", "'[localhost]' before the last colon"),
            ("a:b:2022", "'a:b' before the last colon"),
            ("localhost:0", "invalid port '0'"),
            ("localhost:65536", "invalid port '65536'"),
            ("localhost:-1", "invalid port '-1'"),
            ("localhost:+1", "invalid port '+1'"),
            ("localhost:2022x", "invalid port '2022x'"),
            ("localhost:1.5", "invalid port '1.5'"),
            ("localhost: 80", "invalid port ' 80'"),
        ] {
            let said = host_port(typed).unwrap_err();
            assert!(said.contains(wrong) && said.ends_with("or [::1]:2022"), "{typed:?}: {said}");
        }
    }

    #[test]
    fn omitted_port_is_replaced_by_the_default() {
        let read = |typed: &str| host_port_or(2022)(typed).map(|there| there.to_string());
        for (typed, there) in [
            ("localhost", "localhost:2022"),
            ("localhost:7", "localhost:7"),
            ("192.0.2.7", "192.0.2.7:2022"),
            ("[::1]", "[::1]:2022"),
            ("[::1]:7", "[::1]:7"),
            ("::1", "[::1]:2022"),
            ("::1:7", "[::1]:7"),
            ("fe80::a:b", "[fe80::a:b]:2022"),
        ] {
            assert_eq!(read(typed).as_deref(), Ok(there), "{typed}");
        }
        for (typed, wrong) in [
            ("", "the host is missing"),
            ("2022", "the host before the port '2022' is missing"),
            ("localhost:", "the port is missing"),
            (":2022", "the host is missing"),
            ("2022:localhost", "invalid port 'localhost': expected a number from 1 to 65535 after the host"),
        ] {
            assert!(read(typed).unwrap_err().starts_with(wrong), "{typed}");
        }
    }

    #[test]
    fn addresses_are_unique_and_unknown_hosts_are_named() {
        let addresses = host_port("127.0.0.1:80").unwrap().resolve().unwrap();
        assert_eq!(addresses, ["127.0.0.1:80".parse().unwrap()]);
        let error = host_port("no..host:80").unwrap().resolve().unwrap_err();
        assert!(format!("{error:#}").starts_with("cannot find the host 'no..host'"), "{error:#}");
    }
}
