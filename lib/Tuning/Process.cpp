//===- Process.cpp - Commands in killable process groups ------------------===//

#include "fact/Tuning/Process.h"
#include "fact/Tuning/Files.h"
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace fact {
namespace tuning {

using Clock = std::chrono::steady_clock;

static volatile std::sig_atomic_t interrupted = 0;

void installInterruptHandlers() {
  struct sigaction action = {};
  action.sa_handler = [](int signal) { interrupted = signal; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  // A file that would pass the limit is an error of the write.
  std::signal(SIGXFSZ, SIG_IGN);
  // Who started fact-tune may ask that it ends with them (fact-compile does).
  if (std::getenv("FACT_END_WITH_PARENT"))
    prctl(PR_SET_PDEATHSIG, SIGTERM);
}

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

std::string signalText(int signal) {
  const char *description = strsignal(signal);
  std::string name = "signal " + std::to_string(signal);
  switch (signal) {
  case SIGSEGV:
    name = "SIGSEGV";
    break;
  case SIGBUS:
    name = "SIGBUS";
    break;
  case SIGILL:
    name = "SIGILL";
    break;
  case SIGFPE:
    name = "SIGFPE";
    break;
  case SIGABRT:
    name = "SIGABRT";
    break;
  case SIGKILL:
    name = "SIGKILL";
    break;
  case SIGTERM:
    name = "SIGTERM";
    break;
  case SIGTRAP:
    name = "SIGTRAP";
    break;
  }
  return name + (description ? " (" + std::string(description) + ")" : "");
}

std::string Command::text() const {
  std::string line;
  for (const std::string &word : words) {
    bool plain =
        !word.empty() &&
        word.find_first_of(" \t\n'\"\\$&|;<>(){}*?`") == std::string::npos;
    line += line.empty() ? "" : " ";
    if (plain) {
      line += word;
      continue;
    }
    line += '\'';
    for (char c : word)
      line += c == '\'' ? std::string("'\\''") : std::string(1, c);
    line += '\'';
  }
  return line;
}

std::string Outcome::text() const {
  switch (kind) {
  case Exited:
    return "exit status " + std::to_string(code);
  case Signalled:
    return signalText(code);
  case TimedOut:
    return "no end after " + std::to_string(static_cast<int>(seconds)) + " s";
  case NotStarted:
    return std::strerror(code);
  }
  return "";
}

Scheduler::~Scheduler() {
  for (Job &job : running) {
    if (job.pid > 0) {
      kill(-job.pid, SIGKILL);
      waitpid(job.pid, nullptr, 0);
    }
    if (job.pipe >= 0)
      close(job.pipe);
  }
}

void Scheduler::build(Command command, Callback done) {
  waitingBuilds.emplace_back();
  waitingBuilds.back().command = std::move(command);
  waitingBuilds.back().done = std::move(done);
}

void Scheduler::measure(Command command, Callback done,
                        std::function<bool()> unwanted) {
  waitingMeasurements.emplace_back();
  waitingMeasurements.back().command = std::move(command);
  waitingMeasurements.back().done = std::move(done);
  waitingMeasurements.back().unwanted = std::move(unwanted);
  waitingMeasurements.back().isBuild = false;
}

void Scheduler::startReady() {
  unsigned builds = 0;
  unsigned measurements = 0;
  for (const Job &job : running)
    ++(job.isBuild ? builds : measurements);
  while (!waitingBuilds.empty() && builds < buildJobs &&
         !(measureAlone && measurements > 0)) {
    running.push_back(std::move(waitingBuilds.front()));
    waitingBuilds.pop_front();
    start(running.back());
    ++builds;
  }
  while (!waitingMeasurements.empty() && waitingMeasurements.front().unwanted &&
         waitingMeasurements.front().unwanted())
    waitingMeasurements.pop_front();
  if (!waitingMeasurements.empty() && measurements == 0 &&
      !(measureAlone && builds > 0)) {
    running.push_back(std::move(waitingMeasurements.front()));
    waitingMeasurements.pop_front();
    start(running.back());
  }
}

/// In the child: everything up to exec, async-signal-safe calls only.
[[noreturn]] static void becomeCommand(char *const *words, int output,
                                       int errors, int status, int parent) {
  setpgid(0, 0);
  // When fact-tune is killed without a chance to clean up, so are its children.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent)
    _exit(127);
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  std::signal(SIGPIPE, SIG_DFL);
  int null = open("/dev/null", O_RDONLY);
  if (null >= 0)
    dup2(null, 0);
  if (dup2(output, 1) >= 0 && dup2(errors, 2) >= 0)
    execvp(words[0], words);
  int code = errno;
  ssize_t ignored = write(status, &code, sizeof(code));
  (void)ignored;
  _exit(127);
}

void Scheduler::start(Job &job) {
  job.started = Clock::now();
  const Command &command = job.command;
  int log = open(command.log.empty() ? "/dev/null" : command.log.c_str(),
                 O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  int status[2];
  int output[2] = {-1, -1};
  if (log < 0 || pipe2(status, O_CLOEXEC) != 0 ||
      (command.captureOutput && pipe2(output, O_CLOEXEC) != 0))
    throw Failure("cannot start " + command.text() + ": " +
                  std::strerror(errno) + " (log " + command.log.string() + ")");
  std::vector<char *> words;
  for (const std::string &word : command.words)
    words.push_back(const_cast<char *>(word.c_str()));
  words.push_back(nullptr);

  int parent = getpid();
  job.pid = fork();
  if (job.pid == 0)
    becomeCommand(words.data(), command.captureOutput ? output[1] : log, log,
                  status[1], parent);
  int forkError = errno;
  close(log);
  close(status[1]);
  if (command.captureOutput) {
    close(output[1]);
    job.pipe = output[0];
    fcntl(job.pipe, F_SETFL, O_NONBLOCK);
  }
  if (job.pid < 0)
    throw Failure("cannot start " + command.text() + ": " +
                  std::strerror(forkError));
  setpgid(job.pid, job.pid);
  // Ends with exec (nothing to read) or with the errno of its failure.
  int code = 0;
  if (read(status[0], &code, sizeof(code)) == sizeof(code))
    job.startError = code;
  close(status[0]);
}

void Scheduler::readOutput(Job &job) {
  char block[4096];
  while (job.pipe >= 0) {
    ssize_t count = read(job.pipe, block, sizeof(block));
    if (count > 0) {
      job.output.append(block, static_cast<size_t>(count));
      continue;
    }
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    close(job.pipe);
    job.pipe = -1;
  }
}

bool Scheduler::poll(Job &job, Outcome &outcome) {
  readOutput(job);
  int status = 0;
  bool ended = waitpid(job.pid, &status, WNOHANG) == job.pid;
  if (!ended && !job.killed &&
      secondsSince(job.started) > job.command.timeoutSeconds) {
    kill(-job.pid, SIGKILL);
    job.killed = true;
    job.killedAt = Clock::now();
  }
  // A process stuck in a driver cannot be reaped: leave it behind.
  bool abandoned = !ended && job.killed && secondsSince(job.killedAt) > 30;
  if (!ended && !abandoned)
    return false;
  if (ended)
    kill(-job.pid, SIGKILL); // What it left running.
  job.pid = -1;
  readOutput(job);
  if (job.pipe >= 0)
    close(job.pipe);
  job.pipe = -1;
  outcome.output = std::move(job.output);
  outcome.seconds = secondsSince(job.started);
  if (job.startError) {
    outcome.kind = Outcome::NotStarted;
    outcome.code = job.startError;
  } else if (job.killed) {
    outcome.kind = Outcome::TimedOut;
    outcome.seconds = job.command.timeoutSeconds;
  } else if (WIFSIGNALED(status)) {
    outcome.kind = Outcome::Signalled;
    outcome.code = WTERMSIG(status);
  } else {
    outcome.kind = Outcome::Exited;
    outcome.code = WEXITSTATUS(status);
  }
  return true;
}

void Scheduler::run() {
  for (;;) {
    startReady();
    if (running.empty())
      return;
    bool anyEnded = false;
    for (auto job = running.begin(); job != running.end();) {
      Outcome outcome;
      if (!poll(*job, outcome)) {
        ++job;
        continue;
      }
      anyEnded = true;
      Callback done = std::move(job->done);
      job = running.erase(job);
      done(outcome);
    }
    if (interrupted)
      throw Failure("interrupted by " + signalText(interrupted) +
                    "; finished attempts are kept, run the same command again "
                    "to go on");
    if (!anyEnded)
      ::poll(nullptr, 0, 5);
  }
}

Outcome runCommand(Command command) {
  Scheduler scheduler(1, false);
  Outcome result;
  scheduler.build(std::move(command),
                  [&](const Outcome &outcome) { result = outcome; });
  scheduler.run();
  return result;
}

} // namespace tuning
} // namespace fact
