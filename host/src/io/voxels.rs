//! Reads the numbers of a file that make up a volume.

use super::check;
use super::coding::{Coding, PART};
use super::luma::luma;
use super::source::Source;
use crate::PixelType;
use rayon::prelude::*;

/// The arrangement of the numbers in a file.
#[derive(Clone, Copy)]
pub struct Shape {
    /// Voxels along each axis.
    pub size: [usize; 3],
    /// Numbers per voxel.
    pub numbers: usize,
    /// Their order, if there are several per voxel.
    pub order: Order,
}

/// The order of the numbers in a file with several per voxel.
#[derive(Clone, Copy, PartialEq)]
pub enum Order {
    /// All numbers of a voxel, then all of the next voxel.
    Voxels,
    /// The first number of every voxel, then the second of every voxel, and so on.
    Planes,
}

impl Shape {
    /// One number per voxel.
    pub fn scalar(size: [usize; 3]) -> Self {
        Self { size, numbers: 1, order: Order::Voxels }
    }

    /// The bytes of all numbers, or `u64::MAX` if there are more.
    pub fn bytes(&self, coding: &Coding) -> u64 {
        self.count().saturating_mul(coding.pixel.bytes() as u128).try_into().unwrap_or(u64::MAX)
    }

    /// Describes the voxels for a message about a header.
    fn claimed(&self) -> String {
        let voxels = format!("{} voxels", check::by(self.size));
        if self.numbers == 1 { voxels } else { format!("{voxels} of {} numbers", self.numbers) }
    }

    /// The arrangement of the numbers that `take` keeps.
    fn taken(&self, take: Take) -> Self {
        if take == Take::All { *self } else { Self::scalar(self.size) }
    }

    fn count(&self) -> u128 {
        self.size.iter().fold(self.numbers as u128, |count, &n| count.saturating_mul(n as u128))
    }

    /// The voxel to which the `n`th number belongs.
    fn voxel(&self, n: usize) -> [usize; 3] {
        let [width, height, depth] = self.size;
        let voxel = match self.order {
            Order::Voxels => n / self.numbers,
            Order::Planes => n % (width * height * depth),
        };
        [voxel % width, voxel / width % height, voxel / width / height]
    }
}

/// Which of the numbers of each voxel to read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Take {
    /// All of them, in the order of the file.
    All,
    /// The one with this index.
    One(usize),
    /// Their mean.
    Mean,
    /// The luma of the first three.
    Luma,
}

impl Take {
    /// The type of a volume of the intensities that are selected. Scaled integers and means become floats.
    pub fn volume_pixel(self, coding: &Coding) -> PixelType {
        match (coding.scale, coding.pixel) {
            (_, pixel @ PixelType::F64) => pixel,
            (None, pixel) if self != Self::Mean => pixel,
            _ => PixelType::F32,
        }
    }

    /// Reduces the numbers of one voxel to one.
    fn of(self, numbers: &[f32]) -> f32 {
        match self {
            Self::All => numbers[0],
            Self::One(n) => numbers[n],
            Self::Mean => mean(numbers.iter().map(|&n| f64::from(n)).sum(), numbers.len()),
            Self::Luma => luma(numbers),
        }
    }
}

fn mean(sum: f64, count: usize) -> f32 {
    (sum / count as f64) as f32
}

/// Reads the numbers of a volume that `take` selects, and checks that they are [`finite`]. Allocates no memory for a
/// volume that the file cannot hold, and otherwise only for the result and, for the mean of several volumes, their sum.
pub fn read(mut source: Source, shape: &Shape, coding: &Coding, take: Take) -> crate::Result<Vec<f32>> {
    let needed = shape.count().saturating_mul(coding.pixel.bytes() as u128);
    if needed > u128::from(source.remaining()) {
        return Err(source.error(format!(
            "its header claims {} ({needed} bytes), more than the file can hold ({} bytes); \
             it is truncated or damaged: copy or download it again",
            shape.claimed(),
            source.remaining()
        )));
    }
    let voxels = shape.size.iter().product();
    let taken = if take == Take::All { shape.numbers * voxels } else { voxels };
    let mut numbers = Vec::new();
    if numbers.try_reserve_exact(taken).is_err() {
        return Err(source.error(format!("its {taken} voxels do not fit in memory; resample it to fewer")));
    }
    match (take, shape.order) {
        (Take::All, _) => decode(&mut source, taken, coding, &mut numbers)?,
        (Take::One(n), Order::Planes) => {
            let before = (n * voxels * coding.pixel.bytes()) as u64;
            source.skip_to(source.position() + before)?;
            decode(&mut source, voxels, coding, &mut numbers)?;
        }
        (Take::Mean, Order::Planes) => means(&mut source, shape, coding, &mut numbers)?,
        (Take::Luma, Order::Planes) => {
            return Err(
                source.error("has all red before all green; save it with the colours of each voxel side by side")
            );
        }
        (_, Order::Voxels) => among(&mut source, shape, coding, take, &mut numbers)?,
    }
    if !coding.is_always_finite() {
        finite(&numbers, &shape.taken(take)).map_err(|message| source.error(message))?;
    }
    source.finish()?;
    Ok(numbers)
}

