"""Rigid registration of numpy arrays from Python, side by side: ANTsPy, itk-elastix, SimpleITK and mireg.

   arrays.py [--cases bw_00,...] [--threads 2] [--peers ...]    a row for each; every peer has a process of its own

Each peer is a function from two arrays with their matrices (index to RAS mm) to a map of points, LPS mm. Its lines are counted as they
stand here. `import` is that of the packages alone, `first` the first call, `next` the median of two more. The error is that over the voxels of
the case's mask. Needs numpy and nibabel, and the packages of the peers: antspyx, itk-elastix, SimpleITK, mireg.
"""

import argparse
import importlib
import inspect
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

FLIP = np.diag([-1.0, -1.0, 1.0, 1.0])


def mireg(fixed, fixed_affine, moving, moving_affine, threads):
    import mireg

    fixed = mireg.Image(fixed, fixed_affine, frame="RAS")
    moving = mireg.Image(moving, moving_affine, frame="RAS")
    found = mireg.register(fixed, moving, threads=threads)
    return lambda points: found.transform.points(points, frame="LPS")


def simpleitk(fixed, fixed_affine, moving, moving_affine, threads):
    import SimpleITK as sitk

    def image(array, affine):
        affine = np.diag([-1.0, -1.0, 1.0, 1.0]) @ affine
        spacing = np.linalg.norm(affine[:3, :3], axis=0)
        made = sitk.GetImageFromArray(array.T.astype(np.float32))
        made.SetSpacing(spacing.tolist())
        made.SetDirection((affine[:3, :3] / spacing).ravel().tolist())
        made.SetOrigin(affine[:3, 3].tolist())
        return made

    fixed, moving = image(fixed, fixed_affine), image(moving, moving_affine)
    start = sitk.CenteredTransformInitializer(
        fixed, moving, sitk.Euler3DTransform(), sitk.CenteredTransformInitializerFilter.MOMENTS
    )
    method = sitk.ImageRegistrationMethod()
    method.SetNumberOfThreads(threads)
    method.SetMetricAsMattesMutualInformation(numberOfHistogramBins=50)
    method.SetMetricSamplingStrategy(method.RANDOM)
    method.SetMetricSamplingPercentage(0.1, 1)
    method.SetInterpolator(sitk.sitkLinear)
    method.SetOptimizerAsGradientDescent(learningRate=1.0, numberOfIterations=100)
    method.SetOptimizerScalesFromPhysicalShift()
    method.SetShrinkFactorsPerLevel([4, 2, 1])
    method.SetSmoothingSigmasPerLevel([2, 1, 0])
    method.SetInitialTransform(start, inPlace=False)
    found = method.Execute(fixed, moving)
    return lambda points: np.array([found.TransformPoint(point) for point in points.tolist()])


def elastix(fixed, fixed_affine, moving, moving_affine, threads):
    import itk

    def image(array, affine):
        affine = np.diag([-1.0, -1.0, 1.0, 1.0]) @ affine
        spacing = np.linalg.norm(affine[:3, :3], axis=0)
        made = itk.image_from_array(np.ascontiguousarray(array.T.astype(np.float32)))
        made.SetSpacing(spacing.tolist())
        made.SetDirection(itk.matrix_from_array(affine[:3, :3] / spacing))
        made.SetOrigin(affine[:3, 3].tolist())
        return made

    parameters = itk.ParameterObject.New()
    parameters.AddParameterMap(parameters.GetDefaultParameterMap("rigid"))
    _, found = itk.elastix_registration_method(
        image(fixed, fixed_affine),
        image(moving, moving_affine),
        parameter_object=parameters,
        number_of_threads=threads,
        log_to_console=False,
    )
    last = found.GetParameterMap(found.GetNumberOfParameterMaps() - 1)
    transform = itk.Euler3DTransform[itk.D].New()
    transform.SetCenter([float(x) for x in last["CenterOfRotationPoint"]])
    parameters = itk.OptimizerParameters[itk.D](6)
    for n, x in enumerate(last["TransformParameters"]):
        parameters[n] = float(x)
    transform.SetParameters(parameters)
    return lambda points: np.array([list(transform.TransformPoint(point)) for point in points.tolist()])


