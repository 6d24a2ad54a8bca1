//! Link previews of a match (Open Graph): the result in words, and as a picture.

use std::{fmt::Write as _, sync::Arc, time::Duration};

use axum::{
    Extension, Router,
    extract::{Path, State},
    http::{Extensions, HeaderMap, header},
    response::{IntoResponse, Response},
    routing::get,
};
use cmdkit::isolated;
use deunicode::deunicode;
use picture::{Picture, Rgb, Text};
use store::{Match, MatchPlayer};
use tokio::{task::spawn_blocking, time::timeout};

use super::{
    api,
    caller::{self, Caller},
    page::Page,
    response::missing,
};
use crate::{games::Game, hub::Hub};

/// Timeout of the database, after which the page is sent without the result.
const PATIENCE: Duration = Duration::from_millis(500);
/// In CSS pixels; a picture has twice as many pixels. Sites expect this aspect ratio.
const SIZE: (u16, u16) = (600, 315);
const NAMED: usize = 6;
/// Characters of a name on a picture.
const LETTERS: usize = 24;
/// A result does not change.
const CACHED: &str = "public, max-age=86400";

const GROUND: Rgb = Rgb(22, 19, 15);
const PALE: Rgb = Rgb(244, 239, 230);
const SOFT: Rgb = Rgb(190, 180, 165);

pub(crate) fn routes() -> Router<Arc<Hub>> {
    Router::new().route("/matches/{id}", get(share_page)).route("/matches/{id}/picture.png", get(drawn))
}

async fn share_page(
    State(hub): State<Arc<Hub>>,
    caller: Caller,
    extensions: Extensions,
    Extension(page): Extension<Arc<Page>>,
    Path(id): Path<String>,
    headers: HeaderMap,
) -> Response {
    let found = timeout(PATIENCE, api::find(&hub, caller, id)).await;
    let head = found.ok().and_then(Result::ok).map(|found| {
        let picture = format!("matches/{}/picture.png", found.id);
        tags(&found, caller::public_url(&hub, &extensions, &headers, &picture).as_deref())
    });
    page.answer_with(&headers, head.as_deref()).unwrap_or_else(missing)
}

async fn drawn(State(hub): State<Arc<Hub>>, caller: Caller, Path(id): Path<String>) -> Response {
    let found = match api::find(&hub, caller, id).await {
        Ok(found) => found,
        Err(error) => return error.into_response(),
    };
    // Drawing occupies a processor, so it shares the quota of learning sessions.
    let turn = match hub.resources().slices.wait(caller.host()).await {
        Ok(turn) => turn,
        Err(refusal) => return super::response::refused(refusal),
    };
    let png = spawn_blocking(move || draw(&found).to_png()).await;
    drop(turn);
    match png {
        Ok(Ok(png)) => ([(header::CONTENT_TYPE, "image/png"), (header::CACHE_CONTROL, CACHED)], png).into_response(),
        Ok(Err(_)) | Err(_) => missing(),
    }
}

/// The title of a game, and the score in words.
fn words(game: &str, score: i64) -> (&'static str, String) {
    Game::named(game).map_or(("A match", score.to_string()), |game| (game.title(), game.score(score)))
}

fn winners(players: &[MatchPlayer]) -> String {
    let first: Vec<_> = players.iter().filter(|player| player.rank == 1).map(|player| isolated(&player.name)).collect();
    match first.as_slice() {
        [] => "The game is over".into(),
        [one] => format!("{one} wins"),
        [others @ .., last] if others.len() < 3 => format!("{} and {last} share the first place", others.join(", ")),
        all => format!("{} players share the first place", all.len()),
    }
}

fn tags(found: &Match, picture: Option<&str>) -> String {
    let title = format!("{}: {}", words(&found.game, 0).0, winners(&found.players));
    let rows =
        found.players.iter().take(NAMED).map(|player| {
            format!("{}. {}: {}", player.rank, isolated(&player.name), words(&found.game, player.score).1)
        });
    let mut tags = String::new();
    let mut tag = |property: &str, content: &str| {
        let _ = write!(tags, "<meta property=\"{property}\" content=\"{}\" />", escape(content));
    };
    tag("og:type", "website");
    tag("og:site_name", "Arcade");
    tag("og:title", &title);
    tag("og:description", &rows.collect::<Vec<_>>().join(", "));
    if let Some(picture) = picture {
        tag("og:image", picture);
        tag("og:image:width", &(2 * SIZE.0).to_string());
        tag("og:image:height", &(2 * SIZE.1).to_string());
        tag("og:image:alt", &title);
        tag("twitter:card", "summary_large_image");
    }
    tags
}

