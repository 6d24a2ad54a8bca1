//! Protects a program that root started while it uses the files of other users.
//!
//! A user who can write a directory can exchange its entries for symbolic links at any time, so root follows no path
//! through it: [`become_owner`] continues as the user who owns the files. Files that the caller named are opened before
//! ([`Named`]).

use std::{
    collections::BTreeSet,
    ffi::{OsStr, OsString},
    fs::{self, File, Metadata, OpenOptions},
    io::{self, ErrorKind},
    os::{
        fd::AsRawFd as _,
        unix::fs::{MetadataExt as _, OpenOptionsExt as _},
    },
    path::{Component, Path, PathBuf},
    process,
};

use anyhow::{Context as _, bail};
use nix::{
    libc::{O_NOFOLLOW, O_NONBLOCK},
    unistd::{Gid, Uid, User, geteuid, setuid},
};

/// As in Linux.
const MAX_LINKS: usize = 40;
/// Mode bits of a directory: its group may write; all users may write; only its owner may exchange an entry.
const GROUP: u32 = 0o020;
const OTHERS: u32 = 0o002;
const STICKY: u32 = 0o1_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner {
    pub uid: u32,
    pub gid: u32,
}

impl Owner {
    /// The user whom the program has to become before it uses a directory, or else the nearest existing one above it.
    /// `None` if the program does not run as root, or only root can write the directory and exchange it.
    ///
    /// # Errors
    /// If a third user could exchange the directory, or it cannot be examined.
    pub fn to_become(directory: &Path) -> anyhow::Result<Option<Self>> {
        if !geteuid().is_root() {
            return Ok(None);
        }
        let walk = Walk::along(directory)?;
        let uid = walk.about.uid();
        walk.check(uid)?;
        if uid == 0 {
            if walk.exists && others_may_write(&walk.about) {
                bail!(
                    "'{0}' belongs to root, but other users can write it; run `chmod go-w '{0}'`, or change its \
                     owner with `chown`",
                    directory.display()
                );
            }
            return Ok(None);
        }
        // The group of the directory may be that of root, so the user's own group comes first.
        let user = User::from_uid(Uid::from_raw(uid)).ok().flatten();
        Ok(Some(Self { uid, gid: user.map_or(walk.about.gid(), |user| user.gid.as_raw()) }))
    }
}

/// Continues as the user who owns a directory, permanently and in all threads; see [`Owner::to_become`].
pub fn become_owner(directory: &Path) -> anyhow::Result<()> {
    let Some(Owner { uid, gid }) = Owner::to_become(directory)? else { return Ok(()) };
    become_user(Uid::from_raw(uid), Gid::from_raw(gid))
        .with_context(|| format!("cannot continue as user {uid}, who owns '{}'", directory.display()))?;
    if setuid(Uid::from_raw(0)).is_ok() {
        bail!("cannot give up the privileges of root permanently");
    }
    Ok(())
}

#[cfg(not(target_vendor = "apple"))]
fn become_user(uid: Uid, gid: Gid) -> io::Result<()> {
    use nix::unistd::{initgroups, setgid, setgroups};
    let name = User::from_uid(uid).ok().flatten().and_then(|user| std::ffi::CString::new(user.name).ok());
    // A hub may read its certificate as a member of another group.
    match name {
        Some(name) => initgroups(&name, gid)?,
        None => setgroups(&[gid])?,
    }
    setgid(gid)?;
    Ok(setuid(uid)?)
}

// On this system, a process cannot set its list of groups.
#[cfg(target_vendor = "apple")]
fn become_user(uid: Uid, _: Gid) -> io::Result<()> {
    Err(io::Error::other(format!("run this command with `sudo -u '#{uid}'`")))
}

/// A file that the caller of a program named, which root opens in a directory of any user.
#[derive(Debug)]
pub struct Named {
    path: PathBuf,
    owner: u32,
    is_shared: bool,
    // `path` leads into the directory while it is open.
    directory: Option<File>,
}

impl Named {
    /// Finds the directory of a file, which need not exist. Fails if a third user could exchange the directory.
    pub fn new(path: &Path) -> anyhow::Result<Self> {
        let as_it_is = |owner| Self { path: path.to_owned(), owner, is_shared: false, directory: None };
        if !geteuid().is_root() {
            return Ok(as_it_is(geteuid().as_raw()));
        }
        let walk = Walk::along(path)?;
        if walk.is_own_stream {
            return Ok(as_it_is(0));
        }
        let (Some(parent), Some(name)) = (walk.real.parent(), walk.real.file_name()) else {
            bail!("'{}' is a directory", path.display());
        };
        let directory = File::open(parent).with_context(|| format!("cannot open '{}'", parent.display()))?;
        let about = directory.metadata()?;
        walk.check(about.uid())?;
        let is_shared = about.uid() != 0 || others_may_write(&about);
        let path = if cfg!(target_os = "linux") { descriptor_path(&directory, name) } else { walk.real.clone() };
        Ok(Self { path, owner: about.uid(), is_shared, directory: Some(directory) })
    }

