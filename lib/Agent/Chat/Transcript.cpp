//===- Transcript.cpp - Recorded conversations ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Transcript.h"
#include "fact/Support/WholeFile.h"
#include <cerrno>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace fact::chat;
using nlohmann::ordered_json;

static ordered_json describe(const Round &round) {
  ordered_json messages = ordered_json::array();
  for (const Message &message : round.request.messages)
    messages.push_back({{"role", message.role}, {"content", message.content}});
  ordered_json verdicts = ordered_json::array();
  for (const JudgedProposal &verdict : round.verdicts)
    verdicts.push_back({{"proposal", verdict.what},
                        {"accepted", verdict.accepted},
                        {"reason", verdict.reason}});
  const Reply &reply = round.reply;
  return {{"messages", std::move(messages)}, {"schema", round.request.schema},
          {"answer", reply.content},         {"error", reply.error},
          {"tokens_in", reply.tokensIn},     {"tokens_out", reply.tokensOut},
          {"retries", reply.retries},        {"seconds", reply.seconds},
          {"verdicts", std::move(verdicts)}};
}

static ordered_json describe(const fact::registry::Measurements &measured) {
  ordered_json attempts = ordered_json::array();
  for (const auto &attempt : measured.attempts)
    attempts.push_back({{"schedule", attempt.key},
                        {"status", attempt.status},
                        {"detail", attempt.detail},
                        {"us", attempt.us}});
  ordered_json gains = ordered_json::array();
  for (const fact::registry::Gain &gain : measured.gains)
    gains.push_back({{"form", gain.form},
                     {"against", gain.against},
                     {"ratio", gain.ratio},
                     {"ratio_low", gain.low},
                     {"ratio_high", gain.high},
                     {"machine", gain.machine},
                     {"date", gain.date}});
  const fact::registry::Problem &problem = measured.problem;
  return {{"kernel", measured.kernel},
          {"format", problem.format},
          {"rule", problem.rule},
          {"dtype", problem.dtype},
          {"arch", problem.architecture},
          {"ops", problem.ops},
          {"extents", problem.extents},
          {"sol_us", measured.solUs},
          {"ceiling_us", measured.ceilingUs},
          {"flops", measured.flops},
          {"bytes", measured.bytes},
          {"attempts", std::move(attempts)},
          {"gains", std::move(gains)}};
}

std::string fact::chat::writeTranscript(const std::string &path,
                                        const Transcript &transcript) {
  ordered_json conversations = ordered_json::array();
  for (const Conversation &conversation : transcript.conversations) {
    ordered_json rounds = ordered_json::array();
    for (const Round &round : conversation.rounds)
      rounds.push_back(describe(round));
    ordered_json value{{"graph", conversation.graph},
                       {"rounds", std::move(rounds)}};
    for (const registry::Measurements &measured : conversation.measurements)
      value["measurements"].push_back(describe(measured));
    conversations.push_back(std::move(value));
  }
  ordered_json root{{"format", 1},
                    {"model", transcript.model},
                    {"target", transcript.target},
                    {"conversations", std::move(conversations)}};
  if (!transcript.settled.empty())
    root["settled"] = transcript.settled;
  std::string text =
      root.dump(1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
  if (int code = fact::writeWholeFile(path, text))
    return "cannot write '" + path + "': " + std::strerror(code);
  return "";
}

static Round readRound(const ordered_json &value) {
  Round round;
  for (const ordered_json &message : value.at("messages"))
    round.request.messages.push_back(
        {message.at("role").get<std::string>(),
         message.at("content").get<std::string>()});
  round.request.schema = value.value("schema", "");
  round.reply.content = value.at("answer").get<std::string>();
  round.reply.error = value.value("error", "");
  round.reply.tokensIn = value.value("tokens_in", int64_t(0));
  round.reply.tokensOut = value.value("tokens_out", int64_t(0));
  return round;
}

static fact::registry::Measurements
readMeasurements(const ordered_json &value) {
  fact::registry::Measurements measured;
  value.at("kernel").get_to(measured.kernel);
  measured.problem.format = value.value("format", 1);
  value.at("rule").get_to(measured.problem.rule);
  value.at("dtype").get_to(measured.problem.dtype);
  value.at("arch").get_to(measured.problem.architecture);
  value.at("ops").get_to(measured.problem.ops);
  value.at("extents").get_to(measured.problem.extents);
  value.at("sol_us").get_to(measured.solUs);
  measured.ceilingUs = value.value("ceiling_us", 0.0);
  measured.flops = value.value("flops", 0.0);
  measured.bytes = value.value("bytes", 0.0);
  for (const ordered_json &gain : value.value("gains", ordered_json::array()))
    measured.gains.push_back(
        {gain.at("form").get<std::string>(),
         gain.at("against").get<std::string>(), gain.at("ratio").get<double>(),
         gain.at("ratio_low").get<double>(),
         gain.at("ratio_high").get<double>(), gain.value("machine", ""),
         gain.value("date", "")});
  for (const ordered_json &attempt : value.at("attempts"))
    measured.attempts.push_back({attempt.at("schedule").get<std::string>(),
                                 attempt.at("status").get<std::string>(),
                                 attempt.value("detail", ""),
                                 attempt.value("us", 0.0)});
  return measured;
}

std::string fact::chat::readTranscript(const std::string &path,
                                       Transcript &transcript) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream text;
  text << file.rdbuf();
  if (!file)
    return "cannot read transcript '" + path + "': " + std::strerror(errno);
  std::string error;
  ordered_json root = parseJson(text.str(), error);
  if (root.is_discarded())
    return "'" + path + "' is not a transcript: " + error;
  try {
    if (root.at("format") != 1)
      return "'" + path +
             "' is a transcript of another version; format 1 is "
             "supported";
    transcript.model = root.value("model", "");
    transcript.target = root.value("target", "");
    transcript.settled = root.value("settled", std::vector<bool>());
    for (const ordered_json &value : root.at("conversations")) {
      Conversation &conversation = transcript.conversations.emplace_back();
      conversation.graph = value.at("graph").get<std::string>();
      for (const ordered_json &round : value.at("rounds"))
        conversation.rounds.push_back(readRound(round));
      for (const ordered_json &measured :
           value.value("measurements", ordered_json::array()))
        conversation.measurements.push_back(readMeasurements(measured));
    }
  } catch (const ordered_json::exception &problem) {
    return "'" + path +
           "' is not a transcript: " + sanitize(problem.what(), 300);
  }
  return "";
}

Reply ReplayModel::complete(const Request &) {
  if (next < conversation.rounds.size()) {
    Reply reply = conversation.rounds[next++].reply;
    reply.seconds = 0;
    return reply;
  }
  Reply reply;
  reply.error = "the transcript has no more answers";
  return reply;
}
