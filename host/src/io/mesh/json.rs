//! Meshes in JSON: vertices in both images, and triangles as indices of vertices.

use glam::DVec2;
use serde::{Deserialize, Serialize};

use crate::transform::Mesh;

/// The `kind` of the file.
const KIND: &str = "mireg mesh";
/// The version of the contents. It is raised when a reader of this version would misunderstand a file.
const VERSION: u32 = 1;

#[derive(Deserialize)]
struct File {
    kind: String,
    version: u32,
    fixed: Vec<Row>,
    moving: Vec<Row>,
    triangles: Vec<[u32; 3]>,
}

/// x and y in LPS mm.
type Row = [f64; 2];

/// Whether the start of a file is that of a mesh.
pub fn is(head: &str) -> bool {
    head.trim_start().starts_with('{') && head.contains(&format!("\"{KIND}\""))
}

pub fn parse(text: &str) -> Result<Mesh, String> {
    let file: File = serde_json::from_str(text).map_err(|e| format!("is no mesh of mireg ({e}); write it again"))?;
    if file.kind != KIND {
        return Err(format!("is no mesh: its kind is not \"{KIND}\""));
    }
    if file.version != VERSION {
        let version = file.version;
        return Err(format!(
            "holds a mesh of version {version}, and this mireg reads {VERSION}; use the mireg that wrote it"
        ));
    }
    let points = |rows: Vec<Row>| rows.into_iter().map(DVec2::from).collect();
    let mesh = Mesh { fixed: points(file.fixed), moving: points(file.moving), triangles: file.triangles };
    mesh.check().map_err(|wrong| format!("holds a mesh {wrong}; correct it or write it again"))?;
    Ok(mesh)
}

pub fn text(mesh: &Mesh) -> String {
    let points = |points: &[DVec2]| rows(points.iter().map(|point| point.to_array()));
    format!(
        "{{\n\"kind\": \"{KIND}\",\n\"version\": {VERSION},\n\"mireg\": \"{}\",\n\"unit\": \"mm\",\n\"frame\": \"LPS\",\n\
         \"fixed\": {},\n\"moving\": {},\n\"triangles\": {}\n}}\n",
        env!("CARGO_PKG_VERSION"),
        points(&mesh.fixed),
        points(&mesh.moving),
        rows(mesh.triangles.iter()),
    )
}

/// A list with one row per line.
fn rows(rows: impl Iterator<Item = impl Serialize>) -> String {
    let rows: Vec<String> = rows.map(|row| serde_json::json!(row).to_string()).collect();
    format!("[\n{}\n]", rows.join(",\n"))
}
