//! References in texts.

/// The numbers that a text refers to as `#1` right after a word.
pub fn refers(text: &str, word: &str) -> Vec<u64> {
    let marker = format!("{word}#");
    let number = |rest: &str| rest.chars().take_while(char::is_ascii_digit).collect::<String>().parse().ok();
    text.split(marker.as_str()).skip(1).filter_map(number).collect()
}
