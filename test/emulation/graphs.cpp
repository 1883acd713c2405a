//===- graphs.cpp - CUDA's streams and graphs on a CPU --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A capture follows one stream, from the nodes that it is told to follow. Nodes
// of a graph run in an order that its edges allow and that is far from that of
// their capture. FACT_EMULATION_FAILS names functions that fail.
//
//===----------------------------------------------------------------------===//

#include "emulation.h"
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <vector>

namespace emulation {
namespace {

struct Node {
  cudaGraphNodeType kind;
  std::function<cudaError_t()> work;
  std::vector<Node *> after;
};
struct Graph {
  std::vector<std::unique_ptr<Node>> nodes;
};
struct Stream {
  /// The graph that is captured into, and what the next node follows.
  Graph *captured = nullptr;
  std::vector<Node *> last;
  /// The graph, unless it is the caller's.
  std::unique_ptr<Graph> own;
};
struct Executable {
  /// The nodes of the graph that it was made of, as names.
  std::vector<const Node *> names;
  std::vector<Node> nodes;
  /// Positions, in the order of execution.
  std::vector<size_t> order;
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

/// Of the nodes that may be next, the one that was captured last.
std::vector<size_t> latestFirst(const Graph &graph) {
  std::vector<size_t> order;
  std::vector<const Node *> done;
  auto isDone = [&](const Node *node) {
    return std::find(done.begin(), done.end(), node) != done.end();
  };
  while (order.size() < graph.nodes.size()) {
    size_t next = graph.nodes.size() - 1;
    for (;; --next) {
      const Node &node = *graph.nodes[next];
      if (!isDone(&node) &&
          std::all_of(node.after.begin(), node.after.end(), isDone))
        break;
    }
    order.push_back(next);
    done.push_back(graph.nodes[next].get());
  }
  return order;
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
  Stream &into = *of(stream);
  into.captured->nodes.push_back(
      std::make_unique<Node>(Node{kind, std::move(work), into.last}));
  into.last = {into.captured->nodes.back().get()};
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
  if (isDefault(stream) || isCaptured(stream))
    return cudaErrorStreamCaptureUnsupported;
  Stream &into = *of(stream);
  into.own = std::make_unique<Graph>();
  into.captured = into.own.get();
  into.last.clear();
  ++captures;
  return cudaSuccess;
}
cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream,
                                          cudaGraph_t graph,
                                          const cudaGraphNode_t *after,
                                          const cudaGraphEdgeData *,
                                          size_t count, cudaStreamCaptureMode) {
  if (fails("cudaStreamBeginCaptureToGraph") || isDefault(stream) ||
      isCaptured(stream))
    return cudaErrorStreamCaptureUnsupported;
  Stream &into = *of(stream);
  into.captured = of(graph);
  into.last.clear();
  for (size_t i = 0; i < count; ++i)
    into.last.push_back(of(after[i]));
  ++captures;
  return cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph) {
  *graph = nullptr;
  if (!isCaptured(stream))
    return cudaErrorStreamCaptureUnmatched;
  --captures;
  Stream &into = *of(stream);
  Graph *captured = into.captured;
  std::unique_ptr<Graph> own = std::move(into.own);
  into.captured = nullptr;
  if (fails("cudaStreamEndCapture"))
    return cudaErrorStreamCaptureInvalidated;
  *graph = reinterpret_cast<cudaGraph_t>(captured);
  own.release();
  return cudaSuccess;
}
cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                     cudaStreamCaptureStatus *status,
                                     unsigned long long *, cudaGraph_t *,
                                     const cudaGraphNode_t **last,
#if CUDART_VERSION >= 13000
                                     const cudaGraphEdgeData **,
#endif
                                     size_t *count) {
  cudaStreamIsCapturing(stream, status);
  *count = 0;
  if (isCaptured(stream)) {
    *last = reinterpret_cast<const cudaGraphNode_t *>(of(stream)->last.data());
    *count = of(stream)->last.size();
  }
  return cudaSuccess;
}

cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned) {
  *graph = reinterpret_cast<cudaGraph_t>(new Graph);
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
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node,
                                         cudaGraphNode_t *after,
#if CUDART_VERSION >= 13000
                                         cudaGraphEdgeData *,
#endif
                                         size_t *count) {
  const std::vector<Node *> &found = of(node)->after;
  for (size_t i = 0; after && i < std::min(*count, found.size()); ++i)
    after[i] = reinterpret_cast<cudaGraphNode_t>(found[i]);
  *count = found.size();
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
  made->order = latestFirst(*of(graph));
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
  // Nodes are paired by what they follow, in that order.
  auto positionsOf = [](const auto &all, const std::vector<Node *> &after) {
    std::vector<size_t> positions;
    for (const Node *each : after)
      for (size_t i = 0; i < all.size(); ++i)
        if (&*all[i] == each)
          positions.push_back(i);
    return positions;
  };
  for (size_t i = 0; same && i < nodes.size(); ++i)
    same = nodes[i]->kind == into.nodes[i].kind &&
           positionsOf(nodes, nodes[i]->after) ==
               positionsOf(into.names, into.nodes[i].after);
  if (!same || fails("cudaGraphExecUpdate"))
    return cudaErrorGraphExecUpdateFailure;
  for (size_t i = 0; i < nodes.size(); ++i)
    into.nodes[i].work = nodes[i]->work;
  return cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream) {
  if (fails("cudaGraphLaunch"))
    return cudaErrorLaunchFailure;
  for (size_t i : of(executable)->order) {
    const Node &node = of(executable)->nodes[i];
    if (cudaError_t code = enqueue(stream, node.kind, node.work))
      return code;
  }
  return cudaSuccess;
}
}
