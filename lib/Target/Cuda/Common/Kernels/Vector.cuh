//===- Vector.cuh - Vectors of elements in memory --------------*- CUDA -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What row and pointwise kernels share: a vector of elements moves in accesses
// of up to 16 bytes, and 16-bit floats become float on the way.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_CUTLASS_VECTOR_CUH
#define FACT_CUTLASS_VECTOR_CUH

#include "Kernel.cuh"

#include <cstring>
#include <utility>

namespace fact {

/// What functors see of an element.
template <class Element> struct ComputeType {
  using type = Element;
};
template <> struct ComputeType<bf16> {
  using type = float;
};
template <> struct ComputeType<f16> {
  using type = float;
};
template <class Element> using Compute = typename ComputeType<Element>::type;

/// A bf16 is the upper half of a float. CUDA's conversion is an instruction
/// that the compiler does not know: what several results compute of one value
/// would be computed for each.
template <class Element>
__device__ __forceinline__ Compute<Element> widen(Element value) {
  if constexpr (std::is_same_v<Element, bf16>) {
    uint16_t bits;
    memcpy(&bits, &value, sizeof(bits));
    return __uint_as_float(uint32_t(bits) << 16);
  } else {
    return static_cast<Compute<Element>>(value);
  }
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

/// The register type that moves in one access.
template <int Bytes> struct AccessType;
template <> struct AccessType<1> {
  using type = uint8_t;
};
template <> struct AccessType<2> {
  using type = uint16_t;
};
template <> struct AccessType<4> {
  using type = uint32_t;
};
template <> struct AccessType<8> {
  using type = uint2;
};
template <> struct AccessType<16> {
  using type = uint4;
};

template <class Element, int Count>
using VectorAccess = typename AccessType<(
    sizeof(Element) * Count < 16 ? sizeof(Element) * Count : 16)>::type;

/// Reads what the caches drop first.
template <class Access>
__device__ __forceinline__ Access load_streamed(Access const *source) {
  uint64_t policy;
  asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
  if constexpr (sizeof(Access) == 16) {
    uint4 word;
    asm("ld.global.nc.L1::evict_first.L2::cache_hint.v4.b32 {%0, %1, %2, %3}, "
        "[%4], %5;"
        : "=r"(word.x), "=r"(word.y), "=r"(word.z), "=r"(word.w)
        : "l"(source), "l"(policy));
    return word;
  } else if constexpr (sizeof(Access) == 8) {
    uint2 word;
    asm("ld.global.nc.L1::evict_first.L2::cache_hint.v2.b32 {%0, %1}, [%2], %3;"
        : "=r"(word.x), "=r"(word.y)
        : "l"(source), "l"(policy));
    return word;
  } else if constexpr (sizeof(Access) == 4) {
    uint32_t word;
    asm("ld.global.nc.L1::evict_first.L2::cache_hint.b32 %0, [%1], %2;"
        : "=r"(word)
        : "l"(source), "l"(policy));
    return word;
  } else {
    return __ldg(source);
  }
}

/// The elements in their own type. Reads by the read-only path: no kernel reads
/// what another thread writes, and the compiler may then move loads above
/// stores.
template <int Count, bool Streams = false, class Element>
__device__ __forceinline__ void load_elements(Element const *source,
                                              Element *elements) {
  using Access = VectorAccess<Element, Count>;
  constexpr int accesses = sizeof(Element) * Count / sizeof(Access);
  Access raw[accesses];
#pragma unroll
  for (int i = 0; i < accesses; ++i) {
    auto const *access = reinterpret_cast<Access const *>(source) + i;
    raw[i] = Streams ? load_streamed(access) : __ldg(access);
  }
  memcpy(elements, raw, sizeof(raw));
}

/// All elements that a vector of `Count` of a `Picked` tensor spans. By plain
/// loads: the compiler merges those of one address, unlike `__ldg`.
template <class Tensor, int Count, class Element>
__device__ __forceinline__ void load_spanned(Element const *source,
                                             Element *elements) {
  constexpr int spanned = Count * Tensor::step;
  static_assert(spanned % Tensor::width == 0, "accesses divide a vector");
  using Access = VectorAccess<Element, Tensor::width>;
#pragma unroll
  for (int i = 0; i < spanned; i += Tensor::width) {
    Access const raw = *reinterpret_cast<Access const *>(source + i);
    memcpy(elements + i, &raw, sizeof(raw));
  }
}

/// Elements as functors see them, or as numbers: a boolean is 0 or 1.
template <int Count, bool Streams = false, class Element, class Value>
__device__ __forceinline__ void load_vector(Element const *source,
                                            Value *values) {
  Element elements[Count];
  load_elements<Count, Streams>(source, elements);
#pragma unroll
  for (int i = 0; i < Count; ++i)
    values[i] = widen(elements[i]);
}

/// Wide stores in so many words: left to the compiler, they are at times split.
template <class Access>
__device__ __forceinline__ void store_access(Access *destination,
                                             Access value) {
  if constexpr (sizeof(Access) == 16)
    asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(destination),
                 "r"(value.x), "r"(value.y), "r"(value.z), "r"(value.w));
  else if constexpr (sizeof(Access) == 8)
    asm volatile("st.global.v2.b32 [%0], {%1, %2};" ::"l"(destination),
                 "r"(value.x), "r"(value.y));
  else
    *destination = value;
}

/// Two 16-bit floats round in one instruction and leave as one word.
template <class Element>
__device__ __forceinline__ uint32_t narrow_pair(float low, float high) {
  uint32_t word;
  if constexpr (std::is_same_v<Element, bf16>)
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  else
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
  return word;
}

template <int Count, class Element, class Value>
__device__ __forceinline__ void store_vector(Element *destination,
                                             Value const *values) {
  using Access = VectorAccess<Element, Count>;
  constexpr int accesses = sizeof(Element) * Count / sizeof(Access);
  Access raw[accesses];
  if constexpr (Count % 2 == 0 && (std::is_same_v<Element, bf16> ||
                                   std::is_same_v<Element, f16>)) {
    uint32_t words[Count / 2];
#pragma unroll
    for (int i = 0; i < Count / 2; ++i)
      words[i] = narrow_pair<Element>(values[2 * i], values[2 * i + 1]);
    memcpy(raw, words, sizeof(raw));
  } else {
    Element elements[Count];
#pragma unroll
    for (int i = 0; i < Count; ++i)
      elements[i] = narrow<Element>(values[i]);
    memcpy(raw, elements, sizeof(raw));
  }
#pragma unroll
  for (int i = 0; i < accesses; ++i)
    store_access(reinterpret_cast<Access *>(destination) + i, raw[i]);
}

} // namespace fact

#endif // FACT_CUTLASS_VECTOR_CUH
