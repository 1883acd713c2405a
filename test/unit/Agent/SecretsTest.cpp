//===- SecretsTest.cpp - Keys in what servers say -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Chat/Chat.h"
#include "gtest/gtest.h"

using namespace fact::chat;

static const char key[] = "sk-01/23456789+abc";

TEST(Secrets, AsTheyAre) {
  EXPECT_EQ(hideSecret("a sk-01/23456789+abc b sk-01/23456789+abc", key),
            "a (key) b (key)");
  EXPECT_EQ(hideSecret("", key), "");
  EXPECT_EQ(hideSecret("sk-01/", key), "sk-01/");
  // What is short is no secret.
  EXPECT_EQ(hideSecret("patterns", "pattern"), "patterns");
  EXPECT_EQ(hideSecret("none", ""), "none");
}

TEST(Secrets, CutOff) {
  EXPECT_EQ(hideSecret("x sk-01/2345", key), "x (key)");
  EXPECT_EQ(hideSecret("x sk-01\\/2345", key), "x (key)");
  EXPECT_EQ(hideSecret("x sk-01\\/2345\\u00", key), "x (key)\\u00");
  EXPECT_EQ(hideSecret("x sk-01/2345 y", key), "x sk-01/2345 y");
}

TEST(Secrets, Escaped) {
  EXPECT_EQ(hideSecret(R"(a sk-01\/23456789+abc b)", key), "a (key) b");
  EXPECT_EQ(hideSecret(R"(a \u0073k\u002D01/23456789\u002babc b)", key),
            "a (key) b");
  EXPECT_EQ(hideSecret(R"(a \\u0073k-01\\/23456789+abc b)", key), "a (key) b");
  EXPECT_EQ(hideSecret(R"(a \\\\u0073k-01\\\/23456789+abc b)", key),
            "a (key) b");
  // Text around it stays as it was.
  EXPECT_EQ(hideSecret(R"(\u00e9\n sk-01\/23456789+abc \u12 \)", key),
            R"(\u00e9\n (key) \u12 \)");
}

TEST(Secrets, Base64) {
  // Of the key, and of one, two and four bytes with it.
  EXPECT_EQ(hideSecret("c2stMDEvMjM0NTY3ODkrYWJj", key), "(key)");
  EXPECT_EQ(hideSecret("eHNrLTAxLzIzNDU2Nzg5K2FiYw==", key), "eH(key)w==");
  EXPECT_EQ(hideSecret("eHlzay0wMS8yMzQ1Njc4OSthYmM=", key), "eHl(key)M=");
  EXPECT_EQ(hideSecret("YWJjeHNrLTAxLzIzNDU2Nzg5K2FiY3k=", key),
            "YWJjeH(key)3k=");
}
