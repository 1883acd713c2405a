//===- GemmWindows.cpp - Products of windows of images --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile has a box of windows of one image. Of some channels at a time it
// copies the part of the image that they see, with zeros around the image, and
// register tiles read their elements of A there: a pixel is copied once, and
// not once for each window that it is in. The windows of a register tile are
// neighbors along the last dimension, so that their elements are at one stride
// for each tap and channel.
//
// The copy has its channels first or last, as the image has.
//
//===----------------------------------------------------------------------===//

#include "GemmBuilder.h"

using namespace mlir;
using namespace fact;
using namespace fact::host;

/// The windows of one tile, and the channels that are copied.
struct GemmBuilder::BoxOfWindows {
  /// The image among those of all batches.
  Value image;
  /// Of each dimension, the first window and how many there are.
  SmallVector<Value> firsts, counts;
  /// Channels [from, to).
  Value from, to;
};

/// Whether channels of a pixel are beside each other.
static bool hasChannelsLast(const StridedView &image) {
  return image.shape.back() > 1 && image.strides.back() == 1;
}

void GemmBuilder::planWindows(const GemmSizes &sizes) {
  const WindowedView &of = *plan.windows;
  box = WindowBox::get(of, sizes);
  int64_t taps = llvm::product_of(of.kernel), channels = of.getChannels();
  boxChannels = ceilDivide(channels, ceilDivide(plan.k, depth));
  int64_t parts = ceilDivide(boxChannels * taps, plan.getLongestChain());
  chainTaps = ceilDivide(taps, parts);
  depth = boxChannels * taps;
  chain = boxChannels * chainTaps;

  bool isLast = hasChannelsLast(of.image);
  int64_t stride = isLast ? boxChannels : 1;
  pixelStrides.resize(box.pixels.size());
  for (size_t d = box.pixels.size(); d-- > 0; stride *= box.pixels[d])
    pixelStrides[d] = stride;
  // Planes a power of two apart would evict each other.
  constexpr int64_t line = 16, longPlane = 512;
  if (!isLast && stride >= longPlane)
    stride = (ceilDivide(stride, line) | 1) * line;
  channelStride = isLast ? 1 : stride;
}

void GemmBuilder::buildWindows(Value boxIndex) {
  const WindowedView &of = *plan.windows;
  int64_t boxes = llvm::product_of(box.boxes);
  int64_t images = plan.batchRows / llvm::product_of(of.counts);
  BoxOfWindows tile;
  tile.image = b.add(b.mul(batch, images), b.div(boxIndex, boxes));
  SmallVector<Value> at = b.splitIndex(b.rem(boxIndex, boxes), box.boxes);
  for (auto [i, span, count] : llvm::zip_equal(at, box.spans, of.counts)) {
    tile.firsts.push_back(b.mul(i, span));
    tile.counts.push_back(
        b.min(b.sub(b.integer(count), tile.firsts.back()), span));
  }
  // The last windows of a register tile may be behind those of the box.
  int64_t elements = hasChannelsLast(of.image)
                         ? pixelStrides.front() * box.pixels.front()
                         : channelStride * boxChannels;
  packedA = b.scratch(plan.compute,
                      elements + mr * of.strides.back() * pixelStrides.back());
  int64_t microTiles =
      box.getRows() / box.spans.back() * ceilDivide(box.spans.back(), mr);
  tileRows = microTiles * mr;
  sums = b.scratch(plan.compute, (isBlocked() ? microTiles * tilePanels : 1) *
                                     sumsElements());
  beginReductions();
  // The rows of register tiles follow each other in partial results.
  auto getFirstRow = [&](Value row, Value microTile) {
    return b.sub(row, b.mul(microTile, mr));
  };
  b.loop(
      b.integer(0), b.integer(of.getChannels()), boxChannels, [&](Value from) {
        tile.from = from;
        tile.to = b.min(b.add(from, boxChannels), of.getChannels());
        copyPixels(tile);
        for (size_t s = 0; s < plan.segments.size(); ++s)
          forPanels(s, [&](Value panel) {
            Value tilePanel =
                b.sub(b.add(panel, ranges[s].firstPanel), firstPanel);
            forWindows(tile, [&](Value row, Value rowEnd, Value microTile,
                                 Value offsetA) {
              Value offset = b.integer(0);
              if (isBlocked())
                offset = b.mul(b.add(b.mul(tilePanel, microTiles), microTile),
                               sumsElements());
              multiplyWindows(s, tile,
                              {getFirstRow(row, microTile), rowEnd, row, panel,
                               tilePanel, offset},
                              offsetA);
            });
          });
      });
  if (reducesRows)
    forWindows(tile, [&](Value row, Value rowEnd, Value microTile, Value) {
      writeRows(getFirstRow(row, microTile), row,
                b.min(b.add(row, mr), rowEnd));
    });
}

