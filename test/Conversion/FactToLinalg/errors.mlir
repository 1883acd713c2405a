// RUN: fact-opt %s --convert-fact-to-linalg --verify-diagnostics

func.func @dynamic(%x: tensor<?xf32>) -> tensor<?xf32> {
  // expected-error @+1 {{failed to legalize operation 'fact.exp'}}
  %0 = fact.exp %x : (tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
