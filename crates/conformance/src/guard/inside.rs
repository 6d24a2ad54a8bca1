use std::{
    env,
    ffi::OsString,
    fs::{self, File},
    io::{self, Read as _, Write as _},
    os::{
        fd::{AsFd as _, OwnedFd},
        unix::{fs::MetadataExt as _, net::UnixStream, process::CommandExt as _},
    },
    process::{self, ChildStdin, Command, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use nix::sched::{CloneFlags, unshare};
use rustix::{
    mount::{MountFlags, MountPropagationFlags, mount, mount_change},
    param::clock_ticks_per_second,
    process::{
        Pid, Resource, Rlimit, Signal, WaitOptions, WaitStatus, geteuid, getpid, getpriority_process, getrlimit,
        kill_process, set_child_subreaper, set_parent_process_death_signal, setpriority_process, setrlimit, setsid,
        wait,
    },
    stdio::{dup2_stderr, dup2_stdout},
    thread::{
        CapabilitySet, capabilities, clear_ambient_capability_set, configure_capability_in_ambient_set,
        remove_capability_from_bounding_set, set_capabilities, set_no_new_privs,
    },
};

use super::{INPUT_ENDS, INSIDE, Mode, NETWORK, NOTHING, TERMINAL, TYPED, guard_command, network};
use crate::{
    limits::{self, Limits},
    processes::{family, memory, numbers, process as process_of, proportional_memory},
};

const FIRST: &str = "first";
const LEFT: [CapabilitySet; 7] = [
    CapabilitySet::CHOWN,
    CapabilitySet::DAC_OVERRIDE,
    CapabilitySet::DAC_READ_SEARCH,
    CapabilitySet::FOWNER,
    CapabilitySet::FSETID,
    CapabilitySet::SETGID,
    CapabilitySet::SETUID,
];
/// A thread reserves 8 MiB of stack but uses a few KiB, so this multiple of the memory may be reserved.
const RESERVED: u64 = 16;
const FIRST_TO_END: &str = "1000";
const NICENESS: i32 = -15;
/// The tasks of the guards themselves, with a margin.
const OWN_TASKS: u64 = 8;

pub(super) fn run_guard_if_requested() {
    let mut words = env::args_os().skip(1);
    if words.next().is_none_or(|word| word != INSIDE) {
        return;
    }
    let words: Vec<OsString> = words.collect();
    let text: Vec<&str> = words.iter().map_while(|word| word.to_str()).collect();
    match &text[..] {
        [NETWORK] => network::attempt(),
        [NOTHING] => process::exit(0),
        _ => {}
    }
    let error = work(&words).err().unwrap_or_else(|| io::Error::other("it ends"));
    // The parent treats an unknown message as an error.
    let _ = own_socket().and_then(|mut socket| socket.write_all(format!("trouble {error}\n").as_bytes()));
    process::exit(1);
}

struct Task {
    is_first: bool,
    mode: Mode,
    limits: Limits,
    at_terminal: bool,
    skipped_ids: u32,
    command: Vec<OsString>,
}

impl Task {
    fn of(words: &[OsString]) -> Option<Self> {
        let is_first = words.first()? == FIRST;
        let words = &words[usize::from(is_first)..];
        let [mode, limits, terminal, skipped, command @ ..] = words else { return None };
        let mode = Mode::ALL.into_iter().find(|known| mode == known.word())?;
        let limits = limits::parse(limits.to_str()?)?;
        let skipped_ids = skipped.to_str()?.parse().ok()?;
        (!command.is_empty()).then(|| Self {
            is_first,
            mode,
            limits,
            at_terminal: terminal == TERMINAL,
            skipped_ids,
            command: command.to_vec(),
        })
    }
}

fn own_socket() -> io::Result<UnixStream> {
    Ok(io::stdin().as_fd().try_clone_to_owned()?.into())
}

fn work(words: &[OsString]) -> io::Result<()> {
    let task = Task::of(words).ok_or_else(|| io::Error::other("invalid arguments of a guard"))?;
    if task.is_first {
        // Ends with the outer guard. If the tester dies, both find their sockets closed.
        set_parent_process_death_signal(Some(Signal::KILL))?;
    }
    if task.is_first || task.mode == Mode::Plain {
        return guard(&task);
    }
    let namespaces = CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWNS;
    match task.mode {
        Mode::User => network::become_user(namespaces)?,
        _ => unshare(namespaces)?,
    }
    pass_on_capabilities()?;
    leave_terminal();
    let mut first = guard_command(&[FIRST]).args(words).spawn()?;
    close_output()?;
    process::exit(first.wait()?.code().unwrap_or(1));
}

// The tester reads until every process has closed the output.
fn close_output() -> io::Result<()> {
    let nowhere = OwnedFd::from(File::options().read(true).write(true).open("/dev/null")?);
    dup2_stdout(&nowhere)?;
    Ok(dup2_stderr(&nowhere)?)
}

// The program must not read the terminal of the tester's user.
fn leave_terminal() {
    // Fails for a group leader, which has no terminal.
    let _ = setsid();
}

// Executing a program drops an ordinary user's capabilities, but the first process must mount `/proc`.
fn pass_on_capabilities() -> io::Result<()> {
    let mut sets = capabilities(None)?;
    sets.inheritable = sets.permitted;
    set_capabilities(None, sets)?;
    Ok(configure_capability_in_ambient_set(CapabilitySet::SYS_ADMIN, true)?)
}

fn guard(task: &Task) -> io::Result<()> {
    let tester = own_socket()?;
    let own = task.is_first && show_own_processes().is_ok();
    if !task.is_first {
        leave_terminal();
        set_child_subreaper(Some(getpid()))?;
    }
    // In the numbering of `/proc`, which may be the host's.
    let me: u32 = fs::read_link("/proc/self")?.to_string_lossy().parse().map_err(io::Error::other)?;
    give_up_rights()?;
    // Inherited by the children; this process itself needs few resources.
    set_limits(task)?;
    let _ = fs::write("/proc/self/oom_score_adj", FIRST_TO_END);
    let niceness = getpriority_process(None)?;
    // Only root may set the niceness, which keeps the program's threads from delaying the guard's.
    let _ = setpriority_process(None, NICENESS);

    // Started before the program, which may leave them little processor time.
    let shutdown = Shutdown { all_end_with_me: task.is_first, me };
    let (limits, reports) = (task.limits, tester.try_clone()?);
    thread::Builder::new().spawn(move || {
        let limit = exceeded(&limits, me, own);
        let _ = (&reports).write_all(format!("limit {limit}\n").as_bytes());
        shutdown.end();
    })?;
    let (typed, to_type) = mpsc::channel();
    let control = tester.try_clone()?;
    thread::Builder::new().spawn(move || {
        let _ = forward_input(control, &typed);
        shutdown.end();
    })?;

    if task.is_first {
        skip_ids(task.skipped_ids)?;
    }
    let spawned = thread::scope(|scope| {
        let spawn = || {
            // Applies only to this thread and its children.
            setpriority_process(None, niceness)?;
            program(task)?.spawn()
        };
        scope.spawn(spawn).join().unwrap_or_else(|_| Err(io::Error::other("a thread has failed")))
    });
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => {
            (&tester).write_all(format!("cannot {}\n", error.raw_os_error().unwrap_or(0)).as_bytes())?;
            process::exit(1);
        }
    };
    close_output()?;
    (&tester).write_all(b"begun\n")?;
    let input = child.stdin.take();
    thread::Builder::new().spawn(move || type_all(input, &to_type))?;
    reap(child.id(), &tester)
}

// In a new namespace, every program would have the same process id, which many use as a seed. Each thread consumes one.
fn skip_ids(count: u32) -> io::Result<()> {
    for _ in 0..count {
        let _ = thread::Builder::new().spawn(|| {})?.join();
    }
    Ok(())
}

fn program(task: &Task) -> io::Result<Command> {
    let mut command = Command::new(&task.command[0]);
    command.args(&task.command[1..]).process_group(0);
    if task.at_terminal {
        command.stdin(Stdio::from(io::stdout().as_fd().try_clone_to_owned()?));
    } else {
        command.stdin(Stdio::piped());
    }
    Ok(command)
}

// Mounts the new namespace's `/proc`. Without it, the program sees the host's processes but cannot affect them.
fn show_own_processes() -> io::Result<()> {
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    Ok(mount("proc", "/proc", "proc", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None)?)
}

// Root in its own namespace still has root's access to outside files.
fn give_up_rights() -> io::Result<()> {
    set_no_new_privs(true)?;
    clear_ambient_capability_set()?;
    if geteuid().is_root() {
        for capability in CapabilitySet::all().iter().filter(|capability| !LEFT.contains(capability)) {
            // The kernel may not know the capability.
            let _ = remove_capability_from_bounding_set(capability);
        }
    }
    Ok(())
}

fn set_limits(task: &Task) -> io::Result<()> {
    let limits = &task.limits;
    let resources = [
        (Resource::Data, limits.memory.saturating_mul(RESERVED)),
        (Resource::Cpu, limits.cpu),
        (Resource::Nofile, limits.files),
        (Resource::Fsize, limits.file_size),
        (Resource::Core, 0),
    ];
    for (resource, most) in resources {
        lower(resource, most)?;
    }
    // Outside a user namespace, the limit covers all tasks of the user.
    let others = if task.mode == Mode::User { 0 } else { tasks_of_user() };
    lower(Resource::Nproc, others + limits.processes + OWN_TASKS)
}

fn tasks_of_user() -> u64 {
    let me = geteuid().as_raw();
    let is_mine = |id: &u32| fs::metadata(format!("/proc/{id}")).is_ok_and(|folder| folder.uid() == me);
    numbers().filter(is_mine).filter_map(process_of).map(|process| process.tasks).sum()
}

fn lower(resource: Resource, most: u64) -> io::Result<()> {
    let maximum = getrlimit(resource).maximum.map_or(most, |maximum| maximum.min(most));
    Ok(setrlimit(resource, Rlimit { current: Some(maximum), maximum: Some(maximum) })?)
}

fn type_all(mut input: Option<ChildStdin>, typed: &Receiver<Option<Vec<u8>>>) {
    for bytes in typed {
        if let (Some(to), Some(bytes)) = (&mut input, bytes)
            && to.write_all(&bytes).is_ok()
        {
            continue;
        }
        input = None;
    }
}

fn forward_input(mut tester: UnixStream, typed: &mpsc::Sender<Option<Vec<u8>>>) -> io::Result<()> {
    loop {
        let mut kind = [0];
        tester.read_exact(&mut kind)?;
        let bytes = match kind[0] {
            TYPED => {
                let mut length = [0; 2];
                tester.read_exact(&mut length)?;
                let mut bytes = vec![0; u16::from_be_bytes(length).into()];
                tester.read_exact(&mut bytes)?;
                Some(bytes)
            }
            INPUT_ENDS => None,
            _ => return Err(io::ErrorKind::InvalidData.into()),
        };
        typed.send(bytes).map_err(io::Error::other)?;
    }
}

// Reports how the program ends, and reaps its orphans.
fn reap(program: u32, tester: &UnixStream) -> io::Result<()> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((process, status))) if process.as_raw_nonzero().get().cast_unsigned() == program => {
                let _ = (&*tester).write_all(exit_line(status).as_bytes());
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(rustix::io::Errno::CHILD) => loop {
                thread::park();
            },
            Err(error) => return Err(error.into()),
        }
    }
}