    /// Leads into the directory that was found, even if the caller's path now leads elsewhere.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn owner(&self) -> u32 {
        self.owner
    }

    /// Opens the file, or the one beside it whose name has this suffix, but no link. Denies permission for a pipe or
    /// device where other users may have made it.
    pub fn read(&self, suffix: &str) -> io::Result<File> {
        self.open(suffix, OpenOptions::new().read(true), |_| true)
    }

    /// Opens the file for changes, but no link; creates it for its owner only. Denies permission for a pipe, a device
    /// or a file with several names where other users may have made it.
    pub fn update(&self) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false).mode(0o600);
        self.open("", &mut options, |about| about.nlink() == 1)
    }

    fn open(&self, suffix: &str, options: &mut OpenOptions, is_own: fn(&Metadata) -> bool) -> io::Result<File> {
        let mut path = self.path.clone().into_os_string();
        path.push(suffix);
        if self.directory.is_some() {
            // A pipe without a writer does not block.
            options.custom_flags(if self.is_shared { O_NOFOLLOW | O_NONBLOCK } else { O_NOFOLLOW });
        }
        let file = options.open(path)?;
        let about = file.metadata()?;
        if self.is_shared && !(about.is_file() && is_own(&about)) {
            return Err(io::Error::new(ErrorKind::PermissionDenied, "another user may have replaced it"));
        }
        Ok(file)
    }
}

fn descriptor_path(directory: &File, name: &OsStr) -> PathBuf {
    Path::new("/proc/self/fd").join(directory.as_raw_fd().to_string()).join(name)
}

fn others_may_write(about: &Metadata) -> bool {
    about.mode() & OTHERS != 0 || about.mode() & GROUP != 0 && about.gid() != 0
}

/// The target of a path, and the users who could have changed it.
#[derive(Debug)]
struct Walk {
    /// Without links; the end need not exist.
    real: PathBuf,
    /// The metadata of the target, or else of the nearest existing path above it.
    about: Metadata,
    /// Owners of directories above the target, apart from root, and of links in directories in which any user may
    /// create them.
    writers: BTreeSet<u32>,
    /// A directory above the target that belongs to root and that a group may write.
    shared: Option<PathBuf>,
    exists: bool,
    /// Whether the path is a system link to an open file of this process, such as /dev/stdin.
    is_own_stream: bool,
}

impl Walk {
    // Examines one component after the other, from the root: a directory that only root can write does not change
    // meanwhile. Records other users who can write a directory; `check` compares them with the owner of the target.
    fn along(path: &Path) -> anyhow::Result<Self> {
        let cannot = |at: &Path| format!("cannot examine '{}'", at.display());
        let mut left = components(&std::path::absolute(path).with_context(|| cannot(path))?);
        let mut walk = Self {
            real: "/".into(),
            about: fs::symlink_metadata("/")?,
            writers: BTreeSet::new(),
            shared: None,
            exists: true,
            is_own_stream: false,
        };
        let mut links = 0;
        while let Some(name) = left.pop() {
            if name == ".." {
                walk.real.pop();
                walk.about = fs::symlink_metadata(&walk.real).with_context(|| cannot(&walk.real))?;
                continue;
            }
            let next = walk.real.join(&name);
            if !walk.exists {
                walk.real = next;
                continue;
            }
            walk.enter()?;
            let found = match fs::symlink_metadata(&next) {
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    (walk.exists, walk.real) = (false, next);
                    continue;
                }
                found => found.with_context(|| cannot(&next))?,
            };
            if !found.is_symlink() {
                (walk.real, walk.about) = (next, found);
                continue;
            }
            if left.is_empty() && walk.real == Path::new(&format!("/proc/{}/fd", process::id())) {
                walk.is_own_stream = true;
                break;
            }
            // Links in other directories belong to the owner of their directory, who is already a writer.
            if walk.about.mode() & STICKY != 0 && found.uid() != 0 {
                walk.writers.insert(found.uid());
            }
            links += 1;
            if links > MAX_LINKS {
                bail!("{}: too many levels of symbolic links", cannot(path));
            }
            let target = fs::read_link(&next).with_context(|| cannot(&next))?;
            if target.is_absolute() {
                walk.real = "/".into();
                walk.about = fs::symlink_metadata("/")?;
            }
            left.extend(components(&target));
        }
        Ok(walk)
    }

    fn enter(&mut self) -> anyhow::Result<()> {
        let (directory, about) = (self.real.display(), &self.about);
        if about.uid() != 0 {
            self.writers.insert(about.uid());
        } else if about.mode() & STICKY == 0 && others_may_write(about) {
            if about.mode() & OTHERS != 0 {
                bail!(
                    "every user can write '{directory}', so root does not use it; run `chmod o-w '{directory}'`, or \
                     this command as another user"
                );
            }
            self.shared = Some(self.real.clone());
        }
        Ok(())
    }

    // Fails unless only root and `owner` could have exchanged the target.
    fn check(&self, owner: u32) -> anyhow::Result<()> {
        let real = self.real.display();
        if let Some(writer) = self.writers.iter().find(|writer| **writer != owner) {
            bail!(
                "user {writer} could replace '{real}', which belongs to user {owner}, so root does not use it; move \
                 it elsewhere, or make user {writer} its owner"
            );
        }
        match &self.shared {
            Some(shared) if owner == 0 => bail!(
                "the group of '{0}' could replace '{real}', so root does not use it; run `chmod g-w '{0}'`",
                shared.display()
            ),
            _ => Ok(()),
        }
    }
}

