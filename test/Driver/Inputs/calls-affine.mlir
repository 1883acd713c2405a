func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

func.func @print(%y: memref<2x3xf32>) {
  %unranked = memref.cast %y : memref<2x3xf32> to memref<*xf32>
  call @printMemrefF32(%unranked) : (memref<*xf32>) -> ()
  return
}

func.func @main() -> i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32
  %five = arith.constant 5.0 : f32
  %ten = arith.constant 10.0 : f32
  %x = memref.alloc() : memref<2x3xf32>
  %w = memref.alloc() : memref<3x3xf32>
  %y = memref.alloc() : memref<2x3xf32>
  %any = memref.cast %x : memref<2x3xf32> to memref<2x3xf32, strided<[?, ?], offset: ?>>
  linalg.fill ins(%one : f32) outs(%x : memref<2x3xf32>)
  linalg.fill ins(%two : f32) outs(%w : memref<3x3xf32>)
  %first = call @affine(%any, %w, %y) : (memref<2x3xf32, strided<[?, ?], offset: ?>>, memref<3x3xf32>, memref<2x3xf32>) -> i32
  call @print(%y) : (memref<2x3xf32>) -> ()

  memref.store %five, %w[%c0, %c0] : memref<3x3xf32>
  %second = call @affine(%any, %w, %y) : (memref<2x3xf32, strided<[?, ?], offset: ?>>, memref<3x3xf32>, memref<2x3xf32>) -> i32
  call @print(%y) : (memref<2x3xf32>) -> ()

  // Columns 1 and 2 of a 3x3 matrix, as rows.
  %buffer = memref.alloc() : memref<3x3xf32>
  linalg.fill ins(%one : f32) outs(%buffer : memref<3x3xf32>)
  scf.for %i = %c0 to %c3 step %c1 {
    memref.store %ten, %buffer[%i, %c1] : memref<3x3xf32>
  }
  %view = memref.reinterpret_cast %buffer to offset: [1], sizes: [2, 3], strides: [1, 3] : memref<3x3xf32> to memref<2x3xf32, strided<[1, 3], offset: 1>>
  %anyView = memref.cast %view : memref<2x3xf32, strided<[1, 3], offset: 1>> to memref<2x3xf32, strided<[?, ?], offset: ?>>
  %third = call @affine(%anyView, %w, %y) : (memref<2x3xf32, strided<[?, ?], offset: ?>>, memref<3x3xf32>, memref<2x3xf32>) -> i32
  call @print(%y) : (memref<2x3xf32>) -> ()

  %sum = arith.ori %first, %second : i32
  %all = arith.ori %sum, %third : i32
  return %all : i32
}
