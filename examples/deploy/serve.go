// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Serve serves a compiled model from Go.
//
//	go build -o serve examples/deploy/serve.go
//	serve MODEL.so WEIGHTS.safetensors < requests > responses
//
// A request is the bytes of all inputs, one after the other, and a response those of all
// outputs. The library is opened at run time, and says itself what its inputs and outputs are:
// one program serves every model.
package main

/*
#cgo CFLAGS: -I${SRCDIR}/../../include
#cgo LDFLAGS: -ldl
#include "fact/Runtime/Library.h"
#include <dlfcn.h>
#include <stdlib.h>

// Go calls no function pointers of C.
static const FactLibrary *call_table(void *symbol) {
  return ((const FactLibrary *(*)(void))symbol)();
}
static int32_t call_device_type(const FactLibrary *library) {
  return library->device_type();
}
static const FactTensorInfo *call_inputs(const FactLibrary *library, int64_t *count) {
  return library->inputs(count);
}
static const FactTensorInfo *call_outputs(const FactLibrary *library, int64_t *count) {
  return library->outputs(count);
}
static FactModel *call_load(const FactLibrary *library, const char *path) {
  return library->load(path);
}
static int call_run(const FactLibrary *library, FactModel *model, DLTensor **inputs,
                    int64_t input_count, DLTensor **outputs, int64_t output_count) {
  return library->run(model, inputs, input_count, outputs, output_count, NULL);
}
static const char *call_last_error(const FactLibrary *library) {
  return library->last_error();
}
static const char *call_error(const FactLibrary *library, const FactModel *model) {
  return library->error(model);
}
static void call_destroy(const FactLibrary *library, FactModel *model) {
  library->destroy(model);
}
*/
import "C"

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"unsafe"
)

// open returns the table of the library at a path, which stays open for as long as the process runs.
func open(path string) (*C.FactLibrary, error) {
	// Errors of dlopen belong to the thread.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	name, symbolName := C.CString(path), C.CString("fact_library")
	defer C.free(unsafe.Pointer(name))
	defer C.free(unsafe.Pointer(symbolName))
	handle := C.dlopen(name, C.RTLD_NOW|C.RTLD_LOCAL)
	if handle == nil {
		return nil, errors.New(C.GoString(C.dlerror()))
	}
	symbol := C.dlsym(handle, symbolName)
	if symbol == nil {
		return nil, errors.New(C.GoString(C.dlerror()))
	}
	library := C.call_table(symbol)
	// A newer library may have more functions, never fewer.
	if library.abi != C.FACT_LIBRARY_ABI || library.bytes < C.sizeof_FactLibrary {
		return nil, errors.New("the library was compiled by another version of FACT")
	}
	if C.call_device_type(library) != C.kDLCPU {
		return nil, errors.New("the library was compiled for a GPU; serve has host memory")
	}
	return library, nil
}

// tensors are all inputs or all outputs: memory, and DLPack's description of it. Both are C's, since
// Go's memory that is passed to C may have no pointers to other memory of Go.
type tensors struct {
	memory   [][]byte
	pointers **C.DLTensor
}

func newTensors(first *C.FactTensorInfo, count C.int64_t) tensors {
	pointers := (**C.DLTensor)(C.calloc(C.size_t(count)+1, C.size_t(unsafe.Sizeof(first))))
	made := tensors{pointers: pointers}
	places := unsafe.Slice(pointers, int(count))
	for i, info := range unsafe.Slice(first, int(count)) {
		data := C.calloc(C.size_t(info.bytes)+1, 1)
		tensor := (*C.DLTensor)(C.calloc(1, C.sizeof_DLTensor))
		tensor.data = data
		tensor.device.device_type = C.kDLCPU
		tensor.ndim, tensor.dtype, tensor.shape = info.ndim, info.dtype, info.shape
		// No strides: row-major.
		places[i] = tensor
		made.memory = append(made.memory, unsafe.Slice((*byte)(data), int(info.bytes)))
	}
	return made
}

func (t tensors) count() C.int64_t { return C.int64_t(len(t.memory)) }

// read reads a request; false at the end of the input.
func (t tensors) read(from io.Reader) (bool, error) {
	size, done := 0, 0
	for _, bytes := range t.memory {
		count, err := io.ReadFull(from, bytes)
		if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
			return false, err
		}
		size, done = size+len(bytes), done+count
	}
	if done > 0 && done < size {
		return false, errors.New("the last request is too short")
	}
	return done > 0, nil
}

func (t tensors) write(to *bufio.Writer) error {
	for _, bytes := range t.memory {
		if _, err := to.Write(bytes); err != nil {
			return err
		}
	}
	return to.Flush()
}

func serve(path, weights string) error {
	library, err := open(path)
	if err != nil {
		return err
	}
	// last_error is of the calling thread, which a goroutine may change between two calls.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	name := C.CString(weights)
	defer C.free(unsafe.Pointer(name))
	model := C.call_load(library, name)
	if model == nil {
		return errors.New(C.GoString(C.call_last_error(library)))
	}
	defer C.call_destroy(library, model)

	var count C.int64_t
	first := C.call_inputs(library, &count)
	inputs := newTensors(first, count)
	first = C.call_outputs(library, &count)
	outputs := newTensors(first, count)
	requests, responses := bufio.NewReader(os.Stdin), bufio.NewWriter(os.Stdout)
	for {
		more, err := inputs.read(requests)
		if err != nil || !more {
			return err
		}
		if C.call_run(library, model, inputs.pointers, inputs.count(), outputs.pointers, outputs.count()) != 0 {
			return errors.New(C.GoString(C.call_error(library, model)))
		}
		if err := outputs.write(responses); err != nil {
			return fmt.Errorf("cannot write the response: %w", err)
		}
	}
}

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: serve MODEL.so WEIGHTS.safetensors")
		os.Exit(2)
	}
	if err := serve(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintf(os.Stderr, "serve: %v\n", err)
		os.Exit(1)
	}
}
