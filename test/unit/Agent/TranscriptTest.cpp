//===- TranscriptTest.cpp - Conversations, to read and to repeat ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Chat/Transcript.h"
#include "gtest/gtest.h"
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

using namespace fact::chat;
namespace fs = std::filesystem;

namespace {
class TranscriptTest : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::temp_directory_path() /
             ("fact-transcript-" + std::to_string(getpid()));
    fs::create_directories(folder);
    path = (folder / "transcript.json").string();
  }
  void TearDown() override { fs::remove_all(folder); }

  std::string readBack(const std::string &text) {
    std::ofstream(path) << text;
    Transcript transcript;
    return readTranscript(path, transcript);
  }

  fs::path folder;
  std::string path;
};
} // namespace

static std::string slurp(const std::string &path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

static Transcript makeTranscript() {
  Transcript transcript;
  transcript.model = "small";
  transcript.target = "host";
  Round round;
  round.request.messages = {{"user", "fuse\n\"this\""}};
  round.request.schema = "{}";
  round.reply.content = std::string("{\"patterns\": []}\0\xc3\xa9", 19);
  round.reply.tokensIn = 12;
  round.reply.tokensOut = 3;
  round.verdicts = {{"pointwise: n0", false, "no such op"}};
  Round failed;
  failed.reply.error = "no answer within 5 s";
  fact::registry::Measurements measured;
  measured.kernel = "gemm_epilogue_0";
  measured.problem = {"gemm_epilogue", "f32", "host", "matmul", {{"m", 8}}};
  measured.solUs = 0.1;
  measured.ceilingUs = 0.2;
  measured.flops = 3;
  measured.bytes = 4;
  measured.gains = {{"fused", "apart", 1.25, 1.125, 1.5, "a machine", "today"}};
  measured.attempts = {{"host_gemm<rows = 8>", "ok", "a warning", 1.0 / 3},
                       {"host_gemm<rows = 4>", "wrong", "", 0}};
  transcript.conversations = {{"abc-host", {round, failed}, {}},
                              {"def-host", {}, {measured}}};
  transcript.settled = {true, false};
  return transcript;
}

TEST_F(TranscriptTest, ComesBackAsItWas) {
  ASSERT_EQ(writeTranscript(path, makeTranscript()), "");
  Transcript read;
  ASSERT_EQ(readTranscript(path, read), "");
  EXPECT_EQ(read.model, "small");
  EXPECT_EQ(read.target, "host");
  ASSERT_EQ(read.conversations.size(), 2u);
  const Conversation &first = read.conversations[0];
  EXPECT_EQ(first.graph, "abc-host");
  ASSERT_EQ(first.rounds.size(), 2u);
  EXPECT_EQ(first.rounds[0].request.messages.at(0).content, "fuse\n\"this\"");
  EXPECT_EQ(first.rounds[0].reply.content,
            makeTranscript().conversations[0].rounds[0].reply.content);
  EXPECT_EQ(first.rounds[0].reply.tokensIn, 12);
  EXPECT_EQ(first.rounds[0].reply.tokensOut, 3);
  EXPECT_EQ(first.rounds[1].reply.error, "no answer within 5 s");
  ASSERT_EQ(read.conversations[1].measurements.size(), 1u);
  const auto &measured = read.conversations[1].measurements[0];
  EXPECT_EQ(measured.kernel, "gemm_epilogue_0");
  EXPECT_EQ(measured.problem.rule, "gemm_epilogue");
  EXPECT_EQ(measured.problem.extents.at("m"), 8);
  EXPECT_EQ(measured.solUs, 0.1);
  EXPECT_EQ(measured.ceilingUs, 0.2);
  EXPECT_EQ(measured.flops, 3);
  EXPECT_EQ(measured.bytes, 4);
  ASSERT_EQ(measured.gains.size(), 1u);
  EXPECT_EQ(measured.gains[0].against, "apart");
  EXPECT_EQ(measured.gains[0].low, 1.125);
  EXPECT_EQ(read.settled, (std::vector<bool>{true, false}));
  ASSERT_EQ(measured.attempts.size(), 2u);
  EXPECT_EQ(measured.attempts[0].key, "host_gemm<rows = 8>");
  EXPECT_EQ(measured.attempts[0].us, 1.0 / 3);
  EXPECT_EQ(measured.attempts[0].detail, "a warning");
  EXPECT_EQ(measured.attempts[1].status, "wrong");
  // Nothing is left beside it.
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

TEST_F(TranscriptTest, IsJsonWhateverWasSaid) {
  Transcript transcript = makeTranscript();
  transcript.conversations[0].rounds[0].reply.error = "\xff\x1b";
  transcript.conversations[0].rounds[0].request.messages[0].content = "\xc3";
  ASSERT_EQ(writeTranscript(path, transcript), "");
  Transcript read;
  EXPECT_EQ(readTranscript(path, read), "");
}

TEST_F(TranscriptTest, NamesWhatItCannotWrite) {
  std::string nowhere = (folder / "no" / "such" / "x.json").string();
  std::string error = writeTranscript(nowhere, makeTranscript());
  EXPECT_NE(error.find("cannot write '" + nowhere + "'"), std::string::npos);
  EXPECT_FALSE(fs::exists(nowhere));
}

TEST_F(TranscriptTest, AFailureKeepsTheOldOne) {
  ASSERT_EQ(writeTranscript(path, makeTranscript()), "");
  std::string before = slurp(path);
  fs::create_directories(folder / "is-a-folder" / "x");
  EXPECT_NE(
      writeTranscript((folder / "is-a-folder").string(), makeTranscript()), "");
  EXPECT_EQ(slurp(path), before);
}

TEST_F(TranscriptTest, ProcessesDoNotDisturbEachOther) {
  Transcript transcript = makeTranscript();
  transcript.model = std::string(1 << 16, 'm');
  pid_t child = fork();
  for (int i = 0; i < 100; ++i)
    if (!writeTranscript(path, transcript).empty() && !child)
      _exit(1);
  if (!child)
    _exit(0);
  int status = 1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  Transcript read;
  EXPECT_EQ(readTranscript(path, read), "");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder), {}), 1);
}

