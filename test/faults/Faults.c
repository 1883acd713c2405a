/*===- Faults.c - Fails the n-th call of a kind, for LD_PRELOAD -------------===
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Only the program that FACT_FAULT_PROGRAM names is concerned, not what it
 * starts. FACT_FAULT_KIND is open, write, sync, rename, start or allocate, and
 * the call FACT_FAULT_AT (from 1) of that kind fails as on a machine in
 * trouble. The kind "kill" counts all of them but allocations, and ends the
 * process with SIGKILL in place of the call.
 *
 * With FACT_FAULT_LOG, how many calls there were is written there at the end,
 * one line for each kind, and nothing fails while FACT_FAULT_AT is 0.
 *
 * Writes to the terminal, to pipes and to sockets are left alone: a message
 * about a fault must be able to appear.
 *
 *===----------------------------------------------------------------------===*/

#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum Kind { Open, Write, Sync, Rename, Start, Allocate, Kinds };
static const char *const names[Kinds] = {"open",   "write", "sync",
                                         "rename", "start", "allocate"};
static const int codes[Kinds] = {EMFILE, ENOSPC, EIO, EIO, EAGAIN, ENOMEM};

static atomic_long counts[Kinds];
static atomic_long total;
/* The process that is concerned; 0 until it is known, -1 when it is another. */
static pid_t process;
static int faultKind = -1, kills;
static long faultAt;
static int logFile = -1;

