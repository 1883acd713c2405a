//===- Process.cpp - Commands in killable process groups ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "fact/Tuning/Process.h"
#include "fact/Tuning/Files.h"
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <poll.h>
#include <set>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace fact {
namespace tuning {

using Clock = std::chrono::steady_clock;

static volatile std::sig_atomic_t interrupted = 0;

//===----------------------------------------------------------------------===//
// When fact-tune ends
//===----------------------------------------------------------------------===//

/// Pipe to the watcher, which receives process groups when they start and,
/// negated, when they end.
static int watcher = -1;

static void tellWatcher(int32_t group) {
  if (watcher < 0)
    return;
  ssize_t ignored = write(watcher, &group, sizeof(group));
  (void)ignored;
}

/// Seconds between SIGTERM and SIGKILL. A launcher needs them to cancel what it
/// has started elsewhere: srun's job outlives an srun that is killed.
static constexpr double grace = 5;

static double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Ends process groups as a whole, and those of this process's children that
/// lead them.
static void endGroups(std::set<int32_t> groups) {
  for (int32_t group : groups)
    kill(-group, SIGTERM);
  for (auto begin = Clock::now();
       !groups.empty() && secondsSince(begin) < grace; usleep(10000))
    for (auto group = groups.begin(); group != groups.end();) {
      waitpid(*group, nullptr, WNOHANG);
      group = kill(-*group, 0) != 0 ? groups.erase(group) : std::next(group);
    }
  for (int32_t group : groups) {
    kill(-group, SIGKILL);
    waitpid(group, nullptr, 0);
  }
}

/// Ends the remaining groups when the pipe closes, which happens when
/// fact-tune ends. A child's death signal reaches only that child, but
/// compilers start processes of their own.
[[noreturn]] static void watchGroups(int pipe) {
  setsid();
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    std::signal(signal, SIG_IGN);
  int null = open("/dev/null", O_RDWR);
  for (int descriptor : {0, 1, 2})
    dup2(null, descriptor);
  std::set<int32_t> groups;
  int32_t group;
  while (read(pipe, &group, sizeof(group)) == sizeof(group))
    if (group > 0)
      groups.insert(group);
    else
      groups.erase(-group);
  endGroups(std::move(groups));
  _exit(0);
}

static void startWatcher() {
  int ends[2];
  if (watcher >= 0)
    return;
  pid_t child = pipe2(ends, O_CLOEXEC) == 0 ? fork() : -1;
  if (child == 0) {
    close(ends[1]);
    watchGroups(ends[0]);
  }
  if (child < 0)
    throw Failure(std::string("cannot start a process: ") +
                  std::strerror(errno));
  close(ends[0]);
  watcher = ends[1];
}

void installInterruptHandlers() {
  struct sigaction action = {};
  action.sa_handler = [](int signal) { interrupted = signal; };
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGHUP, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  // Makes a file that exceeds the size limit an error of the write.
  std::signal(SIGXFSZ, SIG_IGN);
  startWatcher();
}

void checkInterruption() {
  if (interrupted)
    throw Interruption("interrupted by " + signalText(interrupted) +
                       "; finished attempts are kept: run the same command "
                       "again to resume");
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

std::string signalText(int signal) {
  static const std::map<int, const char *> names = {
      {SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"},   {SIGILL, "SIGILL"},
      {SIGFPE, "SIGFPE"},   {SIGABRT, "SIGABRT"}, {SIGKILL, "SIGKILL"},
      {SIGTERM, "SIGTERM"}, {SIGTRAP, "SIGTRAP"}};
  auto known = names.find(signal);
  std::string name =
      known != names.end() ? known->second : "signal " + std::to_string(signal);
  const char *description = strsignal(signal);
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
  case Signaled:
    return signalText(code);
  case TimedOut:
    return "timed out after " + std::to_string(static_cast<int>(seconds)) +
           " s";
  case NotStarted:
    return std::strerror(code);
  }
  return "";
}

//===----------------------------------------------------------------------===//
// The scheduler
//===----------------------------------------------------------------------===//

void Scheduler::closePipes(Job &job) {
  for (int *descriptor : {&job.pipe, &job.messages, &job.log})
    if (*descriptor >= 0)
      close(std::exchange(*descriptor, -1));
}

void Scheduler::clear() {
  waitingBuilds.clear();
  waitingMeasurements.clear();
  std::set<int32_t> groups;
  for (Job &job : running) {
    if (job.pid > 0)
      groups.insert(job.pid);
    closePipes(job);
  }
  endGroups(groups);
  for (int32_t group : groups)
    tellWatcher(-group);
  running.clear();
}

static Clock::time_point afterNow(double seconds) {
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(seconds));
}

Scheduler::Job &Scheduler::enqueue(std::deque<Job> &waiting, Command command,
                                   Callback done) {
  auto next = std::find_if(waiting.begin(), waiting.end(), [&](const Job &job) {
    return job.command.priority < command.priority;
  });
  Job &job = *waiting.emplace(next);
  job.notBefore = afterNow(command.delaySeconds);
  job.command = std::move(command);
  job.done = std::move(done);
  return job;
}

void Scheduler::build(Command command, Callback done) {
  enqueue(waitingBuilds, std::move(command), std::move(done));
}

void Scheduler::measure(Command command, Callback done,
                        std::function<bool()> unwanted) {
  Job &job = enqueue(waitingMeasurements, std::move(command), std::move(done));
  job.unwanted = std::move(unwanted);
  job.isBuild = false;
}

std::deque<Scheduler::Job>::iterator
Scheduler::findReady(std::deque<Job> &waiting) {
  return std::find_if(waiting.begin(), waiting.end(), [](const Job &job) {
    return job.notBefore <= Clock::now();
  });
}

void Scheduler::startReady() {
  unsigned builds = 0;
  unsigned measurements = 0;
  for (const Job &job : running)
    ++(job.isBuild ? builds : measurements);
  auto launch = [this](std::deque<Job> &waiting,
                       const std::deque<Job>::iterator &job) {
    running.push_back(std::move(*job));
    waiting.erase(job);
    start(running.back());
  };
  while (builds < buildJobs && !(measureAlone && measurements > 0)) {
    auto job = findReady(waitingBuilds);
    if (job == waitingBuilds.end())
      break;
    launch(waitingBuilds, job);
    ++builds;
  }
  waitingMeasurements.erase(
      std::remove_if(
          waitingMeasurements.begin(), waitingMeasurements.end(),
          [](const Job &job) { return job.unwanted && job.unwanted(); }),
      waitingMeasurements.end());
  if (measurements > 0 || (measureAlone && builds > 0))
    return;
  if (auto job = findReady(waitingMeasurements);
      job != waitingMeasurements.end())
    launch(waitingMeasurements, job);
}

/// In the child: everything up to exec, async-signal-safe calls only. All
/// signals are blocked; the command gets the mask `signals`.
[[noreturn]] static void becomeCommand(char *const *words, int output,
                                       int errors, int status, int parent,
                                       const sigset_t &signals) {
  setpgid(0, 0);
  // Here, not in the parent: no process of the group starts before.
  tellWatcher(getpid());
  // Ends the children when fact-tune is killed without a chance to clean up.
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (getppid() != parent)
    _exit(127);
  for (int signal : {SIGINT, SIGTERM, SIGHUP, SIGPIPE})
    std::signal(signal, SIG_DFL);
  sigprocmask(SIG_SETMASK, &signals, nullptr);
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
  job.log = open(command.log.empty() ? "/dev/null" : command.log.c_str(),
                 O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  int status[2];
  int output[2] = {-1, -1}, messages[2];
  if (job.log < 0 || pipe2(status, O_CLOEXEC) != 0 ||
      pipe2(messages, O_CLOEXEC) != 0 ||
      (command.captureOutput && pipe2(output, O_CLOEXEC) != 0))
    throw Failure("cannot start " + command.text() + ": " +
                  std::strerror(errno) + " (log " + command.log.string() + ")");
  std::vector<char *> words;
  for (const std::string &word : command.words)
    words.push_back(const_cast<char *>(word.c_str()));
  words.push_back(nullptr);

  // The child starts with this process's handlers, which only take note: a
  // signal that is to end it waits until it has handlers of its own.
  sigset_t all, signals;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &signals);
  int parent = getpid();
  job.pid = fork();
  if (job.pid == 0)
    becomeCommand(words.data(), command.captureOutput ? output[1] : messages[1],
                  messages[1], status[1], parent, signals);
  int forkError = errno;
  sigprocmask(SIG_SETMASK, &signals, nullptr);
  close(messages[1]);
  job.messages = messages[0];
  fcntl(job.messages, F_SETFL, O_NONBLOCK);
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
  // The pipe closes at exec (nothing to read) or holds the errno of its
  // failure.
  int code = 0;
  if (read(status[0], &code, sizeof(code)) == sizeof(code))
    job.startError = code;
  close(status[0]);
}

/// Passes on the available output: at most some megabytes per call, so that a
/// process that never stops writing does not block the others.
template <typename Take> static void drain(int &pipe, Take take) {
  char block[1 << 16];
  for (int i = 0; pipe >= 0 && i < 64; ++i) {
    ssize_t count = read(pipe, block, sizeof(block));
    if (count > 0) {
      take(block, static_cast<size_t>(count));
      continue;
    }
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
      return;
    close(std::exchange(pipe, -1));
  }
}

void Scheduler::readOutput(Job &job) {
  drain(job.pipe, [&](const char *data, size_t bytes) {
    job.output.append(data, std::min(bytes, outputLimit - job.output.size()));
  });
  drain(job.messages, [&](const char *data, size_t bytes) {
    size_t kept = std::min(bytes, outputLimit - job.logged);
    // A log that cannot be written does not stop the run.
    ssize_t ignored = kept ? write(job.log, data, kept) : 0;
    (void)ignored;
    job.logged += kept;
  });
}

bool Scheduler::poll(Job &job, Outcome &outcome) {
  readOutput(job);
  if (!job.ended)
    job.ended = waitpid(job.pid, &job.status, WNOHANG) == job.pid;
  if (!job.ended && !job.timedOut &&
      secondsSince(job.started) > job.command.timeoutSeconds) {
    kill(-job.pid, SIGTERM);
    job.timedOut = true;
    job.timedOutAt = Clock::now();
  }
  if (!job.timedOut && !job.ended)
    return false;
  if (job.timedOut) {
    double since = secondsSince(job.timedOutAt);
    bool anyLeft = !job.ended || kill(-job.pid, 0) == 0;
    if (anyLeft && since < grace)
      return false;
    if (!job.ended)
      kill(-job.pid, SIGKILL);
    // A process that is stuck in a driver cannot be reaped: abandon it.
    if (!job.ended && since < grace + 30)
      return false;
  }
  if (job.ended) {
    kill(-job.pid, SIGKILL); // Its remaining children.
    tellWatcher(-job.pid);
  }
  job.pid = -1;
  readOutput(job);
  closePipes(job);
  outcome.output = std::move(job.output);
  outcome.seconds = secondsSince(job.started);
  if (job.startError) {
    outcome.kind = Outcome::NotStarted;
    outcome.code = job.startError;
  } else if (job.timedOut) {
    outcome.kind = Outcome::TimedOut;
    outcome.seconds = job.command.timeoutSeconds;
  } else if (WIFSIGNALED(job.status)) {
    outcome.kind = Outcome::Signaled;
    outcome.code = WTERMSIG(job.status);
  } else {
    outcome.kind = Outcome::Exited;
    outcome.code = WEXITSTATUS(job.status);
  }
  return true;
}

Workload Scheduler::getWorkload() const {
  Workload load = history;
  load.jobs = buildJobs;
  load.measureAlone = measureAlone;
  for (const Job &job : running)
    ++(job.isBuild ? load.builds : load.measurements).running;
  load.builds.waiting = waitingBuilds.size();
  load.measurements.waiting = waitingMeasurements.size();
  return load;
}

void Scheduler::run() {
  struct Clear {
    Observer *observer;
    ~Clear() {
      if (observer)
        observer->clear();
    }
  } atEnd{observer};
  for (;;) {
    startReady();
    if (running.empty() && waitingBuilds.empty() && waitingMeasurements.empty())
      return;
    bool anyEnded = false;
    for (auto job = running.begin(); job != running.end();) {
      Outcome outcome;
      if (!poll(*job, outcome)) {
        ++job;
        continue;
      }
      anyEnded = true;
      Workload::Kind &kind =
          job->isBuild ? history.builds : history.measurements;
      ++kind.ended;
      kind.seconds += outcome.seconds;
      Callback done = std::move(job->done);
      job = running.erase(job);
      if (observer)
        observer->clear();
      done(outcome);
    }
    checkInterruption();
    if (anyEnded)
      continue;
    if (observer)
      observer->wait(*this);
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
