//! Checks a table and makes rows of it that can be registered.

use std::collections::HashMap;

use super::options::Known;
use super::row::{Column, Maker, Parse, Row, RowContext};
use super::table::{Line, Table};

const NEEDED: [&str; 3] = ["id", "fixed", "moving"];

/// Checks all rows of a table. Returns them, or all that is wrong with them, one line each.
pub fn check(table: Table, context: &RowContext, parse: Parse) -> Result<Vec<Row>, Vec<String>> {
    let Table { columns, rows, mut faults } = table;
    let (known, command) = (Known::all(context.command), context.command.get_name());
    let typed = Known::typed(&known, context.options, command).unwrap_or_else(|fault| {
        faults.push(format!("after --: {fault}"));
        Vec::new()
    });
    let columns = understood(&columns, &known, command, &mut faults);
    faults.extend(repeated(&columns, &rows));
    if columns.is_empty() {
        return Err(faults);
    }
    let mut checked = Vec::with_capacity(rows.len());
    let maker = Maker { context, columns: &columns, typed: &typed };
    for line in &rows {
        match maker.row(line, parse) {
            Ok(row) => checked.push(row),
            Err(found) => faults.extend(found.into_iter().map(|fault| format!("{}: {fault}", line.name))),
        }
    }
    if faults.is_empty() { Ok(checked) } else { Err(faults) }
}

/// Returns what each column holds. Returns no columns if one of them cannot be understood, since the rows cannot be
/// checked then.
fn understood<'a>(names: &[String], known: &'a [Known], command: &str, faults: &mut Vec<String>) -> Vec<Column<'a>> {
    let before = faults.len();
    for needed in NEEDED {
        match names.iter().filter(|name| *name == needed).count() {
            1 => {}
            0 => faults.push(format!("there is no column {needed}; the columns are {}", names.join(", "))),
            _ => faults.push(format!("column {needed} is there twice")),
        }
    }
    let mut columns: Vec<Column> = Vec::new();
    for name in names {
        let column = match name.as_str() {
            "id" => Column::Id,
            "fixed" => Column::Fixed,
            "moving" => Column::Moving,
            name => match Known::find(known, name, command) {
                Ok(option) => Column::Option(option),
                Err(fault) => {
                    faults.push(format!("column {fault}"));
                    continue;
                }
            },
        };
        if let Column::Option(option) = column {
            let same = |column: &Column| matches!(column, Column::Option(other) if other.name() == option.name());
            if !option.repeats() && columns.iter().any(same) {
                faults.push(format!("column {name} is there twice"));
            }
        }
        columns.push(column);
    }
    if faults.len() == before { columns } else { Vec::new() }
}

/// Returns what is wrong with rows that have the folder of an earlier row. Case is ignored, as it is by some file
/// systems.
fn repeated(columns: &[Column], rows: &[Line]) -> Vec<String> {
    let Some(column) = columns.iter().position(|column| matches!(column, Column::Id)) else { return Vec::new() };
    let mut seen = HashMap::new();
    let again = rows.iter().filter_map(|line| {
        let id = &line.cells[column];
        match seen.get(&id.to_lowercase()) {
            Some(first) => Some(format!("{}: id {id} is that of {first}; each pair needs its own", line.name)),
            None => {
                seen.insert(id.to_lowercase(), &line.name);
                None
            }
        }
    });
    again.collect()
}
