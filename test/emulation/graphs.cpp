//===- graphs.cpp - CUDA's streams and graphs on a CPU --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph is a chain: a capture follows one stream. FACT_EMULATION_FAILS names
// functions that fail.
//
//===----------------------------------------------------------------------===//

#include "emulation.h"
#include <atomic>
#include <cstdlib>
#include <memory>
#include <vector>

namespace emulation {
namespace {

struct Node {
  cudaGraphNodeType kind;
  std::function<cudaError_t()> work;
};
struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
};
struct Stream {
  std::unique_ptr<Graph> captured;
};
struct Executable {
  /// The nodes of the graph that it was made of, as names.
  std::vector<const Node *> names;
  std::vector<Node> nodes;
};

std::atomic<int> captures{0};

Stream *of(cudaStream_t stream) { return reinterpret_cast<Stream *>(stream); }
Graph *of(cudaGraph_t graph) { return reinterpret_cast<Graph *>(graph); }
Node *of(cudaGraphNode_t node) { return reinterpret_cast<Node *>(node); }
Executable *of(cudaGraphExec_t executable) {
  return reinterpret_cast<Executable *>(executable);
}

/// Handles that mean the default stream.
bool isDefault(cudaStream_t stream) {
  return reinterpret_cast<uintptr_t>(stream) < 16;
}
bool isCaptured(cudaStream_t stream) {
  return !isDefault(stream) && of(stream)->captured;
}

bool fails(const char *function) {
  const char *wanted = std::getenv("FACT_EMULATION_FAILS");
  return wanted && std::strstr(wanted, function);
}

} // namespace

cudaError_t enqueue(cudaStream_t stream, cudaGraphNodeType kind,
                    std::function<cudaError_t()> work) {
  if (!isCaptured(stream))
    return work();
  of(stream)->captured->nodes.push_back(
      std::make_unique<Node>(Node{kind, std::move(work)}));
  return cudaSuccess;
}

} // namespace emulation

using namespace emulation;

extern "C" {

cudaError_t cudaDeviceSynchronize() {
  return captures ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned) {
  *stream = reinterpret_cast<cudaStream_t>(new Stream);
  return cudaSuccess;
}
cudaError_t cudaStreamCreate(cudaStream_t *stream) {
  return cudaStreamCreateWithFlags(stream, 0);
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete of(stream);
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  return isCaptured(stream) ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode) {
  static thread_local cudaStreamCaptureMode current =
      cudaStreamCaptureModeGlobal;
  std::swap(current, *mode);
  return cudaSuccess;
}
cudaError_t cudaStreamIsCapturing(cudaStream_t stream,
                                  cudaStreamCaptureStatus *status) {
  *status = isCaptured(stream) ? cudaStreamCaptureStatusActive
                               : cudaStreamCaptureStatusNone;
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode) {
  if (fails("cudaStreamBeginCapture") || isDefault(stream) ||
      isCaptured(stream))
    return cudaErrorStreamCaptureUnsupported;
  of(stream)->captured = std::make_unique<Graph>();
  ++captures;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  *graph = nullptr;
  if (!isCaptured(stream))
    return cudaErrorStreamCaptureUnmatched;
  --captures;
  std::unique_ptr<Graph> captured = std::move(of(stream)->captured);
  if (fails("cudaStreamEndCapture"))
    return cudaErrorStreamCaptureInvalidated;
  *graph = reinterpret_cast<cudaGraph_t>(captured.release());
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                     cudaStreamCaptureStatus *status,
                                     unsigned long long *id, cudaGraph_t *graph,
                                     const cudaGraphNode_t **,
#if CUDART_VERSION >= 13000
                                     const cudaGraphEdgeData **,
#endif
                                     size_t *) {
  cudaStreamIsCapturing(stream, status);
  *id = 1;
  *graph = isCaptured(stream)
               ? reinterpret_cast<cudaGraph_t>(of(stream)->captured.get())
               : nullptr;
  return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete of(graph);
  return cudaSuccess;
}
cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes,
                              size_t *count) {
  // In no particular order, as CUDA promises none: the last one first.
  size_t all = of(graph)->nodes.size();
  for (size_t i = 0; nodes && i < all; ++i)
    nodes[i] =
        reinterpret_cast<cudaGraphNode_t>(of(graph)->nodes[all - 1 - i].get());
  *count = all;
  return cudaSuccess;
}
cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from,
                              cudaGraphNode_t *to,
#if CUDART_VERSION >= 13000
                              cudaGraphEdgeData *data,
#endif
                              size_t *count) {
  const auto &nodes = of(graph)->nodes;
  *count = nodes.empty() ? 0 : nodes.size() - 1;
  for (size_t i = 0; from && i < *count; ++i) {
    from[i] = reinterpret_cast<cudaGraphNode_t>(nodes[i].get());
    to[i] = reinterpret_cast<cudaGraphNode_t>(nodes[i + 1].get());
#if CUDART_VERSION >= 13000
    data[i] = {};
#endif
  }
  return cudaSuccess;
}
cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node,
                                 cudaGraphNodeType *type) {
  *type = of(node)->kind;
  return cudaSuccess;
}
/// The function of a kernel stands for its parameters too, and belongs to the
/// node.
cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                         cudaKernelNodeParams *parameters) {
  if (fails("cudaGraphKernelNodeGetParams"))
    return cudaErrorInvalidDeviceFunction;
  *parameters = {};
  parameters->func = of(node);
  return cudaSuccess;
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *executable,
                                          cudaGraph_t graph,
                                          unsigned long long) {
  if (fails("cudaGraphInstantiateWithFlags"))
    return cudaErrorMemoryAllocation;
  Executable *made = new Executable;
  for (const auto &node : of(graph)->nodes) {
    made->names.push_back(node.get());
    made->nodes.push_back(*node);
  }
  *executable = reinterpret_cast<cudaGraphExec_t>(made);
  return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  delete of(executable);
  return cudaSuccess;
}
cudaError_t
cudaGraphExecKernelNodeSetParams(cudaGraphExec_t executable,
                                 cudaGraphNode_t node,
                                 const cudaKernelNodeParams *parameters) {
  Executable &into = *of(executable);
  for (size_t i = 0; i < into.names.size(); ++i)
    if (into.names[i] == of(node) &&
        into.nodes[i].kind == cudaGraphNodeTypeKernel) {
      into.nodes[i].work = static_cast<Node *>(parameters->func)->work;
      return cudaSuccess;
    }
  return cudaErrorInvalidValue;
}
cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                cudaGraphExecUpdateResultInfo *) {
  Executable &into = *of(executable);
  const auto &nodes = of(graph)->nodes;
  bool same = nodes.size() == into.nodes.size();
  for (size_t i = 0; same && i < nodes.size(); ++i)
    same = nodes[i]->kind == into.nodes[i].kind;
  if (!same || fails("cudaGraphExecUpdate"))
    return cudaErrorGraphExecUpdateFailure;
  for (size_t i = 0; i < nodes.size(); ++i)
    into.nodes[i].work = nodes[i]->work;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (fails("cudaGraphLaunch"))
    return cudaErrorLaunchFailure;
  for (const Node &node : of(executable)->nodes)
    if (cudaError_t code = enqueue(stream, node.kind, node.work))
      return code;
  return cudaSuccess;
}
}
