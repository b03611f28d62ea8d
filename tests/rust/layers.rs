//! The layers of the core: a file imports from its own unit and from layers above it, and no circle of files crosses folders. Files of one
//! folder do not import each other either, except a module and its own submodules.
//!
//! The layers are written here and nowhere else. Files are read as text: comments and `mod` lines do not count, re-exports do.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// From the top. Units of one layer do not import each other; a file belongs to the longest of these that it is in.
const LAYERS: &[&[&str]] = &[
    &["limits"],
    &["error", "keymap"],
    &["syntax"],
    &["schema"],
    &["tools"],
    &["arguments"],
    &["event"],
    &["grammar"],
    &["formats"],
    &["formats::bodies"],
    &["formats::frames"],
    &["formats::wire", "formats::xml", "formats::yaml", "formats::custom", "formats::unmarked", "formats::rows"],
    &["formats::description"],
    &["formats::registry"],
    &["formats::format"],
    &["toolset"],
    &["past", "constrained"],
    &["document"],
    &["parser"],
    &["manual", "message"],
    &["trial"],
];

type Path_ = Vec<String>;

/// The files of the crate.
struct Crate {
    /// Module path -> source without comments.
    sources: BTreeMap<Path_, String>,
    /// Module path -> what it re-exports: a name, and where that is.
    exports: BTreeMap<Path_, BTreeMap<String, Path_>>,
    /// Modules in a file `mod.rs`, which are folders.
    folders: BTreeSet<Path_>,
}

fn words(path: &str) -> Path_ {
    path.split("::").map(str::to_owned).collect()
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
        if entry.is_dir() {
            files(&entry, out);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            out.push(entry);
        }
    }
}

/// The paths in `a::b::{c, d::{e, f as g}}`, which starts with a path, and their last names.
fn expand(text: &str) -> Vec<(Path_, String)> {
    fn tree(text: &str, prefix: &[String], out: &mut Vec<(Path_, String)>) {
        let mut depth = 0;
        let mut start = 0;
        let mut parts = Vec::new();
        for (at, c) in text.char_indices() {
            match c {
                '{' => depth += 1,
                '}' => depth -= 1,
                ',' if depth == 0 => {
                    parts.push(&text[start..at]);
                    start = at + 1;
                }
                _ => {}
            }
        }
        parts.push(&text[start..]);
        for part in parts.into_iter().map(str::trim).filter(|part| !part.is_empty()) {
            match part.split_once('{') {
                Some((path, rest)) => {
                    let path = path.trim_end_matches("::");
                    let prefix: Path_ = prefix.iter().cloned().chain(words(path)).collect();
                    tree(rest.trim_end().trim_end_matches('}'), &prefix, out);
                }
                None => {
                    let (path, name) = part.split_once(" as ").unwrap_or((part, part));
                    let mut path: Path_ = prefix.iter().cloned().chain(words(path.trim())).collect();
                    path.retain(|word| word != "self");
                    let name = name.rsplit("::").next().unwrap_or(name).trim().to_owned();
                    out.push((path, name));
                }
            }
        }
    }
    let mut out = Vec::new();
    tree(text, &[], &mut out);
    out
}

/// The statements `use …;` of a source, with whether they are public, and the source without them.
fn uses(source: &str) -> (Vec<(bool, String)>, String) {
    let (mut found, mut rest, mut open) = (Vec::new(), String::new(), None);
    for line in source.lines() {
        let trimmed = line.trim_start();
        let begun = ["use ", "pub use ", "pub(crate) use ", "pub(super) use "].iter();
        if let Some(word) = begun.clone().find(|word| trimmed.starts_with(**word)).filter(|_| open.is_none()) {
            open = Some((word.starts_with("pub"), trimmed[word.len()..].to_owned()));
        } else if let Some((_, text)) = &mut open {
            text.push_str(trimmed);
        } else {
            rest.push_str(line);
            rest.push('\n');
        }
        if open.as_ref().is_some_and(|(_, text)| text.trim_end().ends_with(';'))
            && let Some((public, text)) = open.take()
        {
            found.push((public, text.trim_end().trim_end_matches(';').to_owned()));
        }
    }
    (found, rest)
}

