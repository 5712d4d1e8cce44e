//! Figures of the catalog in the documentation: `<!-- figure rest.operations -->1,825<!-- /figure -->`, in `README.md`
//! and below `docs`, and installation links in the same form. `generate`, `update` and `packages` write them, and
//! `--check` compares them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::error::{GeneratorError, print_message};
use crate::files;
use crate::install_links;

const BEGIN: &str = "<!-- figure ";
const END: &str = "<!-- /figure -->";

/// A figure as text, by the name in its comment.
pub type Figures = BTreeMap<&'static str, String>;

/// A figure with commas between thousands: `1,825`.
pub fn count(figure: usize) -> String {
    let digits = figure.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().filter_map(|group| std::str::from_utf8(group).ok()).collect();
    groups.join(",")
}

/// Writes the figures into the pages of `docs`, next to the catalog's folder.
pub fn write(catalog: &Path, figures: &Figures) -> Result<(), GeneratorError> {
    for (page, text, updated) in pages(catalog, figures)? {
        if text != updated {
            files::write(&page, updated)?;
        }
    }
    Ok(())
}

/// True if all pages have these figures; names the others on standard error.
pub fn check(catalog: &Path, figures: &Figures) -> Result<bool, GeneratorError> {
    let mut is_same = true;
    for (page, text, updated) in pages(catalog, figures)? {
        if text != updated {
            is_same = false;
            print_message(&format!("{}: figures of an older catalog\n", page.display()));
        }
    }
    Ok(is_same)
}

/// Each page with its text, and its text with these figures.
fn pages(catalog: &Path, figures: &Figures) -> Result<Vec<(PathBuf, String, String)>, GeneratorError> {
    let root = catalog.join("..");
    let mut figures = figures.clone();
    figures.extend(install_links::links(&root)?);
    let mut found = vec![root.join("README.md")];
    collect(&root.join("docs"), &mut found);
    found.retain(|page| page.is_file());
    found.sort();
    let read = |page: PathBuf| {
        let text = files::load_text(&page)?;
        let updated = update(&text, &figures).map_err(|reason| files::malformed(&page, reason))?;
        Ok((page, text, updated))
    };
    found.into_iter().map(read).collect()
}

fn collect(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, pages);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
}

fn update(text: &str, figures: &Figures) -> Result<String, String> {
    let mut parts = text.split(BEGIN);
    let mut updated = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once(" -->").ok_or("a figure's comment does not end")?;
        let (_, after) = rest.split_once(END).ok_or_else(|| format!("no {END} after the figure {name}"))?;
        let figure = figures.get(name).ok_or_else(|| {
            let names: Vec<&str> = figures.keys().copied().collect();
            format!("{name} is no figure of the catalog; there are {}", names.join(", "))
        })?;
        updated += &format!("{BEGIN}{name} -->{figure}{END}{after}");
    }
    Ok(updated)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_have_commas() {
        assert_eq!([0, 7, 999, 1_000, 1_234_567].map(count), ["0", "7", "999", "1,000", "1,234,567"]);
    }

    #[test]
    fn figures_are_updated_and_text_around_them_is_kept() {
        let figures = Figures::from([("a", "2".to_owned()), ("b", "x".to_owned())]);
        let text = "one <!-- figure a -->1<!-- /figure --> of <!-- figure b --><!-- /figure -->.";
        assert_eq!(
            update(text, &figures).unwrap(),
            "one <!-- figure a -->2<!-- /figure --> of <!-- figure b -->x<!-- /figure -->."
        );
        assert_eq!(update("none", &figures).unwrap(), "none");
    }

    #[test]
    fn unknown_and_open_figures_are_refused() {
        let figures = Figures::from([("a", "2".to_owned())]);
        let refused = |text| update(text, &figures).unwrap_err();
        assert_eq!(
            refused("<!-- figure c -->1<!-- /figure -->"),
            "c is no figure of the catalog; there are a"
        );
        assert_eq!(refused("<!-- figure a -->1"), "no <!-- /figure --> after the figure a");
    }
}
