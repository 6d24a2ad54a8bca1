//! The page of the hub. It contains the lobby for immediate display, and is rendered and compressed once for each state
//! of the lobby.

use std::{
    collections::{BTreeSet, HashMap},
    fmt::Write as _,
    io::Write as _,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use axum::{
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use netcore::HostId;
use rust_embed::{EmbeddedFile, RustEmbed};

use crate::{
    games::Game,
    hub::{
        address::PublicUrl,
        lobby::{Lists, ViewQuery, ViewSubscription},
    },
};

#[derive(Debug)]
pub(crate) struct Page {
    settings: Settings,
    state: Mutex<PageState>,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Settings {
    pub(crate) rooms_are_here: bool,
    pub(crate) examples: bool,
    pub(crate) has_ladder: bool,
    pub(crate) public: Option<PublicUrl>,
}

#[derive(Debug)]
struct PageState {
    lobby: ViewSubscription,
    rendered: Option<RenderedPage>,
}

#[derive(Debug, Clone)]
struct RenderedPage {
    // The number of the lobby frame in the page.
    number: u64,
    plain: Bytes,
    compressed: Bytes,
}

impl Page {
    pub(crate) fn of(lists: &Arc<Lists>, settings: Settings) -> Arc<Self> {
        let lobby = lists.subscribe(HostId::Other, ViewQuery::default());
        Arc::new(Self { settings, state: Mutex::new(PageState { lobby, rendered: None }) })
    }

    /// `None` if the program was built without the page.
    pub(crate) fn answer(&self, request: &HeaderMap) -> Option<Response> {
        self.answer_with(request, None)
    }

    /// Adds `head` to the head of the page.
    pub(crate) fn answer_with(&self, request: &HeaderMap, head: Option<&str>) -> Option<Response> {
        let RenderedPage { mut plain, mut compressed, .. } = self.rendered()?;
        if let Some(head) = head {
            plain = String::from_utf8_lossy(&plain).replacen("</head>", &format!("{head}</head>"), 1).into();
            if takes_gzip(request) {
                compressed = gzip(&plain, Compression::fast());
            }
        }
        let headers = [
            (header::CONTENT_TYPE, "text/html; charset=utf-8"),
            (header::CACHE_CONTROL, "no-store"),
            (header::VARY, "accept-encoding"),
        ];
        Some(if takes_gzip(request) {
            (headers, [(header::CONTENT_ENCODING, "gzip")], compressed).into_response()
        } else {
            (headers, plain).into_response()
        })
    }

    // Renders under the lock, since concurrent requests would render the same.
    fn rendered(&self) -> Option<RenderedPage> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let frame = Arc::clone(&state.lobby.frames.borrow());
        if let Some(rendered) = state.rendered.as_ref().filter(|rendered| rendered.number == frame.number) {
            return Some(rendered.clone());
        }
        let plain = Bytes::from(page(&String::from_utf8_lossy(&frame.full()), &self.settings)?);
        let compressed = gzip(&plain, Compression::fast());
        let rendered = RenderedPage { number: frame.number, plain, compressed };
        state.rendered = Some(rendered.clone());
        Some(rendered)
    }
}

#[derive(RustEmbed)]
#[folder = "web/"]
#[include = "index.html"]
#[include = "icon.svg"]
#[include = "manifest.webmanifest"]
#[include = "js/*"]
#[include = "style/*"]
#[include = "text/*"]
#[exclude = "*.d.ts"]
struct Assets;

/// The pages of example games: `NAME/page/FILE`.
#[derive(RustEmbed)]
#[folder = "../../examples/"]
#[include = "*/page/*"]
struct Examples;

const GAMES: &str = "js/games/";

/// For home screens, which show no SVG: the size in pixels for iOS, and the largest one for Android.
static ICONS: [(&str, LazyLock<Vec<u8>>); 2] =
    [("icon-180.png", LazyLock::new(|| icon(180))), ("icon-512.png", LazyLock::new(|| icon(512)))];

fn icon(pixels: u16) -> Vec<u8> {
    let svg = Assets::get("icon.svg").map(|file| String::from_utf8_lossy(&file.data).into_owned());
    // The embedded file can be rendered.
    svg.and_then(|svg| picture::icon(&svg, pixels).ok()).unwrap_or_default()
}

/// Example games are served beside the other games.
fn asset(path: &str) -> Option<EmbeddedFile> {
    Assets::get(path).or_else(|| {
        let (game, file) = path.strip_prefix(GAMES)?.split_once('/')?;
        Examples::get(&format!("{game}/page/{file}"))
    })
}

/// Excludes pages and data.
pub(crate) fn is_file(path: &str) -> bool {
    ["/js/", "/style/", "/text/", "/icon", "/manifest.webmanifest"].iter().any(|start| path.starts_with(start))
}

pub(crate) fn file(path: &str, request: &HeaderMap) -> Response {
    let icon = ICONS.iter().find(|(name, _)| *name == path);
    let Some(file) = asset(icon.map_or(path, |_| "icon.svg")) else {
        return (StatusCode::NOT_FOUND, "There is no such file.\n").into_response();
    };
    let hash = file.metadata.sha256_hash();
    let tag = format!("\"{}\"", URL_SAFE_NO_PAD.encode(hash));
    let cached = [(header::CACHE_CONTROL, "no-cache".to_owned()), (header::ETAG, tag.clone())];
    if has_version(request, &tag) {
        return (StatusCode::NOT_MODIFIED, cached).into_response();
    }
    let kind = match path.rsplit('.').next() {
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("svg") => "image/svg+xml",
        Some("woff2") => "font/woff2",
        Some("webmanifest") => "application/manifest+json",
        _ => "application/octet-stream",
    };
    if let Some((_, png)) = icon {
        return (cached, [(header::CONTENT_TYPE, "image/png")], png.as_slice()).into_response();
    }
    let typed = [(header::CONTENT_TYPE, kind), (header::VARY, "accept-encoding")];
    if takes_gzip(request) {
        let body = compressed(hash, &file.data);
        return (cached, typed, [(header::CONTENT_ENCODING, "gzip")], body).into_response();
    }
    (cached, typed, file.data).into_response()
}

// By the weak comparison of RFC 9110: a proxy that compresses a file marks its tag as weak.
fn has_version(request: &HeaderMap, tag: &str) -> bool {
    let lists = request.get_all(header::IF_NONE_MATCH).iter().filter_map(|list| list.to_str().ok());
    let mut known = lists.flat_map(|list| list.split(',')).map(str::trim);
    known.any(|known| known == "*" || known.strip_prefix("W/").unwrap_or(known) == tag)
}

/// `None` if the program was built without the page.
pub(crate) fn page(lobby: &str, settings: &Settings) -> Option<String> {
    let file = Assets::get("index.html")?;
    let &Settings { rooms_are_here, examples, has_ladder, ref public } = settings;
    // Escapes `<`, so that no name can end the element of the lobby.
    let lobby = lobby.replace('<', "\\u003c");
    let rooms = if rooms_are_here { "here" } else { "open" };
    let names = Game::names(Game::ALL.into_iter().filter(|game| examples && game.is_example())).replace(',', "");
    let page = String::from_utf8_lossy(&file.data)
        .replace("{{preload}}", if examples { &PRELOAD_WITH_EXAMPLES } else { &PRELOAD })
        .replace("{{ladder}}", if has_ladder { "" } else { "hidden" })
        .replace("{{rooms}}", rooms)
        .replace("{{examples}}", &names);
    let base = public.as_ref().map_or("", PublicUrl::base);
    let page = if base.is_empty() { page } else { page.replace("=\"/", &format!("=\"{base}/")) };
    let page = page.replace("{{public}}", &public.as_ref().map_or_else(String::new, PublicUrl::to_string));
    // Last, because the lobby contains names of players.
    Some(page.replace("{{lobby}}", &lobby))
}

/// Cached, because a development build searches directories.
static PRELOAD: LazyLock<String> = LazyLock::new(|| preload(false));
static PRELOAD_WITH_EXAMPLES: LazyLock<String> = LazyLock::new(|| preload(true));

/// Links to all style sheets and to the modules that every page needs. Style sheets of games are last: they override
/// the general ones.
fn preload(examples: bool) -> String {
    let mut links = String::new();
    // `style.css` of a game is for all pages; its modules load other sheets.
    let is_sheet = |path: &String| path.ends_with("/style.css") || path.starts_with("style/");
    let mut sheets: Vec<String> = Assets::iter().map(Into::into).filter(is_sheet).collect();
    let folder = |game: Game| format!("{GAMES}{}/", game.name());
    let of_examples = Game::offered(examples).filter(|game| game.is_example());
    sheets.extend(of_examples.map(|game| format!("{}style.css", folder(game))));
    sheets.sort_by_key(|path| (path.starts_with("js/"), path.clone()));
    for path in sheets {
        let _ = write!(links, r#"<link rel="stylesheet" href="/{path}" />"#);
    }
    let games = Game::offered(examples).map(|game| format!("{}index.js", folder(game)));
    let first = games.chain(["js/start.js", "js/games/index.js", "js/main.js"].map(str::to_owned));
    for path in modules(first) {
        let _ = write!(links, r#"<link rel="modulepreload" href="/{path}" />"#);
    }
    links
}

/// Includes imported modules, except those that are loaded on demand.
fn modules(first: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    let mut next: Vec<String> = first.into_iter().collect();
    let mut found: BTreeSet<String> = next.iter().cloned().collect();
    while let Some(path) = next.pop() {
        let Some(file) = asset(&path) else { continue };
        let text = String::from_utf8_lossy(&file.data).into_owned();
        for line in text.lines().filter(|line| line.starts_with("import ") || line.starts_with("} from ")) {
            let Some(other) = line.split('\'').nth(1) else { continue };
            let other = beside(&path, other);
            if found.insert(other.clone()) {
                next.push(other);
            }
        }
    }
    found
}

// Resolves an import of the module at `path`.
fn beside(path: &str, name: &str) -> String {
    let mut parts: Vec<&str> = path.split('/').collect();
    parts.pop();
    for part in name.split('/') {
        match part {
            "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

pub(crate) fn takes_gzip(request: &HeaderMap) -> bool {
    let codings = request.get(header::ACCEPT_ENCODING).and_then(|codings| codings.to_str().ok()).unwrap_or_default();
    codings.split(',').any(|coding| coding.trim() == "gzip" || coding.trim().starts_with("gzip;q=1"))
}

/// Cached by hash: in a development build, each version of a file has an entry.
fn compressed(hash: [u8; 32], data: &[u8]) -> Bytes {
    static MADE: Mutex<Option<HashMap<[u8; 32], Bytes>>> = Mutex::new(None);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.get_or_insert_default().entry(hash).or_insert_with(|| gzip(data, Compression::best())).clone()
}

pub(crate) fn gzip(data: &[u8], level: Compression) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    // Writing to memory cannot fail.
    let _ = encoder.write_all(data);
    encoder.finish().unwrap_or_default().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_common_modules_are_preloaded() {
        let first = modules(["js/main.js".to_owned(), "js/games/nuggets/index.js".to_owned()]);
        for path in &first {
            assert!(Assets::get(path).is_some(), "{path}");
        }
        let has = |path: &str| first.contains(path);
        assert!(has("js/page/lobby.js") && has("js/games/index.js") && has("js/games/nuggets/board.js"), "{first:?}");
        assert!(!has("js/page/room.js") && !has("js/games/nuggets/page.js"), "{first:?}");
        // A browser loads the texts of its language only.
        assert!(has("js/lib/text.js") && !first.iter().any(|path| path.starts_with("text/")), "{first:?}");
    }

    #[test]
    fn known_version_is_not_sent_again() {
        let answer = |known: &[&str]| {
            let known = known.iter().map(|known| (header::IF_NONE_MATCH, known.parse().unwrap()));
            file("icon.svg", &known.collect())
        };
        let first = answer(&[]);
        let tag = first.headers()[header::ETAG].to_str().unwrap();
        let (weak, list) = (format!("W/{tag}"), format!("\"a\", W/{tag},\"b\""));
        for known in [tag, &weak, &list, "*"] {
            let response = answer(&[known]);
            assert_eq!(
                (response.status(), &response.headers()[header::ETAG]),
                (StatusCode::NOT_MODIFIED, &first.headers()[header::ETAG])
            );
        }
        assert_eq!(answer(&["\"a\"", &weak]).status(), StatusCode::NOT_MODIFIED);
        for other in ["\"a\"", "", "w/*", "W/", tag.trim_matches('"')] {
            assert_eq!(answer(&[other]).status(), StatusCode::OK, "{other}");
        }
    }

    #[tokio::test]
    async fn icons_for_home_screens_have_their_size_and_are_linked() {
        let page = page("{}", &Settings::default()).unwrap();
        assert!(page.contains(r#"<link rel="apple-touch-icon" href="/icon-180.png" />"#), "{page}");
        let manifest: serde_json::Value =
            serde_json::from_slice(&Assets::get("manifest.webmanifest").unwrap().data).unwrap();
        let expected = serde_json::json!({ "src": "icon-512.png", "sizes": "512x512", "type": "image/png" });
        assert!(manifest["icons"].as_array().unwrap().contains(&expected), "{manifest}");
        for size in [180, 512] {
            let path = format!("icon-{size}.png");
            assert!(is_file(&format!("/{path}")));
            let png = axum::body::to_bytes(file(&path, &HeaderMap::new()).into_body(), 1 << 20).await.unwrap();
            let number = |at: usize| u32::from_be_bytes(png[at..at + 4].try_into().unwrap());
            assert_eq!((&png[1..4], number(16), number(20)), (&b"PNG"[..], size, size));
        }
    }

    #[test]
    fn is_file_matches_exactly_the_files_of_the_page() {
        for path in Assets::iter().filter(|path| path != "index.html") {
            assert!(is_file(&format!("/{path}")), "{path}");
        }
        for path in ["/", "/rooms/nuggets-1", "/api/rooms", "/live", "/players/js", "/qr.svg"] {
            assert!(!is_file(path), "{path}");
        }
    }
}
