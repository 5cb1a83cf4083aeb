#!/usr/bin/env python3
"""One deformable registration by one peer in this process: deform_peer.py PEER CASE DATA THREADS DIR

Starts from the identity; PEER-aff puts the peer's own affine registration, also from the identity, before the deformable
one. Writes DIR/field.nii.gz and DIR/inverse.nii.gz (see deform_error.py), which are total, the affine included, and
DIR/peer.json with the seconds of the registration calls alone."""
import json
import os
import shutil
import subprocess
import sys
import time

peer, name, data, threads, out = sys.argv[1:6]
os.environ['ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS'] = threads  # before ITK is loaded

if peer.startswith('elastix'):
    import itk  # imported after SimpleITK, it ends in a segmentation fault

    itk.Image  # loads it

import SimpleITK as sitk

from deform_error import cases

case = cases(data)[name]
affine = peer.endswith('-aff')


def run_ants(metric, sampling, iterations):
    """Run SyN[0.2, 3, 0]. The iterations give the levels: shrink by 2^k and a Gaussian of k voxels, down to k = 0."""
    import ants

    fixed, moving = ants.image_read(case.fixed), ants.image_read(case.moving)
    start = time.perf_counter()
    r = ants.registration(
        fixed, moving, type_of_transform='SyN' if affine else 'SyNOnly', initial_transform='Identity',
        syn_metric=metric, syn_sampling=sampling, reg_iterations=iterations, random_seed=1234, outprefix=f'{out}/ants_',
    )
    seconds = time.perf_counter() - start
    for which, at, grid, source, inverted in (
        ('field', 'fwdtransforms', fixed, moving, [False, False]),
        ('inverse', 'invtransforms', moving, fixed, [True, False]),
    ):
        total = ants.apply_transforms(grid, source, r[at], whichtoinvert=inverted, compose=f'{out}/ants_{which}_')
        shutil.move(total, f'{out}/{which}.nii.gz')
    return seconds


def run_greedy(metric, iterations='100x100x50'):
    """Run greedy with its own smoothing and step; -wp 0 keeps it from rounding the field to a tenth of a voxel."""
    from picsl_greedy import Greedy3D

    fixed, moving = (sitk.ReadImage(path, sitk.sitkFloat32) for path in (case.fixed, case.moving))
    g = Greedy3D()
    start = time.perf_counter()
    common = f'-threads {threads} -i fixed moving -m {metric}'
    images = dict(fixed=fixed, moving=moving)
    if affine:
        g.execute(f'{common} -seed 1234 -a -dof 12 -ia-identity -n 100x50x10 -o matrix', matrix=None, **images)
    g.execute(
        f'{common} -n {iterations} {"-it matrix" if affine else ""} -wp 0 -o warp -oinv unwarp', warp=None, unwarp=None, **images
    )
    seconds = time.perf_counter() - start
    g.execute(f'-rf fixed -wp 0 -r warp {"matrix" if affine else ""} -rc field', field=None)
    g.execute(f'-rf moving -wp 0 -r {"matrix,-1" if affine else ""} unwarp -rc inverse', inverse=None)
    for which in ('field', 'inverse'):
        sitk.WriteImage(sitk.Cast(g[which], sitk.sitkVectorFloat32), f'{out}/{which}.nii.gz')
    return seconds


def run_elastix():
    """Run elastix with its own parameter maps. It computes no inverse."""
    fixed, moving = (itk.imread(path, itk.F) for path in (case.fixed, case.moving))
    parameters = itk.ParameterObject.New()
    for kind in ['affine', 'bspline'] if affine else ['bspline']:
        parameters.AddParameterMap(parameters.GetDefaultParameterMap(kind))
    start = time.perf_counter()
    _, found = itk.elastix_registration_method(
        fixed, moving, parameter_object=parameters, number_of_threads=int(threads), log_to_console=False
    )
    seconds = time.perf_counter() - start
    itk.imwrite(itk.transformix_deformation_field(fixed, found), f'{out}/field.nii.gz')
    return seconds


def run_mireg(*options):
    """Run the binary named by MIREG (default: target/release/mireg in the working folder), from files to files."""
    binary = os.environ.get('MIREG', 'target/release/mireg')
    start = 'affine' if affine else 'none'
    command = [binary, 'deform', case.fixed, case.moving, '--out', out, '--linear', start, '--threads', threads, *options]
    # With exit code 1 mireg says that its result should not be used. It is measured all the same.
    if subprocess.run([*command, '--backend', 'cpu']).returncode > 1:
        sys.exit('mireg failed')
    seconds = json.load(open(f'{out}/report.json'))['seconds']
    return seconds['register'] + seconds['linear']


# Radii of the local metrics are in voxels; the liver's slices are three times as thick as its pixels.
thick = name.startswith('liver')
full = (100, 70, 50, 20)
PEERS = {
    'ants-mattes': lambda: run_ants('mattes', 32, (40, 20, 0)),  # antspy's own iterations
    'ants-mattes-full': lambda: run_ants('mattes', 32, full),  # those of ANTs' antsRegistrationSyN.sh
    'ants-cc': lambda: run_ants('CC', 4, (40, 20, 0)),
    'ants-cc-full': lambda: run_ants('CC', 4, full),
    'greedy-nmi': lambda: run_greedy('NMI'),
    'greedy-wncc': lambda: run_greedy('WNCC 4x4x2' if thick else 'WNCC 4x4x4'),
    'elastix': run_elastix,
    'mireg': run_mireg,
    'mireg-mi': lambda: run_mireg('--force', 'mi'),
    'mireg-nmi': lambda: run_mireg('--force', 'nmi'),
    'mireg-lcc': lambda: run_mireg('--force', 'lcc'),
    'mireg-ssd': lambda: run_mireg('--force', 'ssd'),
}

if __name__ == '__main__':
    seconds = PEERS[peer.removesuffix('-aff')]()
    json.dump(dict(register_s=seconds), open(f'{out}/peer.json', 'w'))
