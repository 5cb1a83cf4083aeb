//! TIFF: pages, pixels in strips, tiles and planes, and all kinds of colours.

use libtest_mimic::Trial;
use mireg::io::{self, Channel, Image, ReadOptions, Role, Select};
use mireg::{Error, Geometry, PixelType, Resampling, resample};

use super::Folder;
use super::tiff_file::{Page, bytes};
use crate::support::{CPU, trial};

pub fn tests() -> Vec<Trial> {
    vec![
        trial("io::tiff::layouts", every_layout_holds_the_same),
        trial("io::tiff::jpeg", luma_and_chroma_of_jpeg_become_colours),
        trial("io::tiff::inks", inks_become_colours),
        trial("io::tiff::channels", a_channel_is_taken),
        trial("io::tiff::pages", a_page_is_taken_or_the_mean_of_all),
        trial("io::tiff::copies", smaller_copies_need_no_choice),
        trial("io::tiff::refused", what_is_not_there_is_refused),
        trial("io::tiff::thinned", large_pictures_are_thinned_while_they_are_read),
        trial("io::tiff::large", large_strips_and_tiles_are_read_in_parts),
        trial("io::tiff::moved", all_pixels_of_a_picture_are_moved),
    ]
}

fn with(path: &std::path::Path, volume: Option<Select>, channel: Channel) -> Result<Image, Error> {
    io::read_with(path, &ReadOptions { role: Role::Fixed, volume, channel, ..ReadOptions::default() })
}

fn refused(result: Result<Image, Error>) -> String {
    let message = result.unwrap_err().to_string();
    assert!(!message.contains('\n'), "{message}");
    message.split_once(": ").unwrap().1.to_owned()
}

/// Returns a 16-bit number for each pixel and channel.
fn number([x, y, channel]: [usize; 3]) -> u16 {
    (1009 * x + 5003 * y + 20_011 * channel) as u16
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut encoder, bytes).unwrap();
    encoder.finish().unwrap()
}

/// Checks strips and tiles of which the last ones extend beyond the picture, interleaved and planar pixels, 8 and 16
/// bits, compressed and uncompressed.
fn every_layout_holds_the_same() {
    let folder = Folder::new();
    for unit in [[45, 39], [45, 16], [16, 16], [32, 48]] {
        for (channels, photometric) in [(1, 1), (3, 2), (4, 2)] {
            for (bits, pixel) in [(8, PixelType::U8), (16, PixelType::U16)] {
                for (planar, compression) in [(false, 1), (true, 1), (false, 8), (true, 8)] {
                    let page = Page {
                        size: [45, 39],
                        unit,
                        channels,
                        bits,
                        photometric,
                        planar,
                        compression,
                        ..Page::default()
                    };
                    let number = |at| number(at) >> (16 - bits);
                    let units = page.units(number);
                    let units = if compression == 8 { units.iter().map(|unit| zlib(unit)).collect() } else { units };
                    let path = folder.file("a.tif", bytes(&[(page, units)]));
                    let what = format!("{unit:?}, {channels} of {bits}, {planar}, {compression}");
                    for channel in 0..channels {
                        let chosen = if channels == 1 { Channel::Luma } else { Channel::Number(channel) };
                        let volume = with(&path, None, chosen).unwrap_or_else(|e| panic!("{what}: {e}")).volume;
                        assert_eq!((volume.geometry.size, volume.pixel), ([45, 39, 1], pixel), "{what}");
                        let expected = (0..45 * 39).map(|n| f32::from(number([n % 45, n / 45, channel])));
                        assert!(volume.voxels.into_iter().eq(expected), "channel {channel} of {what}");
                    }
                    assert_eq!(io::geometry(&path).unwrap().size, [45, 39, 1], "{what}");
                }
            }
        }
    }
}