def ants(fixed, fixed_affine, moving, moving_affine, threads):
    import ants

    def image(array, affine):
        affine = np.diag([-1.0, -1.0, 1.0, 1.0]) @ affine
        spacing = np.linalg.norm(affine[:3, :3], axis=0)
        place = {"spacing": tuple(spacing), "direction": affine[:3, :3] / spacing, "origin": tuple(affine[:3, 3])}
        return ants.from_numpy(array.astype(np.float32), **place)

    os.environ["ITK_GLOBAL_DEFAULT_NUMBER_OF_THREADS"] = str(threads)
    fixed, moving = image(fixed, fixed_affine), image(moving, moving_affine)
    found = ants.registration(fixed, moving, type_of_transform="Rigid", random_seed=1)
    transform = ants.read_transform(found["fwdtransforms"][0])
    return lambda points: np.array([transform.apply_to_point(point) for point in points.tolist()])


PEERS = {"mireg": (mireg, "mireg"), "simpleitk": (simpleitk, "SimpleITK"), "elastix": (elastix, "itk"), "ants": (ants, "ants")}


def lines(function):
    """Count the lines of a function that are not empty."""
    return sum(bool(line.strip()) for line in inspect.getsource(function).splitlines()[1:])


def measure(peer, case, threads):
    """Run a peer on a case in this process and return its row of the table."""
    function, package = PEERS[peer]
    clock = time.perf_counter()
    importlib.import_module(package)
    imported = time.perf_counter() - clock
    import nibabel

    images = [nibabel.load(case / f"{name}.nii.gz") for name in ("fixed", "moving")]
    fixed, moving = ((np.asarray(image.dataobj), image.affine) for image in images)
    seconds = []
    for _ in range(3):
        clock = time.perf_counter()
        found = function(*fixed, *moving, threads)
        seconds.append(time.perf_counter() - clock)
    mask = nibabel.load(case / "mask.nii.gz")
    index = np.argwhere(np.asarray(mask.dataobj) >= 0.5)[::97]
    to_lps = FLIP @ mask.affine
    points = index @ to_lps[:3, :3].T + to_lps[:3, 3]
    truth = np.array(json.loads((case / "truth.json").read_text())["lps"])
    error = np.linalg.norm(found(points) - (points @ truth[:3, :3].T + truth[:3, 3]), axis=1)
    row = [lines(function), imported, seconds[0], statistics.median(seconds[1:]), error.mean(), error.max()]
    return "| {} | {} | {} | {:.2f} | {:.2f} | {:.2f} | {:.3f} | {:.3f} |".format(case.name, peer, *row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, default=os.environ.get("MIREG_DATA"))
    parser.add_argument("--cases", default="bw_00,bw_01,bw_02,bw_03,mni_00,mni_01")
    parser.add_argument("--peers", default=",".join(PEERS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--one", nargs=2, metavar=("PEER", "CASE"), help=argparse.SUPPRESS)
    args = parser.parse_args()
    cases = Path(args.data) / "cases"
    if args.one:
        print(measure(args.one[0], cases / args.one[1], args.threads))
        return
    print("| case | peer | lines | import, s | first, s | next, s | mean error, mm | max error, mm |\n|---|---|---|---|---|---|---|---|")
    for case in args.cases.split(","):
        for peer in args.peers.split(","):
            line = [sys.executable, __file__, "--data", args.data, "--threads", str(args.threads), "--one", peer, case]
            ran = subprocess.run(line, capture_output=True, text=True)
            print(ran.stdout.strip().splitlines()[-1] if ran.returncode == 0 else f"| {case} | {peer} | {ran.stderr[-200:]!r} |", flush=True)


if __name__ == "__main__":
    main()
