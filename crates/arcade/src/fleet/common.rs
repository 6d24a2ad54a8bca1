//! What all nodes have in common: whoever comes first draws it.

use mesh::{Directory, Entry, Key, MeshError, Name, Trouble, Value, Written};

/// The value with this name, which is drawn if there is none. It is written again, so that it does not get too old to be kept.
///
/// # Errors
/// That of the directory, or of the system that draws.
pub(super) async fn ensure(
    directory: &dyn Directory,
    name: &Name,
    draw: impl Fn() -> anyhow::Result<String>,
) -> Result<String, MeshError> {
    let key = Key::Common(name.clone());
    let mut there = directory.entry(&key).await?;
    loop {
        let (value, expected) = match &there {
            Some(Entry { revision, value: Value::Common(value) }) => (value.clone(), Some(*revision)),
            Some(_) => return Err(unusable(name, "a later version of arcade has written it", "upgrade this node")),
            None => {
                let drawn = draw();
                (drawn.map_err(|error| unusable(name, error, "see why the system has no random numbers"))?, None)
            }
        };
        match directory.write(&key, Some(&Value::Common(value.clone())), expected).await? {
            Written::Stored(_) => return Ok(value),
            // Another node was faster.
            Written::Conflict(entry) => there = entry,
        }
    }
}

fn unusable(name: &Name, why: impl std::fmt::Display, advice: &str) -> MeshError {
    MeshError::new(Trouble::Setup, format!("use what nodes share as '{name}'"), "the directory", why, advice)
}

#[cfg(test)]
mod tests {
    use mesh::Local;
    use netcore::Time;

    use super::*;

    #[tokio::test]
    async fn all_nodes_have_what_the_first_one_has_drawn() {
        let mesh = Local::new(|| Time::ZERO);
        let name: Name = "key".parse().unwrap();
        let drawn = |value: &'static str| move || Ok(value.to_owned());
        assert_eq!(ensure(&mesh, &name, drawn("first")).await.unwrap(), "first");
        let written = mesh.entry(&Key::Common(name.clone())).await.unwrap().unwrap().revision;
        assert_eq!(ensure(&mesh, &name, drawn("second")).await.unwrap(), "first");
        let again = mesh.entry(&Key::Common(name.clone())).await.unwrap().unwrap();
        assert!(again.revision > written, "it is young again");
        mesh.write(&Key::Common(name.clone()), Some(&Value::Unknown), Some(again.revision)).await.unwrap();
        assert!(ensure(&mesh, &name, drawn("third")).await.unwrap_err().to_string().contains("upgrade this node"));
    }
}
