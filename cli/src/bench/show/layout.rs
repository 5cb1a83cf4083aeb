//! Lines of tables.

/// Groups items with the same key, in the order in which the keys first occur.
pub fn groups<T, K: PartialEq>(items: impl Iterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<Vec<T>> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    for item in items {
        let key = key(&item);
        match groups.iter_mut().find(|(other, _)| *other == key) {
            Some((_, group)) => group.push(item),
            None => groups.push((key, vec![item])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// Returns a line: a quantity, a method, and a value per column.
pub fn line(name: &str, method: &str, values: impl Iterator<Item = String>) -> String {
    let values: String = values.map(|value| format!(" {value:>8}")).collect();
    format!("  {name:<14} {method:<18}{values}\n")
}

/// Returns the voxels along the axes as text.
pub fn dimensions([x, y, z]: [usize; 3]) -> String {
    if x == y && y == z { format!("{x}^3") } else { format!("{x}x{y}x{z}") }
}