/// Copies the channels of the pixels that a box sees, zeros where there are
/// none.
void GemmBuilder::copyPixels(const BoxOfWindows &tile) {
  const WindowedView &of = *plan.windows;
  size_t batchRank = of.getBatchRank(), dims = of.counts.size();
  ArrayRef<int64_t> sizes = ArrayRef(of.image.shape).slice(batchRank, dims);
  ArrayRef<int64_t> strides = ArrayRef(of.image.strides).slice(batchRank, dims);
  int64_t channelDistance = of.image.strides.back();
  Value source = b.getPointer(of.image.base);
  Value image = b.integer(of.image.offset);
  SmallVector<Value> images =
      b.splitIndex(tile.image, ArrayRef(of.image.shape).take_front(batchRank));
  for (size_t d = 0; d < batchRank; ++d)
    image = b.add(image, b.mul(images[d], of.image.strides[d]));
  // The place of the first pixel in the image, which may lie before it.
  SmallVector<Value> origins;
  for (size_t d = 0; d < dims; ++d)
    origins.push_back(
        b.add(b.mul(tile.firsts[d], of.strides[d]), -of.zeros[d]));
  Value before =
      b.min(b.max(b.sub(b.integer(0), origins.back()), 0), box.pixels.back());
  Value behind = b.max(
      b.min(b.sub(b.integer(sizes.back()), origins.back()), box.pixels.back()),
      0);
  behind = arith::MaxSIOp::create(b, before, behind);

  // `count` neighbors, of which those in [from, to) are inside of the image.
  auto copyLine = [&](Value offset, int64_t stride, Value target, Value from,
                      Value to, int64_t count) {
    auto clear = [&](Value i) {
      b.store(b.constant(0, plan.compute), packedA, plan.compute,
              b.add(target, i));
    };
    b.loop(b.integer(0), from, 1, clear);
    b.columns(from, to, b.getRegisterLanes(plan.compute),
              [&](Value i, int64_t width) {
                Value place = b.add(offset, b.mul(i, stride));
                b.store(b.load(source, plan.storage, place, width, stride),
                        packedA, plan.compute, b.add(target, i));
              });
    b.loop(to, b.integer(count), 1, clear);
  };
  // A line of pixels, of which all are outside if any other coordinate is.
  auto copyPixelsOf = [&](Value offset, Value target, Value isInside) {
    auto none = [&](Value x) -> Value {
      return isInside ? arith::SelectOp::create(b, isInside, x, b.integer(0))
                            .getResult()
                      : x;
    };
    Value from = none(before), to = none(behind);
    Value first = b.add(offset, b.mul(origins.back(), strides.back()));
    int64_t pixels = box.pixels.back(), channels = of.getChannels();
    if (!hasChannelsLast(of.image))
      return b.loop(tile.from, tile.to, 1, [&](Value channel) {
        Value plane = b.mul(b.sub(channel, tile.from), channelStride);
        copyLine(b.add(first, b.mul(channel, channelDistance)), strides.back(),
                 b.add(target, plane), from, to, pixels);
      });
    if (boxChannels == channels && strides.back() == channels)
      return copyLine(first, 1, target, b.mul(from, channels),
                      b.mul(to, channels), pixels * channels);
    b.loop(b.integer(0), b.integer(pixels), 1, [&](Value x) {
      Value within = arith::AndIOp::create(
          b, arith::CmpIOp::create(b, arith::CmpIPredicate::sge, x, from),
          arith::CmpIOp::create(b, arith::CmpIPredicate::slt, x, to));
      Value count = b.sub(tile.to, tile.from);
      copyLine(b.add(b.add(first, b.mul(x, strides.back())), tile.from), 1,
               b.add(target, b.mul(x, pixelStrides.back())), b.integer(0),
               arith::SelectOp::create(b, within, count, b.integer(0)),
               boxChannels);
    });
  };
  std::function<void(size_t, Value, Value, Value)> copyFrom =
      [&](size_t d, Value offset, Value target, Value isInside) {
        if (d + 1 == dims)
          return copyPixelsOf(offset, target, isInside);
        b.loop(b.integer(0), b.integer(box.pixels[d]), 1, [&](Value i) {
          Value at = b.add(origins[d], i);
          // Unsigned, so that a place before the image fails the check.
          Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at,
                                             b.integer(sizes[d]));
          if (isInside)
            fits = arith::AndIOp::create(b, isInside, fits);
          copyFrom(d + 1, b.add(offset, b.mul(at, strides[d])),
                   b.add(target, b.mul(i, pixelStrides[d])), fits);
        });
      };
  copyFrom(0, image, b.integer(0), nullptr);
}

