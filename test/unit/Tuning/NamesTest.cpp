//===- NamesTest.cpp - Names that try to be code --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Names of weights, inputs and outputs are anybody's text, and so are the names
// of folders. The attacks are compiled.
//
//===----------------------------------------------------------------------===//

#include "TestBundle.h"
#include "fact/Runtime/Library.h"
#include "fact/Runtime/Text.h"
#include "fact/Tuning/LibraryWriter.h"
#include <dlfcn.h>

using namespace fact::tuning;

namespace {

const char correct[] = "y[i] = 2 * x[i] + w[i];";
const char attack[] = "int injected(void) { return 42; }";

/// Names that end a comment, a string or a line, each its own way.
std::vector<std::string> hostileNames() {
  std::string code = attack;
  return {"*/ " + code + " /*",
          "*\\\n/ " + code + " /*",
          "*\\\r\n/ " + code + " /*",
          "*?\?/\n/ " + code + " /*",
          "*\\ \n/ " + code + " /*",
          "\"; " + code + " const char *s = \"",
          "\\",
          "?\?/",
          "a\x1b[2Jb\r",
          "\xc2\x9b"
          "31m",
          "NAME DEVICE DESCRIPTION"};
}

/// Compiles a file that fails where `injected` is already declared.
Outcome compileHeader(const TestBundle &bundle, const fs::path &header,
                      const std::vector<std::string> &flags) {
  Command command;
  command.words = {FACT_TEST_COMPILER};
  command.words.insert(command.words.end(), flags.begin(), flags.end());
  command.words.insert(command.words.end(),
                       {"-Werror", "-Wcomment", "-fsyntax-only",
                        "-I" + (TestBundle::source() / "include").string(),
                        "-include", header.string(),
                        (bundle.folder() / "use.c").string()});
  command.log = bundle.folder() / "header.log";
  command.timeoutSeconds = 120;
  writeFile(command.log, "");
  return runCommand(command);
}

TEST(Names, EndNoCommentOfTheHeader) {
  TestBundle bundle;
  bundle.addCandidate("good", correct);
  for (const char *list : {"weights", "inputs", "outputs"})
    for (const std::string &name : hostileNames())
      bundle.json[list].push_back(
          {{"name", name}, {"type", "f32"}, {"shape", {0}}});
  bundle.save();
  bundle.write("use.c", "struct injected { int x; };\n"
                        "static const struct injected injected = {0};\n"
                        "int use(void) { return injected.x; }\n");
  bundle.write("sample.h", writeLibraryHeader(readBundle(bundle.folder())));
  for (const std::vector<std::string> &flags :
       {std::vector<std::string>{"-x", "c", "-std=c99"},
        std::vector<std::string>{"-x", "c", "-std=gnu11", "-trigraphs"},
        std::vector<std::string>{"-x", "c++", "-std=c++17"}})
    EXPECT_TRUE(
        compileHeader(bundle, bundle.folder() / "sample.h", flags).succeeded())
        << readFile(bundle.folder() / "header.log")
        << readFile(bundle.folder() / "sample.h");
}

TEST(Names, OfTheBundleAreNotFilledInTwice) {
  TestBundle bundle;
  bundle.addCandidate("good", correct);
  bundle.json["name"] = "DESCRIPTION";
  bundle.save();
  std::string header = writeLibraryHeader(readBundle(bundle.folder()));
  EXPECT_NE(header.find("FactModel *DESCRIPTION_load(const char *path);"),
            std::string::npos)
      << header;
}

TEST(Names, ReachTheLibraryAsTheyAre) {
  TestBundle bundle;
  bundle.addCandidate("good", correct);
  std::vector<std::string> names = hostileNames();
  Json weight = bundle.json["weights"][0];
  for (const std::string &name : names) {
    weight["name"] = name;
    bundle.json["weights"].push_back(weight);
  }
  fs::path output = bundle.folder() / "model.so";
  ASSERT_TRUE(bundle.tune({"--untuned", "-o", output.string()}).succeeded())
      << bundle.log;
  void *handle = dlopen(output.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  EXPECT_EQ(dlsym(handle, "injected"), nullptr);
  auto entry =
      reinterpret_cast<const FactLibrary *(*)()>(dlsym(handle, "fact_library"));
  int64_t count = 0;
  const FactTensorInfo *weights = entry()->weights(&count);
  ASSERT_EQ(count, int64_t(names.size()) + 1);
  for (size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(weights[i + 1].name, names[i]);
  Json description = Json::parse(entry()->describe());
  for (size_t i = 0; i < names.size(); ++i)
    EXPECT_EQ(description["weights"][i + 1]["name"], names[i]);
  // A message shows them on one line, without control characters.
  EXPECT_EQ(entry()->create(nullptr, 0), nullptr);
  std::string message = entry()->last_error();
  EXPECT_NE(message.find("a\\x1b[2Jb\\x0d"), std::string::npos) << message;
  EXPECT_NE(message.find("\\xc2\\x9b31m"), std::string::npos) << message;
  EXPECT_EQ(message.find('\x1b'), std::string::npos);
  EXPECT_EQ(message.find("\n/"), std::string::npos);
  dlclose(handle);
}

TEST(Names, OfFoldersReachTheAssembler) {
  TestBundle bundle;
  bundle.addCandidate("good", correct);
  createFolder(bundle.folder() / "constants");
  bundle.write("constants/a\" \\\n.global injected\ninjected: .byte 1 #.bin",
               "12345678");
  bundle.json["constants"] = {
      {{"type", "f32"},
       {"shape", {2}},
       {"data",
        "constants/a\" \\\n.global injected\ninjected: .byte 1 #.bin"}}};
  bundle.save();
  TemporaryFolder outer;
  fs::path folder = outer.path / "quoted \"bundle\" \\ *%s";
  fs::copy(bundle.folder(), folder,
           fs::copy_options::recursive | fs::copy_options::copy_symlinks);
  fs::path output = outer.path / "model.so";
  Command command;
  command.words = {FACT_TUNE_PATH, folder.string(), "--untuned", "-o",
                   output.string()};
  command.log = outer.path / "fact-tune.log";
  command.timeoutSeconds = 120;
  writeFile(command.log, "");
  ASSERT_TRUE(runCommand(command).succeeded()) << readFile(command.log);
  EXPECT_NE(readFile(output).find("12345678"), std::string::npos);
  void *handle = dlopen(output.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  EXPECT_EQ(dlsym(handle, "injected"), nullptr);
  dlclose(handle);
}

TEST(Text, ControlsAndUtf8) {
  using namespace fact::runtime;
  EXPECT_TRUE(isOneLine("plain, \xc3\xa9, \xe2\x82\xac, \xf0\x9f\x99\x82"));
  for (const char *text :
       {"\n", "\x7f", "\x1b[0m", "\xc2\x80", "\xc2\x9f", "\xe2\x80\xa8",
        "\xe2\x80\xa9", "\xe2\x80\xae", "\xe2\x81\xa6", "\xff", "\xc3",
        "\xed\xa0\x80", "\xc0\xaf"})
    EXPECT_FALSE(isOneLine(text)) << escapeControls(text);
  EXPECT_FALSE(isOneLine(std::string("a\0b", 3)));
  EXPECT_TRUE(isUtf8("\xc2\x80\n"));
  EXPECT_FALSE(isUtf8("\xff"));
  EXPECT_EQ(escapeControls("a\nb\xff\xc2\x9b\xc3\xa9"),
            "a\\x0ab\\xff\\xc2\\x9b\xc3\xa9");
}

} // namespace
