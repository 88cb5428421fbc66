"""Starts CUDA as libraries do and prints what came of it, as one line of JSON: the version, and for each GPU its name,
its memory in MiB and what failed.
"""

import ctypes
import json

OUT_OF_MEMORY = 2
found = {"version": "", "trouble": None, "gpus": []}


def must(code, what):
    if code:
        text = ctypes.c_char_p()
        cuda.cuGetErrorString(code, ctypes.byref(text))
        raise OSError(f"{what} returns {code} ({(text.value or b'unknown error').decode()})")


try:
    cuda = ctypes.CDLL("libcuda.so.1")
    must(cuda.cuInit(0), "cuInit")
    number = ctypes.c_int()
    must(cuda.cuDriverGetVersion(ctypes.byref(number)), "cuDriverGetVersion")
    found["version"] = f"{number.value // 1000}.{number.value % 1000 // 10}"
    must(cuda.cuDeviceGetCount(ctypes.byref(number)), "cuDeviceGetCount")
    for index in range(number.value):
        device, name, size = ctypes.c_int(), ctypes.create_string_buffer(256), ctypes.c_size_t()
        must(cuda.cuDeviceGet(ctypes.byref(device), index), "cuDeviceGet")
        must(cuda.cuDeviceGetName(name, len(name), device), "cuDeviceGetName")
        must(cuda.cuDeviceTotalMem_v2(ctypes.byref(size), device), "cuDeviceTotalMem")
        gpu = {"name": name.value.decode(), "memory_mib": size.value >> 20, "trouble": None}
        found["gpus"].append(gpu)
        # What any computation needs. Others may use all memory now, which says nothing about the isolation.
        code = cuda.cuDevicePrimaryCtxRetain(ctypes.byref(ctypes.c_void_p()), device)
        try:
            must(code if code != OUT_OF_MEMORY else 0, "cuDevicePrimaryCtxRetain")
        except OSError as error:
            gpu["trouble"] = str(error)
        if code == 0:
            cuda.cuDevicePrimaryCtxRelease_v2(device)
except OSError as error:
    found["trouble"] = str(error)
print(json.dumps(found))
