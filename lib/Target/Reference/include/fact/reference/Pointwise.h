//===- Pointwise.h - Pointwise ops, one scalar formula each -----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each op is written from PyTorch's definition of it, in double. Emitters and
// lowerings of candidates share none of this.
//
//===----------------------------------------------------------------------===//

#ifndef FACT_REFERENCE_POINTWISE_H
#define FACT_REFERENCE_POINTWISE_H

#include "Elements.h"

namespace fact {
namespace reference {
namespace op {

/// The effect of small changes of the operands on an op's result.
struct Smooth {
  /// Whether the result jumps, so that rounding decides between values:
  /// integers and booleans are undecided there, and floats may be off by the
  /// jump.
  static constexpr bool decides = false;
  /// Whether operands are compared, so that rounding decides if they are close.
  static constexpr bool compares = false;
  /// Whether the result jumps by the size of the second operand.
  static constexpr bool wraps = false;
  /// Whether the result is a difference of numbers as large as the operand.
  static constexpr bool cancels = false;
  /// Whether the last operand may be 0, where the result is infinite.
  FACT_FUNCTION static bool is_pole(double, double) { return false; }
};
struct Deciding : Smooth {
  static constexpr bool decides = true;
};
struct Comparing : Smooth {
  static constexpr bool compares = true;
};
struct Canceling : Smooth {
  static constexpr bool cancels = true;
};

//===----------------------------------------------------------------------===//
// Arithmetic; integers wrap around
//===----------------------------------------------------------------------===//

struct Add : Smooth {
  FACT_FUNCTION static double of(double x, double y) { return x + y; }
  template <class T> FACT_FUNCTION static T of(T x, T y) {
    return static_cast<T>(static_cast<uint64_t>(x) + static_cast<uint64_t>(y));
  }
};
struct Sub : Smooth {
  FACT_FUNCTION static double of(double x, double y) { return x - y; }
  template <class T> FACT_FUNCTION static T of(T x, T y) {
    return static_cast<T>(static_cast<uint64_t>(x) - static_cast<uint64_t>(y));
  }
};
struct Mul : Smooth {
  FACT_FUNCTION static double of(double x, double y) { return x * y; }
  template <class T> FACT_FUNCTION static T of(T x, T y) {
    return static_cast<T>(static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
  }
};
/// The quotient of integers, rounded toward 0; x / 0 is 0, so that the
/// remainder is x.
struct Div : Smooth {
  FACT_FUNCTION static bool is_pole(double y, double error) {
    return math::fabs(y) <= error;
  }
  FACT_FUNCTION static double of(double x, double y) { return x / y; }
  template <class T> FACT_FUNCTION static T of(T x, T y) {
    if (y == 0)
      return 0;
    return y == T(-1) ? Sub::of(T(0), x) : static_cast<T>(x / y);
  }
};
struct Fmod : Smooth {
  static constexpr bool wraps = true;
  FACT_FUNCTION static double of(double x, double y) {
    return math::fmod(x, y);
  }
  template <class T> FACT_FUNCTION static T of(T x, T y) {
    if (y == 0)
      return x;
    return y == T(-1) ? T(0) : static_cast<T>(x % y);
  }
};
struct Pow : Smooth {
  FACT_FUNCTION static double of(double x, double y) { return math::pow(x, y); }
};
/// NaN wins, and 0 is larger than -0.
struct Maximum : Smooth {
  FACT_FUNCTION static double of(double x, double y) {
    if (x != x || y != y || (x == 0 && y == 0))
      return x + y;
    return x > y ? x : y;
  }
  template <class T> FACT_FUNCTION static T of(T x, T y) {
    return x > y ? x : y;
  }
};
struct Minimum : Smooth {
  FACT_FUNCTION static double of(double x, double y) {
    return -Maximum::of(-x, -y);
  }
  template <class T> FACT_FUNCTION static T of(T x, T y) {
    return x < y ? x : y;
  }
};
struct Neg : Smooth {
  FACT_FUNCTION static double of(double x) { return -x; }
  template <class T> FACT_FUNCTION static T of(T x) { return Sub::of(T(0), x); }
};
struct Abs : Smooth {
  FACT_FUNCTION static double of(double x) { return math::fabs(x); }
  template <class T> FACT_FUNCTION static T of(T x) {
    return x < 0 ? Neg::of(x) : x;
  }
};
struct Relu : Smooth {
  FACT_FUNCTION static double of(double x) { return Maximum::of(x, 0.0); }
  template <class T> FACT_FUNCTION static T of(T x) { return x > 0 ? x : T(0); }
};
struct Sign : Deciding {
  FACT_FUNCTION static double of(double x) {
    return x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0;
  }
  template <class T> FACT_FUNCTION static T of(T x) {
    return static_cast<T>((x > 0) - (x < 0));
  }
};
struct Floor : Deciding {
  FACT_FUNCTION static double of(double x) { return math::floor(x); }
  template <class T> FACT_FUNCTION static T of(T x) { return x; }
};
struct Ceil : Deciding {
  FACT_FUNCTION static double of(double x) { return math::ceil(x); }
  template <class T> FACT_FUNCTION static T of(T x) { return x; }
};
struct Round : Deciding {
  FACT_FUNCTION static double of(double x) { return math::rint(x); }
  template <class T> FACT_FUNCTION static T of(T x) { return x; }
};

//===----------------------------------------------------------------------===//
// Bits
//===----------------------------------------------------------------------===//

struct And : Smooth {
  template <class T> FACT_FUNCTION static T of(T x, T y) {
    return static_cast<T>(x & y);
  }
};
struct Or : Smooth {
  template <class T> FACT_FUNCTION static T of(T x, T y) {
    return static_cast<T>(x | y);
  }
};
struct Xor : Smooth {
  template <class T> FACT_FUNCTION static T of(T x, T y) {
    return static_cast<T>(x ^ y);
  }
};
struct ShiftLeft : Smooth {
  template <class T> FACT_FUNCTION static T of(T x, T y) {
    constexpr int bits = IsSame<T, i1>::value ? 1 : 8 * sizeof(T);
    int64_t count = static_cast<int64_t>(y);
    if (count < 0 || count >= bits)
      return 0;
    return static_cast<T>(static_cast<uint64_t>(x) << count);
  }
};
struct ShiftRight : Smooth {
  template <class T> FACT_FUNCTION static T of(T x, T y) {
    constexpr int bits = IsSame<T, i1>::value ? 1 : 8 * sizeof(T);
    int64_t count = static_cast<int64_t>(y);
    // Division that rounds down, one bit at a time.
    int64_t value = static_cast<int64_t>(x);
    if (count < 0 || count >= bits)
      return static_cast<T>(value < 0 ? -1 : 0);
    for (; count > 0; --count)
      value = (value - (value % 2 + 2) % 2) / 2;
    return static_cast<T>(value);
  }
};

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

#define FACT_OP(Name, base, expression)                                        \
  struct Name : base {                                                         \
    FACT_FUNCTION static double of(double x) { return expression; }            \
  };
FACT_OP(Exp, Smooth, math::exp(x))
FACT_OP(Log, Smooth, math::log(x))
FACT_OP(Expm1, Smooth, math::expm1(x))
FACT_OP(Log1p, Smooth, math::log1p(x))
FACT_OP(Sqrt, Smooth, math::sqrt(x))
FACT_OP(Rsqrt, Smooth, 1 / math::sqrt(x))
FACT_OP(Sin, Smooth, math::sin(x))
FACT_OP(Cos, Smooth, math::cos(x))
FACT_OP(Erf, Smooth, math::erf(x))
FACT_OP(Tanh, Smooth, math::tanh(x))
FACT_OP(Sigmoid, Smooth, 1 / (1 + math::exp(-x)))
FACT_OP(Silu, Smooth, x / (1 + math::exp(-x)))
FACT_OP(Softplus, Smooth,
        x > 0 ? x + math::log1p(math::exp(-x)) : math::log1p(math::exp(x)))
FACT_OP(Mish, Smooth, x *math::tanh(Softplus::of(x)))
/// x Phi(x), where Phi(x) = erfc(-x / sqrt(2)) / 2.
FACT_OP(Gelu, Canceling, x * 0.5 * math::erfc(x * -0.70710678118654752440))
/// x (1 + tanh(z)) / 2 = x / (1 + exp(-2 z)), z = sqrt(2 / pi) (x + 0.044715
/// x^3).
FACT_OP(GeluTanh, Canceling,
        x / (1 +
             math::exp(-1.5957691216057307117 * (x + 0.044715 * x * x * x))))
#undef FACT_OP
struct Reciprocal : Smooth {
  FACT_FUNCTION static bool is_pole(double x, double error) {
    return Div::is_pole(x, error);
  }
  FACT_FUNCTION static double of(double x) { return 1 / x; }
};

//===----------------------------------------------------------------------===//
// Comparisons and changes of type
//===----------------------------------------------------------------------===//

#define FACT_COMPARISON(Name, symbol)                                          \
  struct Name : Comparing {                                                    \
    template <class T> FACT_FUNCTION static bool of(T x, T y) {                \
      return x symbol y;                                                       \
    }                                                                          \
  };
FACT_COMPARISON(Equal, ==)
FACT_COMPARISON(NotEqual, !=)
FACT_COMPARISON(Less, <)
FACT_COMPARISON(LessEqual, <=)
FACT_COMPARISON(Greater, >)
FACT_COMPARISON(GreaterEqual, >=)
#undef FACT_COMPARISON

/// Comparisons of a value with itself. Rounding decides none of them.
struct IsNumber : Smooth {
  template <class T> FACT_FUNCTION static bool of(T x) { return x == x; }
};
struct IsNan : Smooth {
  template <class T> FACT_FUNCTION static bool of(T x) { return x != x; }
};

struct RoundToBf16 : Smooth {
  FACT_FUNCTION static double of(double x) {
    return round_to(x, 8, -126, 0x1.fep127);
  }
};
struct RoundToF16 : Smooth {
  FACT_FUNCTION static double of(double x) {
    return round_to(x, 11, -14, 65504);
  }
};
struct RoundToF32 : Smooth {
  FACT_FUNCTION static double of(double x) {
    return static_cast<double>(static_cast<float>(x));
  }
};
/// Whether a number is not 0; true for NaN.
struct ToBoolean : Deciding {
  template <class T> FACT_FUNCTION static bool of(T x) { return x != T(0); }
};
/// The nearest f32, or f64.
struct ToF32 : Smooth {
  template <class T> FACT_FUNCTION static double of(T x) {
    return static_cast<double>(static_cast<float>(x));
  }
};
struct ToF64 : Smooth {
  template <class T> FACT_FUNCTION static double of(T x) {
    return static_cast<double>(x);
  }
};
/// Truncates toward 0; saturates at the bounds of the type, and 0 for NaN.
/// Types of less than 32 bits have the low bits of the 32-bit integer.
template <class T> struct ToInteger : Deciding {
  static constexpr int bits = sizeof(T) < 8 ? 32 : 64;
  static constexpr double limit =
      static_cast<double>(uint64_t(1) << (bits - 1));
  FACT_FUNCTION static T of(double x) {
    if (x != x)
      return 0;
    int64_t most = static_cast<int64_t>((uint64_t(1) << (bits - 1)) - 1);
    if (x >= limit)
      return static_cast<T>(most);
    return static_cast<T>(x <= -limit ? -most - 1 : static_cast<int64_t>(x));
  }
  template <class From> FACT_FUNCTION static T of(From x) {
    return static_cast<T>(x);
  }
};

} // namespace op

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

/// Widens the error of a result to cover the result for a neighboring operand.
/// If that is NaN or infinite but the result is not, the result is undecided.
FACT_FUNCTION void include(Tracked<double> &result, double neighbor) {
  if (is_nan(result.value) && is_nan(neighbor))
    return;
  double distance = math::fabs(neighbor - result.value);
  if (neighbor == result.value)
    distance = 0;
  if (!is_finite(distance))
    result.undecided = true;
  else
    result.error =
        static_cast<float>(larger(static_cast<double>(result.error), distance));
}
template <class T> FACT_FUNCTION void include(Tracked<T> &result, T neighbor) {
  result.undecided = result.undecided || neighbor != result.value;
}

template <class Op>
FACT_FUNCTION void settle(Tracked<double> &result, double second) {
  if (Op::wraps && result.error > 0.5 * second)
    result.undecided = true;
}
template <class Op, class T> FACT_FUNCTION void settle(Tracked<T> &, double) {}

/// An op on elements: its formula, for tracked elements also at the ends of the
/// intervals that a candidate's operands may be in.
template <class Op, class T> FACT_FUNCTION auto apply(T x) { return Op::of(x); }
template <class Op, class T> FACT_FUNCTION auto apply(T x, T y) {
  return Op::of(x, y);
}
template <class Op, class T> FACT_FUNCTION auto apply(Tracked<T> x) {
  using Result = decltype(Op::of(x.value));
  Tracked<Result> result{Op::of(x.value), 0, x.undecided};
  if constexpr (IsSame<T, double>::value) {
    double error = error_of(x);
    if (error > 0) {
      include(result, Op::of(x.value - error));
      include(result, Op::of(x.value + error));
      result.undecided = result.undecided || Op::is_pole(x.value, error);
      // Both ends of an interval around 0 may be true as booleans.
      if (Op::decides && math::fabs(x.value) <= error)
        include(result, Op::of(0.0));
    }
    settle<Op>(result, 0);
    if (Op::cancels && is_finite(x.value))
      result.error += static_cast<float>(math::fabs(x.value) * 0x1p-22);
  }
  return result;
}
template <class Op, class T>
FACT_FUNCTION auto apply(Tracked<T> x, Tracked<T> y) {
  using Result = decltype(Op::of(x.value, y.value));
  Tracked<Result> result{Op::of(x.value, y.value), 0,
                         x.undecided || y.undecided};
  if constexpr (IsSame<T, double>::value) {
    double margin = error_of(x) + error_of(y);
    if (Op::compares) {
      if (margin > 0 && math::fabs(x.value - y.value) <= margin)
        result.undecided = true;
      return result;
    }
    if (error_of(y) > 0 && Op::is_pole(y.value, error_of(y)))
      result.undecided = true;
    if (margin > 0)
      for (int corner = 0; corner < 4; ++corner)
        include(result, Op::of(x.value + (corner & 1 ? 1 : -1) * error_of(x),
                               y.value + (corner & 2 ? 1 : -1) * error_of(y)));
    settle<Op>(result, math::fabs(y.value));
  }
  return result;
}

template <class T> FACT_FUNCTION T select(bool condition, T x, T y) {
  return condition ? x : y;
}
FACT_FUNCTION bool same(double x, double y) {
  return x == y || (is_nan(x) && is_nan(y));
}
template <class T>
FACT_FUNCTION Tracked<T> select(Tracked<bool> condition, Tracked<T> x,
                                Tracked<T> y) {
  Tracked<T> chosen = condition.value ? x : y;
  if (condition.undecided &&
      (!same(static_cast<double>(x.value), static_cast<double>(y.value)) ||
       x.undecided || y.undecided))
    chosen.undecided = true;
  return chosen;
}

} // namespace reference
} // namespace fact

#endif // FACT_REFERENCE_POINTWISE_H
