//! Reads TIFF: chooses the page, and decodes its strips or tiles.

use std::fs::File;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use image::ImageFormat;
use rayon::prelude::*;
use tiff::ColorType;
use tiff::decoder::{Decoder, Limits};
use tiff::tags::{ByteOrder, SampleFormat, Tag};
use tiff::{TiffError, TiffResult};

use super::layout::Layout;
use super::rows::Rows;
use super::{Sink, SubsamplingSink, grid, most_decoded, most_pixels, other_pixels, refused};
use crate::error::Message;
use crate::io::reading::{Image, ReadOptions};
use crate::io::source;
use crate::io::voxels::Take;
use crate::{Error, Geometry, PixelType, Result, Volume};

/// Bits of a page's NewSubfileType for a smaller copy of another page, or its mask.
const OF_ANOTHER: u32 = 1 | 4;

/// The size in bytes above which a strip is read in parts, and a page is decoded in parts.
const LARGE: usize = 1 << 26;

/// Rows of strips or tiles of a large page that a thread decodes at once.
const EACH: usize = 4;

/// Reads the page of the file at `path` that `options` choose, or the mean of all pages.
pub fn read(path: &Path, options: &ReadOptions) -> Result<Image> {
    let mut tiff = Tiff::open(path)?;
    let (take, pages, mut notes) = tiff.choose(options)?;
    let (first, mut options) = (if let Take::One(page) = take { page } else { 0 }, options.clone());
    if take == Take::Mean {
        options.most_pixels = None;
    }
    let mut image = tiff.page(first, &options)?;
    notes.append(&mut image.notes);
    if take == Take::Mean {
        image.volume = tiff.mean(image.volume, pages, &options)?;
    }
    Ok(Image { notes, ..image })
}

/// Passes the rows of the page that `options` choose, or of the first, to a sink, which `sink` makes for a grid and a
/// pixel type.
pub fn rows<S: Sink>(
    path: &Path,
    options: &ReadOptions,
    sink: impl FnOnce(Geometry, PixelType) -> S,
) -> Result<(S, Vec<Message>)> {
    let mut tiff = Tiff::open(path)?;
    let (take, ..) = tiff.choose(options)?;
    tiff.give(if let Take::One(page) = take { page } else { 0 }, options, sink)
}

/// The grid of the first page of the file at `path`.
pub fn geometry(path: &Path) -> Result<Geometry> {
    let (width, height) = Tiff::open(path)?.decoder.dimensions().map_err(wrong(path))?;
    grid(width, height).map_err(Error::at(path))
}

/// An open file.
struct Tiff<'a> {
    path: &'a Path,
    length: u64,
    decoder: Decoder<BufReader<File>>,
}

impl<'a> Tiff<'a> {
    fn open(path: &'a Path) -> Result<Self> {
        let (file, length) = source::open(path)?;
        let mut file = BufReader::new(file);
        let unreadable = |e: std::io::Error| Error::file(path, source::reason(&e));
        if !entries_fit(&mut file, length).map_err(unreadable)? {
            return Err(refused(path, ImageFormat::Tiff, "its directory claims more values than the file can hold"));
        }
        file.rewind().map_err(unreadable)?;
        let mut limits = Limits::default();
        [limits.intermediate_buffer_size, limits.ifd_value_size] = [usize::try_from(length).unwrap_or(usize::MAX); 2];
        limits.decoding_buffer_size = usize::try_from(most_decoded(length)).unwrap_or(usize::MAX);
        let decoder = Decoder::new(file).map_err(wrong(path))?.with_limits(limits);
        Ok(Self { path, length, decoder })
    }

    /// The NewSubfileType of every page but the first.
    fn subfile_types(&mut self) -> Result<Vec<u32>> {
        let mut others = Vec::new();
        while self.decoder.more_images() {
            let kind = match self.decoder.next_image() {
                Ok(()) => self.decoder.find_tag_unsigned(Tag::NewSubfileType).map_err(wrong(self.path))?,
                // A page of an unsupported kind counts too.
                Err(TiffError::UnsupportedError(_)) => None,
                Err(error) => return Err(wrong(self.path)(error)),
            };
            others.push(kind.unwrap_or(0));
        }
        Ok(others)
    }

