use std::{fmt, io, sync::OnceLock};

#[cfg(target_os = "linux")]
use std::time::Duration;

/// The limits cover one run, with all processes that the program starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The memory of all processes together, in bytes.
    pub memory: u64,
    /// Processor time of all processes together, in seconds.
    pub cpu: u64,
    /// Elapsed time in seconds.
    pub time: u64,
    /// Processes and threads at the same time.
    pub processes: u64,
    /// Open files and sockets of one process.
    pub files: u64,
    /// The size of one file, in bytes.
    pub file_size: u64,
    /// The output on both streams together, in bytes.
    pub output: u64,
}

/// The name, the sensible minimum, and the field.
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
    /// As in `memory=512M`. `size` parses a number of bytes. The error lists the limits or the valid values.
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

/// The reason if programs have a network.
static NETWORK: OnceLock<Result<(), String>> = OnceLock::new();

/// Disconnects this process and all programs under test from all networks but loopback, if the system allows it. No
/// other thread may run yet.
pub fn confine() {
    NETWORK.get_or_init(confined);
}

#[cfg(target_os = "linux")]
fn confined() -> Result<(), String> {
    if crate::guard::has_guards() {
        crate::guard::confine_network()
    } else {
        Err("no guard process is available".to_owned())
    }
}

#[cfg(not(target_os = "linux"))]
fn confined() -> Result<(), String> {
    Err("only supported on Linux".to_owned())
}

#[derive(Debug, Default)]
pub struct Network {
    // `None` is the network of this process.
    #[cfg(target_os = "linux")]
    own: Option<crate::guard::Namespace>,
}

impl Network {
    /// A network of loopback only that no other program can reach. Without [`confine`], it is the network of this
    /// process.
    pub fn new() -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        if matches!(NETWORK.get(), Some(Ok(()))) {
            return Ok(Self { own: Some(crate::guard::Namespace::new()?) });
        }
        Ok(Self::default())
    }

    pub const fn is_shared(&self) -> bool {
        #[cfg(target_os = "linux")]
        {
            self.own.is_none()
        }
        #[cfg(not(target_os = "linux"))]
        true
    }

    /// In a separate thread, unless the network is that of this process. Sockets, threads and programs that `work`
    /// creates are in this network too.
    pub fn enter<T: Send>(&self, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        #[cfg(target_os = "linux")]
        if let Some(own) = &self.own {
            return own.enter(work);
        }
        Ok(work())
    }
}

fn network_report() -> String {
    match NETWORK.get() {
        Some(Ok(())) => "network: only loopback".to_owned(),
        Some(Err(error)) => format!("network: not limited (the system does not support it: {error})"),
        None => "network: not limited".to_owned(),
    }
}

pub(crate) fn report(limits: &Limits) -> Vec<String> {
    let mut lines = vec![network_report()];
    lines.extend(enforcement(limits));
    lines
}

#[cfg(target_os = "linux")]
fn enforcement(limits: &Limits) -> Vec<String> {
    use crate::guard::{self, Mode, has_guards};

    if !has_guards() {
        return vec!["all other limits: not enforced".to_owned()];
    }
    let mode = guard::mode();
    let end = match mode {
        Mode::Root | Mode::User => "end of the program: all its processes end with it (PID namespace)",
        Mode::Plain => {
            "end of the program: the tester finds and kills its remaining processes (the system supports no PID namespace)"
        }
    };
    let processes =
        if mode == Mode::User { "the system refuses to start more" } else { "the program is ended if it exceeds this" };
    let how = |name| match name {
        "memory" => "for all processes together; they are ended if they exceed this",
        "processes" => processes,
        "files" => "open at the same time, for each process",
        "file-size" => "for each file",
        _ => "the program is ended if it exceeds this",
    };
    let rows = limits.rows().into_iter().map(|(name, value)| format!("{name}: {value} ({})", how(name)));
    let mut lines: Vec<String> = rows.collect();
    lines.push(end.to_owned());
    if rustix::process::geteuid().is_root() {
        lines.push("user: root (run the tester as another user to protect files)".to_owned());
    }
    lines
}

#[cfg(not(target_os = "linux"))]
fn enforcement(limits: &Limits) -> Vec<String> {
    vec![
        format!("output: {} (the program is ended if it exceeds this)", limits.value("output")),
        "all other limits: not enforced (only supported on Linux)".to_owned(),
    ]
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
