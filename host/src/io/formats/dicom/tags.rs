//! The tags of the elements that are read (PS3.6).

/// Group and element number.
pub type Tag = (u16, u16);

macro_rules! tags {
    ($($group:literal $element:literal $name:ident)*) => {
        $(pub const $name: Tag = ($group, $element);)*
        /// All tags whose values are read.
        pub const VALUES: &[Tag] = &[$($name),*];
    };
}

tags! {
    0x0002 0x0010 TRANSFER_SYNTAX
    0x0008 0x0060 MODALITY
    0x0008 0x103e SERIES_DESCRIPTION
    0x0018 0x1164 IMAGER_PIXEL_SPACING
    0x0020 0x000e SERIES
    0x0020 0x0011 SERIES_NUMBER
    0x0020 0x0013 INSTANCE_NUMBER
    0x0020 0x0032 POSITION
    0x0020 0x0037 ORIENTATION
    0x0020 0x9128 TEMPORAL_POSITION_INDEX
    0x0028 0x0002 SAMPLES
    0x0028 0x0004 PHOTOMETRIC
    0x0028 0x0006 PLANAR
    0x0028 0x0008 FRAMES
    0x0028 0x0010 ROWS
    0x0028 0x0011 COLUMNS
    0x0028 0x0030 PIXEL_SPACING
    0x0028 0x0100 ALLOCATED
    0x0028 0x0101 STORED
    0x0028 0x0102 HIGH_BIT
    0x0028 0x0103 REPRESENTATION
    0x0028 0x1052 INTERCEPT
    0x0028 0x1053 SLOPE
    0x3004 0x000c FRAME_OFFSETS
    0x3004 0x000e DOSE_SCALING
}

/// Sequences that are read.
pub const SEQUENCES: &[Tag] = &[
    SHARED_GROUPS,
    FRAME_GROUPS,
    FRAME_CONTENT,
    PLANE_POSITION,
    PLANE_ORIENTATION,
    PIXEL_MEASURES,
    PIXEL_VALUE_TRANSFORMATION,
];
/// Functional groups (PS3.3 C.7.6.16): those shared by all frames, and those with an item for each frame.
pub const SHARED_GROUPS: Tag = (0x5200, 0x9229);
pub const FRAME_GROUPS: Tag = (0x5200, 0x9230);
pub const FRAME_CONTENT: Tag = (0x0020, 0x9111);
pub const PLANE_POSITION: Tag = (0x0020, 0x9113);
pub const PLANE_ORIENTATION: Tag = (0x0020, 0x9116);
pub const PIXEL_MEASURES: Tag = (0x0028, 0x9110);
pub const PIXEL_VALUE_TRANSFORMATION: Tag = (0x0028, 0x9145);

pub const PIXEL_DATA: Tag = (0x7fe0, 0x0010);
