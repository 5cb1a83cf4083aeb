//! FreeSurfer volumes: `.mgh`, and `.mgz` or `.mgh.gz`, which are the same with gzip. All numbers are big-endian.

use std::path::Path;

use glam::{DMat3, DVec3};

use crate::io::coding::{self, Coding};
use crate::io::deflate::{self, Wrap};
use crate::io::format::{ImageFormat, Names, ends};
use crate::io::header_bytes::HeaderBytes;
use crate::io::ras::FLIP;
use crate::io::reading::{Image, ReadOptions};
use crate::io::source::Source;
use crate::io::voxels::{self, Order, Shape};
use crate::io::{atomic, check};
use crate::{Error, Geometry, PixelType, Result, Volume};

/// Bytes before the voxels. What follows the voxels (repetition time, tags) is not needed.
const HEADER: usize = 284;
/// The voxel types of the format, with their numbers.
const TYPES: [(i32, PixelType); 5] =
    [(0, PixelType::U8), (1, PixelType::I32), (3, PixelType::F32), (4, PixelType::I16), (10, PixelType::U16)];

/// `.mgh`, `.mgz` and `.mgh.gz`.
pub struct Mgh;

impl ImageFormat for Mgh {
    fn names(&self) -> &Names {
        const ENDS: &[&str] = &[".mgz", ".mgh", ".mgh.gz"];
        const LISTED: &[&str] = &[".mgh", ".mgz"];
        &Names { read: ENDS, written: ENDS, fields: &[], listed: [LISTED, LISTED] }
    }

    fn read(&self, path: &Path, options: &ReadOptions) -> Result<Image> {
        let mut source = Source::open_gzip(path)?;
        let header = Header::read(&mut source)?;
        let wrong = Error::at::<String>(path);
        let (size, volumes) = header.volumes().map_err(&wrong)?;
        let geometry = header.geometry(size).map_err(&wrong)?;
        let coding = header.coding().map_err(&wrong)?;
        let plan = options.choose(Shape { size, numbers: volumes, order: Order::Planes }).map_err(Error::at(path))?;
        let voxels = voxels::read(source, &plan.shape, &coding, plan.take)?;
        Ok(plan.image(geometry, &coding, voxels))
    }

    fn geometry(&self, path: &Path) -> Result<Geometry> {
        let header = Header::read(&mut Source::open_gzip(path)?)?;
        header.volumes().and_then(|(size, _)| header.geometry(size)).map_err(Error::at(path))
    }

    fn write(&self, path: &Path, volume: &Volume) -> Result<()> {
        let pixel = written(volume.pixel);
        let header = header(&volume.geometry, pixel).map_err(Error::at(path))?;
        let encode = |voxels: &[f32]| coding::encode_big_endian(voxels, pixel);
        if ends(path, &[".mgh"]) {
            return atomic::write(path, &[&header, &encode(&volume.voxels)]);
        }
        atomic::write_with(path, |file| deflate::compress(Wrap::Gzip, &header, &volume.voxels, encode, file))
    }
}

/// The fields of a header.
struct Header {
    /// The numbers of voxels along each axis, and of volumes.
    dims: [i32; 4],
    kind: i32,
    /// Spacing in mm, directions of the axes as columns, and the centre of the grid, in RAS.
    spacing: DVec3,
    direction: DMat3,
    centre: DVec3,
}

impl Header {
    fn read(source: &mut Source) -> Result<Self> {
        let mut bytes = [0; HEADER];
        source.read_exact(&mut bytes)?;
        let fields = HeaderBytes { bytes: &bytes, big_endian: true };
        if fields.i32(0) != 1 {
            return Err(
                source.error("does not start like a volume of FreeSurfer (version 1); convert it with mri_convert")
            );
        }
        let vector = |at: usize| DVec3::from_array([0, 4, 8].map(|n| fields.f32(at + n).into()));
        let placed = fields.i16(28) != 0;
        Ok(Self {
            dims: [4, 8, 12, 16].map(|at| fields.i32(at)),
            kind: fields.i32(20),
            spacing: if placed { vector(30) } else { DVec3::ONE },
            // Without a position of its own, a volume is coronal: its axes go to the left, down and to the front.
            direction: match placed {
                true => DMat3::from_cols(vector(42), vector(54), vector(66)),
                false => DMat3::from_cols(DVec3::NEG_X, DVec3::NEG_Z, DVec3::Y),
            },
            centre: if placed { vector(78) } else { DVec3::ZERO },
        })
    }

    /// The number of voxels along each axis of a volume, and the number of volumes.
    fn volumes(&self) -> Result<([usize; 3], usize), String> {
        let [i, j, k, volumes] = self.dims.map(i64::from);
        Ok((check::size([i, j, k])?, check::volumes(&[volumes])?))
    }

    fn geometry(&self, size: [usize; 3]) -> Result<Geometry, String> {
        let origin = self.centre - to_middle(size, self.spacing, self.direction);
        check::geometry(size, self.spacing, FLIP * origin, FLIP * self.direction)
    }

    fn coding(&self) -> Result<Coding, String> {
        let Some(&(_, pixel)) = TYPES.iter().find(|(kind, _)| *kind == self.kind) else {
            return Err(format!(
                "its voxels are of type {}, and mireg reads uchar, short, ushort, int and float; \
                 convert it with mri_convert --out_data_type float",
                self.kind
            ));
        };
        Ok(Coding { pixel, big_endian: true, scale: None })
    }
}

/// The vector from the first voxel to the centre of the grid, which in FreeSurfer is at index size / 2.
fn to_middle(size: [usize; 3], spacing: DVec3, direction: DMat3) -> DVec3 {
    direction * (spacing * DVec3::from_array(size.map(|n| n as f64)) / 2.0)
}

/// The type in which voxels of type `pixel` are written. Types that the format lacks are replaced by one that holds all
/// values that a [`Volume`] can have.
fn written(pixel: PixelType) -> PixelType {
    match pixel {
        PixelType::I8 => PixelType::I16,
        PixelType::U32 | PixelType::I64 | PixelType::U64 | PixelType::F64 => PixelType::F32,
        pixel => pixel,
    }
}

/// The header of a new file.
fn header(geometry: &Geometry, pixel: PixelType) -> Result<Vec<u8>, String> {
    let size = geometry.size;
    let [Ok(nx), Ok(ny), Ok(nz)] = size.map(i32::try_from) else {
        return Err(format!("{} voxels are too many for FreeSurfer; write .mha instead", check::by(size)));
    };
    let kind = TYPES.iter().find(|(_, known)| *known == pixel).map_or(3, |&(kind, _)| kind);
    let direction = FLIP * geometry.direction;
    let centre = FLIP * geometry.origin + to_middle(size, geometry.spacing, direction);
    let placed = [geometry.spacing, direction.x_axis, direction.y_axis, direction.z_axis, centre];
    let mut bytes = [1, nx, ny, nz, 1, kind, 0].map(i32::to_be_bytes).concat();
    bytes.extend(1i16.to_be_bytes());
    bytes.extend(placed.iter().flat_map(|v| v.as_vec3().to_array()).flat_map(f32::to_be_bytes));
    bytes.resize(HEADER, 0);
    Ok(bytes)
}