fn luma_and_chroma_of_jpeg_become_colours() {
    let folder = Folder::new();
    let page = Page { size: [40, 24], unit: [16, 16], channels: 3, photometric: 6, compression: 7, ..Page::default() };
    let colour = |x: u32, y: u32| image::Rgb([(40 + 5 * x) as u8, (200 - 6 * y) as u8, (20 + 2 * x + 3 * y) as u8]);
    let tile = |n: u32| {
        let (left, top) = (n % 3 * 16, n / 3 * 16);
        let mut jpeg = Vec::new();
        let encoder = image::codecs::jpeg::JpegEncoder::new_with_quality(&mut jpeg, 98);
        image::RgbImage::from_fn(16, 16, |x, y| colour(left + x, top + y)).write_with_encoder(encoder).unwrap();
        jpeg
    };
    let path = folder.file("a.tif", bytes(&[(page, (0..6).map(tile).collect())]));
    for channel in 0..3 {
        let volume = with(&path, None, Channel::Number(channel)).unwrap().volume;
        let expected = |n: usize| f32::from(colour((n % 40) as u32, (n / 40) as u32).0[channel]);
        for (n, found) in volume.voxels.iter().enumerate() {
            assert!((found - expected(n)).abs() < 6.0, "channel {channel}, {n}: {found}, not {}", expected(n));
        }
    }
}

fn inks_become_colours() {
    let folder = Folder::new();
    for (bits, full) in [(8, 255.0_f32), (16, 65535.0)] {
        let page = Page { channels: 4, photometric: 5, bits, ..Page::default() };
        let ink = [0.2, 0.6, 0.9, 0.5].map(|part| (part * full) as u16);
        let path = folder.file("a.tif", bytes(&[(page.clone(), page.units(|[.., channel]| ink[channel]))]));
        for (channel, part) in [0.8, 0.4, 0.1].into_iter().enumerate() {
            let volume = with(&path, None, Channel::Number(channel)).unwrap().volume;
            let expected = 0.5 * part * full;
            assert!(
                volume.voxels.iter().all(|v| (v - expected).abs() < 0.004 * full),
                "{channel}: {:?}",
                volume.voxels
            );
        }
        let message = refused(with(&path, None, Channel::Number(3)));
        assert_eq!(message, "has 3 channels, and none of number 3; choose one with `fixed_channel` 0 to 2");
    }
}

fn a_channel_is_taken() {
    let folder = Folder::new();
    let said = |image: &Image| image.notes.iter().map(ToString::to_string).collect::<Vec<_>>();
    let colours = Page { channels: 3, photometric: 2, ..Page::default() };
    let path = folder.file("a.tif", bytes(&[(colours.clone(), colours.units(|at| number(at) >> 8))]));
    let green = with(&path, None, "green".parse().unwrap()).unwrap();
    assert_eq!(green.volume.voxels[12], f32::from(number([0, 1, 1]) >> 8));
    assert_eq!(said(&green), ["its green channel was taken"]);
    assert_eq!(
        said(&with(&path, None, Channel::Luma).unwrap()),
        ["its colours were converted to luma, 0.2126 R + 0.7152 G + 0.0722 B"]
    );
    let five = Page { channels: 5, bits: 16, ..Page::default() };
    let path = folder.file("b.tif", bytes(&[(five.clone(), five.units(number))]));
    let fourth = with(&path, None, Channel::Number(3)).unwrap();
    assert_eq!(fourth.volume.voxels[14], f32::from(number([2, 1, 3])));
    assert_eq!(said(&fourth), ["channel 3 of 0 to 4 was taken"]);
    let message = refused(with(&path, None, Channel::Luma));
    assert_eq!(message, "has 5 channels; choose one with `fixed_channel` 0 to 4");
    let three = Page { channels: 3, ..Page::default() };
    let path = folder.file("c.tif", bytes(&[(three.clone(), three.units(|at| number(at) >> 8))]));
    assert!(refused(with(&path, None, Channel::Luma)).starts_with("has 3 channels; choose"), "taken for colours");
}