/* Runs before main and after the libraries that this one needs are set up. */
__attribute__((constructor)) static void initialize(void) {
  const char *program = getenv("FACT_FAULT_PROGRAM");
  const char *kind = getenv("FACT_FAULT_KIND");
  const char *at = getenv("FACT_FAULT_AT");
  const char *log = getenv("FACT_FAULT_LOG");
  process = -1;
  if (!program || strcmp(program, program_invocation_short_name) != 0)
    return;
  kills = kind && strcmp(kind, "kill") == 0;
  for (int i = 0; kind && i < Kinds; ++i)
    if (strcmp(kind, names[i]) == 0)
      faultKind = i;
  faultAt = at ? atol(at) : 0;
  if (log)
    logFile = (int)syscall(SYS_openat, AT_FDCWD, log,
                           O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  process = (pid_t)syscall(SYS_getpid);
}

__attribute__((destructor)) static void report(void) {
  if (logFile < 0 || process != (pid_t)syscall(SYS_getpid))
    return;
  for (int i = 0; i < Kinds; ++i)
    dprintf(logFile, "%s %ld\n", names[i], (long)counts[i]);
  dprintf(logFile, "kill %ld\n", (long)total);
}

/* Whether this call is the one that fails. */
static int fails(enum Kind kind) {
  /* A child between fork and exec has the variables of its parent. */
  if (process <= 0 || process != (pid_t)syscall(SYS_getpid))
    return 0;
  long count = atomic_fetch_add(&counts[kind], 1) + 1;
  if (kind != Allocate) {
    long all = atomic_fetch_add(&total, 1) + 1;
    if (kills && faultAt == all)
      kill(process, SIGKILL);
  }
  if ((int)kind != faultKind || count != faultAt)
    return 0;
  errno = codes[kind];
  return 1;
}

/* The next definition of a function: the C library's. */
#define NEXT(name)                                                             \
  static __typeof__(name) *next;                                               \
  if (!next)                                                                   \
  next = (__typeof__(next))dlsym(RTLD_NEXT, #name)

static int isFile(int file) {
  struct stat status;
  return file > 2 && fstat(file, &status) == 0 && S_ISREG(status.st_mode);
}

/*===----------------------------------------------------------------------===
 * open
 *===----------------------------------------------------------------------===*/

#define MODE                                                                   \
  mode_t mode = 0;                                                             \
  if (flags & (O_CREAT | O_TMPFILE)) {                                         \
    va_list arguments;                                                         \
    va_start(arguments, flags);                                                \
    mode = (mode_t)va_arg(arguments, int);                                     \
    va_end(arguments);                                                         \
  }

int open(const char *path, int flags, ...) {
  MODE;
  return fails(Open) ? -1
                     : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
int open64(const char *path, int flags, ...) {
  MODE;
  return fails(Open) ? -1
                     : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
int openat(int folder, const char *path, int flags, ...) {
  MODE;
  return fails(Open) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}
int openat64(int folder, const char *path, int flags, ...) {
  MODE;
  return fails(Open) ? -1 : (int)syscall(SYS_openat, folder, path, flags, mode);
}
FILE *fopen(const char *path, const char *mode) {
  NEXT(fopen);
  return fails(Open) ? NULL : next(path, mode);
}
FILE *fopen64(const char *path, const char *mode) {
  NEXT(fopen64);
  return fails(Open) ? NULL : next(path, mode);
}
int mkdir(const char *path, mode_t mode) {
  NEXT(mkdir);
  return fails(Open) ? -1 : next(path, mode);
}
/* These open and make folders inside of the C library. */
DIR *opendir(const char *path) {
  NEXT(opendir);
  return fails(Open) ? NULL : next(path);
}
char *mkdtemp(char *pattern) {
  NEXT(mkdtemp);
  return fails(Open) ? NULL : next(pattern);
}

/*===----------------------------------------------------------------------===
 * write
 *===----------------------------------------------------------------------===*/

ssize_t write(int file, const void *data, size_t size) {
  NEXT(write);
  return isFile(file) && fails(Write) ? -1 : next(file, data, size);
}
ssize_t writev(int file, const struct iovec *parts, int count) {
  NEXT(writev);
  return isFile(file) && fails(Write) ? -1 : next(file, parts, count);
}
ssize_t pwrite(int file, const void *data, size_t size, off_t offset) {
  NEXT(pwrite);
  return isFile(file) && fails(Write) ? -1 : next(file, data, size, offset);
}
ssize_t pwrite64(int file, const void *data, size_t size, off64_t offset) {
  NEXT(pwrite64);
  return isFile(file) && fails(Write) ? -1 : next(file, data, size, offset);
}
ssize_t sendfile(int to, int from, off_t *offset, size_t size) {
  static ssize_t (*next)(int, int, off_t *, size_t);
  if (!next)
    next = (ssize_t (*)(int, int, off_t *, size_t))dlsym(RTLD_NEXT, "sendfile");
  return isFile(to) && fails(Write) ? -1 : next(to, from, offset, size);
}
ssize_t copy_file_range(int from, off64_t *fromOffset, int to,
                        off64_t *toOffset, size_t size, unsigned flags) {
  NEXT(copy_file_range);
  return isFile(to) && fails(Write)
             ? -1
             : next(from, fromOffset, to, toOffset, size, flags);
}

/*===----------------------------------------------------------------------===
 * sync
 *===----------------------------------------------------------------------===*/

int fsync(int file) {
  NEXT(fsync);
  return fails(Sync) ? -1 : next(file);
}
int fdatasync(int file) {
  NEXT(fdatasync);
  return fails(Sync) ? -1 : next(file);
}

/*===----------------------------------------------------------------------===
 * rename
 *===----------------------------------------------------------------------===*/

int rename(const char *from, const char *to) {
  NEXT(rename);
  return fails(Rename) ? -1 : next(from, to);
}
int renameat(int fromFolder, const char *from, int toFolder, const char *to) {
  NEXT(renameat);
  return fails(Rename) ? -1 : next(fromFolder, from, toFolder, to);
}
int renameat2(int fromFolder, const char *from, int toFolder, const char *to,
              unsigned flags) {
  NEXT(renameat2);
  return fails(Rename) ? -1 : next(fromFolder, from, toFolder, to, flags);
}

/*===----------------------------------------------------------------------===
 * start
 *===----------------------------------------------------------------------===*/

pid_t fork(void) {
  NEXT(fork);
  return fails(Start) ? -1 : next();
}
int posix_spawn(pid_t *child, const char *path,
                const posix_spawn_file_actions_t *actions,
                const posix_spawnattr_t *attributes, char *const arguments[],
                char *const environment[]) {
  NEXT(posix_spawn);
  return fails(Start)
             ? errno
             : next(child, path, actions, attributes, arguments, environment);
}
int posix_spawnp(pid_t *child, const char *path,
                 const posix_spawn_file_actions_t *actions,
                 const posix_spawnattr_t *attributes, char *const arguments[],
                 char *const environment[]) {
  NEXT(posix_spawnp);
  return fails(Start)
             ? errno
             : next(child, path, actions, attributes, arguments, environment);
}

/*===----------------------------------------------------------------------===
 * allocate: dlsym itself allocates, so the C library is called by its own names
 *===----------------------------------------------------------------------===*/

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

void *malloc(size_t size) {
  return fails(Allocate) ? NULL : __libc_malloc(size);
}
void *calloc(size_t count, size_t size) {
  return fails(Allocate) ? NULL : __libc_calloc(count, size);
}
void *realloc(void *memory, size_t size) {
  return fails(Allocate) ? NULL : __libc_realloc(memory, size);
}
void *aligned_alloc(size_t alignment, size_t size) {
  return fails(Allocate) ? NULL : __libc_memalign(alignment, size);
}
int posix_memalign(void **memory, size_t alignment, size_t size) {
  void *result = fails(Allocate) ? NULL : __libc_memalign(alignment, size);
  if (!result)
    return ENOMEM;
  *memory = result;
  return 0;
}