    /// Which page to take, the number of pages, and notes for the user. If all other pages are smaller copies or masks
    /// of the first, it is taken without a choice.
    fn choose(&mut self, options: &ReadOptions) -> Result<(Take, usize, Vec<Message>)> {
        let others = self.subfile_types()?;
        let pages = match options.volume {
            None if others.iter().all(|kind| kind & OF_ANOTHER != 0) => 1,
            _ => 1 + others.len(),
        };
        let (take, notes) = options.volume(pages, "page").map_err(Error::at(self.path))?;
        Ok((take, pages, notes))
    }

    /// Reads a page.
    fn page(&mut self, page: usize, options: &ReadOptions) -> Result<Image> {
        let (sink, notes) = self.give(page, options, |whole, pixel| SubsamplingSink::new(whole, pixel, options))?;
        Ok(sink.finish(notes))
    }

    /// Passes the rows of a page to the sink that `sink` makes. Returns the sink, and notes on the channels taken.
    fn give<S: Sink>(
        &mut self,
        page: usize,
        options: &ReadOptions,
        sink: impl FnOnce(Geometry, PixelType) -> S,
    ) -> Result<(S, Vec<Message>)> {
        let wrong = wrong(self.path);
        let layout = self.seek(page)?;
        let (take, notes) = layout.channels_to_take(options).map_err(Error::at(self.path))?;
        let mut sink = sink(layout.grid().map_err(Error::at(self.path))?, layout.pixel());
        let mut given = |rows: &[f32]| sink.push(rows);
        if let Some(strips) = self.large_strips(&layout).map_err(&wrong)? {
            self.parts(&layout, &strips, &mut |rows| rows.give(take, &mut given)).map_err(&wrong)?;
            return Ok((sink, notes));
        }
        let rows: Vec<u32> = (0..layout.units()[1]).collect();
        if layout.stride() * layout.size[1] as usize <= LARGE {
            let rows =
                rows.into_iter().map(|row| self.rows(&layout, row).map_err(&wrong)).collect::<Result<Vec<_>>>()?;
            let Some(rows) = rows.into_iter().reduce(Rows::then) else { return Ok((sink, notes)) };
            let (rows, take, notes) = rows.behind_colours(options, (take, notes));
            rows.give(take, &mut given);
            return Ok((sink, notes));
        }
        // Each thread decodes some rows with its own decoder. Only these rows are in memory at a time.
        for rows in rows.chunks(EACH * rayon::current_num_threads()) {
            let decode = |rows: &[u32]| -> Result<Vec<Rows>> {
                let mut own = Tiff::open(self.path)?;
                own.seek(page)?;
                rows.iter().map(|&row| own.rows(&layout, row).map_err(&wrong)).collect()
            };
            let decoded: Vec<_> = rows.par_chunks(EACH).map(decode).collect();
            for rows in decoded {
                rows?.iter().for_each(|rows| rows.give(take, &mut given));
            }
        }
        Ok((sink, notes))
    }

    /// The mean of all pages. `first` is page 0, which has been read already.
    fn mean(&mut self, first: Volume, pages: usize, options: &ReadOptions) -> Result<Volume> {
        let mut sums: Vec<f64> = first.voxels.iter().map(|&voxel| voxel.into()).collect();
        for page in 1..pages {
            let Volume { geometry, voxels, .. } = self.page(page, options)?.volume;
            if geometry != first.geometry {
                let message = format!("its page {page} has another size than page 0, so they have no mean; choose one");
                return Err(Error::file(self.path, message));
            }
            sums.iter_mut().zip(voxels).for_each(|(sum, voxel)| *sum += f64::from(voxel));
        }
        let voxels = sums.iter().map(|sum| (sum / pages as f64) as f32).collect();
        Ok(Volume { voxels, pixel: PixelType::F32, ..first })
    }