fn a_page_is_taken_or_the_mean_of_all() {
    let folder = Folder::new();
    let page = Page::default();
    let of = |n: u16| (page.clone(), page.units(|[x, y, _]| 10 * n + x as u16 + 3 * y as u16));
    let path = folder.file("a.tif", bytes(&[of(0), of(1), of(5)]));
    for (volume, plus, pixel, said) in [
        (Select::Number(0), 0.0, PixelType::U8, "page 0 of 0 to 2 was taken"),
        (Select::Number(2), 50.0, PixelType::U8, "page 2 of 0 to 2 was taken"),
        (Select::Mean, 20.0, PixelType::F32, "the mean of its 3 pages was taken"),
    ] {
        let image = with(&path, Some(volume), Channel::Luma).unwrap();
        assert_eq!((image.volume.voxels[25], image.volume.pixel), (7.0 + plus, pixel));
        assert_eq!(image.notes.iter().map(ToString::to_string).collect::<Vec<_>>(), [said]);
    }
    let message = refused(with(&path, None, Channel::Luma));
    assert_eq!(message, "has 3 pages; choose one with `fixed_volume` 0 to 2, or mean");
    assert_eq!(
        refused(io::read_with(&path, &ReadOptions { role: Role::Plain, ..ReadOptions::default() })),
        "has 3 pages; extract one"
    );
    assert_eq!(io::geometry(&path).unwrap().size, [12, 10, 1]);
}

fn smaller_copies_need_no_choice() {
    let folder = Folder::new();
    let small = Page { size: [6, 5], unit: [6, 5], ..Page::default() };
    let pages = |kind| {
        let other = Page { kind, ..small.clone() };
        [(Page::default(), Page::default().units(|_| 1)), (other.clone(), other.units(|_| 2))]
    };
    for (kind, alone) in [(1, true), (4, true), (5, true), (0, false), (2, false)] {
        let path = folder.file("a.tif", bytes(&pages(kind)));
        let image = with(&path, None, Channel::Luma);
        assert_eq!(
            image.is_ok_and(|image| image.notes.is_empty() && image.volume.voxels == [1.0; 120]),
            alone,
            "{kind}"
        );
        let second = with(&path, Some(Select::Number(1)), Channel::Luma).unwrap();
        assert_eq!((second.volume.geometry.size, &second.volume.voxels[..]), ([6, 5, 1], &[2.0; 30][..]));
    }
    let path = folder.file("a.tif", bytes(&pages(0)));
    let message = refused(with(&path, Some(Select::Mean), Channel::Luma));
    assert_eq!(message, "its page 1 has another size than page 0, so they have no mean; choose one");
}

fn what_is_not_there_is_refused() {
    let folder = Folder::new();
    let page = Page::default();
    let path = folder.file("a.tif", bytes(&[(page.clone(), page.units(|_| 1))]));
    let message = refused(with(&path, Some(Select::Number(1)), Channel::Luma));
    assert_eq!(message, "has one page, and none of number 1; leave out `fixed_volume`");
    let message = refused(with(&path, None, Channel::Number(0)));
    assert_eq!(message, "has one channel, and none to choose from; leave out `fixed_channel`");
    let huge = Page { size: [60_000, 60_000], unit: [60_000, 60_000], ..page.clone() };
    let path = folder.file("a.tif", bytes(&[(huge, page.units(|_| 1))]));
    assert!(refused(with(&path, None, Channel::Luma)).contains("60000 x 60000 pixels, more than the file can hold"));
    let single = Page { bits: 32, ..page.clone() };
    let path = folder.file("a.tif", bytes(&[(single, vec![vec![0; 480]])]));
    assert_eq!(refused(with(&path, None, Channel::Luma)), "its pixels are Gray(32); save it with 8 or 16 bits a pixel");
}

