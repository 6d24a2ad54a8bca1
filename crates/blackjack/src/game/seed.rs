//! The seed of the cards and their generator.

use core::fmt;

use rand::{SeedableRng, TryRng, rngs::ChaCha12Rng};
use serde::{Deserialize, Serialize};

/// The key of a `ChaCha` generator, whose cards do not reveal later ones.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seed([u8; 32]);

impl Seed {
    /// Creates a seed from a key, which must be random in real games.
    pub const fn new(key: [u8; 32]) -> Self {
        Self(key)
    }

    /// Creates the seed for a number, for tests: it can be guessed.
    pub fn from_number(number: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&number.to_le_bytes());
        Self(key)
    }

    /// The seed for a number if there is one, otherwise a seed from this entropy.
    pub fn from_number_or<R: TryRng>(number: Option<u64>, entropy: &mut R) -> Result<Self, R::Error> {
        if let Some(number) = number {
            return Ok(Self::from_number(number));
        }
        let mut key = [0; 32];
        entropy.try_fill_bytes(&mut key)?;
        Ok(Self(key))
    }

    /// The generator of a table: a separate stream, independent of other tables.
    pub fn generator(self, table: u32) -> ChaCha12Rng {
        let mut rng = ChaCha12Rng::from_seed(self.0);
        rng.set_stream(u64::from(table));
        rng
    }
}

// Logs must not contain the key.
impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(..)")
    }
}

pub(super) struct Generator(pub(super) ChaCha12Rng);

impl Clone for Generator {
    fn clone(&self) -> Self {
        let mut rng = ChaCha12Rng::from_seed(self.0.get_seed());
        rng.set_stream(self.0.get_stream());
        rng.set_word_pos(self.0.get_word_pos());
        Self(rng)
    }
}
