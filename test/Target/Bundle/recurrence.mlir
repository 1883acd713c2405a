// A recurrence has exponentially many paths from its operand to its result, of
// which each value is followed once.

// RUN: rm -rf %t && fact-compile %s --until=bundle --bundle=%t
// RUN: FileCheck %s < %t/bundle.json

// CHECK: "rule": "pointwise"
func.func @recurrence(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = fact.sin %x : (tensor<8xf32>) -> tensor<8xf32>
  %1 = fact.mul %0, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %2 = fact.mul %1, %0 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %3 = fact.mul %2, %1 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %4 = fact.mul %3, %2 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %5 = fact.mul %4, %3 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %6 = fact.mul %5, %4 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %7 = fact.mul %6, %5 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %8 = fact.mul %7, %6 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %9 = fact.mul %8, %7 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %10 = fact.mul %9, %8 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %11 = fact.mul %10, %9 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %12 = fact.mul %11, %10 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %13 = fact.mul %12, %11 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %14 = fact.mul %13, %12 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %15 = fact.mul %14, %13 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %16 = fact.mul %15, %14 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %17 = fact.mul %16, %15 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %18 = fact.mul %17, %16 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %19 = fact.mul %18, %17 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %20 = fact.mul %19, %18 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %21 = fact.mul %20, %19 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %22 = fact.mul %21, %20 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %23 = fact.mul %22, %21 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %24 = fact.mul %23, %22 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %25 = fact.mul %24, %23 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %26 = fact.mul %25, %24 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %27 = fact.mul %26, %25 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %28 = fact.mul %27, %26 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %29 = fact.mul %28, %27 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %30 = fact.mul %29, %28 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %31 = fact.mul %30, %29 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %32 = fact.mul %31, %30 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %33 = fact.mul %32, %31 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %34 = fact.mul %33, %32 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %35 = fact.mul %34, %33 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %36 = fact.mul %35, %34 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %37 = fact.mul %36, %35 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %38 = fact.mul %37, %36 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %39 = fact.mul %38, %37 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %40 = fact.mul %39, %38 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %41 = fact.mul %40, %39 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %42 = fact.mul %41, %40 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %43 = fact.mul %42, %41 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %44 = fact.mul %43, %42 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %45 = fact.mul %44, %43 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %46 = fact.mul %45, %44 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %47 = fact.mul %46, %45 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  %48 = fact.mul %47, %46 : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return %48 : tensor<8xf32>
}
