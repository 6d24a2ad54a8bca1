//! A picture of blackjack: the first table, in the words of the rules for those who look on.

use crate::games::picture::{Painter, Picture};

/// The first table of the last picture.
#[derive(Debug, Default)]
pub(crate) struct Felt(String);

impl Painter for Felt {
    fn receive(&mut self, message: &[u8]) {
        let text = String::from_utf8_lossy(message);
        let mut lines = text.trim_end_matches('\0').split('\n').skip_while(|line| !line.starts_with("TABLE "));
        let Some(first) = lines.next() else { return };
        self.0.clear();
        self.0.push_str(first);
        for line in lines.take_while(|line| !line.starts_with("TABLE ")) {
            self.0.push('\n');
            self.0.push_str(line);
        }
    }

    fn picture(&self) -> Picture {
        let mut picture = Picture::new();
        if !self.0.is_empty() {
            picture.insert("table".to_owned(), self.0.as_str().into());
        }
        picture
    }
}