TEST_F(TranscriptTest, NamesWhatItCannotRead) {
  Transcript read;
  EXPECT_NE(readTranscript(path, read).find("cannot read transcript"),
            std::string::npos);
  EXPECT_NE(readTranscript(folder.string(), read), "");
  for (const char *text :
       {"", "{", "[]", "5", "null", "{}", "{\"format\": 2}",
        "{\"format\": \"1\", \"conversations\": []}", "{\"format\": 1}",
        "{\"format\": 1, \"conversations\": 5}",
        "{\"format\": 1, \"conversations\": [5]}",
        "{\"format\": 1, \"model\": 5, \"conversations\": []}",
        "{\"format\": 1, \"conversations\": [{\"graph\": 5, \"rounds\": []}]}",
        "{\"format\": 1, \"conversations\": [{\"graph\": \"a\"}]}",
        "{\"format\": 1, \"conversations\": [{\"graph\": \"a\", \"rounds\": "
        "[], "
        "\"measurements\": [{}]}]}",
        "{\"format\": 1, \"conversations\": [{\"graph\": \"a\", \"rounds\": "
        "[{}]}]}",
        "{\"format\": 1, \"conversations\": [{\"graph\": \"a\", \"rounds\": "
        "[{\"messages\": [], \"answer\": 5}]}]}",
        "{\"format\": 1, \"conversations\": [{\"graph\": \"a\", \"rounds\": "
        "[{\"messages\": [{}], \"answer\": \"\"}]}]}"}) {
    std::string error = readBack(text);
    EXPECT_NE(error.find("'" + path + "'"), std::string::npos) << text;
  }
  EXPECT_EQ(readBack("{\"format\": 1, \"conversations\": []}"), "");
}

TEST(Replay, GivesAnswersInOrder) {
  ReplayModel model(makeTranscript().conversations[0]);
  EXPECT_EQ(model.complete({}).tokensIn, 12);
  EXPECT_EQ(model.complete({}).error, "no answer within 5 s");
  EXPECT_EQ(model.complete({}).error, "the transcript has no more answers");
}