fn exit_line(status: WaitStatus) -> String {
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => format!("code {code}\n"),
        (None, signal) => format!("signal {}\n", signal.unwrap_or(0)),
    }
}

#[derive(Clone, Copy)]
struct Shutdown {
    all_end_with_me: bool,
    me: u32,
}

impl Shutdown {
    fn end(self) -> ! {
        if !self.all_end_with_me {
            kill_all_below(self.me);
        }
        process::exit(0)
    }
}

// Repeats the signals, since processes may have started others.
fn kill_all_below(me: u32) {
    loop {
        let left: Vec<_> = family(me).into_iter().filter(|process| process.id != me).collect();
        if left.is_empty() {
            return;
        }
        for pid in left.iter().filter_map(|process| Pid::from_raw(process.id.cast_signed())) {
            let _ = kill_process(pid, Signal::KILL);
        }
        thread::yield_now();
    }
}

const PAUSE: Duration = Duration::from_millis(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(250);
/// Counting uses at most 1/`SHARE` of a processor, except at the longest pause.
const SHARE: u32 = 20;
/// The guard itself.
const OTHERS: u64 = 1;

/// Returns the name of the exceeded limit. `guard` is the parent of the program and of its orphans. `own` means that
/// `/proc` shows only the program's processes, which is faster.
pub(super) fn exceeded(limits: &Limits, guard: u32, own: bool) -> &'static str {
    let begun = Instant::now();
    loop {
        let counted = Instant::now();
        // Only counted, since programs can start processes faster than this one can read them.
        if own && numbers().count() as u64 > limits.processes + OTHERS {
            return "processes";
        }
        let usage = Usage::count(guard, limits.memory);
        let exceeded = [
            ("processes", usage.tasks > limits.processes),
            ("memory", usage.memory > limits.memory),
            ("cpu", usage.cpu > limits.cpu),
            ("time", begun.elapsed() > limits.until()),
        ];
        if let Some((name, _)) = exceeded.into_iter().find(|(_, is_exceeded)| *is_exceeded) {
            return name;
        }
        thread::sleep((SHARE * counted.elapsed()).clamp(PAUSE, LONGEST_PAUSE));
    }
}

#[derive(Debug, Default)]
struct Usage {
    tasks: u64,
    /// In bytes.
    memory: u64,
    /// In seconds.
    cpu: u64,
}

impl Usage {
    fn count(guard: u32, most_memory: u64) -> Self {
        let mut usage = Self::default();
        let mut ticks = 0;
        let family = family(guard);
        let members = || family.iter().filter(|process| process.id != guard);
        for process in &family {
            // Includes the time of collected orphans. The guard's own time is small.
            ticks += process.ticks;
        }
        for process in members() {
            usage.tasks += process.tasks;
            usage.memory += memory(process.id).unwrap_or(0);
        }
        // Shared memory was counted once per process. The exact size is computed only if it matters.
        if usage.memory > most_memory {
            let share = |id| proportional_memory(id).or_else(|| memory(id)).unwrap_or(0);
            usage.memory = members().map(|process| share(process.id)).sum();
        }
        usage.cpu = ticks / clock_ticks_per_second();
        usage
    }
}
