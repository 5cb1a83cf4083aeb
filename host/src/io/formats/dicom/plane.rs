//! The positions of frames in space (PS3.3 C.7.6.2, C.7.6.16.2), and the rescaling of their pixels.

use glam::DVec3;

use super::elements::Elements;
use super::tags::{self, Tag};

/// The grid of a frame in space.
#[derive(Clone, Copy, PartialEq)]
pub struct Plane {
    /// Columns and rows.
    pub size: [usize; 2],
    /// The distance of neighbouring columns, then of neighbouring rows, mm.
    pub spacing: Option<[f64; 2]>,
    /// Directions along a row and along a column, LPS.
    pub axes: Option<[DVec3; 2]>,
    /// Centre of the first pixel, LPS mm.
    pub position: Option<DVec3>,
}

/// The rescaling of stored values: times a slope, plus an intercept (PS3.3 C.11.1).
#[derive(Clone, Copy, PartialEq)]
pub struct Rescale {
    pub slope: f64,
    pub intercept: f64,
}

impl Rescale {
    /// Whether rescaled integers are integers.
    pub fn is_whole(&self) -> bool {
        self.slope.fract() == 0.0 && self.intercept.fract() == 0.0
    }
}

/// A frame of a file.
pub struct FrameInfo {
    pub plane: Plane,
    pub rescale: Rescale,
    /// Its index in time among the frames at the same position.
    pub time: u32,
}

/// The message for a multi-frame file without positions.
const NOWHERE: &str = "frames without positions in space, such as a film; convert it to NIfTI, for example with \
                       dcm2niix, or give a series of slices";

/// The frames of an image in the order of the file.
pub fn frames(elements: &Elements, count: usize) -> Result<Vec<FrameInfo>, String> {
    let per_frame = elements.items(tags::FRAME_GROUPS);
    let shared = elements.items(tags::SHARED_GROUPS);
    if per_frame.is_empty() && shared.is_empty() {
        return plain(elements, count);
    }
    if per_frame.len() != count {
        let groups = per_frame.len();
        return Err(format!("has {count} frames but functional groups of {groups}; copy it again, or correct it"));
    }
    let frame = |own: &Elements| {
        let groups = Groups { own, shared: shared.first(), all: elements };
        let time = groups.of(tags::FRAME_CONTENT, tags::TEMPORAL_POSITION_INDEX);
        Ok(FrameInfo {
            plane: groups.plane()?,
            rescale: groups.rescale()?,
            time: time.long(tags::TEMPORAL_POSITION_INDEX).unwrap_or(0),
        })
    };
    per_frame.iter().map(frame).collect()
}

/// Frames without functional groups: a single slice, or a dose grid, whose frames are stacked along the normal (PS3.3
/// C.8.8.3.2).
fn plain(elements: &Elements, count: usize) -> Result<Vec<FrameInfo>, String> {
    let groups = Groups { own: elements, shared: None, all: elements };
    let (plane, rescale) = (groups.plane()?, groups.rescale()?);
    let frame = |plane| FrameInfo { plane, rescale, time: 0 };
    if count == 1 {
        return Ok(vec![frame(plane)]);
    }
    let offsets = elements.list(tags::FRAME_OFFSETS, "GridFrameOffsetVector")?.filter(|list| list.len() == count);
    let (Some(offsets), Some([i, j]), Some(first)) = (offsets, plane.axes, plane.position) else {
        return Err(format!("has {count} {NOWHERE}"));
    };
    // The first offset is 0, or the position of the first frame itself.
    let above = |offset: f64| Plane { position: Some(first + i.cross(j) * (offset - offsets[0])), ..plane };
    Ok(offsets.iter().map(|&offset| frame(above(offset))).collect())
}

/// The places where the elements of a frame can be: its own functional groups, those shared by all frames, and the data
/// set.
struct Groups<'a> {
    own: &'a Elements,
    shared: Option<&'a Elements>,
    all: &'a Elements,
}

impl<'a> Groups<'a> {
    /// The elements that hold `tag`: the functional group `group` of the frame, that of all frames, or the data set
    /// itself.
    fn of(&self, group: Tag, tag: Tag) -> &'a Elements {
        let groups = [Some(self.own), self.shared].into_iter().flatten();
        let mut having = groups.filter_map(|groups| groups.items(group).first()).filter(|items| items.has(tag));
        having.next().unwrap_or(self.all)
    }

    fn plane(&self) -> Result<Plane, String> {
        let size = size(self.all);
        if size.iter().any(|&n| n < 2) {
            return Err(format!("has {} columns and {} rows; mireg needs at least 2 of each", size[0], size[1]));
        }
        let measures = self.of(tags::PIXEL_MEASURES, tags::PIXEL_SPACING);
        let spacing = measures.numbers(tags::PIXEL_SPACING, "PixelSpacing")?;
        let spacing = spacing.or(self.all.numbers(tags::IMAGER_PIXEL_SPACING, "ImagerPixelSpacing")?);
        let orientation = self.of(tags::PLANE_ORIENTATION, tags::ORIENTATION);
        let axes = orientation.numbers::<6>(tags::ORIENTATION, "ImageOrientationPatient")?;
        let position = self.of(tags::PLANE_POSITION, tags::POSITION);
        Ok(Plane {
            size,
            // DICOM gives the distance of rows first.
            spacing: spacing.map(|[rows, columns]| [columns, rows]),
            axes: axes.map(|[a, b, c, d, e, f]| [DVec3::new(a, b, c), DVec3::new(d, e, f)]),
            position: position.numbers(tags::POSITION, "ImagePositionPatient")?.map(DVec3::from_array),
        })
    }

    fn rescale(&self) -> Result<Rescale, String> {
        let of = |tag| self.of(tags::PIXEL_VALUE_TRANSFORMATION, tag);
        let slope = of(tags::SLOPE).numbers(tags::SLOPE, "RescaleSlope")?;
        let [slope] = slope.or(self.all.numbers(tags::DOSE_SCALING, "DoseGridScaling")?).unwrap_or([1.0]);
        let [intercept] = of(tags::INTERCEPT).numbers(tags::INTERCEPT, "RescaleIntercept")?.unwrap_or([0.0]);
        if slope == 0.0 {
            return Err("its RescaleSlope is 0; correct it".into());
        }
        Ok(Rescale { slope, intercept })
    }
}

/// Columns and rows.
pub fn size(elements: &Elements) -> [usize; 2] {
    [tags::COLUMNS, tags::ROWS].map(|tag| elements.short(tag).unwrap_or(0).into())
}
