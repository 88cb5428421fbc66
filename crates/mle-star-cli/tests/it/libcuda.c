/* Plays libcuda: like the real one, it gives up if a thread cannot be named. FAKE_CUDA makes it fail with this number;
   FAKE_CUDA_FILE names a file that it must be able to read. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int cuInit(unsigned flags) {
    const char *number = getenv("FAKE_CUDA"), *needed = getenv("FAKE_CUDA_FILE");
    char comm[64];
    snprintf(comm, sizeof comm, "/proc/self/task/%d/comm", (int)getpid());
    int file = open(comm, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    if (file < 0 || write(file, "cuda", 4) != 4 || (needed && access(needed, R_OK))) return 304;
    close(file);
    return number ? atoi(number) : 0;
}
int cuDriverGetVersion(int *version) { *version = 13000; return 0; }
int cuDeviceGetCount(int *count) { *count = 1; return 0; }
int cuDeviceGet(int *device, int index) { *device = index; return 0; }
int cuDeviceGetName(char *name, int length, int device) { strncpy(name, "Fake H100", length); return 0; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) { *bytes = (size_t)80 << 30; return 0; }
int cuDevicePrimaryCtxRetain(void **context, int device) { return 0; }
int cuDevicePrimaryCtxRelease_v2(int device) { return 0; }
int cuGetErrorString(int error, const char **text) { *text = "OS call failed"; return 0; }
