//===- Vector.cuh - Vectors of elements in memory ---------------*- CUDA -*-===//
//
// What row and pointwise kernels share: a vector of elements moves in accesses
// of up to 16 bytes, and 16-bit floats become float on the way.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_VECTOR_CUH
#define FACT_CUTLASS_VECTOR_CUH

#include "Kernel.cuh"

#include <utility>

namespace fact {

/// What functors see of an element.
template <class Element> struct ComputeType { using type = Element; };
template <> struct ComputeType<bf16> { using type = float; };
template <> struct ComputeType<f16> { using type = float; };
template <class Element> using Compute = typename ComputeType<Element>::type;

template <class Element>
__device__ __forceinline__ Compute<Element> widen(Element value) {
  return static_cast<Compute<Element>>(value);
}

/// Rounds to nearest. Functors may return another type than their result's.
template <class Element, class Value>
__device__ __forceinline__ Element narrow(Value value) {
  if constexpr (std::is_same_v<Element, bf16>)
    return __float2bfloat16_rn(static_cast<float>(value));
  else if constexpr (std::is_same_v<Element, f16>)
    return __float2half_rn(static_cast<float>(value));
  else
    return static_cast<Element>(value);
}

template <class Element, int Count>
constexpr int vector_alignment =
    sizeof(Element) * Count < 16 ? sizeof(Element) * Count : 16;

template <class Element, int Count>
struct alignas(vector_alignment<Element, Count>) Vector {
  Element elements[Count];
};

template <int Count, class Element>
__device__ __forceinline__ void load_vector(Element const *source,
                                            Compute<Element> *values) {
  auto vector = *reinterpret_cast<Vector<Element, Count> const *>(source);
#pragma unroll
  for (int i = 0; i < Count; ++i)
    values[i] = widen(vector.elements[i]);
}

template <int Count, class Element, class Value>
__device__ __forceinline__ void store_vector(Element *destination,
                                             Value const *values) {
  Vector<Element, Count> vector;
#pragma unroll
  for (int i = 0; i < Count; ++i)
    vector.elements[i] = narrow<Element>(values[i]);
  *reinterpret_cast<Vector<Element, Count> *>(destination) = vector;
}

} // namespace fact

#endif // FACT_CUTLASS_VECTOR_CUH
