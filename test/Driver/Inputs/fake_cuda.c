/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A stand-in for NVIDIA's driver, libcuda.so.1. FAKE_GPU describes its GPU:
   "NVIDIA A10;75=8;76=6;16=72", the name and attributes by the numbers of
   cuda.h. Without it there is no GPU; FAKE_ERROR is what cuInit returns. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int cuInit(unsigned flags) {
  const char *error = getenv("FAKE_ERROR");
  return error ? atoi(error) : 0;
}

int cuDeviceGetCount(int *count) {
  *count = getenv("FAKE_GPU") != NULL;
  return 0;
}

int cuDeviceGet(int *device, int ordinal) {
  *device = ordinal;
  return 0;
}

int cuDeviceGetName(char *name, int length, int device) {
  snprintf(name, length, "%.*s", (int)strcspn(getenv("FAKE_GPU"), ";"),
           getenv("FAKE_GPU"));
  return 0;
}

int cuDeviceGetAttribute(int *value, int attribute, int device) {
  char key[32];
  snprintf(key, sizeof(key), ";%d=", attribute);
  const char *found = strstr(getenv("FAKE_GPU"), key);
  if (!found)
    return 1;
  *value = atoi(found + strlen(key));
  return 0;
}