    /// Goes to a page, and returns the layout of its pixels.
    fn seek(&mut self, page: usize) -> Result<Layout> {
        self.decoder.seek_to_image(page).map_err(wrong(self.path))?;
        let read = || -> TiffResult<(ColorType, Vec<u16>, (u32, u32))> {
            let formats = self.decoder.find_tag_unsigned_vec(Tag::SampleFormat)?.unwrap_or_default();
            Ok((self.decoder.colortype()?, formats, self.decoder.dimensions()?))
        };
        let (colour, formats, (width, height)) = { read }().map_err(wrong(self.path))?;
        let whole = formats.iter().all(|&format| format == SampleFormat::Uint.to_u16());
        let (channels, bytes) = match colour {
            ColorType::Gray(1 | 8) => (1, 1),
            ColorType::Gray(16) => (1, 2),
            ColorType::RGB(8) | ColorType::YCbCr(8) => (3, 1),
            ColorType::RGB(16) => (3, 2),
            ColorType::RGBA(8) | ColorType::CMYK(8) => (4, 1),
            ColorType::RGBA(16) | ColorType::CMYK(16) => (4, 2),
            ColorType::Multiband { bit_depth: bits @ (8 | 16), num_samples } => {
                (usize::from(num_samples), usize::from(bits / 8))
            }
            other => return Err(Error::file(self.path, other_pixels(&format!("{other:?}")))),
        };
        if !whole {
            return Err(Error::file(self.path, other_pixels("no whole numbers from 0")));
        }
        let layout =
            Layout { size: [width, height], unit: self.decoder.chunk_dimensions().into(), colour, channels, bytes };
        let pixels = u64::from(width) * u64::from(height);
        if pixels.saturating_mul((channels * bytes) as u64) > most_pixels(self.length) {
            let message = format!(
                "its header claims {width} x {height} pixels, more than the file can hold ({} bytes); it is truncated or damaged: \
                 copy or download it again",
                self.length
            );
            return Err(Error::file(self.path, message));
        }
        Ok(layout)
    }

    /// The offsets of the strips, if they are so large that they have to be read in parts, and not compressed, so that
    /// they can be.
    fn large_strips(&mut self, layout: &Layout) -> TiffResult<Option<Vec<u64>>> {
        let [across, _] = layout.units();
        let bytes = layout.unit[1] as usize * layout.stride();
        let mut is = |tag, usual: u32| TiffResult::Ok(self.decoder.find_tag_unsigned(tag)?.unwrap_or(usual) == usual);
        let plain = is(Tag::Compression, 1)? && is(Tag::PlanarConfiguration, 1)? && is(Tag::Predictor, 1)?;
        let stored = self.decoder.find_tag_unsigned(Tag::SamplesPerPixel)? == Some(layout.channels as u32);
        let inverted = self.decoder.find_tag_unsigned(Tag::PhotometricInterpretation)? == Some(0_u32);
        let bits = layout.colour == ColorType::Gray(1);
        match across == 1 && bytes > LARGE && plain && stored && !inverted && !bits {
            true => self.decoder.find_tag(Tag::StripOffsets)?.map(|offsets| offsets.into_u64_vec()).transpose(),
            false => Ok(None),
        }
    }

    /// Reads uncompressed strips, some rows at a time.
    fn parts(&mut self, layout: &Layout, strips: &[u64], given: &mut dyn FnMut(Rows)) -> TiffResult<()> {
        let big_endian = self.decoder.byte_order() == ByteOrder::BigEndian;
        let mut left = layout.size[1] as usize * layout.stride();
        for &strip in strips {
            let mut of_strip = left.min(layout.unit[1] as usize * layout.stride());
            left -= of_strip;
            self.decoder.inner().seek(SeekFrom::Start(strip))?;
            while of_strip > 0 {
                let mut part = vec![0; of_strip.min((LARGE / layout.stride()).max(1) * layout.stride())];
                self.decoder.inner().read_exact(&mut part)?;
                of_strip -= part.len();
                if layout.bytes == 2 && big_endian != cfg!(target_endian = "big") {
                    part.as_chunks_mut::<2>().0.iter_mut().for_each(|word| word.reverse());
                }
                given(layout.rows(part));
            }
        }
        Ok(())
    }