fn large_pictures_are_thinned_while_they_are_read() {
    let folder = Folder::new();
    let grey = image::GrayImage::from_fn(120, 90, |x, y| image::Luma([(x + y) as u8]));
    grey.save(folder.path("a.png")).unwrap();
    let page = Page { size: [120, 90], unit: [32, 32], ..Page::default() };
    let path = folder.file("a.tif", bytes(&[(page.clone(), page.units(|[x, y, _]| (x + y) as u16))]));
    let most = |most_pixels| ReadOptions { most_pixels: Some(most_pixels), ..ReadOptions::default() };
    for path in [path, folder.path("a.png")] {
        let whole = io::read_with(&path, &most(120 * 90)).unwrap();
        assert_eq!((&whole.volume, whole.whole, whole.notes.len()), (&io::read(&path).unwrap(), None, 0));
        let image = io::read_with(&path, &most(1300)).unwrap();
        let thin = image.volume;
        assert_eq!((thin.geometry.size, thin.geometry.spacing), ([40, 30, 1], glam::DVec3::new(3.0, 3.0, 1.0)));
        assert_eq!(
            (image.whole, thin.geometry.centre()),
            (Some(whole.volume.geometry), whole.volume.geometry.centre())
        );
        assert_eq!(image.notes[0].to_string(), "registered at 40 x 30 pixels, one in 3 along each axis");
        // A thinned ramp is still a ramp.
        let at = |x: usize, y: usize| thin.voxels[x + 40 * y];
        assert!((at(20, 15) - (61.0 + 46.0)).abs() < 1e-3, "{}", at(20, 15));
    }
}

/// Strips of more than 64 MB are read in parts, and tiles by several threads.
fn large_strips_and_tiles_are_read_in_parts() {
    let folder = Folder::new();
    let options = ReadOptions { most_pixels: Some(1 << 20), ..ReadOptions::default() };
    let number =
        |[x, y, _]: [usize; 3]| (40.0 + 30.0 * (x as f32 / 900.0).sin() + 20.0 * (y as f32 / 700.0).cos()) as u16;
    let plain = Page { size: [5800, 5800], unit: [5800, 5800], bits: 16, ..Page::default() };
    let tiles = Page { unit: [512, 512], compression: 8, ..plain.clone() };
    let strip = folder.file("a.tif", bytes(&[(plain.clone(), plain.units(number))]));
    let units = tiles.units(number).iter().map(|unit| zlib(unit)).collect();
    let tiles = folder.file("b.tif", bytes(&[(tiles.clone(), units)]));
    let [one, other] = [strip, tiles].map(|path| io::read_with(&path, &options).unwrap().volume);
    assert_eq!((one.geometry.size, one.pixel), ([966, 966, 1], PixelType::U16));
    assert!(one == other, "strips and tiles differ");
    // The middle of thinned pixel 500 is that of pixel 3003.5, half a pixel of the first being left out.
    let expected = f32::from(number([3003, 3003, 0]));
    assert!((one.voxels[500 * 966 + 500] - expected).abs() < 1.5, "{} for {expected}", one.voxels[500 * 966 + 500]);
}

fn all_pixels_of_a_picture_are_moved() {
    let folder = Folder::new();
    let map = glam::DAffine3::from_translation(glam::DVec3::new(3.4, -2.7, 0.0)) * glam::DAffine3::from_rotation_z(0.2);
    for bits in [8, 16] {
        let page = Page { size: [45, 39], unit: [16, 16], bits, ..Page::default() };
        let path = folder.file("a.tif", bytes(&[(page.clone(), page.units(|at| number(at) >> (16 - bits)))]));
        let options = ReadOptions { most_pixels: Some(100), ..ReadOptions::default() };
        let grid = Geometry::axis_aligned([50, 40, 1], glam::DVec3::ONE, glam::DVec3::ZERO);
        resample::move_picture(&path, &options, &grid, &map, &folder.path("moved.png")).unwrap();
        let whole = CPU.resample(&io::read(&path).unwrap(), &grid, &map.into(), &Resampling::default()).unwrap();
        io::write(&folder.path("expected.png"), &whole.volume).unwrap();
        let [moved, expected] = ["moved.png", "expected.png"].map(|name| std::fs::read(folder.path(name)).unwrap());
        assert!(moved == expected, "{bits} bits");
    }
    let refused = resample::move_picture(
        &folder.path("a.tif"),
        &ReadOptions::default(),
        &Geometry::axis_aligned([40_000, 2, 1], glam::DVec3::ONE, glam::DVec3::ZERO),
        &map,
        &folder.path("b.png"),
    );
    assert!(refused.unwrap_err().to_string().contains("the grid to resample on has 40000 x 2 x 1 voxels"));
}
