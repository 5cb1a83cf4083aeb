"""Cases of deformable registration and the error of a field on them.

A result is a folder with field.nii.gz: the displacement u in LPS mm on the fixed grid, y + u(y) the point of the moving
image for the point y of the fixed image; and, if there is one, inverse.nii.gz: the same from moving to fixed."""
import os
from dataclasses import dataclass

import numpy as np
import SimpleITK as sitk


@dataclass
class Case:
    fixed: str
    moving: str
    same_modality: bool
    truth: str = ''  # a field like the result's, on any grid
    landmarks: tuple = ()  # stems of the fixed and the moving image's landmark files
    labels: tuple = ()  # label maps of the fixed and the moving image


def cases(data):
    brain, liver = os.path.join(data, 'brainweb'), os.path.join(data, 'liver')
    found = {f'tps-{m}': Case(f'{brain}/t1_tps.mha', f'{brain}/{m}.mha', False, truth=f'{brain}/t1_tps_field.mha') for m in ('t2', 'pd')}
    exhaled = 'exhMaster_unmasked.force_direction.mha'
    for set_, breaths in (
        ('dataset18', ('cyc_1_10.z4_fixed', 'cyc_3_10.force_direction')),
        ('dataset23', ('cyc_1_4.force_direction', 'cyc_5_4.force_direction')),
    ):
        at = f'{liver}/{set_}'
        for image in breaths:
            name = image.split('.')[0]
            found[f'liver{set_[-2:]}-{name[4]}'] = Case(f'{at}/{exhaled}', f'{at}/{image}.mha', True, landmarks=(f'{at}/exhMaster', f'{at}/{name}'))
    brains, chests = os.path.join(data, 'real', 'nirep'), os.path.join(data, 'real', 'lung_mr_proton')
    for at, kind, image, labels, pairs in (
        (brains, 'nirep', '', '_seg', (('na10', 'na16'), ('na16', 'na10'))),
        (chests, 'lung', 'H1', 'Lobes', (('0004', '0006'), ('0006', '0007'), ('0007', '0004'))),
    ):
        for pair in pairs:
            images, maps = ([f'{at}/{name}{suffix}.nii.gz' for name in pair] for suffix in (image, labels))
            found[f'{kind}-{pair[0].removeprefix("na")}'] = Case(*images, True, labels=tuple(maps))
    return found


def read_field(path):
    return sitk.Cast(sitk.ReadImage(path), sitk.sitkVectorFloat64)


def displacements(image):
    return sitk.GetArrayFromImage(image)  # [z, y, x, 3]


def points(grid):
    """Return the LPS mm of every voxel of an image, [z, y, x, 3]."""
    ijk = np.indices(grid.GetSize()[::-1])[::-1]
    axes = np.array(grid.GetDirection()).reshape(3, 3) * np.array(grid.GetSpacing())
    return np.moveaxis(np.tensordot(axes, ijk, 1), 0, -1) + np.array(grid.GetOrigin())


def inside(grid, at):
    """Return whether the points (LPS mm, [..., 3]) are within the grid's outermost voxel centres."""
    axes = np.array(grid.GetDirection()).reshape(3, 3) * np.array(grid.GetSpacing())
    index = (at - np.array(grid.GetOrigin())) @ np.linalg.inv(axes).T
    return ((index >= 0) & (index <= np.array(grid.GetSize()) - 1)).all(-1)


def head(image):
    """Return the mask of the head in an image of BrainWeb.

    The background is noise (0 to about 8 of 255). So the image is smoothed by a Gaussian of 1.5 mm, and the head is the
    largest connected component above 10, with its holes (skull, ventricles) filled.
    """
    smooth = sitk.SmoothingRecursiveGaussian(sitk.Cast(image, sitk.sitkFloat32), 1.5)
    parts = sitk.RelabelComponent(sitk.ConnectedComponent(smooth > 10), sortByObjectSize=True)
    return sitk.GetArrayFromImage(sitk.BinaryFillhole(parts == 1)) > 0


def jacobian(field):
    """Return det(I + du/dx) at every voxel: central differences, one-sided at the borders of the grid."""
    u = displacements(field)
    along = np.stack([np.gradient(u, axis=2 - i) / field.GetSpacing()[i] for i in range(3)], -1)
    return np.linalg.det(np.eye(3) + along @ np.array(field.GetDirection()).reshape(3, 3).T)


