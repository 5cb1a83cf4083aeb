"""Reads and writes images with other programs' own code: nibabel 5.4 and SimpleITK 2.5.

python python.py write FOLDER    the peers write files there
python python.py read FOLDER     nibabel reads the .mgh and .mgz that mireg wrote there

Both print a line for each file: its name; the volume that is meant, or none; the type of its voxels; the three rows of the map from index
to LPS mm; and the voxels, the first axis fastest.
"""

import os
import sys

import nibabel
import numpy as np
import SimpleITK as sitk

os.chdir(sys.argv[2])
FLIP = np.diag([-1.0, -1, 1, 1])
LUMA = np.array([2126, 7152, 722])


def show(name, volume, affine, voxels):
    """`affine` is that from index to RAS mm."""
    numbers = [*(FLIP @ affine)[:3].ravel(), *voxels.ravel(order="F")]
    print(name, volume, voxels.dtype, *(repr(float(x)) for x in numbers))


def oblique():
    axes = np.linalg.qr(np.array([[0.9, 0.2, -0.3], [0.1, -1.1, 0.2], [0.4, 0.1, 0.8]]))[0]
    affine = np.eye(4)
    affine[:3, :3] = axes * (0.9, 1.25, 3)
    affine[:3, 3] = 11, -22.5, 33
    return affine


def write_nibabel():
    affine = oblique()
    for kind in "uint8", "int16", "uint16", "int32", "float32":
        voxels = np.arange(120).reshape(4, 5, 6).astype(kind)
        for end in "mgh", "mgz":
            name = f"{kind}.{end}"
            nibabel.save(nibabel.MGHImage(voxels, affine), name)
            show(name, "none", nibabel.load(name).affine, voxels)
    volumes = np.random.default_rng(1).integers(-900, 900, (4, 5, 6, 7)).astype("int16")
    for name, make in ("4d.mgz", nibabel.MGHImage), ("4d.nii.gz", nibabel.Nifti1Image), ("4d.nii", nibabel.Nifti2Image):
        nibabel.save(make(volumes, affine), name)
        loaded = nibabel.load(name)
        show(name, 5, loaded.affine, np.asarray(loaded.dataobj)[..., 5].astype("int16"))
        os.link(name, "mean_" + name)
        show("mean_" + name, "mean", loaded.affine, volumes.mean(axis=3, dtype="float64").astype("float32"))
    colours = np.random.default_rng(2).integers(0, 256, (4, 5, 6, 3)).astype("uint8")
    kind = np.dtype([("R", "u1"), ("G", "u1"), ("B", "u1")])
    nibabel.save(nibabel.Nifti1Image(np.ascontiguousarray(colours).view(kind)[..., 0], affine), "rgb.nii.gz")
    show("rgb.nii.gz", "none", nibabel.load("rgb.nii.gz").affine, luma(colours))


def luma(colours):
    # Rounded to the nearest.
    return ((colours[..., :3].astype(int) @ LUMA + LUMA.sum() // 2) // LUMA.sum()).astype("uint8")


def write_simpleitk():
    volumes = np.random.default_rng(3).integers(0, 60000, (3, 6, 5, 4)).astype("uint16")
    affine = np.diag([1.0, 2, 3, 1])
    affine[:3, 3] = 10, 20, 30
    image = sitk.GetImageFromArray(volumes, isVector=False)
    image.SetSpacing((1, 2, 3, 4))
    image.SetOrigin((10, 20, 30, 40))
    for name in "itk.mha", "itk.nrrd":
        sitk.WriteImage(image, name, useCompression=True)
        show(name, 2, FLIP @ affine, volumes[2].T)
    colours = np.random.default_rng(4).integers(0, 256, (6, 5, 4, 3)).astype("uint8")
    image = sitk.GetImageFromArray(colours, isVector=True)
    image.SetSpacing((1, 2, 3))
    image.SetOrigin((10, 20, 30))
    for name in "colour.mha", "colour.nrrd":
        sitk.WriteImage(image, name)
        show(name, "none", FLIP @ affine, luma(colours).T)
    # The luma of the peer's own PNG.
    plane = sitk.GetImageFromArray(colours[0], isVector=True)
    sitk.WriteImage(plane, "colour.png")
    show("colour.png", "none", FLIP, luma(colours[0]).T)


if sys.argv[1] == "write":
    write_nibabel()
    write_simpleitk()
else:
    for name in sorted(os.listdir()):
        image = nibabel.load(name)
        show(name, "none", image.affine, np.asarray(image.dataobj).astype(image.get_data_dtype().newbyteorder("=")))
