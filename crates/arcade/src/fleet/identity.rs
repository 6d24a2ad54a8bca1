//! What tells a data directory from others.

use std::{fs, io, path::Path};

use anyhow::Context as _;
use cmdkit::replace_file;
use mesh::Name;
use rand::{TryRng as _, rngs::SysRng};

/// The file with it.
const FILE: &str = "identity";

/// The identity of a data directory, which is drawn when it is first needed.
pub(super) fn open(data: &Path) -> anyhow::Result<Name> {
    let path = data.join(FILE);
    match fs::read_to_string(&path) {
        Ok(text) => text.trim().parse().with_context(|| format!("'{}' is damaged; remove it", path.display())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut bytes = [0; 16];
            SysRng.try_fill_bytes(&mut bytes)?;
            let drawn: Name = format!("{:032x}", u128::from_be_bytes(bytes)).parse()?;
            replace_file(&path, drawn.as_str().as_bytes())
                .with_context(|| format!("cannot write '{}'", path.display()))?;
            Ok(drawn)
        }
        Err(error) => Err(error).with_context(|| format!("cannot read '{}'", path.display())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_data_directory_keeps_its_identity() {
        let (data, other) = (testkit::TempDir::new(), testkit::TempDir::new());
        let first = open(data.path()).unwrap();
        assert_eq!(open(data.path()).unwrap(), first);
        assert_ne!(open(other.path()).unwrap(), first);
        fs::write(data.path().join(FILE), "not a name").unwrap();
        assert!(open(data.path()).unwrap_err().to_string().contains("is damaged; remove it"));
    }
}
