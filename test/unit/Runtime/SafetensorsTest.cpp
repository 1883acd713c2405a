//===- SafetensorsTest.cpp - Files that are right, and files that are not -===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Safetensors.h"
#include "SafetensorsWriter.h"
#include "gtest/gtest.h"
#include <stdexcept>

using namespace fact::runtime;

namespace {

std::string failure(const std::string &path) {
  try {
    openSafetensors(path);
  } catch (const std::runtime_error &problem) {
    return problem.what();
  }
  return "no failure";
}

TEST(Safetensors, Reads) {
  SafetensorsWriter writer;
  std::string path = writer.writeRaw(
      R"( {"__metadata__": {"format": "pt", "n": [1, {"a": null}]},
           "a.b\"\u00e9\ud83d\ude00\n": {"shape": [2, 3], "dtype": "F32",
             "more": -1.5e3, "data_offsets": [4, 28]},
           "scalar": {"dtype":"I32","shape":[],"data_offsets":[0,4]},
           "empty": {"dtype":"F64","shape":[0, 5],"data_offsets":[28,28]},
           "unknown": {"dtype":"F8_E4M3","shape":[2],"data_offsets":[26,28]}})",
      std::string("\1\0\0\0", 4) + std::string(24, 'x'));
  SafetensorsFile file = openSafetensors(path);
  ASSERT_EQ(file.tensors.size(), 4u);
  const FileTensor &named = file.tensors.at("a.b\"\u00e9\U0001f600\n");
  EXPECT_EQ(named.type, "F32");
  EXPECT_EQ(named.shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(named.bytes, 24u);
  EXPECT_EQ(*named.data, 'x');
  EXPECT_EQ(*file.tensors.at("scalar").data, 1);
  EXPECT_EQ(file.tensors.at("empty").bytes, 0u);
}

TEST(Safetensors, OutlivesItsName) {
  SafetensorsFile file;
  {
    SafetensorsWriter writer;
    writer.add("w", "F32", {1}, std::vector<float>{2.5f});
    file = openSafetensors(writer.write());
  }
  float value = 0;
  std::memcpy(&value, file.tensors.at("w").data, 4);
  EXPECT_EQ(value, 2.5f);
}

TEST(Safetensors, SaysWhatIsWrong) {
  SafetensorsWriter writer;
  auto expect = [&](const std::string &path, const std::string &part) {
    std::string found = failure(path);
    EXPECT_NE(found.find(part), std::string::npos) << found;
  };
  expect("/nowhere", "cannot open '/nowhere': No such file or directory");
  expect("/tmp", "cannot read '/tmp': Is a directory");
  expect(writer.writeBytes(""), "it has 0 bytes");
  expect(writer.writeBytes("import torch, and more"),
         "as safetensors: its header is");
  auto header = [&](const std::string &text, const std::string &part) {
    expect(writer.writeRaw(text, std::string(8, 'x')), part);
  };
  header("[]", "expected '{' at byte 0 of the header");
  header(R"({"a": {"dtype": "F32")", "expected '}'");
  header(R"({"a)", "expected the end of a string");
  header(R"({"a\q": 1})", "expected an escape");
  header(R"({"a\u12g4": 1})", "expected four hexadecimal digits");
  header(R"({} x)", "expected the end of the header");
  header(R"({"a": {"shape": [-1]}})", "expected an integer of 0 or more");
  header(R"({"a": {"shape": [99999999999999999999]}})",
         "expected an integer below 2^63");
  header(R"({"a": {"dtype": "F32", "shape": [1]}})",
         "tensor 'a' has no dtype or no data_offsets");
  header(R"({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}})",
         "tensor 'a' lies at bytes 0 to 16, but the file has 8 bytes of data: "
         "it is truncated");
  header(R"({"a": {"dtype": "F32", "shape": [1], "data_offsets": [8, 4]}})",
         "lies at bytes 8 to 4");
  header(R"({"a": {"dtype": "F32", "shape": [3], "data_offsets": [0, 8]}})",
         "tensor 'a' has 8 bytes; its type and shape need 12");
  header(R"({"a": {"dtype": "F32", "shape": [4611686018427387904, 4],)"
         R"( "data_offsets": [0, 8]}})",
         "more elements than a file can hold");
  header(R"({"a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]},)"
         R"( "a": {"dtype": "F32", "shape": [2], "data_offsets": [0, 8]}})",
         "duplicate tensor 'a'");
  std::string deep(100000, '[');
  header(R"({"__metadata__": )" + deep, "expected a value");
}

} // namespace
