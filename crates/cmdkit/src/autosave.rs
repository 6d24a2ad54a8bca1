use anyhow::anyhow;

/// Saves a computation of hours at intervals.
///
/// After a failed intermediate save the computation continues: the disk may have room again at the next save. A failed
/// final save is an error.
#[derive(Debug)]
pub struct Autosave {
    every: u64,
    // The work at the last attempt to save, and at the last success.
    tried: u64,
    saved: Option<u64>,
}

impl Autosave {
    pub const fn new(every: u64) -> Self {
        Self { every, tried: 0, saved: None }
    }

    /// Calls `save` if enough work was done since the last attempt. The caller should report an error and continue.
    pub fn meanwhile(&mut self, done: u64, save: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<bool> {
        if done.saturating_sub(self.tried) < self.every {
            return Ok(false);
        }
        self.tried = done;
        save().map_err(|error| anyhow!("{error:#}; continuing, the next save retries"))?;
        self.saved = Some(done);
        Ok(true)
    }

    /// Calls `save` unless all work is saved. Returns whether it did.
    pub fn finish(&mut self, done: u64, save: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<bool> {
        if self.saved == Some(done) {
            return Ok(false);
        }
        save().map_err(|error| anyhow!("{error:#}; all work since the last save is lost"))?;
        self.saved = Some(done);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use anyhow::bail;

    use super::*;

    #[test]
    fn failed_save_is_reported_and_retried() {
        let full = Cell::new(false);
        let save = || if full.get() { bail!("no room") } else { Ok(()) };
        let mut saves = Autosave::new(10);
        let mut meanwhile = |done| saves.meanwhile(done, save).map_err(|error| error.to_string());
        assert_eq!([0, 9, 10, 19].map(&mut meanwhile), [Ok(false), Ok(false), Ok(true), Ok(false)]);
        full.set(true);
        let told = "no room; continuing, the next save retries".to_owned();
        assert_eq!([23, 24, 32].map(&mut meanwhile), [Err(told), Ok(false), Ok(false)]);
        full.set(false);
        assert_eq!(meanwhile(33), Ok(true));
    }

    #[test]
    fn autosave_finishes_with_a_save_or_an_error() {
        for (done, works, end) in [(10, true, Ok(false)), (12, true, Ok(true)), (10, false, Ok(true))] {
            let mut saves = Autosave::new(10);
            let _ = saves.meanwhile(10, || if works { Ok(()) } else { bail!("no room") });
            assert_eq!(saves.finish(done, || Ok(())).map_err(|error| error.to_string()), end, "{done} {works}");
        }
        let error = Autosave::new(10).finish(0, || bail!("no room")).unwrap_err();
        assert_eq!(error.to_string(), "no room; all work since the last save is lost");
    }
}
