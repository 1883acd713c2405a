// RUN: fact-opt %s -verify-diagnostics -split-input-file

// The text of schedules and spaces. What is legal on a machine is checked by targets.

// expected-error @+1 {{'micro' has 2 sizes, not 8}}
#a = #fact.host_gemm<micro = 8, rows = 48, columns = 16>

// -----

// expected-error @+1 {{'tile' has 3 sizes, not 128x128}}
#a = #fact.sm90_gemm_space<tile = [128x128x64, 128x128], cluster = [1x1], kernel = [pingpong], swizzle = [1]>

// -----

// expected-error @+2 {{'cluster' has 2 sizes, not 1}}
// expected-error @+1 {{failed to parse Fact_SchedulesAttr parameter 'schedules'}}
#a = #fact.schedules<#fact.sm90_gemm<tile = 128x128x64, cluster = 1, kernel = pingpong, swizzle = 1>>

// -----

// expected-error @+1 {{'tile' has 2 sizes, not 128x128x64}}
#a = #fact.sm90_attention<tile = 128x128x64, kernel = pingpong, stages = 3>

// -----

// expected-error @+1 {{'kernel' is cooperative or pingpong, not 'stream_k'}}
#a = #fact.sm90_attention<tile = 128x128, kernel = stream_k, stages = 3>

// -----

// expected-error @+1 {{host_gemm has no parameter 'macro'; it has 'micro', 'rows', 'columns'}}
#a = #fact.host_gemm<macro = 8x8, rows = 48, columns = 16>

// -----

// expected-error @+1 {{'rows' is given twice}}
#a = #fact.host_gemm<micro = 8x8, rows = 48, rows = 48>

// -----

// expected-error @+1 {{host_gemm needs 'columns'}}
#a = #fact.host_gemm<micro = 8x8, rows = 48>

// -----

// expected-error @+1 {{expected integer value}}
#a = #fact.host_rows<grain = many>

// -----

// expected-error @+1 {{expected '['}}
#a = #fact.host_rows_space<grain = 8>

// -----

// expected-error @+1 {{'sm70_gemm' is neither an attribute of 'fact' nor a schedule of a known target}}
#a = #fact.sm70_gemm<tile = 64x64x64>

// -----

// expected-error @+1 {{'sm70_gemm_space' is neither an attribute of 'fact' nor a schedule of a known target}}
#a = #fact.sm70_gemm_space<tile = [64x64x64]>
