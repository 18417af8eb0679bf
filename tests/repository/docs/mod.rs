//! Checks the pages: links, pictures, and quotes of the program ([`texts`]).

mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The links, pictures and anchors of a page.
#[derive(Default)]
struct Page {
    links: Vec<String>,
    /// Each picture with its alternative text.
    pictures: Vec<(String, String)>,
    anchors: BTreeSet<String>,
}

/// All pages by their paths in the repository.
fn read_pages() -> BTreeMap<PathBuf, Page> {
    let mut found = BTreeMap::new();
    let mut open: Vec<PathBuf> = ["docs", "crates", "plugins"].map(PathBuf::from).into();
    let top = fs::read_dir(root()).unwrap().map(|entry| PathBuf::from(entry.unwrap().file_name()));
    open.extend(top.filter(|name| is_page(name)));
    while let Some(path) = open.pop() {
        let place = root().join(&path);
        if place.is_dir() {
            open.extend(fs::read_dir(place).unwrap().map(|entry| path.join(entry.unwrap().file_name())));
        } else if is_page(&path) {
            found.insert(path, parse_page(&fs::read_to_string(place).unwrap()));
        }
    }
    assert!(found.len() > 20, "{}", found.len());
    found
}

fn is_page(path: &Path) -> bool {
    path.extension().is_some_and(|kind| kind == "md")
}

fn parse_page(text: &str) -> Page {
    let mut page = Page::default();
    let (mut heading, mut picture): (Option<String>, Option<(String, String)>) = (None, None);
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Link { dest_url, .. }) => page.links.push(dest_url.into_string()),
            Event::Start(Tag::Image { dest_url, .. }) => {
                picture = Some((dest_url.into_string(), String::new()));
            }
            Event::End(TagEnd::Image) => page.pictures.extend(picture.take()),
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::End(TagEnd::Heading(_)) => {
                let name = anchor(&heading.take().unwrap_or_default());
                let again = (1..).map(|number| format!("{name}-{number}"));
                let free = std::iter::once(name.clone()).chain(again);
                let free = free.into_iter().find(|name| !page.anchors.contains(name));
                page.anchors.extend(free);
            }
            Event::Text(words) | Event::Code(words) => {
                if let Some((_, alt)) = &mut picture {
                    *alt += &words;
                } else if let Some(heading) = &mut heading {
                    *heading += &words;
                }
            }
            _ => {}
        }
    }
    page
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = |letter: &char| letter.is_alphanumeric() || matches!(letter, ' ' | '-' | '_');
    heading
        .to_lowercase()
        .chars()
        .filter(kept)
        .map(|letter| if letter == ' ' { '-' } else { letter })
        .collect()
}

/// The path in the repository to which a link of a page leads.
fn resolve_link(page: &Path, link: &str) -> PathBuf {
    let mut path = PathBuf::new();
    for part in page.parent().unwrap().join(link).components() {
        match part {
            Component::ParentDir => {
                assert!(path.pop(), "{}: {link} leads out of the repository", page.display());
            }
            part => path.push(part),
        }
    }
    path
}

fn is_external(link: &str) -> bool {
    link.starts_with("https://") || link.starts_with("http://") || link.starts_with("mailto:")
}

#[test]
fn every_link_leads_to_an_existing_file_and_heading() {
    let pages = read_pages();
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for (path, page) in &pages {
        for link in page.links.iter().filter(|link| !is_external(link)) {
            seen += 1;
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if file.is_empty() { path.clone() } else { resolve_link(path, file) };
            if !root().join(&target).exists() {
                wrong.push(format!("{}: {link}: no such file", path.display()));
            } else if !heading.is_empty()
                && !pages.get(&target).is_some_and(|page| page.anchors.contains(heading))
            {
                wrong.push(format!("{}: {link}: no such heading", path.display()));
            }
        }
    }
    assert!(seen > 80, "{seen}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_page_can_be_reached_from_the_readme() {
    let pages = read_pages();
    let mut known = BTreeSet::from([PathBuf::from("README.md")]);
    let mut open: Vec<PathBuf> = known.iter().cloned().collect();
    while let Some(path) = open.pop() {
        for link in pages[&path].links.iter().filter(|link| !is_external(link)) {
            let file = link.split('#').next().unwrap_or_default();
            let target = if file.is_empty() { path.clone() } else { resolve_link(&path, file) };
            if pages.contains_key(&target) && known.insert(target.clone()) {
                open.push(target);
            }
        }
    }
    let is_for_readers = |path: &&PathBuf| path.starts_with("docs") || path.ends_with("README.md");
    let lost: Vec<_> = pages.keys().filter(is_for_readers).filter(|path| !known.contains(*path)).collect();
    assert!(lost.is_empty(), "no link leads to {lost:?}");
}

#[test]
fn every_picture_exists_and_is_described_and_used() {
    let folder = root().join("docs/pictures");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let drawn: BTreeSet<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|kind| kind == "svg" || kind == "png")).collect();
    let mut shown = BTreeSet::new();
    for (path, page) in &read_pages() {
        for (link, alt) in page.pictures.iter().filter(|(link, _)| !is_external(link)) {
            let file = root().join(resolve_link(path, link));
            assert!(file.is_file(), "{}: {link} is missing. To fix: run scripts/pictures", path.display());
            assert!(alt.len() > 20, "{}: {link} has no alternative text", path.display());
            shown.insert(file);
        }
    }
    assert!(!shown.is_empty());
    assert_eq!(drawn, shown, "each picture is on a page");
}

/// Pictures have no scripts and no external parts, and their own background.
#[test]
fn every_picture_is_small_and_self_contained() {
    for entry in fs::read_dir(root().join("docs/pictures")).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|kind| kind != "svg") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        let name = path.display();
        assert!(text.len() < 60 * 1024, "{name}: {} bytes", text.len());
        assert!(text.starts_with("<svg ") && text.contains("<title>") && text.contains("<rect "), "{name}");
        for word in ["<script", "href", "url(", "@import", "/tmp/", "/root/"] {
            assert!(!text.contains(word), "{name}: {word}");
        }
    }
}
