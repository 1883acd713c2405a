//===- KernelBuilder.cpp - IR of one host kernel --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "KernelBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

/// Scratch memory above this many bytes is part of the workspace.
static constexpr int64_t stackBytes = 16 << 10;

//===----------------------------------------------------------------------===//
// Views and types
//===----------------------------------------------------------------------===//

FailureOr<RowView> RowView::get(const StridedView &view, int64_t rows,
                                int64_t columns, int64_t lanes) {
  // Trailing dimensions of size 1 count as rows once the columns are found.
  SmallVector<int64_t> shape(view.shape), strides(view.strides);
  size_t split = shape.size();
  int64_t count = 1;
  while (split > 0 && count < columns)
    count *= shape[--split];
  bool splitsDimension = count != columns;
  // A dimension of groups of columns, as channels are.
  if (count > columns && count % columns == 0) {
    int64_t groups = count / columns;
    if (shape[split] % groups)
      return failure();
    shape[split] /= groups;
    shape.insert(shape.begin() + split, groups);
    strides.insert(strides.begin() + split, strides[split] * shape[split + 1]);
    ++split;
    count = columns;
  }
  int64_t leading = 1;
  for (size_t i = 0; i < split; ++i)
    leading *= shape[i];
  if (count != columns || leading != rows)
    return failure();
  RowView result{view.base, view.offset, {}, {}, 0};
  StridedView row{view.base, 0,
                  SmallVector<int64_t>(ArrayRef(shape).take_front(split)),
                  SmallVector<int64_t>(ArrayRef(strides).take_front(split))};
  StridedView column{view.base, 0,
                     SmallVector<int64_t>(ArrayRef(shape).drop_front(split)),
                     SmallVector<int64_t>(ArrayRef(strides).drop_front(split))};
  collapseDimensions(row);
  collapseDimensions(column);
  result.columnStride = column.strides.back();
  if (column.shape.size() > 1) {
    if (!lanes || column.shape.size() > 2 || column.shape.back() % lanes != 0)
      return failure();
    result.segment = column.shape.back();
    result.segmentStride = column.strides.front();
  }
  result.rowShape = row.shape;
  result.rowStrides = row.strides;
  result.splitsDimension = splitsDimension;
  return result;
}

RowView host::splitLast(const StridedView &view) {
  RowView row{view.base, view.offset, view.shape, view.strides,
              view.strides.back()};
  row.rowShape.pop_back();
  row.rowStrides.pop_back();
  return row;
}

bool RowView::isPlain(int64_t rows, int64_t rowStride, int64_t columns,
                      int64_t expectedColumnStride) const {
  if (offset != 0 || (columns > 1 && columnStride != expectedColumnStride))
    return false;
  return rows == 1 || (rowShape.size() == 1 && rowStrides.front() == rowStride);
}

