//===- CudaGraph.cu - A program's launches as a CUDA graph ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program is captured on a stream of its own, which yields a chain of
// nodes. When pointers move, the parts that use them are captured alone, and
// the parameters of their kernels replace those in the executable graph. Where
// that cannot be done (a node that is no kernel, or a kernel of another copy of
// CUDA's runtime, as those of cuBLAS), the whole program is captured again and
// the executable graph is updated from it. Nothing is instantiated twice.
//
//===----------------------------------------------------------------------===//

#include "CudaError.h"
#include "fact/Runtime/Device.h"
#include <algorithm>
#include <map>

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

/// How many nodes the capture on a stream has so far.
bool countNodes(cudaStream_t stream, size_t &count) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  return succeeded(cudaStreamGetCaptureInfo(stream, &status, &id, &graph),
                   "cudaStreamGetCaptureInfo") &&
         succeeded(cudaGraphGetNodes(graph, nullptr, &count),
                   "cudaGraphGetNodes");
}

/// Captures parts `begin` to `end` - 1. `ends`, unless it is null, gets the
/// number of nodes up to the end of each.
bool capture(uint32_t begin, uint32_t end, const LaunchGraph::Launch &launch,
             void *stream, Graph &graph, std::vector<size_t> *ends = nullptr) {
  RelaxedCaptures relaxed;
  cudaStream_t on = static_cast<cudaStream_t>(stream);
  if (!succeeded(cudaStreamBeginCapture(on, cudaStreamCaptureModeRelaxed),
                 "cudaStreamBeginCapture"))
    return false;
  bool good = true;
  for (uint32_t part = begin; good && part < end; ++part) {
    good = launch(part, stream);
    size_t count = 0;
    if (good && ends && (good = countNodes(on, count)))
      ends->push_back(count);
  }
  std::string why = good ? "" : lastError();
  // Ends a capture that failed too, which leaves the stream usable.
  cudaError_t code = cudaStreamEndCapture(on, graph.address());
  if (good)
    return succeeded(code, "cudaStreamEndCapture");
  cudaGetLastError();
  setLastError(why);
  return false;
}

/// The edges of a graph; false if some are not plain.
bool edgesOf(cudaGraph_t graph, Nodes &from, Nodes &to) {
  size_t count = 0;
#if CUDART_VERSION >= 13000
  if (cudaGraphGetEdges(graph, nullptr, nullptr, nullptr, &count))
    return false;
  from.resize(count);
  to.resize(count);
  std::vector<cudaGraphEdgeData> data(count);
  if (count &&
      cudaGraphGetEdges(graph, from.data(), to.data(), data.data(), &count))
    return false;
  return std::all_of(data.begin(), data.end(), [](cudaGraphEdgeData each) {
    return each.from_port == 0 && each.to_port == 0 && each.type == 0;
  });
#else
  if (cudaGraphGetEdges(graph, nullptr, nullptr, &count))
    return false;
  from.resize(count);
  to.resize(count);
  return !count || cudaGraphGetEdges(graph, from.data(), to.data(), &count) ==
                       cudaSuccess;
#endif
}

/// The nodes of a graph in the order of their execution; empty if the graph is
/// not a chain.
Nodes chainOf(cudaGraph_t graph) {
  size_t count = 0;
  Nodes nodes, from, to;
  if (cudaGraphGetNodes(graph, nullptr, &count) == cudaSuccess && count) {
    nodes.resize(count);
    if (cudaGraphGetNodes(graph, nodes.data(), &count) ||
        !edgesOf(graph, from, to))
      nodes.clear();
  }
  // Queries that fail leave an error behind, which is no failure of a run.
  cudaGetLastError();
  if (nodes.empty() || from.size() + 1 != count)
    return {};
  std::map<cudaGraphNode_t, cudaGraphNode_t> next;
  for (size_t i = 0; i < from.size(); ++i)
    if (!next.emplace(from[i], to[i]).second)
      return {};
  // The first node follows none.
  std::sort(to.begin(), to.end());
  auto isFirst = [&](cudaGraphNode_t node) {
    return !std::binary_search(to.begin(), to.end(), node);
  };
  auto first = std::find_if(nodes.begin(), nodes.end(), isFirst);
  Nodes chain;
  for (cudaGraphNode_t node = first == nodes.end() ? nullptr : *first;
       node && chain.size() < count;) {
    chain.push_back(node);
    auto found = next.find(node);
    node = found == next.end() ? nullptr : found->second;
  }
  return chain.size() == count ? chain : Nodes();
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

  bool updatePart(uint32_t part, const Launch &launch, void *stream);
  bool updateAll(const Launch &launch, void *stream);

  uint32_t parts = 0;
  /// What was captured first. Its nodes are the names of those in the
  /// executable graph.
  Graph graph;
  cudaGraphExec_t executable = nullptr;
  /// All nodes in order, and where those of each part end; no nodes if the
  /// graph is not a chain.
  Nodes chain;
  std::vector<size_t> ends;
};

LaunchGraph::LaunchGraph() = default;
LaunchGraph::~LaunchGraph() = default;
LaunchGraph::LaunchGraph(LaunchGraph &&) noexcept = default;
LaunchGraph &LaunchGraph::operator=(LaunchGraph &&) noexcept = default;

bool LaunchGraph::isSupported() { return true; }

const char *LaunchGraph::record(uint32_t parts, const Launch &launch,
                                void *stream) {
  implementation = std::make_unique<Implementation>();
  Implementation &made = *implementation;
  made.parts = parts;
  if (!capture(0, parts, launch, stream, made.graph, &made.ends))
    return "capture";
  RelaxedCaptures relaxed;
  made.chain = chainOf(made.graph.get());
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
                                             void *stream) {
  Graph moved;
  if (chain.empty() || !capture(part, part + 1, launch, stream, moved))
    return false;
  size_t begin = part ? ends[part - 1] : 0, count = ends[part] - begin;
  Nodes nodes = chainOf(moved.get());
  if (nodes.size() != count)
    return false;
  for (size_t i = 0; i < count; ++i) {
    cudaKernelNodeParams parameters = {};
    if (!parametersOf(nodes[i], parameters))
      return false;
    if (cudaGraphExecKernelNodeSetParams(executable, chain[begin + i],
                                         &parameters) != cudaSuccess) {
      cudaGetLastError();
      return false;
    }
  }
  return true;
}

bool LaunchGraph::Implementation::updateAll(const Launch &launch,
                                            void *stream) {
  Graph moved;
  if (!capture(0, parts, launch, stream, moved))
    return false;
  cudaGraphExecUpdateResultInfo info = {};
  return succeeded(cudaGraphExecUpdate(executable, moved.get(), &info),
                   "cudaGraphExecUpdate");
}

const char *LaunchGraph::update(const std::vector<bool> &moved,
                                const Launch &launch, void *stream) {
  RelaxedCaptures relaxed;
  for (uint32_t part = 0; part < implementation->parts; ++part)
    if (moved[part] && !implementation->updatePart(part, launch, stream))
      return implementation->updateAll(launch, stream) ? nullptr : "update";
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
