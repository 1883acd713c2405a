// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* A library of the C ABI written by hand: output = input * scale + bias,
 * computed in the slowest honest way, so that the Python side is tested without
 * the compiler. Compiled with -DABI=... to lie about its version. */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef ABI
#define ABI 1
#endif

typedef struct {
  int32_t type, id;
} Device;

typedef struct {
  void *data;
  Device device;
  int32_t ndim;
  uint8_t code, bits;
  uint16_t lanes;
  int64_t *shape, *strides;
  uint64_t byte_offset;
} Tensor;

typedef struct {
  const char *name;
  const Tensor *tensor;
} NamedTensor;

typedef struct {
  const float *scale, *bias;
} Model;

static char error[256];

#ifndef TARGET
#define TARGET "host"
#endif

static const char *describe(void) {
  return "{\"name\": \"fake\", \"target\": {\"kind\": \"" TARGET "\"},"
         " \"inputs\": [{\"name\": \"x\", \"type\": \"f32\", \"shape\": [2, "
         "4]}],"
         " \"outputs\": [{\"name\": \"y\", \"type\": \"f32\", \"shape\": [2, "
         "4]}],"
         " \"weights\": [{\"name\": \"scale\", \"type\": \"f32\", \"shape\": "
         "[4]},"
         " {\"name\": \"bias\", \"type\": \"f32\", \"shape\": [4]}]}";
}

static int bind(Model *model, const NamedTensor *weights, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    const Tensor *t = weights[i].tensor;
    if (t->ndim != 1 || t->shape[0] != 4 || t->code != 2 || t->bits != 32) {
      snprintf(error, sizeof error, "weight '%s' is not tensor<4xf32>",
               weights[i].name);
      return 1;
    }
    if (!strcmp(weights[i].name, "scale"))
      model->scale = t->data;
    else if (!strcmp(weights[i].name, "bias"))
      model->bias = t->data;
    else {
      snprintf(error, sizeof error, "unknown weight '%s'", weights[i].name);
      return 1;
    }
  }
  return 0;
}

static void *create(const NamedTensor *weights, int64_t count) {
  Model *model = calloc(1, sizeof *model);
  if (bind(model, weights, count))
    return free(model), NULL;
  if (!model->scale || !model->bias) {
    snprintf(error, sizeof error, "missing weights:%s%s",
             model->scale ? "" : " scale", model->bias ? "" : " bias");
    return free(model), NULL;
  }
  return model;
}

static int set_weights(void *model, const NamedTensor *weights, int64_t count) {
  return bind(model, weights, count);
}

static int run(void *handle, Tensor *const *in, int64_t inputs,
               Tensor *const *out, int64_t outputs, void *stream) {
  (void)stream;
  const Model *model = handle;
  const Tensor *x = in[0];
  if (inputs != 1 || outputs != 1 || x->ndim != 2 || x->shape[0] != 2 ||
      x->shape[1] != 4 || x->code != 2 || x->bits != 32) {
    snprintf(error, sizeof error, "input 'x' is not tensor<2x4xf32>");
    return 1;
  }
  int64_t rows = x->strides ? x->strides[0] : 4,
          columns = x->strides ? x->strides[1] : 1;
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = 0; j < 4; ++j)
      ((float *)out[0]->data)[4 * i + j] =
          ((const float *)x->data)[rows * i + columns * j] * model->scale[j] +
          model->bias[j];
  return 0;
}

static const char *last_error(void) { return error; }

static const struct {
  uint32_t abi;
  const char *(*describe)(void);
  void *(*create)(const NamedTensor *, int64_t);
  int (*set_weights)(void *, const NamedTensor *, int64_t);
  int (*run)(void *, Tensor *const *, int64_t, Tensor *const *, int64_t,
             void *);
  void (*destroy)(void *);
  const char *(*last_error)(void);
} table = {ABI, describe, create, set_weights, run, free, last_error};

const void *fact_library(void) { return &table; }
