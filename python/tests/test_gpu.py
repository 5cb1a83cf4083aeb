"""Tensors that lie on a GPU."""

from __future__ import annotations

import ctypes
import pickle

import numpy as np
import pytest

import mireg

#: numpy's kinds as DLPack numbers them.
CODES = {"i": 0, "u": 1, "f": 2, "b": 6}


class Managed(ctypes.Structure):
    """A DLManagedTensor."""

    _fields_ = [
        *(("data", ctypes.c_void_p), ("kind", ctypes.c_int32), ("id", ctypes.c_int32), ("ndim", ctypes.c_int32)),
        *(("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)),
        *(("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p), ("byte_offset", ctypes.c_uint64)),
        *(("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p)),
    ]


class Tensor:
    """An array that says that it lies on a GPU. It counts its exports, and those that are given back."""

    def __init__(self, array, refuses=None, kind=2, shape=None):
        self.array, self.shape, self.refuses = array, array.shape, refuses
        self.copies = self.exported = self.returned = 0
        given = [(ctypes.c_int64 * array.ndim)(*numbers) for numbers in (shape or array.shape, np.array(array.strides) // array.itemsize)]
        sides = [ctypes.addressof(one) for one in given]
        number = CODES[array.dtype.kind], array.itemsize * 8, 1
        self.managed = Managed(array.ctypes.data, kind, 0, array.ndim, *number, *sides, 0, None, None)
        self.alive = given, ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(self.back)
        self.name = b"dltensor"

    def back(self, _capsule):
        self.returned += 1

    def __dlpack_device__(self):
        return 2, 0

    def __dlpack__(self, stream=None):
        assert stream == 1
        if self.refuses is not None:
            raise self.refuses
        make = ctypes.pythonapi.PyCapsule_New
        make.restype, make.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self.exported += 1
        return make(ctypes.addressof(self.managed), self.name, ctypes.cast(self.alive[1], ctypes.c_void_p))

    def cpu(self):
        self.copies += 1
        return self.array


def images(pair, tensors):
    return [mireg.Image(one, affine, frame="LPS") for one, affine in zip(tensors, pair.affines)]


def same(a, b):
    return a.transform == b.transform and np.array_equal(a.moved.array, b.moved.array)


def test_a_tensor_stays_on_its_gpu_until_it_is_needed_elsewhere(pair, found, tmp_path):
    tensors = [Tensor(array) for array in pair.arrays]
    made = images(pair, tensors)
    assert made[0].shape == pair.shapes[0] and not any(tensor.copies for tensor in tensors)
    assert same(mireg.register(*made, backend="cpu"), found)
    # The CPU does not use the export. The copy is made once and kept.
    assert [(tensor.exported, tensor.returned, tensor.copies) for tensor in tensors] == [(1, 1, 1)] * 2
    assert np.array_equal(made[0].array, pair.arrays[0]) and not made[0].array.flags.writeable
    assert tensors[0].copies == 1
    again = pickle.loads(pickle.dumps(made[1]))
    assert np.array_equal(again.array, pair.arrays[1]) and again.shape == pair.shapes[1]
    made[1].save(tmp_path / "moving.nii.gz")
    assert np.array_equal(mireg.Image.load(tmp_path / "moving.nii.gz").array, pair.arrays[1])
    assert "int16" in repr(images(pair, tensors)[0])


def test_what_cannot_be_had_on_the_gpu_is_had_over_the_host(pair, found):
    small = (pair.shapes[0][0] - 1, *pair.shapes[0][1:])
    odd = [Tensor(pair.arrays[0], BufferError("no")), Tensor(pair.arrays[0], kind=1), Tensor(pair.arrays[0], shape=small)]
    odd += [Tensor(pair.arrays[0].astype(np.float16)), Tensor(pair.arrays[0])]
    odd[-1].name = b"dltensor_versioned"
    expected = mireg.metric(*pair.images(), backend="cpu")
    for tensor in odd:
        image = mireg.Image(tensor, pair.affines[0], frame="LPS")
        assert mireg.metric(image, pair.images()[1], backend="cpu") == expected
        assert tensor.copies == 1 and tensor.returned == tensor.exported


def test_interrupts_are_no_refusals(pair):
    image = mireg.Image(Tensor(pair.arrays[0], KeyboardInterrupt()), pair.affines[0], frame="LPS")
    with pytest.raises(KeyboardInterrupt):
        mireg.metric(image, pair.images()[1], backend="cpu")


def test_nothing_else_is_missing_from_an_image(pair):
    with pytest.raises(AttributeError, match="no attribute 'voxels'"):
        _ = pair.images()[0].voxels


class NoCopies:
    """A tensor of torch that cannot be had over the host."""

    def __init__(self, tensor):
        self.shape, self.__dlpack__, self.__dlpack_device__ = tensor.shape, tensor.__dlpack__, tensor.__dlpack_device__


@pytest.fixture(scope="module")
def cuda():
    torch = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("no GPU")
    return torch, mireg.Engine(backend="cuda")


@pytest.mark.parametrize("dtype", ["int16", "uint8", "float32", "float64"])
def test_tensors_of_torch_give_the_bytes_of_arrays(pair, cuda, dtype):
    torch, engine = cuda
    arrays = [(array // 5).astype(dtype) for array in pair.arrays]
    expected = mireg.register(*images(pair, arrays), backend="cpu")
    plain = [torch.tensor(array, device="cuda") for array in arrays]
    ways = {
        "plain": plain,
        "permuted": [one.permute(2, 1, 0).contiguous().permute(2, 1, 0) for one in plain],
        "part": [torch.nn.functional.pad(one, (3, 1, 2, 2, 1, 4))[1:-4, 2:-2, 3:-1] for one in plain],
    }
    for way, tensors in ways.items():
        assert same(mireg.register(*images(pair, map(NoCopies, tensors)), engine=engine), expected), way
        # These can be copied, too.
        made = images(pair, [one.requires_grad_() if dtype[0] == "f" else one for one in tensors])
        assert same(mireg.register(*made, engine=engine), expected), way
        assert same(mireg.register(*made, backend="cpu"), expected), way
        assert np.array_equal(made[0].array, arrays[0]), way


def test_what_was_queued_before_is_waited_for(pair, found, cuda):
    torch, engine = cuda
    arrays = [torch.tensor(array, device="cuda") for array in pair.arrays]
    with torch.cuda.stream(torch.cuda.Stream()):
        tensors = [torch.zeros_like(array) for array in arrays]
        torch.cuda._sleep(500_000_000)
        for tensor, array in zip(tensors, arrays):
            tensor.copy_(array)
        made = images(pair, map(NoCopies, tensors))
        assert same(mireg.register(*made, engine=engine), found)


def test_metric_and_deform_take_tensors(pair, cuda):
    torch, engine = cuda
    made = images(pair, [NoCopies(torch.tensor(array, device="cuda")) for array in pair.arrays])
    assert mireg.metric(*made, engine=engine) == mireg.metric(*pair.images(), backend="cpu")
    deformed = [mireg.deform(*given, engine=engine, levels=[6.0], check=False) for given in (made, pair.images())]
    assert same(*deformed)


def test_arrays_of_cupy_give_the_bytes_of_arrays(pair, found, cuda):
    cupy = pytest.importorskip("cupy")
    made = images(pair, [NoCopies(cupy.asarray(array)) for array in pair.arrays])
    assert same(mireg.register(*made, engine=cuda[1]), found)
    assert np.array_equal(mireg.Image(cupy.asarray(pair.arrays[0]), pair.affines[0], frame="LPS").array, pair.arrays[0])