// Last one first.
fn components(path: &Path) -> Vec<OsString> {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        _ => None,
    });
    let mut names: Vec<OsString> = names.collect();
    names.reverse();
    names
}

#[cfg(test)]
mod tests {
    use std::{
        fs::Permissions,
        io::Read as _,
        os::unix::fs::{PermissionsExt as _, chown, symlink},
    };

    use tempfile::TempDir;

    use super::*;

    const USER: u32 = 61_234;
    const OTHER: u32 = 61_235;

    /// Directories of root, of a user, and for all users; `None` without root privileges.
    fn machine() -> Option<TempDir> {
        if !geteuid().is_root() {
            println!("skipped: it needs root, to make files of two users");
            return None;
        }
        let machine = TempDir::new().unwrap();
        for (name, owner, mode) in [
            ("etc", 0, 0o755),
            ("home", USER, 0o755),
            ("home/data", USER, 0o700),
            ("home/of-root", 0, 0o700),
            ("home/of-other", OTHER, 0o700),
            ("tmp", 0, 0o1777),
            ("tmp/data", 0, 0o700),
            ("open", 0, 0o777),
            ("open/data", USER, 0o700),
            ("group", 0, 0o770),
            ("group/data", USER, 0o700),
            ("group/of-root", 0, 0o700),
        ] {
            let path = machine.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
            chown(&path, Some(owner), (name == "group" || owner != 0).then_some(USER)).unwrap();
        }
        for (link, target, owner) in [
            ("link", "home/data", 0),
            ("home/to-etc", "../etc", USER),
            ("home/to-data", "data", USER),
            ("tmp/to-etc", "../etc", USER),
            ("tmp/to-data", "../home/data", USER),
        ] {
            let path = machine.path().join(link);
            symlink(target, &path).unwrap();
            std::os::unix::fs::lchown(&path, Some(owner), None).unwrap();
        }
        Some(machine)
    }

    #[test]
    fn root_owns_a_directory_unless_others_could_replace_it() {
        let Some(machine) = machine() else { return };
        let found = |name: &str| Owner::to_become(&machine.path().join(name)).map_err(|error| error.to_string());
        let user = Ok(Some(Owner { uid: USER, gid: USER }));
        for name in [
            "home/data",
            "home/data/new/x",
            "home/new",
            "link",
            "home/to-data",
            "tmp/to-data",
            "etc/../link",
            "group/data",
        ] {
            assert_eq!(found(name), user, "{name}");
        }
        for name in ["etc", "etc/new", "tmp/data", "tmp/new"] {
            assert_eq!(found(name), Ok(None), "{name}");
        }
        for (name, why) in [
            ("home/to-etc", "user 61234 could replace"),
            ("tmp/to-etc", "user 61234 could replace"),
            ("home/of-root", "user 61234 could replace"),
            ("home/of-other", "which belongs to user 61235"),
            ("open/data", "chmod o-w"),
            ("open", "other users can write it"),
            ("tmp", "other users can write it"),
            ("group/of-root", "chmod g-w"),
        ] {
            assert!(found(name).is_err_and(|error| error.contains(why)), "{name}: {:?}", found(name));
        }
    }

    #[test]
    fn root_opens_a_named_file_only_where_it_was_found() {
        let Some(machine) = machine() else { return };
        let at = |name: &str| machine.path().join(name);
        let text = |file: io::Result<File>| {
            let mut text = String::new();
            file.unwrap().read_to_string(&mut text).unwrap();
            text
        };
        for name in ["etc/file", "home/file", "home/two"] {
            fs::write(at(name), name).unwrap();
        }
        fs::hard_link(at("home/two"), at("home/names")).unwrap();
        let named = Named::new(&at("home/file")).unwrap();
        assert_eq!(named.owner(), USER);
        fs::rename(at("home"), at("moved")).unwrap();
        symlink("etc", at("home")).unwrap();
        assert_eq!(text(named.read("")), "home/file");
        fs::remove_file(at("moved/file")).unwrap();
        symlink("../etc/file", at("moved/file")).unwrap();
        named.read("").unwrap_err();
        named.update().unwrap_err();
        let two_names = Named::new(&at("moved/names")).unwrap();
        assert_eq!(text(two_names.read("")), "home/two");
        assert_eq!(two_names.update().unwrap_err().kind(), ErrorKind::PermissionDenied);
        Named::new(&at("moved/to-etc/file")).unwrap_err();
        assert_eq!(text(Named::new(&at("home/file")).unwrap().update()), "etc/file");
        assert_eq!(fs::read_to_string(at("etc/file")).unwrap(), "etc/file");
    }
}
