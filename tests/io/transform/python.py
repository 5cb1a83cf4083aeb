"""Reads and writes transforms with other programs' own code: SimpleITK 2.5, nibabel 5.4, nitransforms 25.1, h5py 3.

python python.py write FOLDER    the peers write files of one map between fixed.nii and moving.nii, which lie in FOLDER
python python.py read FOLDER     the peers read what mireg wrote there

Both print a line for each file: its name, and where it takes the points of points.txt, LPS mm.
"""

import os
import sys

import h5py
import nibabel
import nitransforms
import numpy as np
import SimpleITK as sitk
from nitransforms.io import afni, itk, lta

os.chdir(sys.argv[2])
FLIP = np.diag([-1.0, -1, 1, 1])
POINTS = np.loadtxt("points.txt")
FIXED, MOVING = nibabel.load("fixed.nii"), nibabel.load("moving.nii")
AFFINE = sitk.AffineTransform((1, 0.1, 0.2, 0, 1.1, 0.3, -0.1, 0, 0.9), (4, 5, 6), (1, 2, 3))


def show(name, go):
    print(name, *(x for point in POINTS for x in go(point)))


def by_ras(matrix):
    """Returns the map of LPS mm that corresponds to a matrix of RAS mm."""
    return lambda point: (FLIP @ matrix @ FLIP @ np.append(point, 1))[:3]


def matrix_of(transform):
    """Returns the matrix of an ITK transform, whether it is for LPS or RAS mm."""
    columns = [transform.TransformPoint(point) for point in (*np.eye(3), (0.0, 0, 0))]
    matrix = np.eye(4)
    matrix[:3] = np.array(columns).T
    matrix[:3, :3] -= matrix[:3, 3:]
    return matrix


def xfm(name):
    """ITK takes the numbers as they are; MINC means RAS, and the way from moving to fixed."""
    return by_ras(np.linalg.inv(matrix_of(sitk.ReadTransform(name))))


def field(dimension, size):
    random = np.random.default_rng(1)
    image = sitk.GetImageFromArray(random.normal(0, 2, (*size[::-1], dimension)), isVector=True)
    image.SetSpacing((45, 50, 52.5)[:dimension])
    image.SetOrigin((-90, -110, -110)[:dimension])
    c, s = np.cos(0.2), np.sin(0.2)
    image.SetDirection((c, -s, 0, s, c, 0, 0, 0, 1) if dimension == 3 else (c, -s, s, c))
    return sitk.DisplacementFieldTransform(image)


def composite(*parts):
    """ITK applies the last first."""
    whole = sitk.CompositeTransform(3)
    for part in parts:
        whole.AddTransform(part)
    return whole


def laid_out(given, name, libver, dtype="f8", **storage):
    """The same transforms, laid out otherwise: chunked and compressed where there are many numbers."""
    with h5py.File(given) as old, h5py.File(name, "w", libver=libver) as new:
        for number, group in old["TransformGroup"].items():
            group = new.create_group(f"TransformGroup/{number}")
            for key, values in old[f"TransformGroup/{number}"].items():
                large = storage if values.size > 50 else {}
                kind = dtype if key == "TransformParameters" else values.dtype
                data = values[()] if key != "TransformType" else [values[0].decode().replace("double", "float" if dtype[-1] == "4" else "double")]
                group.create_dataset(key, data=data, dtype=kind, **large)