/// Reads the next `count` numbers of `source`, and appends them.
fn decode(source: &mut Source, count: usize, coding: &Coding, numbers: &mut Vec<f32>) -> crate::Result<()> {
    let width = coding.pixel.bytes();
    let mut bytes = vec![0; PART.min(count) * width];
    let end = numbers.len() + count;
    while numbers.len() < end {
        let part = &mut bytes[..PART.min(end - numbers.len()) * width];
        source.read_exact(part)?;
        coding.decode(part, numbers);
    }
    Ok(())
}

/// Reads consecutive volumes, and appends their mean.
fn means(source: &mut Source, shape: &Shape, coding: &Coding, numbers: &mut Vec<f32>) -> crate::Result<()> {
    let voxels: usize = shape.size.iter().product();
    let mut sums = Vec::new();
    if sums.try_reserve_exact(voxels).is_err() {
        return Err(source.error("the mean of its volumes does not fit in memory; choose one volume"));
    }
    sums.resize(voxels, 0.0);
    let mut part = Vec::with_capacity(PART);
    for _ in 0..shape.numbers {
        for sums in sums.chunks_mut(PART) {
            part.clear();
            decode(source, sums.len(), coding, &mut part)?;
            sums.iter_mut().zip(&part).for_each(|(sum, &number)| *sum += f64::from(number));
        }
    }
    numbers.extend(sums.iter().map(|&sum| mean(sum, shape.numbers)));
    Ok(())
}

/// Reads voxels whose numbers are side by side, and appends what `take` selects of each.
fn among(source: &mut Source, shape: &Shape, coding: &Coding, take: Take, numbers: &mut Vec<f32>) -> crate::Result<()> {
    let at_once = (PART / shape.numbers).max(1);
    let mut left: usize = shape.size.iter().product();
    let mut part = Vec::new();
    while left > 0 {
        let voxels = at_once.min(left);
        part.clear();
        decode(source, voxels * shape.numbers, coding, &mut part)?;
        numbers.extend(part.chunks_exact(shape.numbers).map(|voxel| take.of(voxel)));
        left -= voxels;
    }
    Ok(())
}

/// Reads the numbers of a volume that `take` selects from the rest of `source`, which is text, and checks that they are
/// [`finite`].
pub fn read_text(mut source: Source, shape: &Shape, take: Take) -> crate::Result<Vec<f32>> {
    let bytes = source.bytes()?;
    let text = String::from_utf8_lossy(&bytes);
    let numbers: Result<Vec<f32>, _> = text.split_ascii_whitespace().map(str::parse).collect();
    let numbers =
        numbers.map_err(|_| source.error("holds text that is no number among its voxels; correct the file"))?;
    if shape.count() != numbers.len() as u128 {
        return Err(source.error(format!(
            "its header claims {} but {} numbers follow; it is truncated or damaged: copy or download it again",
            shape.claimed(),
            numbers.len()
        )));
    }
    let taken = match (take, shape.order) {
        (Take::All, _) => numbers,
        (_, Order::Voxels) => numbers.chunks_exact(shape.numbers).map(|voxel| take.of(voxel)).collect(),
        (_, Order::Planes) => {
            let voxels = numbers.len() / shape.numbers;
            let of_voxel = |n: usize| numbers[n..].iter().step_by(voxels).copied().collect::<Vec<f32>>();
            (0..voxels).map(|n| take.of(&of_voxel(n))).collect()
        }
    };
    finite(&taken, &shape.taken(take)).map_err(|message| source.error(message))?;
    Ok(taken)
}

/// Checks that all numbers of a volume are finite. Intensities, one per voxel, may also be NaN for no data.
pub fn finite(numbers: &[f32], shape: &Shape) -> Result<(), String> {
    let scalar = shape.numbers == 1;
    let bad = |v: &&f32| if scalar { v.is_infinite() } else { !v.is_finite() };
    let count = numbers.par_iter().with_min_len(PART).filter(bad).count();
    let Some(first) = (count > 0).then(|| numbers.iter().position(|v| bad(&v))).flatten() else { return Ok(()) };
    let [i, j, k] = shape.voxel(first);
    let what = if scalar { "voxels are" } else { "numbers are NaN," };
    let instead = if scalar { "numbers, or by NaN for no data" } else { "numbers" };
    Err(format!(
        "{count} of its {what} infinite or too large for f32, the first at index ({i}, {j}, {k}); \
         replace them by {instead}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bad_voxel_is_named_and_no_data_is_not_bad() {
        let mut numbers = [0.0; 24];
        (numbers[3], numbers[8], numbers[9]) = (f32::NAN, f32::NEG_INFINITY, f32::INFINITY);
        let message = finite(&numbers, &Shape::scalar([2, 3, 4])).unwrap_err();
        assert!(message.starts_with("2 of") && message.contains("(0, 1, 1)"), "{message}");
        let vectors = |order| finite(&numbers, &Shape { size: [2, 2, 2], numbers: 3, order }).unwrap_err();
        assert!(vectors(Order::Voxels).starts_with("3 of") && vectors(Order::Voxels).contains("(1, 0, 0)"));
        assert!(vectors(Order::Planes).contains("(1, 1, 0)"));
        (numbers[8], numbers[9]) = (0.0, 0.0);
        finite(&numbers, &Shape::scalar([2, 3, 4])).unwrap();
    }
}