impl Crate {
    fn read(root: &Path) -> Self {
        let mut paths = Vec::new();
        files(root, &mut paths);
        let mut read = Crate { sources: BTreeMap::new(), exports: BTreeMap::new(), folders: BTreeSet::new() };
        for path in paths {
            let text = fs::read_to_string(&path).expect("UTF-8");
            let text: String =
                text.lines().map(|line| format!("{}\n", line.split("//").next().unwrap_or(""))).collect();
            let relative = path.strip_prefix(root).expect("inside the root").with_extension("");
            let mut module: Path_ = relative.iter().map(|part| part.to_string_lossy().into_owned()).collect();
            if module.last().is_some_and(|last| last == "mod") {
                module.pop();
                read.folders.insert(module.clone());
            }
            read.sources.insert(module, text);
        }
        let known = read.sources.clone();
        for (module, text) in known {
            for (_, statement) in uses(&text).0.into_iter().filter(|(public, _)| *public) {
                for (path, name) in expand(&statement) {
                    let path = read.absolute(&module, &path);
                    read.exports.entry(module.clone()).or_default().insert(name, path);
                }
            }
        }
        read
    }

    /// The path from the root of the crate. One without `crate` or `super` begins with a module in this one, or is not the crate's.
    fn absolute(&self, module: &[String], path: &[String]) -> Path_ {
        let mut base = module.to_vec();
        match path.first().map(String::as_str) {
            Some("crate") => return path[1..].to_vec(),
            Some("super") => {
                let count = path.iter().take_while(|word| *word == "super").count();
                base.truncate(base.len() - count);
                base.extend_from_slice(&path[count..]);
            }
            _ => base.extend_from_slice(path),
        }
        base
    }

    /// The module in which the path is defined.
    fn find(&self, path: &[String]) -> Option<Path_> {
        let mut module: Path_ = Vec::new();
        for (at, word) in path.iter().enumerate() {
            let inner: Path_ = module.iter().chain([word]).cloned().collect();
            if self.sources.contains_key(&inner) {
                module = inner;
                continue;
            }
            if let Some(to) = self.exports.get(&module).and_then(|names| names.get(word)) {
                let to: Path_ = to.iter().chain(&path[at + 1..]).cloned().collect();
                return self.find(&to);
            }
            break;
        }
        (!module.is_empty()).then_some(module)
    }

    /// What each file imports.
    fn imports(&self) -> BTreeMap<Path_, BTreeSet<Path_>> {
        let mut out: BTreeMap<Path_, BTreeSet<Path_>> = BTreeMap::new();
        for (module, text) in self.sources.iter().filter(|(module, _)| *module != &words("lib")) {
            let (statements, rest) = uses(text);
            let mut paths: Vec<Path_> = Vec::new();
            // A re-export is a name of what is inside, and no import.
            for (_, statement) in statements.iter().filter(|(public, _)| !public) {
                paths.extend(expand(statement).into_iter().map(|(path, _)| path));
            }
            for begin in ["crate::", "super::"] {
                for (at, _) in rest.match_indices(begin) {
                    let path: String =
                        rest[at..].chars().take_while(|c| c.is_alphanumeric() || matches!(c, '_' | ':')).collect();
                    paths.push(words(path.trim_end_matches(':')));
                }
            }
            let entry = out.entry(module.clone()).or_default();
            for path in paths {
                let from_here = matches!(path[0].as_str(), "crate" | "super");
                let inner: Path_ = module.iter().chain([&path[0]]).cloned().collect();
                if !from_here && !self.sources.contains_key(&inner) {
                    continue;
                }
                entry.extend(self.find(&self.absolute(module, &path)).filter(|found| found != module));
            }
        }
        out
    }

    fn folder(&self, module: &[String]) -> Path_ {
        match self.folders.contains(module) {
            true => module.to_vec(),
            false => module[..module.len() - 1].to_vec(),
        }
    }
}

