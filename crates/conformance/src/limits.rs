use std::fmt;

#[cfg(target_os = "linux")]
use std::time::Duration;

/// For one run, with all processes that the program starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// In bytes, for all processes together.
    pub memory: u64,
    /// Processor time in seconds, for all processes together.
    pub cpu: u64,
    /// Elapsed time in seconds.
    pub time: u64,
    /// Processes and threads at one time.
    pub processes: u64,
    /// Open files and sockets per process.
    pub files: u64,
    /// In bytes, per file.
    pub file_size: u64,
    /// In bytes, for both streams together.
    pub output: u64,
}

/// The name, the smallest sensible value, and the field.
type Row = (&'static str, u64, fn(&mut Limits) -> &mut u64);

const ROWS: [Row; 7] = [
    ("memory", 32 << 20, |limits| &mut limits.memory),
    ("cpu", 1, |limits| &mut limits.cpu),
    ("time", 1, |limits| &mut limits.time),
    ("processes", 1, |limits| &mut limits.processes),
    ("files", 8, |limits| &mut limits.files),
    ("file-size", 0, |limits| &mut limits.file_size),
    ("output", 1 << 10, |limits| &mut limits.output),
];
const SIZES: [&str; 3] = ["memory", "file-size", "output"];
const SECONDS: [&str; 2] = ["cpu", "time"];

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 1 << 30,
            cpu: 300,
            time: 1800,
            processes: 2048,
            files: 1024,
            file_size: 64 << 20,
            output: 64 << 20,
        }
    }
}

impl Limits {
    /// Parses `memory=512M`, and the number of bytes with `size`. The error lists the limits or the valid values.
    pub fn set(&mut self, typed: &str, size: impl Fn(&str) -> Result<u64, String>) -> Result<(), String> {
        let (name, value) = typed.split_once('=').unwrap_or((typed, ""));
        let Some((_, least, place)) = ROWS.iter().find(|(other, ..)| *other == name) else {
            let names = ROWS.map(|(name, ..)| name).join(", ");
            return Err(format!("unknown limit '{name}': expected one of {names} with a value, as in memory=512M"));
        };
        let value = size(value).map_err(|error| if SIZES.contains(&name) { error } else { String::new() });
        match value {
            Ok(value) if value >= *least => *place(self) = value,
            Err(error) if !error.is_empty() => return Err(error),
            _ => {
                let example = 4 * least.max(&25);
                return Err(format!(
                    "invalid value: expected a whole number of at least {least}, as in {name}={example}"
                ));
            }
        }
        Ok(())
    }

    pub fn rows(mut self) -> Vec<(&'static str, String)> {
        ROWS.iter().map(|(name, _, place)| (*name, written(name, *place(&mut self)))).collect()
    }

    pub(crate) fn value(self, name: &str) -> String {
        self.rows().into_iter().find(|(other, _)| *other == name).map_or_else(String::new, |(_, value)| value)
    }

    #[cfg(target_os = "linux")]
    pub(crate) fn until(&self) -> Duration {
        Duration::from_secs(self.time)
    }
}

fn written(name: &str, value: u64) -> String {
    if SECONDS.contains(&name) {
        return format!("{value} s");
    }
    if !SIZES.contains(&name) {
        return value.to_string();
    }
    let units = [(30, "GiB"), (20, "MiB"), (10, "KiB")];
    let unit = units.into_iter().find(|(power, _)| value != 0 && value.is_multiple_of(1_u64 << power));
    unit.map_or_else(|| format!("{value} bytes"), |(power, unit)| format!("{} {unit}", value >> power))
}

impl fmt::Display for Limits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut limits = *self;
        let values = ROWS.map(|(_, _, place)| place(&mut limits).to_string());
        f.write_str(&values.join(","))
    }
}

#[cfg(any(target_os = "linux", test))]
pub(crate) fn parse(word: &str) -> Option<Limits> {
    let mut limits = Limits::default();
    let mut values = word.split(',');
    for (_, _, place) in ROWS {
        *place(&mut limits) = values.next()?.parse().ok()?;
    }
    values.next().is_none().then_some(limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size(typed: &str) -> Result<u64, String> {
        typed.parse().map_err(|_| "expected a number".to_owned())
    }

    #[test]
    fn limits_are_set_by_name() {
        let mut limits = Limits::default();
        limits.set("memory=1073741824", size).unwrap();
        limits.set("processes=20", size).unwrap();
        assert_eq!((limits.value("memory"), limits.processes), ("1 GiB".to_owned(), 20));
        assert_eq!(parse(&limits.to_string()), Some(limits));
        assert_eq!(parse("1,2"), None);
        let mut error = |typed: &str| limits.set(typed, size).unwrap_err();
        assert!(error("ram=3").starts_with("unknown limit 'ram': expected one of memory, cpu, "));
        assert_eq!(error("memory=lots"), "expected a number");
        assert_eq!(error("cpu=0"), "invalid value: expected a whole number of at least 1, as in cpu=100");
        assert_eq!(error("cpu"), "invalid value: expected a whole number of at least 1, as in cpu=100");
    }
}
