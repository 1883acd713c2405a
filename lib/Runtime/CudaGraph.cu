//===- CudaGraph.cu - A program's launches as a CUDA graph ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program is captured on a stream of its own, part by part, into one graph:
// each after those that it follows. When pointers move, the parts that use them
// are captured alone, and the parameters of their kernels replace those in the
// executable graph. Where that cannot be done (a node that is no kernel, or a
// kernel of another copy of CUDA's runtime, as those of cuBLAS), the whole
// program is captured again and the executable graph is updated from it.
// Nothing is instantiated twice.
//
//===----------------------------------------------------------------------===//

#include "CudaError.h"
#include "fact/Runtime/Device.h"
#include <algorithm>

namespace fact {
namespace runtime {
namespace device {

namespace {

using Nodes = std::vector<cudaGraphNode_t>;

/// Captures constrain no other thread, and those of other threads do not
/// constrain this one.
class RelaxedCaptures {
public:
  RelaxedCaptures() { cudaThreadExchangeStreamCaptureMode(&mode); }
  ~RelaxedCaptures() { cudaThreadExchangeStreamCaptureMode(&mode); }
  RelaxedCaptures(const RelaxedCaptures &) = delete;
  RelaxedCaptures &operator=(const RelaxedCaptures &) = delete;

private:
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
};

/// A graph that destroys itself.
class Graph {
public:
  Graph() = default;
  Graph(const Graph &) = delete;
  Graph &operator=(const Graph &) = delete;
  ~Graph() {
    if (graph)
      cudaGraphDestroy(graph);
  }
  cudaGraph_t get() const { return graph; }
  cudaGraph_t *address() { return &graph; }

private:
  cudaGraph_t graph = nullptr;
};

/// The launches of one part: kernels, copies and fills, one after the other.
struct PartNodes {
  Nodes nodes;
  /// What a part that follows this one follows: its last node, or where it has
  /// none, what it follows itself.
  Nodes last;
  /// Whether all nodes are in `nodes`.
  bool known = false;
};

/// Counts the nodes of a graph.
bool countNodes(cudaGraph_t graph, size_t &count) {
  return succeeded(cudaGraphGetNodes(graph, nullptr, &count),
                   "cudaGraphGetNodes");
}

/// The nodes that the next launch on a stream that is captured follows.
bool lastNodesOf(cudaStream_t stream, Nodes &last) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaGraphNode_t *nodes = nullptr;
  size_t count = 0;
#if CUDART_VERSION >= 13000
  const cudaGraphEdgeData *edges = nullptr;
  cudaError_t code = cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr,
                                              &nodes, &edges, &count);
#else
  cudaError_t code = cudaStreamGetCaptureInfo(stream, &status, nullptr, nullptr,
                                              &nodes, &count);
#endif
  if (!succeeded(code, "cudaStreamGetCaptureInfo"))
    return false;
  last.assign(nodes, nodes + count);
  return true;
}

/// The only node that a node follows; null if it follows none or several.
cudaGraphNode_t predecessorOf(cudaGraphNode_t node) {
  size_t count = 0;
  cudaGraphNode_t before = nullptr;
#if CUDART_VERSION >= 13000
  auto get = [&](cudaGraphNode_t *to) {
    cudaGraphEdgeData edge = {};
    return cudaGraphNodeGetDependencies(node, to, to ? &edge : nullptr, &count);
  };
#else
  auto get = [&](cudaGraphNode_t *to) {
    return cudaGraphNodeGetDependencies(node, to, &count);
  };
#endif
  bool found =
      get(nullptr) == cudaSuccess && count == 1 && get(&before) == cudaSuccess;
  if (!found)
    cudaGetLastError();
  return found ? before : nullptr;
}

/// Captures one part into a graph, after the nodes `after`.
bool capturePart(uint32_t part, const LaunchGraph::Launch &launch,
                 cudaStream_t stream, cudaGraph_t graph, const Nodes &after,
                 PartNodes &captured) {
  size_t before = 0, count = 0;
  if (!countNodes(graph, before) ||
      !succeeded(cudaStreamBeginCaptureToGraph(stream, graph, after.data(),
                                               nullptr, after.size(),
                                               cudaStreamCaptureModeRelaxed),
                 "cudaStreamBeginCaptureToGraph"))
    return false;
  bool good = launch(part, stream) && lastNodesOf(stream, captured.last);
  std::string why = good ? "" : lastError();
  // Ends a capture that failed too, which leaves the stream usable.
  cudaGraph_t ended = nullptr;
  cudaError_t code = cudaStreamEndCapture(stream, &ended);
  if (!good) {
    cudaGetLastError();
    setLastError(why);
    return false;
  }
  if (!succeeded(code, "cudaStreamEndCapture") || !countNodes(graph, count))
    return false;
  // From the last launch to the first.
  cudaGraphNode_t node =
      captured.last.size() == 1 ? captured.last.front() : nullptr;
  for (; node && captured.nodes.size() < count - before;
       node = predecessorOf(node))
    captured.nodes.push_back(node);
  std::reverse(captured.nodes.begin(), captured.nodes.end());
  captured.known = captured.nodes.size() == count - before;
  return true;
}

/// Captures all parts into a graph.
bool capture(const LaunchGraph::Order &predecessors,
             const LaunchGraph::Launch &launch, cudaStream_t stream,
             Graph &graph, std::vector<PartNodes> &parts) {
  RelaxedCaptures relaxed;
  if (!succeeded(cudaGraphCreate(graph.address(), 0), "cudaGraphCreate"))
    return false;
  parts.resize(predecessors.size());
  for (uint32_t part = 0; part < parts.size(); ++part) {
    Nodes after;
    // Always in the same order, by which an update pairs nodes. Two parts
    // without launches may follow the same node.
    for (uint32_t each : predecessors[part])
      for (cudaGraphNode_t node : parts[each].last)
        if (std::find(after.begin(), after.end(), node) == after.end())
          after.push_back(node);
    if (!capturePart(part, launch, stream, graph.get(), after, parts[part]))
      return false;
  }
  return true;
}

/// The parameters of a kernel, which belong to its node; false if the node is
/// no kernel of this library.
bool parametersOf(cudaGraphNode_t node, cudaKernelNodeParams &parameters) {
  cudaGraphNodeType type;
  bool found = cudaGraphNodeGetType(node, &type) == cudaSuccess &&
               type == cudaGraphNodeTypeKernel &&
               cudaGraphKernelNodeGetParams(node, &parameters) == cudaSuccess;
  if (!found)
    cudaGetLastError();
  return found;
}

} // namespace

struct LaunchGraph::Implementation {
  ~Implementation() {
    if (executable)
      cudaGraphExecDestroy(executable);
  }

