/// More than any window shows.
const MAX_ENTRIES: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Message,
    Red,
    White,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message(Vec<(String, Tone)>);

impl Message {
    pub(crate) fn new(pieces: impl IntoIterator<Item = (String, Tone)>) -> Self {
        Self(pieces.into_iter().collect())
    }

    /// Rows are cut at blanks where possible. Each character takes one column.
    fn rows(&self, width: usize) -> Vec<Vec<(char, Tone)>> {
        let mut rest: Vec<(char, Tone)> =
            self.0.iter().flat_map(|(text, tone)| text.chars().map(|character| (character, *tone))).collect();
        let width = width.max(1);
        let mut rows = Vec::new();
        while rest.len() > width {
            let blank = rest[..=width].iter().rposition(|(character, _)| *character == ' ').filter(|at| *at > 0);
            let (end, next) = blank.map_or((width, width), |at| (at, at + 1));
            let tail = rest.split_off(next);
            rest.truncate(end);
            rows.push(rest);
            rest = tail;
        }
        rows.push(rest);
        rows
    }
}

impl<T: Into<String>> From<T> for Message {
    fn from(text: T) -> Self {
        Self::new([(text.into(), Tone::Message)])
    }
}

/// The newest last.
#[derive(Debug, Clone, Default)]
pub(crate) struct Log {
    // With the number of consecutive repetitions.
    messages: Vec<(Message, usize)>,
}

impl Log {
    /// A repeated message increases its count, which shows in a full window too.
    pub(crate) fn add(&mut self, message: impl Into<Message>) {
        let message = message.into();
        match self.messages.last_mut() {
            Some((last, times)) if *last == message => *times += 1,
            _ => self.push(message),
        }
    }

    pub(crate) fn add_all(&mut self, messages: impl IntoIterator<Item: Into<Message>>) {
        messages.into_iter().for_each(|message| self.add(message));
    }

    pub(crate) fn add_row(&mut self, row: &str) {
        self.push(Message::new([(row.to_owned(), Tone::White)]));
    }

    fn push(&mut self, message: Message) {
        if self.messages.len() == MAX_ENTRIES {
            self.messages.remove(0);
        }
        self.messages.push((message, 1));
    }

    pub(crate) fn rows(&self, width: usize, height: usize) -> Vec<Vec<(char, Tone)>> {
        let rows = self.messages.iter().rev().flat_map(|(message, times)| {
            let mut message = message.clone();
            if *times > 1 {
                message.0.push((format!(" ({times} times)"), Tone::White));
            }
            let mut rows = message.rows(width);
            rows.reverse();
            rows
        });
        let mut rows: Vec<_> = rows.take(height).collect();
        rows.reverse();
        rows
    }

    pub(crate) fn clear(&mut self) {
        self.messages.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(log: &Log, width: usize, height: usize) -> Vec<String> {
        log.rows(width, height).iter().map(|row| row.iter().map(|(character, _)| character).collect()).collect()
    }

    #[test]
    fn rows_are_counted_and_not_messages() {
        let mut log = Log::default();
        for number in 0..30 {
            log.add(format!("{number} and more"));
        }
        assert_eq!(shown(&log, 20, 2), ["28 and more", "29 and more"]);
        log.add("a message of two rows");
        assert_eq!(shown(&log, 14, 3), ["29 and more", "a message of", "two rows"]);
        assert_eq!(shown(&log, 14, 24).len(), 24);
        assert_eq!(shown(&log, 14, 1), ["two rows"]);
    }

    #[test]
    fn long_words_are_cut_and_tones_stay() {
        let mut log = Log::default();
        log.add(Message::new([("RED: 1".into(), Tone::Red), (" WHITE: 2".into(), Tone::White)]));
        assert_eq!(shown(&log, 6, 9), ["RED: 1", "WHITE:", "2"]);
        assert_eq!(log.rows(20, 9)[0][5], ('1', Tone::Red));
        assert_eq!(log.rows(20, 9)[0][7], ('W', Tone::White));
        log.clear();
        log.add("abcdefgh ij");
        assert_eq!(shown(&log, 3, 9), ["abc", "def", "gh", "ij"]);
        assert_eq!(shown(&log, 0, 2).len(), 2);
    }

    #[test]
    fn repeated_message_is_counted() {
        let mut log = Log::default();
        log.add("no");
        log.add("no");
        assert_eq!(shown(&log, 20, 9), ["no (2 times)"]);
        log.add("yes");
        log.add("no");
        assert_eq!(shown(&log, 20, 9), ["no (2 times)", "yes", "no"]);
    }

    #[test]
    fn the_log_is_bounded() {
        let mut log = Log::default();
        for number in 0..2 * MAX_ENTRIES {
            log.add(number.to_string());
        }
        assert_eq!(log.messages.len(), MAX_ENTRIES);
        assert_eq!(shown(&log, 9, 1), [(2 * MAX_ENTRIES - 1).to_string()]);
    }
}
