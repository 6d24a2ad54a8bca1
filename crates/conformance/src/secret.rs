//! Seeds that only the teacher of a class can compute, from a secret word, a random salt, and the student's name.

use std::{
    fs,
    io::{ErrorKind, Write as _},
    path::Path,
};

use anyhow::{Context as _, bail};
use cmdkit::{NewFile, file_name};
use conformance::Seed;
use rand::{TryRng as _, rngs::SysRng};
use sha2::{Digest as _, Sha256};

const FILE: &str = "salt";
const LENGTH: usize = 32;

#[derive(Clone, Debug)]
pub(crate) struct Secret {
    word: String,
    salt: [u8; LENGTH],
}

impl Secret {
    /// Generates the salt once, and stores it in `folder`, readable only by its owner.
    pub(crate) fn of_class(word: &str, folder: &Path) -> anyhow::Result<Self> {
        let path = folder.join(FILE);
        let cannot = || format!("cannot write the salt of the class, {}", file_name(&path));
        let mut file = match NewFile::create(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => return Self::read(word, &path),
            Err(error) => return Err(error).with_context(cannot),
        };
        let mut salt = [0; LENGTH];
        SysRng.try_fill_bytes(&mut salt).context("the system gives no entropy for the salt of the class")?;
        writeln!(file, "{}", hex(&salt)).with_context(cannot)?;
        file.finish().with_context(cannot)?;
        Ok(Self { word: word.to_owned(), salt })
    }

    pub(crate) fn read(word: &str, path: &Path) -> anyhow::Result<Self> {
        let text = fs::read(path).with_context(|| format!("cannot read the salt of a class, {}", file_name(path)))?;
        let Some(salt) = unhex(text.trim_ascii()) else {
            bail!("{} is not the salt of a class: expected {} hexadecimal digits", file_name(path), 2 * LENGTH);
        };
        Ok(Self { word: word.to_owned(), salt })
    }

    pub(crate) fn seed(&self, student: &str) -> Seed {
        let mut hash = Sha256::new();
        hash.update(self.salt);
        for part in [&self.word, student] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        Seed::Secret(hash.finalize().into())
    }
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

fn unhex(digits: &[u8]) -> Option<[u8; LENGTH]> {
    let digit = |digit: &u8| u8::try_from(char::from(*digit).to_digit(16)?).ok();
    let bytes = digits.chunks(2).map(|pair| Some(digit(pair.first()?)? << 4 | digit(pair.get(1)?)?));
    bytes.collect::<Option<Vec<u8>>>()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secret_seed_depends_on_word_student_and_salt() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let secret = |word, folder: &tempfile::TempDir| Secret::of_class(word, folder.path()).unwrap();
        let tulip = secret("tulip", &folder);
        assert_ne!(tulip.seed("anna"), tulip.seed("ben"));
        assert_ne!(tulip.seed("anna"), secret("rose", &folder).seed("anna"));
        assert_ne!(tulip.seed("anna"), secret("tulip", &other).seed("anna"));
        assert_eq!(tulip.seed("anna"), secret("tulip", &folder).seed("anna"));
        assert_eq!(tulip.seed("anna"), Secret::read("tulip", &folder.path().join("salt")).unwrap().seed("anna"));
        assert_ne!(secret("tulipa", &folder).seed("nna"), tulip.seed("anna"));
    }

    #[cfg(unix)]
    #[test]
    fn salt_is_readable_only_by_its_owner() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        Secret::of_class("tulip", folder.path()).unwrap();
        let mode = fs::metadata(folder.path().join("salt")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn damaged_salt_is_an_error_and_is_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("salt");
        for wrong in ["", "12", &"g".repeat(64), &"1".repeat(63), &"1".repeat(66)] {
            fs::write(&path, wrong).unwrap();
            let error = Secret::of_class("tulip", folder.path()).unwrap_err().to_string();
            assert!(error.ends_with("is not the salt of a class: expected 64 hexadecimal digits"), "{error}");
            assert_eq!(fs::read_to_string(&path).unwrap(), wrong);
        }
    }
}
