//===- ContentHashTest.cpp ------------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/ContentHash.h"
#include "TestBundle.h"

using namespace fact::tuning;

namespace {

std::string sha256(const std::string &text, size_t piece = 1 << 20) {
  Sha256 hash;
  for (size_t at = 0; at < text.size(); at += piece)
    hash.update(text.data() + at, std::min(piece, text.size() - at));
  std::string digits;
  for (uint8_t byte : hash.finish()) {
    char two[3];
    std::snprintf(two, sizeof(two), "%02x", byte);
    digits += two;
  }
  return digits;
}

/// The examples of FIPS 180-4, and lengths around the padding's.
TEST(ContentHash, PublishedVectors) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb924"
                        "27ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223"
                           "b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039"
            "a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(
      sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmno"
             "ijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
      "cf5b16a778af8380036ce59e7b049237"
      "0b249b11e8f07a51afac45037afee9d1");
  std::string million(1000000, 'a');
  EXPECT_EQ(sha256(million), "cdc76e5c9914fb9281a1c7e284d73e67"
                             "f1809a48a497200e046d39ccc7112cd0");
  EXPECT_EQ(sha256(million, 7), sha256(million));
  EXPECT_EQ(sha256(std::string(55, 'a')), "9f4390f8d30c2dd92ec9f095b65e2b9a"
                                          "e9b0a925a5258e241c9f1e910f734318");
  EXPECT_EQ(sha256(std::string(56, 'a')), "b35439a4ac6f0948b6d6f9e3c6af0f5f"
                                          "590ce20f1bde7090ef7970686ec6738a");
  EXPECT_EQ(sha256(std::string(64, 'a')), "ffe054fe7ae0cb6dc65c3af9b61d5209"
                                          "f439851db43d0ba5997337df154668eb");
}

TEST(ContentHash, PartsAreKeptApart) {
  EXPECT_NE(ContentHash().add("a").add("bc").text(),
            ContentHash().add("ab").add("c").text());
  EXPECT_EQ(ContentHash().add("a").add("bc").text(),
            ContentHash().add("a").add("bc").text());
}

TEST(ContentHash, FoldersByNameAndContent) {
  TemporaryFolder folder;
  createFolder(folder.path / "a");
  writeFile(folder.path / "a/x.h", "1");
  auto hash = [&] { return ContentHash().addFolder(folder.path).text(); };
  std::string before = hash();
  EXPECT_EQ(hash(), before);
  writeFile(folder.path / "a/x.h", "2");
  std::string changed = hash();
  EXPECT_NE(changed, before);
  fs::rename(folder.path / "a/x.h", folder.path / "a/y.h");
  EXPECT_NE(hash(), changed);
  EXPECT_EQ(ContentHash().addFolder(folder.path / "none").text(),
            ContentHash().text());
}

TEST(ContentHash, WhatASourceIncludes) {
  TemporaryFolder folder;
  fs::path headers = folder.path / "include", source = folder.path / "k.cu";
  createFolder(headers / "a");
  writeFile(source, "#include \"a/x.h\"\n  #  include <cuda.h>\n");
  writeFile(headers / "a/x.h", "#include \"y.h\"\n");
  writeFile(headers / "a/y.h", "#pragma once\n#include \"x.h\"\n");
  writeFile(headers / "a/z.h", "1");
  auto hash = [&] { return ContentHash().addIncluded(source, headers).text(); };
  std::string before = hash();
  writeFile(headers / "a/z.h", "2");
  EXPECT_EQ(hash(), before);
  writeFile(headers / "a/y.h", "other");
  std::string changed = hash();
  EXPECT_NE(changed, before);
  // A name that only the preprocessor knows could be any.
  writeFile(headers / "a/y.h", "#include NAME\n");
  std::string any = hash();
  writeFile(headers / "a/z.h", "3");
  EXPECT_NE(hash(), any);
}

/// Quotes look beside the file first, before any folder that is searched.
TEST(ContentHash, HeadersBesideTheSource) {
  TemporaryFolder folder;
  fs::path headers = folder.path / "include";
  createFolder(headers);
  writeFile(headers / "x.h", "1");
  auto hash = [&](const std::string &name, const std::string &own) {
    fs::path source = folder.path / name / "k.cu";
    createFolder(source.parent_path());
    writeFile(source, "#include \"x.h\"\n");
    writeFile(source.parent_path() / "x.h", "#include \"y.h\"\n");
    writeFile(source.parent_path() / "y.h", own);
    return ContentHash().addIncluded(source, headers).text();
  };
  std::string first = hash("first", "1");
  EXPECT_EQ(hash("second", "1"), first);
  EXPECT_NE(hash("third", "2"), first);
}

/// The hash of a part would know a tree again that has changed elsewhere.
TEST(ContentHash, FoldersThatCannotBeWalked) {
  TemporaryFolder folder;
  writeFile(folder.path / "x.h", "1");
  fs::create_symlink("nothing", folder.path / "link.h");
  std::string before = ContentHash().addFolder(folder.path).text();
  fs::create_directory_symlink(".", folder.path / "again");
  try {
    ContentHash().addFolder(folder.path);
    ADD_FAILURE() << "a folder without an end was hashed";
  } catch (const Failure &failure) {
    EXPECT_EQ(std::string(failure.what()).find("cannot list "), 0u)
        << failure.what();
  }
  fs::remove(folder.path / "again");
  EXPECT_EQ(ContentHash().addFolder(folder.path).text(), before);
}

} // namespace