// Names are untrusted input.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

fn draw(found: &Match) -> Picture {
    let (name, _) = words(&found.game, 0);
    let colour = Game::named(&found.game).map(Game::colour).map_or(PALE, |[red, green, blue]| Rgb(red, green, blue));
    let (width, height) = (f32::from(SIZE.0), f32::from(SIZE.1));
    let title = winners(&found.players);
    let mut picture = Picture::new(SIZE.0, SIZE.1, &title, "");
    picture.rectangle([0.0, 0.0, width, height], 0.0, Some(GROUND), None);
    picture.rectangle([0.0, 0.0, 10.0, height], 0.0, Some(colour), None);
    picture.text(Text::new((36.0, 46.0), 18.0, colour, name).bold());
    picture.text(Text::new((width - 28.0, 46.0), 14.0, SOFT, "Arcade").end());
    picture.text(Text::new((36.0, 84.0), 26.0, PALE, short(&title, 2 * LETTERS - 10)).bold());
    let mut y = 122.0;
    for MatchPlayer { rank, name, score, .. } in found.players.iter().take(NAMED) {
        picture.text(Text::new((36.0, y), 18.0, SOFT, format!("{rank}.")));
        picture.text(Text::new((66.0, y), 18.0, PALE, short(name, LETTERS)));
        picture.text(Text::new((width - 28.0, y), 18.0, PALE, words(&found.game, *score).1).end());
        y += 28.0;
    }
    let more = found.players.len().saturating_sub(NAMED);
    if more > 0 {
        picture.text(Text::new((66.0, y), 14.0, SOFT, format!("and {more} more")));
    }
    picture
}

// The typeface has only ASCII.
fn short(text: &str, most: usize) -> String {
    let known = |letter: char| if letter.is_ascii_graphic() || letter == ' ' { letter } else { '?' };
    let text = deunicode(&text.replace(['\u{2068}', '\u{2069}'], ""));
    let mut short: String = text.chars().take(most).map(known).collect();
    if text.chars().nth(most).is_some() {
        short.push('\u{2026}');
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ended(names: &[(&str, u32, i64)]) -> Match {
        let player = |&(name, rank, score): &(&str, u32, i64)| MatchPlayer {
            rank,
            name: name.into(),
            seat: "A".into(),
            score,
            ..MatchPlayer::default()
        };
        Match {
            id: "nuggets-1.1".into(),
            game: "nuggets".into(),
            title: "map main".into(),
            room: "nuggets-1".into(),
            journal: "nuggets-1.journal".into(),
            number: 1,
            begins: 0,
            ends: 1,
            started: 0,
            ended: 1,
            complete: true,
            class: String::new(),
            casual: String::new(),
            challenge: None,
            players: names.iter().map(player).collect(),
        }
    }

    #[test]
    fn preview_has_the_result_and_escapes_names() {
        let two = ended(&[("Ann\"><script>", 1, 200), ("Bob", 2, 50)]);
        let tags = tags(&two, Some("http://here/matches/nuggets-1.1/picture.png"));
        assert!(
            tags.contains(r#"<meta property="og:title" content="Nuggets: Ann&quot;&gt;&lt;script&gt; wins" />"#),
            "{tags}"
        );
        assert!(tags.contains("2. Bob: 50 nuggets") && tags.contains(r#"content="http://here/"#), "{tags}");
        let shared = ended(&[("Ann", 1, 1), ("Bob", 1, 1)]);
        assert_eq!(winners(&shared.players), "Ann and Bob share the first place");
    }

    #[test]
    fn preview_picture_has_the_expected_size() {
        let all: Vec<(String, u32, i64)> = (1..=9).map(|rank| (format!("Żółw {rank}").repeat(8), rank, 9)).collect();
        let all: Vec<_> = all.iter().map(|(name, rank, score)| (&**name, *rank, *score)).collect();
        let png = draw(&ended(&all)).to_png().unwrap();
        let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
        assert_eq!((number(16), number(20)), (1200, 630));
        assert_eq!(short("\u{2068}Żółw\u{2069}", 3), "Zol\u{2026}");
        assert_eq!(short("🎲", 20), "game die");
    }
}
