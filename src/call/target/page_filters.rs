//! Filters in the URL of a list's page: `…/-/issues?label_name[]=bug&state=closed`.

use serde_json::{Value, json};
use url::Url;

use super::page;
use crate::catalog;

/// The filters by name, without the brackets of a list's. `not[label_name][]` is `not[label_name]`.
pub fn page_filters(text: &str, base: &Url) -> Vec<(String, Value)> {
    let Some(url) = page::address(text.trim(), base).or_else(|| page::without_host(text.trim(), base)) else {
        return Vec::new();
    };
    let mut filters: Vec<(String, Value)> = Vec::new();
    for (name, value) in url.query_pairs() {
        let (name, is_list) = name.strip_suffix("[]").map_or((&*name, false), |name| (name, true));
        if catalog::kinds().page_options.iter().any(|option| option == name) || value.is_empty() {
            continue;
        }
        match filters.iter_mut().find(|(known, _)| known == name) {
            Some((_, Value::Array(items))) => items.push(json!(value)),
            Some(_) => {}
            None => filters.push((name.to_owned(), if is_list { json!([value]) } else { json!(value) })),
        }
    }
    filters
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_filters_of_a_page_are_read_from_its_address() {
        let base = Url::parse("https://gitlab.example.com").unwrap();
        let read = |text: &str| page_filters(text, &base);
        let page = "https://gitlab.example.com/acme/widget/-/issues/";
        assert_eq!(
            read(&format!(
                "{page}?label_name[]=bug&label_name[]=a%20b&state=closed&first_page_size=20&search="
            )),
            [("label_name".to_owned(), json!(["bug", "a b"])), ("state".to_owned(), json!("closed"))]
        );
        assert_eq!(read("acme/widget/-/issues?state=closed"), [("state".to_owned(), json!("closed"))]);
        assert_eq!(read(page), []);
        assert_eq!(read("acme/widget#3"), []);
    }
}
