//! Reads tables of text. Cells are separated by commas, tabs or semicolons; the first row has the names of the columns.

use std::io::ErrorKind;
use std::path::Path;

use csv::{ByteRecord, ReaderBuilder, Trim};
use mireg::{Error, Result};

/// A table that was read.
pub struct Table {
    pub columns: Vec<String>,
    pub rows: Vec<Line>,
    /// What is wrong with rows that were left out, a line each.
    pub faults: Vec<String>,
}

/// A row below the names.
pub struct Line {
    /// The name of the row in messages: `row` and its line in the file, counted from 1 as in a spreadsheet.
    pub name: String,
    /// The cells, as many as there are columns.
    pub cells: Vec<String>,
}

/// Reads a table. Rows of empty cells are left out.
///
/// # Errors
/// [`Error::File`] for a file that cannot be read, and one without rows.
pub fn read(path: &Path) -> Result<Table> {
    let unreadable =
        |e: &dyn std::fmt::Display| Error::file(path, format!("cannot be read ({e}); give a CSV or TSV file"));
    let bytes = std::fs::read(path).map_err(|e| Error::file(path, why(&e)))?;
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let mut reader = ReaderBuilder::new().delimiter(delimiter(text)).flexible(true).trim(Trim::All).from_reader(text);
    let header = reader.byte_headers().map_err(|e| unreadable(&e))?;
    let columns = words(header).ok_or_else(|| unreadable(&"the names of its columns are not UTF-8"))?;
    let mut table = Table { columns, rows: Vec::new(), faults: Vec::new() };
    let (mut at, mut number) = (0, 1);
    for record in reader.byte_records() {
        let record = record.map_err(|e| unreadable(&e))?;
        // The position of a record may be before line ends that were left over from the record before, such as the LF
        // of CR LF.
        let begin = record.position().map_or(at, |position| position.byte() as usize);
        let ends = text[begin..].iter().take_while(|byte| b"\r\n".contains(byte)).count();
        number += text[at..begin + ends].iter().filter(|&&byte| byte == b'\n').count() as u64;
        at = begin + ends;
        if record.iter().all(<[u8]>::is_empty) {
            continue;
        }
        match cells(&record, table.columns.len()) {
            Ok(cells) => table.rows.push(Line { name: format!("row {number}"), cells }),
            Err(fault) => table.faults.push(format!("row {number}: {fault}")),
        }
    }
    if table.rows.is_empty() && table.faults.is_empty() {
        return Err(Error::file(path, "has no rows; it needs a row of names (id, fixed, moving) and a row per pair"));
    }
    Ok(table)
}

/// Says why a file cannot be read, and what to do.
pub fn why(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::NotFound => "no such file; check the name".to_owned(),
        kind => format!("cannot be read ({kind})"),
    }
}

/// Returns the delimiter: the first of these that occurs in the row of names.
fn delimiter(text: &[u8]) -> u8 {
    let names = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
    b"\t,;".iter().copied().find(|delimiter| names.contains(delimiter)).unwrap_or(b',')
}

fn words(record: &ByteRecord) -> Option<Vec<String>> {
    record.iter().map(|cell| String::from_utf8(cell.to_vec()).ok()).collect()
}

fn cells(record: &ByteRecord, columns: usize) -> Result<Vec<String>, String> {
    let cells = words(record).ok_or("is not UTF-8; save the table as UTF-8")?;
    match cells.len() {
        count if count == columns => Ok(cells),
        count => Err(format!("has {count} cells where there are {columns} columns; cells with commas need quotes")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_tabs_and_semicolons_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table");
        for text in [
            "id,fixed,levels\na,x y.nii,\"4mm,2mm\"\n",
            "\u{feff}id\tfixed\tlevels\r\n\r\na\tx y.nii\t4mm,2mm\r\n",
            "id;fixed;levels\n a ; x y.nii;4mm,2mm\n;;\n",
        ] {
            std::fs::write(&path, text).unwrap();
            let table = read(&path).unwrap();
            assert_eq!(table.columns, ["id", "fixed", "levels"], "{text}");
            assert_eq!(table.rows.len(), 1, "{text}");
            assert_eq!(table.rows[0].cells, ["a", "x y.nii", "4mm,2mm"], "{text}");
            let before = &text[..text.find("x y.nii").unwrap()];
            assert_eq!(table.rows[0].name, format!("row {}", before.lines().count()), "{text}");
        }
    }

    #[test]
    fn rows_that_do_not_fit_are_named_and_the_others_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("table.csv");
        std::fs::write(&path, b"id,fixed\na,x\nb\n\xff,y\nc,z\n").unwrap();
        let table = read(&path).unwrap();
        assert_eq!(table.rows.iter().map(|row| &*row.name).collect::<Vec<_>>(), ["row 2", "row 5"]);
        assert!(
            table.faults[0].starts_with("row 3: has 1 cells") && table.faults[1].starts_with("row 4: is not UTF-8")
        );
        std::fs::write(&path, "id,fixed\r\na,\"x\r\ny\"\r\n\r\nb\r\nc,z\r\n").unwrap();
        let table = read(&path).unwrap();
        assert_eq!(table.rows.iter().map(|row| &*row.name).collect::<Vec<_>>(), ["row 2", "row 6"]);
        assert!(table.faults[0].starts_with("row 5: "));
        std::fs::write(&path, "id,fixed\n").unwrap();
        assert!(read(&path).is_err());
    }
}