/// Booleans are bytes in memory.
static Type memoryType(Type storage) {
  if (storage.isInteger(1))
    return IntegerType::get(storage.getContext(), 8);
  return storage;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

KernelBuilder::KernelBuilder(FusedOp fused, const Cpu &cpu)
    : ImplicitLocOpBuilder(UnknownLoc::get(fused->getContext()),
                           fused->getContext()),
      fused(fused), cpu(cpu), module(ModuleOp::create(getLoc())) {
  layout.bufferCount = fused.getInputs().size() + fused->getNumResults();
}

void KernelBuilder::beginFunction(StringRef name) {
  auto pointer = LLVM::LLVMPointerType::get(getContext());
  setInsertionPointToEnd(module->getBody());
  function = func::FuncOp::create(
      *this, name, getFunctionType({getI64Type(), pointer, pointer}, {}));
  setInsertionPointToStart(function.addEntryBlock());
  pointers.clear();
  resultPointers.clear();
  Value buffers = function.getArgument(1);
  auto buffer = [&](int64_t index) -> Value {
    Value slot = LLVM::GEPOp::create(*this, pointer, pointer, buffers,
                                     ArrayRef<LLVM::GEPArg>{index});
    return LLVM::LoadOp::create(*this, pointer, slot);
  };
  int64_t index = 0;
  for (Value argument : fused.getBody().getArguments())
    pointers[argument] = buffer(index++);
  for (unsigned i = 0; i < fused->getNumResults(); ++i)
    resultPointers.push_back(buffer(index++));
}

Value KernelBuilder::beginTile() {
  beginFunction("tile");
  return function.getArgument(0);
}

KernelBuilder::PackArguments KernelBuilder::beginPack() {
  beginFunction("pack");
  return {function.getArgument(0), function.getArgument(2)};
}

void KernelBuilder::endFunction() { func::ReturnOp::create(*this); }

Value KernelBuilder::getPointer(Value base) {
  auto found = pointers.find(base);
  if (found != pointers.end())
    return found->second;
  // A constant becomes read-only data of the object.
  auto constant = base.getDefiningOp<fact::ConstantOp>();
  auto value = cast<DenseElementsAttr>(constant.getValue());
  Type storage = value.getElementType();
  if (storage.isInteger(1))
    value = value.mapValues(getI8Type(),
                            [](const APInt &bit) { return bit.zext(8); });
  auto flat = value.reshape(
      RankedTensorType::get({value.getNumElements()}, memoryType(storage)));
  std::string name =
      "constant" + std::to_string(module->getBody()->getOperations().size());
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(module->getBody());
  auto type =
      LLVM::LLVMArrayType::get(memoryType(storage), value.getNumElements());
  auto global = LLVM::GlobalOp::create(*this, type, /*isConstant=*/true,
                                       LLVM::Linkage::Private, name, flat);
  setInsertionPointToStart(&function.getBody().front());
  Value pointer = LLVM::AddressOfOp::create(*this, global);
  return pointers[base] = pointer;
}

Value KernelBuilder::getResultPointer(unsigned index) {
  return resultPointers[index];
}

Value KernelBuilder::scratch(Type element, int64_t count) {
  auto pointer = LLVM::LLVMPointerType::get(getContext());
  int64_t bytes = count * getStorageBytes(element);
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(&function.getBody().front());
  if (bytes <= stackBytes)
    return LLVM::AllocaOp::create(*this, pointer, element, integer(count),
                                  /*alignment=*/64);
  int64_t offset = layout.workspaceBytes;
  layout.workspaceBytes += llvm::alignTo(bytes, 64);
  // A value: constants among the indices have fewer bits than an offset.
  return LLVM::GEPOp::create(*this, pointer, getI8Type(),
                             function.getArgument(2),
                             ArrayRef<LLVM::GEPArg>{integer(offset)});
}

//===----------------------------------------------------------------------===//
// Integers
//===----------------------------------------------------------------------===//

Value KernelBuilder::integer(int64_t value) {
  return arith::ConstantOp::create(*this, getI64IntegerAttr(value));
}
Value KernelBuilder::add(Value x, Value y) {
  return createOrFold<arith::AddIOp>(x, y);
}
Value KernelBuilder::add(Value x, int64_t y) {
  return y == 0 ? x : add(x, integer(y));
}
Value KernelBuilder::sub(Value x, Value y) {
  return createOrFold<arith::SubIOp>(x, y);
}
Value KernelBuilder::mul(Value x, int64_t y) {
  return y == 1 ? x : createOrFold<arith::MulIOp>(x, integer(y));
}
// Operands are positions and counts, which are not negative; unsigned division
// by a constant is cheaper than signed division.
Value KernelBuilder::div(Value x, int64_t y) {
  return y == 1 ? x : createOrFold<arith::DivUIOp>(x, integer(y));
}
Value KernelBuilder::rem(Value x, int64_t y) {
  return createOrFold<arith::RemUIOp>(x, integer(y));
}
Value KernelBuilder::max(Value x, int64_t y) {
  return createOrFold<arith::MaxSIOp>(x, integer(y));
}
Value KernelBuilder::min(Value x, Value y) {
  return createOrFold<arith::MinSIOp>(x, y);
}
Value KernelBuilder::min(Value x, int64_t y) { return min(x, integer(y)); }

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

SmallVector<Value> KernelBuilder::loop(Value from, Value to, int64_t step,
                                       ValueRange state, LoopBody body) {
  auto loop = scf::ForOp::create(
      *this, from, to, integer(step), state,
      [&](OpBuilder &nested, Location loc, Value index, ValueRange arguments) {
        OpBuilder::InsertionGuard guard(*this);
        setInsertionPoint(nested.getInsertionBlock(),
                          nested.getInsertionPoint());
        SmallVector<Value> next = body(index, arguments);
        scf::YieldOp::create(*this, next);
      });
  return SmallVector<Value>(loop.getResults());
}

void KernelBuilder::loop(Value from, Value to, int64_t step,
                         llvm::function_ref<void(Value)> body) {
  loop(from, to, step, ValueRange(), [&](Value index, ValueRange) {
    body(index);
    return SmallVector<Value>();
  });
}

void KernelBuilder::blockOfRun(Value block, int64_t run, int64_t size,
                               llvm::function_ref<void(Value)> body) {
  int64_t perRun = run / size;
  Value number = rem(block, perRun), begin = mul(number, size);
  Value first = mul(div(block, perRun), run);
  if (run % size == 0)
    return body(add(first, begin));
  Value isLast = arith::CmpIOp::create(*this, arith::CmpIPredicate::eq, number,
                                       integer(perRun - 1));
  Value end =
      arith::SelectOp::create(*this, isLast, integer(run), add(begin, size));
  loop(begin, end, size,
       [&](Value next) { body(add(first, min(next, run - size))); });
}

void KernelBuilder::ifThen(Value condition, llvm::function_ref<void()> then,
                           llvm::function_ref<void()> otherwise) {
  auto branch = scf::IfOp::create(*this, TypeRange(), condition,
                                  /*withElseRegion=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(*this);
  setInsertionPointToStart(&branch.getThenRegion().front());
  then();
  if (otherwise) {
    setInsertionPointToStart(&branch.getElseRegion().front());
    otherwise();
  }
}

SmallVector<Value> KernelBuilder::columns(
    Value from, Value to, int64_t lanes, ValueRange state,
    llvm::function_ref<SmallVector<Value>(Value, int64_t, ValueRange)> body,
    llvm::function_ref<SmallVector<Value>(ValueRange)> narrow) {
  Value whole = add(from, mul(div(sub(to, from), lanes), lanes));
  SmallVector<Value> wide =
      loop(from, whole, lanes, state, [&](Value column, ValueRange arguments) {
        return body(column, lanes, arguments);
      });
  // No scalar loop where the bounds are constants and a multiple of the lanes
  // apart.
  IntegerAttr wholeEnd, end;
  if (matchPattern(whole, m_Constant(&wholeEnd)) &&
      matchPattern(to, m_Constant(&end)) && wholeEnd == end)
    return narrow(wide);
  return loop(whole, to, 1, narrow(wide),
              [&](Value column, ValueRange arguments) {
                return body(column, 0, arguments);
              });
}

void KernelBuilder::columns(Value from, Value to, int64_t lanes,
                            llvm::function_ref<void(Value, int64_t)> body) {
  IntegerAttr begin, end;
  if (matchPattern(from, m_Constant(&begin)) &&
      matchPattern(to, m_Constant(&end)) && end.getInt() - begin.getInt() > 1) {
    int64_t count = end.getInt() - begin.getInt();
    int64_t width = std::min<int64_t>(lanes, llvm::bit_floor<uint64_t>(count));
    int64_t rest = count % width;
    loop(from, integer(end.getInt() - rest), width,
         [&](Value column) { body(column, width); });
    if (rest)
      body(integer(end.getInt() - width), width);
    return;
  }
  columns(
      from, to, lanes, ValueRange(),
      [&](Value column, int64_t width, ValueRange) {
        body(column, width);
        return SmallVector<Value>();
      },
      [](ValueRange) { return SmallVector<Value>(); });
}

//===----------------------------------------------------------------------===//
// Memory and values
//===----------------------------------------------------------------------===//

Type KernelBuilder::withWidth(Type element, int64_t width) {
  return width == 0 ? element : VectorType::get({width}, element);
}

int64_t KernelBuilder::getRegisterLanes(Type compute) {
  return cpu.getRegisterLanes(getStorageBytes(compute));
}

Value KernelBuilder::constant(double value, Type type) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr attr = isa<FloatType>(element)
                       ? TypedAttr(getFloatAttr(element, value))
                       : TypedAttr(getIntegerAttr(element, value));
  return constant(attr, type);
}

Value KernelBuilder::constant(TypedAttr element, Type type) {
  if (auto vector = dyn_cast<VectorType>(type))
    element = DenseElementsAttr::get(vector, Attribute(element));
  return arith::ConstantOp::create(*this, element);
}

Value KernelBuilder::splat(Value scalar, int64_t width) {
  if (width == 0)
    return scalar;
  return vector::BroadcastOp::create(
      *this, VectorType::get({width}, scalar.getType()), scalar);
}

Value KernelBuilder::lane(Value vector, int64_t index) {
  return vector::ExtractOp::create(*this, vector, ArrayRef<int64_t>{index});
}

Value KernelBuilder::elementPointer(Value pointer, Type storage, Value offset) {
  return LLVM::GEPOp::create(*this, pointer.getType(), memoryType(storage),
                             pointer, ArrayRef<LLVM::GEPArg>{offset});
}

Value KernelBuilder::loadStored(Value pointer, Type storage, Value offset,
                                int64_t width) {
  return LLVM::LoadOp::create(*this, withWidth(memoryType(storage), width),
                              elementPointer(pointer, storage, offset),
                              getStorageBytes(storage));
}

Value KernelBuilder::toCompute(Value stored, Type storage) {
  if (storage.isInteger(1))
    return arith::CmpIOp::create(*this, arith::CmpIPredicate::ne, stored,
                                 constant(0, stored.getType()));
  Type compute = getComputeType(storage);
  if (compute == storage)
    return stored;
  auto vector = dyn_cast<VectorType>(stored.getType());
  return arith::ExtFOp::create(
      *this, withWidth(compute, vector ? vector.getNumElements() : 0), stored);
}

Value KernelBuilder::pickLanes(
    ArrayRef<Value> vectors,
    llvm::function_ref<std::pair<int64_t, int64_t>(int64_t)> source) {
  Value picked = vectors.front();
  int64_t width = cast<VectorType>(picked.getType()).getNumElements();
  for (int64_t i = 1, e = vectors.size(); i < e; ++i) {
    SmallVector<int64_t> lanes;
    for (int64_t to = 0; to < width; ++to) {
      auto [number, from] = source(to);
      // The first of the shuffles puts those of the first vector into place.
      int64_t before = i == 1 ? from : to;
      lanes.push_back(number == i  ? width + from
                      : number < i ? before
                                   : vector::ShuffleOp::kPoisonIndex);
    }
    picked = vector::ShuffleOp::create(*this, picked, vectors[i], lanes);
  }
  return picked;
}

Value KernelBuilder::load(Value pointer, Type storage, Value offset,
                          int64_t width, int64_t stride) {
  if (width && stride == 0)
    return splat(load(pointer, storage, offset), width);
  if (!width || stride == 1)
    return toCompute(loadStored(pointer, storage, offset, width), storage);
  if (stride < 0 || stride > std::min(width, mostApart)) {
    SmallVector<Value> elements;
    for (int64_t i = 0; i < width; ++i)
      elements.push_back(load(pointer, storage, add(offset, i * stride)));
    return vector::FromElementsOp::create(
        *this, VectorType::get({width}, elements.front().getType()), elements);
  }
  // The last vector ends with the last neighbor: there may be no memory beyond.
  int64_t lastBegin = (width - 1) * (stride - 1);
  SmallVector<Value> vectors;
  for (int64_t i = 0; i < stride; ++i) {
    int64_t begin = std::min(i * width, lastBegin);
    vectors.push_back(loadStored(pointer, storage, add(offset, begin), width));
  }
  Value picked = pickLanes(vectors, [&](int64_t to) {
    int64_t at = to * stride, number = at / width;
    return std::pair(number, at - std::min(number * width, lastBegin));
  });
  return toCompute(picked, storage);
}

bool KernelBuilder::gathersAtOnce(Type storage) const {
  // No processor gathers less than 32 bits.
  return cpu.hasGather() && storage.getIntOrFloatBitWidth() >= 32;
}

Value KernelBuilder::loadEach(Value pointer, Type storage, Value offset,
                              ArrayRef<Value> offsets) {
  SmallVector<Value> elements;
  for (Value each : offsets)
    elements.push_back(load(pointer, storage, add(offset, each)));
  auto type =
      VectorType::get({int64_t(offsets.size())}, elements.front().getType());
  return vector::FromElementsOp::create(*this, type, elements);
}

Value KernelBuilder::gather(Value pointer, Type storage, Value offset,
                            Value offsets) {
  int64_t width = cast<VectorType>(offsets.getType()).getNumElements();
  auto type = VectorType::get({width}, getComputeType(storage));
  Value first = elementPointer(pointer, storage, offset);
  Value pointers =
      LLVM::GEPOp::create(*this, VectorType::get({width}, pointer.getType()),
                          storage, first, ArrayRef<LLVM::GEPArg>{offsets});
  Value all = constant(1, VectorType::get({width}, getI1Type()));
  return LLVM::masked_gather::create(
      *this, type, pointers, all, ValueRange(constant(0, type)),
      getI32IntegerAttr(getStorageBytes(storage)));
}

void KernelBuilder::prefetch(Value pointer, Type storage, Value offset) {
  LLVM::Prefetch::create(*this, elementPointer(pointer, storage, offset),
                         /*rw=*/0, /*hint=*/3, /*cache=*/1);
}

void KernelBuilder::prefetchAhead(Value tensor, Value pointer, Value offset,
                                  int64_t width) {
  constexpr int64_t cachedBytes = 512 << 10, aheadBytes = 1024, line = 64;
  auto type = cast<RankedTensorType>(tensor.getType());
  Type storage = type.getElementType();
  int64_t bytes = getStorageBytes(storage);
  if (!cpu.needsPrefetch() || type.getNumElements() * bytes <= cachedBytes)
    return;
  for (int64_t at = 0; at < width * bytes; at += line)
    prefetch(pointer, storage, add(offset, (aheadBytes + at) / bytes));
}

Value KernelBuilder::toStored(Value value, Type storage) {
  auto vector = dyn_cast<VectorType>(value.getType());
  Type memory =
      withWidth(memoryType(storage), vector ? vector.getNumElements() : 0);
  if (storage.isInteger(1))
    return arith::ExtUIOp::create(*this, memory, value);
  if (value.getType() != memory)
    return arith::TruncFOp::create(*this, memory, value);
  return value;
}

void KernelBuilder::storeStored(Value stored, Value pointer, Type storage,
                                Value offset) {
  LLVM::StoreOp::create(*this, stored, elementPointer(pointer, storage, offset),
                        getStorageBytes(storage));
}

void KernelBuilder::store(Value value, Value pointer, Type storage,
                          Value offset, int64_t stride) {
  auto vector = dyn_cast<VectorType>(value.getType());
  if (vector && stride != 1) {
    for (int64_t i = 0; i < vector.getNumElements(); ++i)
      store(lane(value, i), pointer, storage, add(offset, i * stride));
    return;
  }
  storeStored(toStored(value, storage), pointer, storage, offset);
}

SmallVector<Value> KernelBuilder::takeTurns(ArrayRef<Value> vectors) {
  int64_t count = vectors.size();
  int64_t width = cast<VectorType>(vectors.front().getType()).getNumElements();
  auto pick = [&](ArrayRef<Value> of, int64_t number) {
    int64_t turns = of.size();
    return pickLanes(of, [&](int64_t to) {
      int64_t at = number * width + to;
      return std::pair(at % turns, at / turns);
    });
  };
  SmallVector<Value> mixed;
  if (count % 2) {
    for (int64_t i = 0; i < count; ++i)
      mixed.push_back(pick(vectors, i));
    return mixed;
  }
  // Those with even and those with odd numbers, and then these two.
  SmallVector<Value> halves[2];
  for (int64_t i = 0; i < count; ++i)
    halves[i % 2].push_back(vectors[i]);
  for (SmallVector<Value> &half : halves)
    half = takeTurns(half);
  for (int64_t i = 0; i < count; ++i)
    mixed.push_back(pick({halves[0][i / 2], halves[1][i / 2]}, i % 2));
  return mixed;
}

void KernelBuilder::storeInTurns(ArrayRef<Value> values, Value pointer,
                                 Type storage, Value offset) {
  SmallVector<Value> stored;
  for (Value value : values)
    stored.push_back(toStored(value, storage));
  int64_t width = 1;
  if (auto vector = dyn_cast<VectorType>(stored.front().getType())) {
    stored = takeTurns(stored);
    width = vector.getNumElements();
  }
  for (auto [i, next] : llvm::enumerate(stored))
    storeStored(next, pointer, storage, add(offset, i * width));
}

SmallVector<Value> KernelBuilder::splitIndex(Value index,
                                             ArrayRef<int64_t> shape) {
  SmallVector<Value> coordinates(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    coordinates[i] = i == 0 ? index : rem(index, shape[i]);
    if (i > 0)
      index = div(index, shape[i]);
  }
  return coordinates;
}

Value KernelBuilder::rowOffset(const RowView &view, Value row) {
  Value offset = integer(view.offset);
  SmallVector<Value> positions = splitIndex(row, view.rowShape);
  for (auto [position, stride] :
       llvm::reverse(llvm::zip_equal(positions, view.rowStrides)))
    if (stride != 0)
      offset = add(offset, mul(position, stride));
  return offset;
}

Value KernelBuilder::columnOffset(const RowView &view, Value column) {
  if (!view.segment)
    return mul(column, view.columnStride);
  return add(mul(div(column, view.segment), view.segmentStride),
             mul(rem(column, view.segment), view.columnStride));
}
