//===- ChoiceTest.cpp - What a kernel chose is stored and linked ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel computes scale * x + w, and leaves the scale to its "vendor": the
// file `vendor`, a scale and a version. Scale 2 is right.
//
//===----------------------------------------------------------------------===//

#include "LinkedFixture.h"

using namespace fact::tuning;

namespace {

class Choice : public Linked {
protected:
  Choice() {
    setVendor(2, 7);
    std::string text = R"(#include "fact/Runtime/Kernel.h"
#include <cstdio>
#include <cstring>
struct Choice { int scale, version; char name[8]; };
static Choice adopted;
static Choice ask() {
  Choice choice = {0, 0, "scale!!"};
  if (FILE *file = std::fopen("VENDOR", "r")) {
    if (std::fscanf(file, "%d %d", &choice.scale, &choice.version) != 2)
      choice.scale = 0;
    std::fclose(file);
  }
  return choice;
}
static const char *choose(void *choice) {
  Choice made = ask();
  if (made.scale == 0)
    return "the vendor has no scale";
  std::memcpy(choice, &made, sizeof(made));
  return nullptr;
}
static const char *adopt(const void *choice) {
  std::memcpy(&adopted, choice, sizeof(adopted));
  static char text[80];
  int version = ask().version;
  std::snprintf(text, sizeof(text), "vendor %d is loaded; it was verified with %d",
                version, adopted.version);
  return version == adopted.version ? nullptr : text;
}
static void tile(int64_t row, void *const *buffers, void *) {
  const float *x = static_cast<const float *>(buffers[0]);
  const float *w = static_cast<const float *>(buffers[1]);
  float *y = static_cast<float *>(buffers[2]);
  for (int64_t i = row * 33; i < (row + 1) * 33; ++i)
    y[i] = float(adopted.scale) * x[i] + w[i];
}
extern "C" const FactKernel axpy_0 = {
    FACT_KERNEL_ABI, 3, 0, 0, nullptr, nullptr, 64, tile, -1, 0, 0, 0, nullptr,
    nullptr, sizeof(Choice), choose, adopt};
)";
    size_t at = text.find("VENDOR");
    text.replace(at, 6, (bundle.folder() / "vendor").string());
    bundle.addSource("vendor", text);
  }

  void setVendor(int scale, int version) {
    bundle.write("vendor",
                 std::to_string(scale) + " " + std::to_string(version));
  }

  static std::string bytesOf(int scale, int version) {
    int numbers[] = {scale, version};
    return std::string(reinterpret_cast<char *>(numbers), sizeof(numbers)) +
           std::string("scale!!", 8);
  }

  static std::string digitsOf(int scale, int version) {
    std::string digits;
    for (unsigned char byte : bytesOf(scale, version))
      for (int nibble : {byte >> 4, byte & 15})
        digits += "0123456789abcdef"[nibble];
    return digits;
  }

  void store(const std::string &digits) {
    execute(("UPDATE attempts SET choice = '" + digits + "'").c_str());
  }

  std::string storedInLibrary() {
    return Json::parse(load()->describe())["kernels"][0].value("choice", "");
  }

  std::string reported() {
    return bundle.report()["kernels"][0]["attempts"][0].value("choice", "");
  }
};

/// The vendor would decide otherwise today: what was verified is used.
TEST_F(Choice, IsStoredAndLinked) {
  ASSERT_TRUE(link().succeeded()) << bundle.log;
  EXPECT_EQ(reported(), digitsOf(2, 7));
  execute(("UPDATE attempts SET detail = 'found' WHERE choice = '" +
           digitsOf(2, 7) + "'")
              .c_str());
  setVendor(3, 7);
  EXPECT_EQ(storedInLibrary(), digitsOf(2, 7));
  EXPECT_EQ(run(), 2.5f) << problem;
  // Known to the next run, which verifies it and chooses nothing.
  ASSERT_TRUE(link().succeeded()) << bundle.log;
  EXPECT_EQ(bundle.report()["kernels"][0]["reused"], 1);
  EXPECT_EQ(storedInLibrary(), digitsOf(2, 7));
  EXPECT_EQ(run(), 2.5f) << problem;
}

TEST_F(Choice, TheLibraryIsVerifiedWithIt) {
  ASSERT_TRUE(link().succeeded()) << bundle.log;
  store(digitsOf(3, 7));
  EXPECT_EQ(link().code, 1) << bundle.log;
  expectLog("refused #0   wrong: in the linked library, ");
  EXPECT_FALSE(fs::exists(library));
}

TEST_F(Choice, OfAnotherVersion) {
  ASSERT_TRUE(link().succeeded()) << bundle.log;
  setVendor(2, 8);
  EXPECT_EQ(run(), -1);
  EXPECT_NE(problem.find("kernel 'axpy' cannot use its verified choice: "
                         "vendor 8 is loaded; it was verified with 7"),
            std::string::npos)
      << problem;
  EXPECT_EQ(link().code, 1) << bundle.log;
  expectLog("refused #0   stale_choice: in the linked library, the kernel "
            "cannot use its verified choice: vendor 8 is loaded");
  EXPECT_FALSE(fs::exists(library));
  // The next run chooses anew.
  ASSERT_TRUE(link().succeeded()) << bundle.log;
  EXPECT_EQ(reported(), digitsOf(2, 8));
  EXPECT_EQ(run(), 2.5f) << problem;
}

TEST_F(Choice, ThatNobodyWrote) {
  ASSERT_TRUE(link().succeeded()) << bundle.log;
  store("0}; int broken");
  EXPECT_EQ(link().code, 1) << bundle.log;
  expectLog("has an attempt whose 'choice' is '0}; int broken', which "
            "fact-tune never writes");
  // Of another size.
  store("0207");
  EXPECT_EQ(link().code, 1) << bundle.log;
  expectLog("the kernel was given a choice of 2 bytes; expected 16");
}

TEST_F(Choice, InTheLibraryItself) {
  ASSERT_TRUE(link().succeeded()) << bundle.log;
  std::string content = readFile(library);
  size_t at = content.find(bytesOf(2, 7));
  ASSERT_NE(at, std::string::npos);
  content.replace(at, 16, bytesOf(2, 9));
  library = bundle.folder() / "edited.so";
  writeFile(library, content);
  EXPECT_EQ(run(), -1);
  EXPECT_NE(problem.find("it was verified with 9"), std::string::npos)
      << problem;
}

/// Nothing was measured: the check of the library chooses, and verifies that.
TEST_F(Choice, WithoutAMeasurement) {
  ASSERT_TRUE(link({"--untuned"}).succeeded()) << bundle.log;
  expectLog("check     1 of 1 steps against references");
  EXPECT_EQ(reported(), digitsOf(2, 7));
  EXPECT_EQ(storedInLibrary(), digitsOf(2, 7));
  setVendor(3, 7);
  EXPECT_EQ(run(), 2.5f) << problem;
  EXPECT_EQ(link({"--untuned"}).code, 1) << bundle.log;
  expectLog("refused #0   wrong: in the linked library, ");
}

TEST_F(Choice, WithoutACheck) {
  ASSERT_TRUE(link({"--untuned", "--no-check"}).succeeded()) << bundle.log;
  EXPECT_EQ(run(), -1);
  EXPECT_NE(problem.find("kernel 'axpy' has no verified choice; link it "
                         "again without --no-check"),
            std::string::npos)
      << problem;
}

TEST_F(Choice, NotPossible) {
  setVendor(0, 7);
  EXPECT_EQ(link().code, 1) << bundle.log;
  expectLog(
      "link_error: the kernel cannot make its choice: the vendor has no scale");
}

} // namespace
