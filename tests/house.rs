//! The structure of the workspace: no import cycles; in the hub, a folder imports only from folders below it; the table
//! of named bounds matches the source.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use testkit::process::Process;

/// From top to bottom. Folders in one row do not import each other.
const FLOORS: [&[&str]; 9] = [
    &["main"],
    &["operator", "args"],
    &["web"],
    &["hub"],
    &["results", "replays"],
    &["room"],
    &["games", "fleet"],
    &["player_name", "proxied", "today"],
    &["message"],
];

fn crates() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates");
    fs::read_dir(folder).expect("the crates are here").map(|entry| entry.expect("a crate").path()).collect()
}

/// By module path.
fn files(of: &Path) -> BTreeMap<String, String> {
    let source = of.join("src");
    let mut files = BTreeMap::new();
    let mut directories = vec![source.clone()];
    while let Some(directory) = directories.pop() {
        for entry in fs::read_dir(directory).expect("the source is here") {
            let path = entry.expect("a file").path();
            if path.is_dir() {
                directories.push(path);
                continue;
            }
            let inside = path.strip_prefix(&source).expect("a path inside").with_extension("");
            let name =
                inside.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("::");
            files.insert(name, fs::read_to_string(&path).expect("a readable file"));
        }
    }
    files
}

/// By module path, without tests.
fn modules(of: &Path) -> BTreeMap<String, String> {
    let mut modules = files(of);
    modules.retain(|name, _| !name.split("::").any(|part| part == "tests" || part == "fixtures"));
    for text in modules.values_mut() {
        *text = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default().to_owned();
    }
    let for_tests: Vec<String> = modules.iter().flat_map(|(name, code)| for_tests(name, code)).collect();
    modules.retain(|name, _| !for_tests.contains(name));
    modules
}

fn for_tests(name: &str, code: &str) -> Vec<String> {
    let outer = if matches!(name, "lib" | "main") { String::new() } else { format!("{name}::") };
    let declared = code.split("#[cfg(test)]\nmod ").skip(1);
    declared.filter_map(|rest| rest.split_once(';')).map(|(inner, _)| format!("{outer}{inner}")).collect()
}

fn expand(prefix: &str, tree: &str, paths: &mut Vec<String>) {
    let (mut depth, mut start) = (0, 0);
    let mut parts = vec![];
    for (at, letter) in tree.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                parts.push(&tree[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&tree[start..]);
    for part in parts.into_iter().map(str::trim).filter(|part| !part.is_empty()) {
        match part.split_once('{') {
            Some((head, rest)) => expand(&format!("{prefix}{head}"), rest.trim_end().trim_end_matches('}'), paths),
            None => paths.push(format!("{prefix}{part}")),
        }
    }
}

fn imports(name: &str, code: &str, modules: &BTreeMap<String, String>) -> BTreeSet<String> {
    let mut paths = vec![];
    for declaration in code.split("\nuse ").skip(1) {
        expand("", declaration.split(';').next().unwrap_or_default(), &mut paths);
    }
    // Links in comments and `pub(in crate::...)` are not imports.
    let lines = code.lines().map(str::trim_start).filter(|line| !line.starts_with("//") && !line.starts_with("use "));
    for path in lines.flat_map(|line| line.split("crate::").skip(1).filter(|_| !line.contains("pub(in crate::"))) {
        let end = path.find(|letter: char| !letter.is_alphanumeric() && letter != ':' && letter != '_');
        paths.push(format!("crate::{}", &path[..end.unwrap_or(path.len())]));
    }
    let parent = name.rsplit_once("::").map_or("", |(parent, _)| parent);
    let absolute = |path: &str| {
        let words: Vec<&str> = path.split_whitespace().next().unwrap_or_default().split("::").collect();
        match words[..] {
            ["crate", ref rest @ ..] => Some(rest.join("::")),
            ["self", ref rest @ ..] => Some([&[name], rest].concat().join("::")),
            ["super", ref rest @ ..] => Some([&[parent], rest].concat().join("::")),
            _ => None,
        }
    };
    let longest = |mut path: String| {
        while !modules.contains_key(&path) {
            path.truncate(path.rfind("::")?);
        }
        Some(path)
    };
    paths.iter().filter_map(|path| absolute(path)).filter_map(longest).filter(|other| other != name).collect()
}

#[test]
fn imports_lead_from_each_folder_to_those_below_it() {
    let modules = modules(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/arcade"));
    let floor = |name: &str| {
        // `args` belongs to the operator's folder.
        let top = name.split("::").next().unwrap_or_default().replace("args", "operator");
        let floor =
            FLOORS.iter().position(|folders| folders.contains(&&*top)).unwrap_or_else(|| panic!("where is {name}?"));
        (floor, top)
    };
    for (name, code) in &modules {
        for other in imports(name, code, &modules) {
            let ((here, top), (there, below)) = (floor(name), floor(&other));
            assert!(here < there || top == below, "{name} imports {other}, which is not below it");
        }
    }
}

#[test]
fn files_have_no_import_cycles() {
    for folder in crates() {
        let modules = modules(&folder);
        let mut left: BTreeMap<&String, BTreeSet<String>> =
            modules.iter().map(|(name, code)| (name, imports(name, code, &modules))).collect();
        // A module may add `impl` blocks to a type of its parent.
        for (name, imports) in &mut left {
            imports.retain(|other| !name.starts_with(&format!("{other}::")));
        }
        loop {
            let open: BTreeSet<String> = left.keys().map(|&name| name.clone()).collect();
            let before = left.len();
            left.retain(|_, imports| !imports.is_disjoint(&open));
            if left.len() == before {
                break;
            }
        }
        assert!(left.is_empty(), "in {} these import each other, or what does: {left:#?}", folder.display());
    }
}

#[test]
fn the_page_of_bounds_has_the_bounds_of_the_source() {
    let Some(python) = testkit::programs::python() else {
        return eprintln!("this machine has no python3, so the page of bounds is not tested");
    };
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    let printed = Process::run(Command::new(python).arg(docs.join("bounds"))).ended(0);
    let page = fs::read_to_string(docs.join("bounds.md")).expect("the page is here");
    assert_eq!(page, printed.stdout, "write it with `docs/bounds > docs/bounds.md`");
}

/// Whether a file's documentation has a Rust example, which `cargo test` compiles.
fn has_example(text: &str) -> bool {
    let comments =
        text.lines().map(str::trim_start).filter_map(|line| line.strip_prefix("///").or(line.strip_prefix("//!")));
    // Every second fence closes a block.
    let mut begins = comments.filter_map(|line| line.trim_start().strip_prefix("```")).step_by(2);
    begins.any(|language| language.is_empty() || ["rust", "no_run", "should_panic"].contains(&language))
}

#[test]
fn doctests_are_enabled_exactly_where_examples_exist() {
    for of in crates().into_iter().filter(|of| of.join("src/lib.rs").exists()) {
        let examples = files(&of).values().any(|text| has_example(text));
        let manifest = fs::read_to_string(of.join("Cargo.toml")).expect("a manifest");
        assert_eq!(examples, !manifest.contains("doctest = false"), "{}", of.display());
    }
}
