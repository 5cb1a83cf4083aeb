//! Numbers in text.

/// Numbers with spaces between.
pub fn numbers(text: &str) -> Result<Vec<f64>, String> {
    let number = |n: &str| {
        let finite = n.parse().ok().filter(|n: &f64| n.is_finite());
        finite.ok_or_else(|| format!("\"{}\" in it is no number; correct the file", shown(n)))
    };
    text.split_whitespace().map(number).collect()
}

/// Whether the last line has its end, without which it may be half a line.
pub fn whole(text: &str) -> Result<(), String> {
    match text.ends_with('\n') {
        true => Ok(()),
        false => Err("ends inside a line, so it is truncated; copy it again, or end its last line".into()),
    }
}

/// The start of a word from a file, fit to be printed on a line.
pub fn shown(word: &str) -> String {
    word.chars().filter(|c| !c.is_control()).take(80).collect()
}