def through(field, then, grid):
    """Return then(y + u(y)) at the voxels y of the grid: linear, and the nearest vector outside then's grid."""
    carry = sitk.DisplacementFieldTransform(sitk.Image(field))
    return displacements(sitk.Resample(then, grid, carry, sitk.sitkLinear, 0.0, sitk.sitkVectorFloat64, True))


def landmarks(path):
    words = open(path).read().split()
    at = words.index('POINTS')
    n = int(words[at + 1])
    return np.array(words[at + 3 : at + 3 + 3 * n], float).reshape(n, 3)


def dice(fixed, moving):
    """Return the mean Dice over all labels of either map (arrays)."""
    labels = sorted((set(np.unique(fixed)) | set(np.unique(moving))) - {0})
    a, b = ([np.count_nonzero(labelled == label) for label in labels] for labelled in (fixed, moving))
    both = [np.count_nonzero((fixed == label) & (moving == label)) for label in labels]
    return float(np.mean(2 * np.array(both) / (np.array(a) + b)))


def dice_by(case, transform):
    """Return the Dice of the fixed image's labels and those of the moving image, resampled (nearest) by a transform."""
    fixed, moving = (sitk.ReadImage(path) for path in case.labels)
    moved = sitk.Resample(moving, fixed, transform, sitk.sitkNearestNeighbor)
    return dice(sitk.GetArrayFromImage(fixed), sitk.GetArrayFromImage(moved))


def statistics(mm, prefix):
    return {
        f'{prefix}_mean': mm.mean(),
        f'{prefix}_median': np.median(mm),
        f'{prefix}_p95': np.percentile(mm, 95),
        f'{prefix}_max': mm.max(),
    }


def evaluate(case, folder):
    """Return the errors in mm or the Dice, the range of the Jacobian over the whole grid and the mean
    inverse-consistency error |v(y + u(y)) + u(y)| in mm. Errors and Dice before are those of the identity, after those
    of the field.
    """
    fixed, moving = sitk.ReadImage(case.fixed), sitk.ReadImage(case.moving)
    field = read_field(f'{folder}/field.nii.gz')
    if field.GetSize() != fixed.GetSize():
        raise ValueError(f'{folder}: the field is not on the fixed grid')
    u = displacements(field)
    at = points(fixed)
    if case.truth:
        truth = displacements(
            sitk.Resample(read_field(case.truth), fixed, sitk.Transform(), sitk.sitkLinear, 0.0, sitk.sitkVectorFloat64, True)
        )
        # Voxels that the truth takes out of the moving image have nothing to match.
        where = head(fixed) & inside(moving, at + truth)
        out = statistics(np.linalg.norm(truth[where], axis=-1), 'before')
        out |= statistics(np.linalg.norm((u - truth)[where], axis=-1), 'after')
    elif case.labels:
        where = np.ones(u.shape[:3], bool)
        carry = sitk.DisplacementFieldTransform(sitk.Image(field))
        out = dict(before_dice=dice_by(case, sitk.Transform()), dice=dice_by(case, carry))
    else:
        where = np.ones(u.shape[:3], bool)
        out = {}
        carry = sitk.DisplacementFieldTransform(sitk.Image(field))
        for region, prefix in (('liver', ''), ('outside', 'outside_')):
            p, q = (landmarks(f'{stem}LM{region}.vtk') for stem in case.landmarks)
            moved = np.array([carry.TransformPoint(x) for x in p])
            out |= statistics(np.linalg.norm(p - q, axis=1), f'{prefix}before')
            out |= statistics(np.linalg.norm(moved - q, axis=1), f'{prefix}after')
    det = jacobian(field)
    out |= dict(voxels=int(where.sum()), jacobian_min=det.min(), jacobian_max=det.max(), folded=int((det <= 0).sum()))
    if os.path.exists(f'{folder}/inverse.nii.gz'):
        where &= inside(moving, at + u)
        back = u + through(field, read_field(f'{folder}/inverse.nii.gz'), fixed)
        out['inverse_consistency'] = np.linalg.norm(back[where], axis=-1).mean()
    return {k: float(v) if isinstance(v, np.floating) else v for k, v in out.items()}