/// Calls `body` for each register tile of a box, with its rows among those of
/// all batches, its number, and the offset of its first pixel.
void GemmBuilder::forWindows(
    const BoxOfWindows &tile,
    llvm::function_ref<void(Value, Value, Value, Value)> body) {
  const WindowedView &of = *plan.windows;
  size_t dims = of.counts.size();
  std::function<void(size_t, Value, Value, Value)> visit =
      [&](size_t d, Value row, Value number, Value offset) {
        bool isLast = d + 1 == dims;
        Value first = b.add(b.mul(row, of.counts[d]), tile.firsts[d]);
        int64_t perDim = isLast ? ceilDivide(box.spans[d], mr) : box.spans[d];
        b.loop(b.integer(0), tile.counts[d], isLast ? mr : 1, [&](Value i) {
          Value at = b.add(first, i);
          Value next = b.add(b.mul(number, perDim), isLast ? b.div(i, mr) : i);
          Value place =
              b.add(offset, b.mul(i, of.strides[d] * pixelStrides[d]));
          if (isLast)
            return body(at, b.add(first, tile.counts[d]), next, place);
          visit(d + 1, at, next, place);
        });
      };
  visit(0, tile.image, b.integer(0), b.integer(0));
}

/// Multiplies the copied channels for one register tile of each product.
void GemmBuilder::multiplyWindows(size_t s, const BoxOfWindows &tile,
                                  const Position &at, Value offsetA) {
  const Segment &segment = plan.segments[s];
  int64_t taps = llvm::product_of(plan.windows->kernel);
  Value offsetB = getUnitOffset(s, at);
  if (writesRegisters(segment))
    return finishRegisters(
        segment,
        multiplyTaps(tile, offsetA, offsetB, b.integer(0), b.integer(taps)),
        at);
  for (size_t i = 0; i < segment.products.size(); ++i) {
    Value product = b.add(offsetB, i * unitElements());
    Value target = b.add(at.sums, i * mr * nr);
    b.loop(b.integer(0), b.integer(taps), chainTaps, [&](Value from) {
      Value to = b.min(b.add(from, chainTaps), taps);
      addChain(multiplyTaps(tile, offsetA, product, from, to), target,
               b.add(tile.from, from));
    });
  }
  auto finish = [&] { buildEpilogue(segment, at); };
  if (!isBlocked())
    return finish();
  b.ifThen(arith::CmpIOp::create(b, arith::CmpIPredicate::eq, tile.to,
                                 b.integer(plan.windows->getChannels())),
           finish);
}

/// The sums of the copied channels of taps [from, to).
SmallVector<Value> GemmBuilder::multiplyTaps(const BoxOfWindows &tile,
                                             Value offsetA, Value offsetB,
                                             Value from, Value to) {
  const WindowedView &of = *plan.windows;
  int64_t channels = of.getChannels();
  MicroTile micro{mr, nr / lanes, lanes, channelStride,
                  of.strides.back() * pixelStrides.back()};
  SmallVector<Value> zeros(mr * micro.vectors,
                           b.constant(0, b.withWidth(plan.compute, lanes)));
  Value count =
      boxChannels == channels ? b.integer(channels) : b.sub(tile.to, tile.from);
  return b.loop(from, to, 1, zeros, [&](Value tap, ValueRange state) {
    Value place = offsetA;
    for (auto [d, at] : llvm::enumerate(b.splitIndex(tap, of.kernel)))
      place = b.add(place, b.mul(at, of.dilations[d] * pixelStrides[d]));
    Value first = b.mul(b.add(b.mul(tap, channels), tile.from), nr);
    Value weights = b.add(offsetB, first);
    return buildMicroKernel(b, micro, plan.compute, packedA, place,
                            b.integer(0), count,
                            std::min<int64_t>(boxChannels, 4), state,
                            [&](Value k) { return readPacked(weights, k); });
  });
}
