//! Pages of a list: by number, with totals, or by key, with nothing but the link to the next.

use serde_json::Value;
use url::form_urlencoded::Serializer;

use super::answer::Answer;
use super::reply::Reply;
use super::request::Request;

const DEFAULT: u64 = 20;
const MAX_PER_PAGE: u64 = 100;

impl Request<'_> {
    /// Number of elements on a page.
    fn per_page(&self) -> usize {
        let asked = self.args.num("per_page").unwrap_or(DEFAULT).clamp(1, MAX_PER_PAGE);
        usize::try_from(asked).unwrap_or(usize::MAX)
    }

    /// The page asked for of rows that GitLab does not count: without totals and a link to the last.
    pub fn page_uncounted(&self, rows: Vec<Value>) -> Answer {
        let mut reply = self.page(rows)?;
        reply.headers.retain(|(name, _)| !name.starts_with("x-total"));
        if let Some((_, link)) = reply.headers.iter_mut().find(|(name, _)| *name == "link") {
            let links: Vec<&str> = link.split(", ").filter(|link| !link.ends_with("rel=\"last\"")).collect();
            *link = links.join(", ");
        }
        Ok(reply)
    }

    /// The page asked for, with GitLab's headers.
    pub fn page(&self, rows: Vec<Value>) -> Answer {
        let per_page = self.per_page();
        let page = self.args.num("page").unwrap_or(1).max(1);
        let total = rows.len();
        let pages = total.div_ceil(per_page).max(1) as u64;
        let next = if page < pages { Some(page + 1) } else { None };
        let before = if page > 1 { Some(page - 1) } else { None };
        let skipped = usize::try_from(page - 1).unwrap_or(usize::MAX).saturating_mul(per_page);
        let shown: Vec<Value> = rows.into_iter().skip(skipped).take(per_page).collect();
        let link = [("prev", before), ("next", next), ("first", Some(1)), ("last", Some(pages))]
            .into_iter()
            .filter_map(|(rel, number)| Some(self.link(rel, "page", &number?.to_string(), per_page)))
            .collect::<Vec<_>>()
            .join(", ");
        let number = |number: Option<u64>| number.map(|number| number.to_string()).unwrap_or_default();
        Ok(Reply::json(200, shown)
            .with("x-total", total)
            .with("x-total-pages", pages)
            .with("x-page", page)
            .with("x-per-page", per_page)
            .with("x-next-page", number(next))
            .with("x-prev-page", number(before))
            .with("link", link))
    }

    /// The page after the element whose key is in `cursor`, with a link to the next and no totals.
    pub fn page_after(&self, rows: Vec<Value>, cursor: &str, key: impl Fn(&Value) -> String) -> Answer {
        let per_page = self.per_page();
        self.args.without_trace(&["page"]);
        let after = self.args.text(cursor);
        let start = after.map_or(0, |after| {
            rows.iter().position(|row| key(row) == after).map_or(rows.len(), |position| position + 1)
        });
        let more = rows.len() > start.saturating_add(per_page);
        let shown: Vec<Value> = rows.into_iter().skip(start).take(per_page).collect();
        let last = shown.last().map(&key);
        let mut reply = Reply::json(200, shown).with("x-per-page", per_page);
        if let Some(last) = last.filter(|_| more) {
            reply = reply.with("link", self.link("next", cursor, &last, per_page));
        }
        Ok(reply)
    }

    /// The page asked for, by key where the request says `pagination=keyset`.
    pub fn page_either(&self, rows: Vec<Value>) -> Answer {
        if self.args.text("pagination").as_deref() == Some("keyset") {
            let order = self.args.text("order_by");
            if order.is_some_and(|order| !matches!(order.as_str(), "id" | "name")) {
                let error = "Keyset pagination is not yet available for this type of request";
                return Ok(Reply::json(405, serde_json::json!({ "error": error })));
            }
            let id = |row: &Value| row.get("id").map(Value::to_string).unwrap_or_default();
            let ascends = self.args.text("sort").as_deref() == Some("asc");
            return self.page_after(rows, if ascends { "id_after" } else { "id_before" }, id);
        }
        self.page(rows)
    }

    fn link(&self, rel: &str, name: &str, value: &str, per_page: usize) -> String {
        let mut query = Serializer::new(String::new());
        for (key, value) in self.query.iter().filter(|(key, _)| key != name && key != "per_page") {
            query.append_pair(key, value);
        }
        query.append_pair(name, value).append_pair("per_page", &per_page.to_string());
        format!("<{}{}?{}>; rel=\"{rel}\"", self.world.url, self.raw_path, query.finish())
    }
}
