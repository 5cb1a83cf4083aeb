//! The text of a PTX file: two lines that say what it was made from, then the assembly.

/// Starts the first line; the hash of the sources follows.
const SOURCES: &str = "// sources sha256:";
/// Starts the second line; the compiler's version follows.
const COMPILER: &str = "// compiled by ";

/// Puts the two lines before what the compiler wrote.
pub(crate) fn with_header(hash: &str, compiler: &str, assembly: &str) -> String {
    format!("{SOURCES}{hash}\n{COMPILER}{compiler}\n{}\n", assembly.trim_end())
}

/// The hash in the first line.
pub(crate) fn hash(text: &str) -> Option<&str> {
    text.lines().next()?.strip_prefix(SOURCES)
}

/// The compiler in the second line.
pub(crate) fn compiler(text: &str) -> Option<&str> {
    text.lines().nth(1)?.strip_prefix(COMPILER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_comes_back() {
        let text = with_header("00ff", "rustc 1.96.0 (x)", "//\n.version 6.3\n\n\n");
        assert_eq!((hash(&text), compiler(&text)), (Some("00ff"), Some("rustc 1.96.0 (x)")));
        assert!(text.ends_with(".version 6.3\n"));
        let windows = text.replace('\n', "\r\n");
        assert_eq!((hash(&windows), compiler(&windows)), (Some("00ff"), Some("rustc 1.96.0 (x)")));
    }

    #[test]
    fn other_text_has_no_header() {
        for text in ["", ".version 6.3", "\n// sources sha256:00ff", "// sources 00ff\n"] {
            assert_eq!((hash(text), compiler(text)), (None, None), "{text:?}");
        }
    }
}
