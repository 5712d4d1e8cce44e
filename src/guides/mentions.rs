//! Mentions of actions in guides and prompts, written as code: an id, `issue.get`, or a call with the
//! parameters that matter, `issue.list(fullPath, state: "opened")`.

/// Mention of an action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention<'t> {
    pub id: &'t str,
    /// Names of the parameters, if it is a call.
    pub params: Option<Vec<&'t str>>,
}

/// Extracts the mentions of a text, in order.
pub fn mentions(text: &str) -> impl Iterator<Item = Mention<'_>> {
    // Every other part is between backticks.
    text.split('`').skip(1).step_by(2).filter_map(mention)
}

fn mention(code: &str) -> Option<Mention<'_>> {
    let (id, params) = match code.strip_suffix(')').and_then(|call| call.split_once('(')) {
        Some((id, params)) => (id, Some(names(params))),
        None => (code, None),
    };
    let (domain, verb) = id.split_once('.')?;
    (is_word(domain) && is_word(verb)).then_some(Mention { id, params })
}

/// Names before values, or alone; commas within a list do not separate.
fn names(params: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let parts = params.split(|c| {
        match c {
            '[' | '{' => depth += 1,
            ']' | '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    });
    let named = parts.map(|part| part.split(':').next().unwrap_or_default().trim());
    named.filter(|name| !name.is_empty()).collect()
}

fn is_word(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}