  bool updatePart(uint32_t part, const Launch &launch, cudaStream_t stream);
  bool updateAll(const Launch &launch, cudaStream_t stream);

  Order predecessors;
  /// What was captured first. Its nodes are the names of those in the
  /// executable graph.
  Graph graph;
  cudaGraphExec_t executable = nullptr;
  std::vector<PartNodes> parts;
};

LaunchGraph::LaunchGraph() = default;
LaunchGraph::~LaunchGraph() = default;
LaunchGraph::LaunchGraph(LaunchGraph &&) noexcept = default;
LaunchGraph &LaunchGraph::operator=(LaunchGraph &&) noexcept = default;

bool LaunchGraph::isSupported() { return true; }

const char *LaunchGraph::record(const Order &predecessors, const Launch &launch,
                                void *stream) {
  implementation = std::make_unique<Implementation>();
  Implementation &made = *implementation;
  made.predecessors = predecessors;
  if (!capture(predecessors, launch, static_cast<cudaStream_t>(stream),
               made.graph, made.parts))
    return "capture";
  RelaxedCaptures relaxed;
  if (!succeeded(
          cudaGraphInstantiateWithFlags(&made.executable, made.graph.get(), 0),
          "cudaGraphInstantiate"))
    return "instantiate";
  return nullptr;
}

/// Returns whether the part's kernels now have new parameters. Otherwise some
/// of them may, and `updateAll` sets all.
bool LaunchGraph::Implementation::updatePart(uint32_t part,
                                             const Launch &launch,
                                             cudaStream_t stream) {
  Graph moved;
  PartNodes again;
  const PartNodes &known = parts[part];
  if (!known.known ||
      !succeeded(cudaGraphCreate(moved.address(), 0), "cudaGraphCreate") ||
      !capturePart(part, launch, stream, moved.get(), {}, again) ||
      !again.known || again.nodes.size() != known.nodes.size())
    return false;
  for (size_t i = 0; i < known.nodes.size(); ++i) {
    cudaKernelNodeParams parameters = {};
    if (!parametersOf(again.nodes[i], parameters))
      return false;
    if (cudaGraphExecKernelNodeSetParams(executable, known.nodes[i],
                                         &parameters) != cudaSuccess) {
      cudaGetLastError();
      return false;
    }
  }
  return true;
}

bool LaunchGraph::Implementation::updateAll(const Launch &launch,
                                            cudaStream_t stream) {
  Graph moved;
  std::vector<PartNodes> ignored;
  if (!capture(predecessors, launch, stream, moved, ignored))
    return false;
  cudaGraphExecUpdateResultInfo info = {};
  return succeeded(cudaGraphExecUpdate(executable, moved.get(), &info),
                   "cudaGraphExecUpdate");
}

const char *LaunchGraph::update(const std::vector<bool> &moved,
                                const Launch &launch, void *stream) {
  RelaxedCaptures relaxed;
  cudaStream_t on = static_cast<cudaStream_t>(stream);
  for (uint32_t part = 0; part < implementation->parts.size(); ++part)
    if (moved[part] && !implementation->updatePart(part, launch, on))
      return implementation->updateAll(launch, on) ? nullptr : "update";
  return nullptr;
}

const char *LaunchGraph::replay(void *stream) {
  return succeeded(cudaGraphLaunch(implementation->executable,
                                   static_cast<cudaStream_t>(stream)),
                   "cudaGraphLaunch")
             ? nullptr
             : "launch";
}

} // namespace device
} // namespace runtime
} // namespace fact