/// The layer and the unit of a module.
fn place(module: &[String]) -> (usize, &'static str) {
    let units = LAYERS.iter().enumerate().flat_map(|(layer, units)| units.iter().map(move |unit| (layer, *unit)));
    let fits = units.filter(|(_, unit)| module.starts_with(&words(unit)));
    fits.max_by_key(|(_, unit)| unit.len()).unwrap_or_else(|| panic!("{} is in no layer", module.join("::")))
}

fn wrong_imports(imports: &BTreeMap<Path_, BTreeSet<Path_>>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (from, to) in imports.iter().flat_map(|(from, all)| all.iter().map(move |to| (from, to))) {
        let ((below, own), (above, other)) = (place(from), place(to));
        if own != other && above >= below {
            wrong.push(format!("{} imports {}", from.join("::"), to.join("::")));
        }
    }
    wrong
}

/// The modules that a module reaches.
fn reached(imports: &BTreeMap<Path_, BTreeSet<Path_>>, from: &Path_) -> BTreeSet<Path_> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from.clone()]);
    while let Some(next) = open.pop() {
        for to in imports.get(&next).into_iter().flatten() {
            if seen.insert(to.clone()) {
                open.push(to.clone());
            }
        }
    }
    seen
}

/// The pairs of modules that reach each other, if `counts` says that they must not.
fn circles(imports: &BTreeMap<Path_, BTreeSet<Path_>>, counts: impl Fn(&Path_, &Path_) -> bool) -> Vec<String> {
    let all: BTreeMap<&Path_, BTreeSet<Path_>> =
        imports.keys().map(|module| (module, reached(imports, module))).collect();
    let mut found = Vec::new();
    for (one, to) in &all {
        for other in to.iter().filter(|other| *one < *other && all.get(other).is_some_and(|back| back.contains(*one))) {
            if counts(one, other) {
                found.push(format!("{} and {}", one.join("::"), other.join("::")));
            }
        }
    }
    found
}

fn across_folders(read: &Crate) -> Vec<String> {
    circles(&read.imports(), |one, other| read.folder(one) != read.folder(other))
}

/// Only a module and its own submodules may use each other.
fn of_siblings(read: &Crate) -> Vec<String> {
    let mut imports = read.imports();
    for (module, to) in &mut imports {
        to.retain(|other| !other.starts_with(module) && !module.starts_with(other));
    }
    circles(&imports, |_, _| true)
}

fn core() -> Crate {
    Crate::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"))
}

#[test]
fn files_import_from_layers_above() {
    let wrong = wrong_imports(&core().imports());
    assert!(wrong.is_empty(), "against the layers:\n{}", wrong.join("\n"));
}

#[test]
fn no_circle_crosses_folders() {
    let found = across_folders(&core());
    assert!(found.is_empty(), "these import each other:\n{}", found.join("\n"));
}

#[test]
fn siblings_do_not_import_each_other() {
    let found = of_siblings(&core());
    assert!(found.is_empty(), "these import each other:\n{}", found.join("\n"));
}

#[test]
fn a_wrong_import_is_found() {
    let mut read = core();
    let source = read.sources.get_mut(&words("formats::xml")).expect("the folder of xml");
    source.insert_str(0, "use crate::formats::{Attempt, wire::{Wire as Other}};\n");
    assert_eq!(wrong_imports(&read.imports()), ["formats::xml imports formats::wire"]);
    let source = read.sources.get_mut(&words("formats::body")).expect("the trait");
    source.push_str("type Other = crate::formats::bodies::json::object::JsonBody;\n");
    assert!(across_folders(&read).contains(&"formats::bodies::json::object and formats::body".to_owned()));
    let source = read.sources.get_mut(&words("grammar::rules")).expect("the model");
    source.push_str("type Other = crate::grammar::values::JsonValues;\n");
    assert!(of_siblings(&read).contains(&"grammar::rules and grammar::values".to_owned()));
}
