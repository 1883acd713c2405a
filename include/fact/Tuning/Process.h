//===- Process.h - Commands in killable process groups ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FACT_TUNING_PROCESS_H
#define FACT_TUNING_PROCESS_H

#include <chrono>
#include <deque>
#include <filesystem>
#include <functional>
#include <list>
#include <string>
#include <vector>

namespace fact {
namespace tuning {

struct Command {
  std::vector<std::string> words;
  /// Receives standard error, and standard output unless it is captured.
  std::filesystem::path log;
  bool captureOutput = false;
  double timeoutSeconds = 600;
  /// The minimum delay after the command was scheduled.
  double delaySeconds = 0;
  /// Of the commands that may start, one of the largest priority starts first,
  /// and among those the one that was scheduled first.
  int64_t priority = 0;

  /// For messages and dry runs: quoted where a shell needs it.
  std::string text() const;
};

struct Outcome {
  enum Kind { Exited, Signaled, TimedOut, NotStarted };
  Kind kind = NotStarted;
  /// Exit status, signal, or errno of the attempt to start.
  int code = 0;
  std::string output;
  double seconds = 0;

  bool succeeded() const { return kind == Exited && code == 0; }
  /// "exit status 1", "SIGSEGV (Segmentation fault)", ...
  std::string text() const;
};

/// The commands of a scheduler, by kind.
struct Workload {
  struct Kind {
    size_t ended = 0, running = 0, waiting = 0;
    /// Of those that ended, in sum.
    double seconds = 0;

    size_t open() const { return running + waiting; }
  };
  Kind builds, measurements;
  /// Builds at a time.
  unsigned jobs = 1;
  /// No build runs beside a measurement.
  bool measureAlone = false;
};

/// Runs two kinds of commands concurrently: builds, several at a time, and
/// measurements, one at a time. Each command has its own process group, which
/// ends as a whole at its timeout and when fact-tune ends for any reason: by
/// SIGTERM, so that launchers cancel what they started, then by SIGKILL.
/// A command's output is kept up to `outputLimit`, in its log and in its
/// outcome. Single-threaded; callbacks may add commands.
class Scheduler {
public:
  using Callback = std::function<void(const Outcome &)>;

  static constexpr size_t outputLimit = 16 << 20;

  /// `measureAlone`: no build runs beside a measurement.
  Scheduler(unsigned buildJobs, bool measureAlone)
      : buildJobs(buildJobs), measureAlone(measureAlone) {}
  ~Scheduler() { clear(); }

  void build(Command command, Callback done);
  /// `unwanted` is evaluated when it is the command's turn; if true, the
  /// command is dropped without a callback.
  void measure(Command command, Callback done,
               std::function<bool()> unwanted = nullptr);

  /// Sees a scheduler while it runs.
  class Observer {
  public:
    virtual ~Observer() = default;
    /// Many times a second, while commands run.
    virtual void wait(const Scheduler &scheduler) = 0;
    /// Before a callback, which may print, and at the end.
    virtual void clear() = 0;
  };
  /// It outlives the scheduler, or is replaced by null.
  void setObserver(Observer *newObserver) { observer = newObserver; }
  Workload getWorkload() const;

  /// Returns when nothing is left to do.
  void run();

  /// Ends what runs and drops what waits, without callbacks.
  void clear();

private:
  struct Job {
    Command command;
    Callback done;
    std::function<bool()> unwanted;
    bool isBuild = true;
    int pid = -1;
    /// The pipe for its output, and the one for the log.
    int pipe = -1, messages = -1;
    int log = -1;
    size_t logged = 0;
    bool timedOut = false, ended = false;
    /// What waitpid says, once it has ended.
    int status = 0;
    int startError = 0;
    std::chrono::steady_clock::time_point notBefore, started, timedOutAt;
    std::string output;
  };

  static Job &enqueue(std::deque<Job> &waiting, Command command, Callback done);
  void startReady();
  void start(Job &job);
  /// True if the job has ended; `outcome` is then set.
  bool poll(Job &job, Outcome &outcome);
  void readOutput(Job &job);
  static void closePipes(Job &job);
  /// The next command that may start now; the end of the list if none.
  static std::deque<Job>::iterator findReady(std::deque<Job> &waiting);

  unsigned buildJobs;
  bool measureAlone;
  std::deque<Job> waitingBuilds, waitingMeasurements;
  std::list<Job> running;
  /// What ended.
  Workload history;
  Observer *observer = nullptr;
};

/// Runs one command and waits for it.
Outcome runCommand(Command command);

/// SIGINT and SIGTERM make the next Scheduler step throw an Interruption after
/// all process groups ended. A full disk is an error of the write, not a
/// signal. Starts the process that ends all groups if this one is killed.
void installInterruptHandlers();

/// Throws the Interruption, for code that waits elsewhere.
void checkInterruption();

/// "SIGSEGV (Segmentation fault)".
std::string signalText(int signal);

} // namespace tuning
} // namespace fact

#endif // FACT_TUNING_PROCESS_H