def write_hdf5():
    euler = sitk.Euler3DTransform((1, 2, 3), 0.1, -0.2, 0.3, (4, 5, 6))
    shift = sitk.TranslationTransform(3, (-7, 8, 9))
    named = {
        "affine.h5": AFFINE,
        "shift.h5": shift,
        "field.hdf": field(3, (6, 7, 8)),
        "chain.hdf5": composite(AFFINE, field(3, (6, 7, 8)), euler),
        "twelve.h5": composite(*[euler, shift] * 6),
        "forty.h5": composite(*[euler, shift] * 20),
    }
    for name, transform in named.items():
        sitk.WriteTransform(transform, name)
        show(name, transform.TransformPoint)
    chain = named["chain.hdf5"]
    layouts = {
        "earliest.h5": ("earliest", {}),
        "tree.h5": ("earliest", {"chunks": (100,), "compression": "gzip", "shuffle": True}),
        "deep.h5": ("earliest", {"chunks": (3,), "compression": "gzip"}),
        "v108.h5": (("earliest", "v108"), {"chunks": (1008,), "compression": "gzip"}),
        "single.h5": ("latest", {"chunks": (1008,), "compression": "gzip"}),
        "array.h5": ("latest", {"chunks": (70,), "compression": "gzip", "shuffle": True}),
        "plain_array.h5": ("latest", {"chunks": (70,)}),
        "big_endian.h5": ("latest", {"dtype": ">f8"}),
        "float.h5": ("latest", {"dtype": "f4"}),
        "big_float.h5": ("earliest", {"dtype": ">f4", "chunks": (1008,), "compression": "gzip", "shuffle": True}),
    }
    for name, (libver, storage) in layouts.items():
        laid_out("chain.hdf5", name, libver, **storage)
        show(name, chain.TransformPoint)
    laid_out("forty.h5", "forty_latest.h5", "latest")
    show("forty_latest.h5", named["forty.h5"].TransformPoint)
    # ITK's own with compression, in the wheel of nitransforms.
    data = os.path.join(os.path.dirname(nitransforms.__file__), "tests", "data")
    os.symlink(os.path.join(data, "affine-antsComposite.h5"), "ants.h5")
    show("ants.h5", sitk.ReadTransform("ants.h5").TransformPoint)


def write():
    ras = FLIP @ matrix_of(AFFINE) @ FLIP
    lta.FSLinearTransform.from_ras(ras, moving=FIXED, reference=MOVING).to_filename("ras.lta")
    show("ras.lta", by_ras(ras))
    # The voxels of src, which is moving, to those of dst.
    vox = lta.FSLinearTransform.from_filename("ras.lta")
    src, dst = (lta.VolumeGeometry(vox.structarr[n]).as_affine() for n in ("src", "dst"))
    vox.structarr["m_L"] = np.linalg.inv(dst) @ vox.structarr["m_L"] @ src
    vox.structarr["type"] = 0
    vox.to_filename("vox.lta")
    show("vox.lta", by_ras(ras))
    for name, shape in (("row.aff12.1D", (1, 12)), ("rows.1D", (3, 4))):
        matrix = afni.AFNILinearTransform.from_ras(ras, moving=MOVING, reference=FIXED)
        np.savetxt(name, matrix.structarr["parameters"][:3].reshape(shape))
        show(name, by_ras(ras))
    sitk.WriteTransform(AFFINE, "itk.xfm")
    show("itk.xfm", xfm("itk.xfm"))
    # FreeSurfer's own files, in the wheel: the same map of RAS and of voxels.
    data = os.path.join(os.path.dirname(nitransforms.__file__), "tests", "data")
    for name in ("bold-to-t1w.lta", "bold-to-t1w.v2v.lta"):
        os.symlink(os.path.join(data, name), name)
        show(name, by_ras(lta.FSLinearTransformArray.from_filename(name).to_ras()[0]))
    write_hdf5()


def read():
    show("mireg.lta", by_ras(lta.FSLinearTransform.from_filename("mireg.lta").to_ras()))
    geometry = lta.FSLinearTransform.from_filename("mireg.lta")
    for volume, image in (("src", MOVING), ("dst", FIXED)):
        assert np.allclose(geometry[volume].as_affine(), image.affine, atol=1e-3), volume
    matrix = afni.AFNILinearTransform.from_filename("mireg.aff12.1D").to_ras(moving=MOVING, reference=FIXED)
    show("mireg.aff12.1D", by_ras(matrix))
    show("mireg.xfm", xfm("mireg.xfm"))
    for name in ("linear.h5", "field.h5", "chain.h5", "many.h5"):
        show(name, sitk.ReadTransform(name).TransformPoint)
    # nitransforms reads only composites, and in them no other linear type.
    parts = itk.ITKCompositeH5.from_filename("chain.h5")
    grid = FLIP @ parts[1].affine @ [1, 2, 1, 1]
    moved = grid[:3] + parts[1].get_fdata()[1, 2, 1] * (-1, -1, 1)
    there = sitk.ReadTransform("field.h5").TransformPoint(grid[:3])
    assert np.allclose(moved, there, atol=1e-4), (moved, there)


{"write": write, "read": read}[sys.argv[1]]()
