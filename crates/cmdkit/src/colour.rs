use std::io::IsTerminal;

/// Reads the environment with the library that clap uses for its messages.
pub fn has_colour(stream: &impl IsTerminal) -> bool {
    !anstyle_query::no_color() && anstyle_query::term_supports_ansi_color() && stream.is_terminal()
}
