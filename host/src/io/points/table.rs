//! Points in rows of a table: CSV with a header, and 3D Slicer's `.fcsv`.

use crate::error::{Message, message};
use csv::{ReaderBuilder, StringRecord, Terminator, WriterBuilder};

use super::{Document, Frame, Parsed, coordinate, shortest};

/// A table, and the indices of the columns with coordinates.
struct Table {
    /// Lines before the table.
    preamble: String,
    delimiter: u8,
    rows: Vec<StringRecord>,
    columns: Vec<usize>,
}

impl Document for Table {
    fn render(&self, points: &[&[f64]]) -> Vec<u8> {
        let mut writer = WriterBuilder::new()
            .flexible(true)
            .delimiter(self.delimiter)
            .terminator(if self.preamble.ends_with("\r\n") { Terminator::CRLF } else { Terminator::Any(b'\n') })
            .from_writer(self.preamble.clone().into_bytes());
        for (row, point) in self.rows.iter().zip(points) {
            let coordinate = |column| self.columns.iter().zip(*point).find(|(c, _)| **c == column).map(|(_, v)| *v);
            let fields = row.iter().enumerate();
            let fields = fields.map(|(column, field)| coordinate(column).map_or_else(|| field.to_owned(), shortest));
            writer.write_record(fields).expect("memory takes what is written");
        }
        writer.into_inner().expect("memory takes what is written")
    }
}

/// Parses a table with a header. It has columns x, y and, except for points in a plane, z. The delimiter is the first
/// of tab, semicolon and comma that occurs in the header.
pub fn csv(text: &str) -> Result<Parsed, Message> {
    let header = text.split_inclusive('\n').next().unwrap_or_default();
    let delimiter = *b"\t;,".iter().find(|delimiter| header.as_bytes().contains(delimiter)).unwrap_or(&b',');
    let names = header.trim_end().split(char::from(delimiter));
    let columns = columns(&names.map(|name| name.trim_matches([' ', '"']).to_lowercase()).collect::<Vec<_>>())?;
    if columns.len() < 2 {
        return Err(message!(
            "has no columns x and y in its first line";
            "add a header, or read bare numbers with ", PointsFormat, " text"
        ));
    }
    parse(header, &text[header.len()..], delimiter, columns, None)
}

/// Parses an `.fcsv` file. Its comments give the columns of x, y and z, and the frame. Old files without these comments
/// have the label in the first column, and coordinates in RAS.
pub fn fcsv(text: &str) -> Result<Parsed, Message> {
    let length = text.split_inclusive('\n').take_while(|line| line.starts_with('#')).map(str::len).sum();
    let (preamble, rows) = text.split_at(length);
    let value = |key: &str| {
        let values = preamble.lines().filter_map(|line| line.trim_start_matches(['#', ' ']).strip_prefix(key));
        values.filter_map(|rest| rest.trim_start().strip_prefix('=')).next()
    };
    let names = value("columns").unwrap_or("label,x,y,z").split(',').map(|name| name.trim().to_lowercase());
    let columns = columns(&names.collect::<Vec<_>>())?;
    if columns.len() < 3 {
        return Err("has no columns x, y and z in its comments; save it again".into());
    }
    let frame = value("CoordinateSystem").map_or(Ok(Frame::Ras), Frame::of)?;
    parse(preamble, rows, b',', columns, Some(frame))
}

/// The indices of the columns x, y and z; z may be missing.
fn columns(names: &[String]) -> Result<Vec<usize>, Message> {
    let axes = ["x", "y", "z"];
    if let Some(axis) = axes.into_iter().find(|axis| names.iter().filter(|name| name == axis).count() > 1) {
        return Err(message!("has more than one column {axis}"; "rename all but one"));
    }
    Ok(axes.iter().map_while(|axis| names.iter().position(|name| name == axis)).collect())
}

fn parse(
    preamble: &str,
    rows: &str,
    delimiter: u8,
    columns: Vec<usize>,
    frame: Option<Frame>,
) -> Result<Parsed, Message> {
    let first = 1 + preamble.lines().count() as u64;
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(rows.as_bytes());
    let (mut points, mut kept) = (vec![], vec![]);
    for row in reader.records() {
        let row = row.map_err(|error| format!("is damaged ({error}); correct it"))?;
        let line = first + row.position().map_or(0, |position| position.line() - 1);
        let mut point = [0.0; 3];
        for (value, &column) in point.iter_mut().zip(&columns) {
            let field = row.get(column).ok_or_else(|| format!("ends too early on line {line}, before a coordinate"))?;
            *value = coordinate(field, line)?;
        }
        points.push(point.into());
        kept.push(row);
    }
    let axes = columns.len();
    // The rows must start on a new line.
    let end = if preamble.is_empty() || preamble.ends_with('\n') { "" } else { "\n" };
    let table = Table { preamble: format!("{preamble}{end}"), delimiter, rows: kept, columns };
    Ok(Parsed { points, axes, frame, document: Box::new(table) })
}
