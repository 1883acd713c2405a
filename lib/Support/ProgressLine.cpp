//===- ProgressLine.cpp - What a program is doing, for people -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Support/ProgressLine.h"
#include <cerrno>
#include <charconv>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <string_view>
#include <sys/ioctl.h>
#include <unistd.h>

namespace fact {

/// Names the file descriptor of the pipe.
static constexpr char pipeVariable[] = "FACT_PROGRESS_FD";

std::string formatSeconds(double seconds) {
  auto whole = static_cast<long long>(std::ceil(seconds));
  char text[48];
  if (whole >= 3600)
    std::snprintf(text, sizeof(text), "%lld:%02lld:%02lld", whole / 3600,
                  whole / 60 % 60, whole % 60);
  else
    std::snprintf(text, sizeof(text), "%lld:%02lld", whole / 60, whole % 60);
  return text;
}

/// The pipe that the environment names, or -1.
static int findPipe(bool isLent) {
  const char *variable = std::getenv(pipeVariable);
  std::string_view number = variable ? variable : "";
  int descriptor = -1;
  std::from_chars(number.data(), number.data() + number.size(), descriptor);
  if (!isLent)
    unsetenv(pipeVariable);
  if (descriptor <= STDERR_FILENO ||
      fcntl(descriptor, F_SETFL, O_NONBLOCK) != 0)
    return -1;
  if (!isLent)
    fcntl(descriptor, F_SETFD, FD_CLOEXEC);
  return descriptor;
}

/// Whether the pipe still has a reader, which may be slow and miss lines. One
/// that has gone is no reason to end by SIGPIPE.
static bool writeLine(int pipe, const std::string &line) {
  sigset_t broken, before;
  sigemptyset(&broken);
  sigaddset(&broken, SIGPIPE);
  pthread_sigmask(SIG_BLOCK, &broken, &before);
  bool hasReader =
      write(pipe, line.data(), line.size()) >= 0 || errno == EAGAIN;
  timespec now = {};
  if (!hasReader)
    sigtimedwait(&broken, nullptr, &now);
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return hasReader;
}

ProgressLine::ProgressLine(bool isLent)
    : isTerminal(isatty(STDOUT_FILENO)), pipe(findPipe(isLent)) {}

void ProgressLine::show(std::optional<double> share, const std::string &text) {
  if (hasPipe()) {
    char number[16] = "-";
    if (share)
      std::snprintf(number, sizeof(number), "%.3f", *share);
    if (!writeLine(pipe, std::string(number) + " " + text + "\n"))
      pipe = -1;
    return;
  }
  if (!isTerminal)
    return;
  constexpr size_t width = 20;
  std::string line = text;
  if (share) {
    auto filled = static_cast<size_t>(*share * width);
    line = "[" + std::string(filled, '#') + std::string(width - filled, '-') +
           "] " + text;
  }
  winsize size = {};
  size_t columns = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col
                       ? size.ws_col
                       : 80;
  // Whatever is printed next begins at the left.
  std::printf("\r%s\033[K\r", line.substr(0, columns - 1).c_str());
  std::fflush(stdout);
  drawn = true;
}

void ProgressLine::clear() {
  if (!drawn)
    return;
  drawn = false;
  std::fputs("\r\033[K", stdout);
  std::fflush(stdout);
}

} // namespace fact
