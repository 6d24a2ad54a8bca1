//! A directory that goes when the test does.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

/// An empty directory of its own for one test, removed with all that is in it when dropped.
#[derive(Debug)]
pub struct TempDir {
    path: PathBuf,
}

impl TempDir {
    /// A new directory.
    #[expect(clippy::new_without_default, reason = "what makes a directory should be seen to do so")]
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = env::temp_dir().join(format!("arcade-test-{}-{number}", process::id()));
            match fs::create_dir(&path) {
                Ok(()) => return Self { path },
                // Left by a process of the same number that was killed.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => panic!("cannot make {}: {error}", path.display()),
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes a file into it and says where that is, as an argument for a program.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        let path = self.path.join(name);
        if let Err(error) = fs::write(&path, content) {
            panic!("cannot write {}: {error}", path.display());
        }
        path.into_os_string().into_string().expect("the temporary directory has a readable name")
    }
}

impl Drop for TempDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.path);
    }
}