    /// The pixels of a row of strips or tiles.
    fn rows(&mut self, layout: &Layout, row: u32) -> TiffResult<Rows> {
        let [across, _] = layout.units();
        let height = layout.unit[1].min(layout.size[1] - row * layout.unit[1]);
        if across == 1 {
            return Ok(layout.rows(self.unit(layout, row, layout.size[0] as usize)?));
        }
        let (pixel, stride) = (layout.channels * layout.bytes, layout.stride());
        let mut band = vec![0; stride * height as usize];
        for column in 0..across {
            let first = column * layout.unit[0];
            let width = layout.unit[0].min(layout.size[0] - first) as usize;
            let unit = self.unit(layout, row * across + column, width)?;
            let rows = band.chunks_exact_mut(stride).zip(unit.chunks_exact(width * pixel));
            rows.for_each(|(band, row)| band[first as usize * pixel..][..row.len()].copy_from_slice(row));
        }
        Ok(layout.rows(band))
    }

    /// The bytes of a strip or tile of this width, with the channels of a pixel side by side.
    fn unit(&mut self, layout: &Layout, unit: u32, width: usize) -> TiffResult<Vec<u8>> {
        let planes =
            if self.decoder.find_tag_unsigned(Tag::PlanarConfiguration)? == Some(2) { layout.channels } else { 1 };
        let [across, down] = layout.units();
        let mut planes = (0..planes as u32).map(|plane| self.chunk(unit + plane * across * down));
        let bytes = planes.next().unwrap_or_else(|| Ok(Vec::new()))?;
        if layout.colour == ColorType::Gray(1) {
            let white = |row: &[u8], n: usize| 255 * (row[n / 8] >> (7 - n % 8) & 1);
            let rows = bytes.chunks_exact(width.div_ceil(8));
            return Ok(rows.flat_map(|row| (0..width).map(move |n| white(row, n))).collect());
        }
        let others = planes.collect::<TiffResult<Vec<_>>>()?;
        if others.is_empty() {
            return Ok(bytes);
        }
        let numbers = (0..bytes.len()).step_by(layout.bytes);
        let planes = || std::iter::once(&bytes).chain(&others);
        // The other planes can be longer, by rows outside the image.
        Ok(numbers
            .flat_map(|n| planes().flat_map(move |plane| plane[n..].iter().take(layout.bytes).copied()))
            .collect())
    }

    /// Decompresses one chunk of the file.
    fn chunk(&mut self, chunk: u32) -> TiffResult<Vec<u8>> {
        let length = self.decoder.image_chunk_buffer_layout(chunk)?.len;
        if length as u64 > most_decoded(self.length) {
            return Err(TiffError::LimitsExceeded);
        }
        let mut bytes = vec![0; length];
        self.decoder.read_chunk_bytes(chunk, &mut bytes)?;
        Ok(bytes)
    }
}

/// The error for a file that the decoder refuses.
fn wrong(path: &Path) -> impl Fn(TiffError) -> Error + '_ {
    |error| refused(path, ImageFormat::Tiff, &error.to_string())
}

/// Whether no entry of the first directory claims more values than the file has bytes. The decoder allocates the
/// claimed size before it can be given a limit.
fn entries_fit(file: &mut (impl Read + Seek), length: u64) -> std::io::Result<bool> {
    let mut head = Vec::new();
    file.take(16).read_to_end(&mut head)?;
    let number = |bytes: &[u8], at: usize, width: usize| {
        let push = |number: u64, &byte: &u8| number << 8 | u64::from(byte);
        let of_it = bytes.get(at..at.checked_add(width)?)?;
        Some(if head.starts_with(b"II") { of_it.iter().rev().fold(0, push) } else { of_it.iter().fold(0, push) })
    };
    // For BigTIFF and for TIFF: the position of the directory's offset, and the bytes of that offset, of the number of
    // entries, of an entry, and of the count in an entry.
    let is_big = number(&head, 2, 2) == Some(43);
    let (at, offset, total, entry, count) = if is_big { (8, 8, 8, 20, 8) } else { (4, 4, 2, 12, 4) };
    let Some(start) = number(&head, at, offset).filter(|&start| start < length) else { return Ok(true) };
    file.seek(SeekFrom::Start(start))?;
    let mut directory = Vec::new();
    let mut first = vec![0; total];
    if file.read_exact(&mut first).is_err() {
        return Ok(true);
    }
    let entries = number(&first, 0, total).unwrap_or(0);
    file.take(entries.saturating_mul(entry as u64)).read_to_end(&mut directory)?;
    let mut counts = directory.chunks_exact(entry).filter_map(|entry| number(entry, 4, count));
    Ok(counts.all(|count| count <= length))
}
