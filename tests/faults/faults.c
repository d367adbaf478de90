/* Preloaded into a command, lets one call fail, as TENON_FAULT says:
 *
 *   malloc:N   the N-th allocation, and every later one, finds no memory
 *   write:N    the N-th call of write(2) and fsync(2) finds the disk full, and so does every later one
 *   kill:N     before the N-th call of write(2), fsync(2), open(2), rename(2) or close(2) the process
 *              is killed
 *
 * TENON_FAULT_COUNT names a file that gets the number of calls instead of a fault. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum Kind { None, Malloc, Write, Kill };
static enum Kind kind;
static long failAt;
static atomic_long calls;
static const char* countPath;

extern void* __libc_malloc(size_t);
extern void* __libc_calloc(size_t, size_t);
extern void* __libc_realloc(void*, size_t);

static ssize_t (*realWrite)(int, const void*, size_t);
static int (*realOpen)(const char*, int, ...);
static int (*realFsync)(int);
static int (*realClose)(int);
static int (*realRename)(const char*, const char*);

__attribute__((constructor)) static void begin(void) {
  realWrite = (ssize_t(*)(int, const void*, size_t))dlsym(RTLD_NEXT, "write");
  realOpen = (int (*)(const char*, int, ...))dlsym(RTLD_NEXT, "open");
  realFsync = (int (*)(int))dlsym(RTLD_NEXT, "fsync");
  realClose = (int (*)(int))dlsym(RTLD_NEXT, "close");
  realRename = (int (*)(const char*, const char*))dlsym(RTLD_NEXT, "rename");
  countPath = getenv("TENON_FAULT_COUNT");
  const char* fault = getenv("TENON_FAULT");
  if (!fault)
    return;
  if (strncmp(fault, "malloc:", 7) == 0)
    kind = Malloc;
  else if (strncmp(fault, "write:", 6) == 0)
    kind = Write;
  else if (strncmp(fault, "kill:", 5) == 0)
    kind = Kill;
  failAt = atol(strchr(fault, ':') + 1);
}

__attribute__((destructor)) static void end(void) {
  if (!countPath)
    return;
  char text[32];
  int length = snprintf(text, sizeof(text), "%ld", (long)calls);
  int file = realOpen(countPath, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0 || realWrite(file, text, (size_t)length) != length)
    abort();
  realClose(file);
}

/* Counts a call of that kind; nonzero where it fails. */
static int isFault(enum Kind called) {
  if (kind != called)
    return 0;
  long call = ++calls;
  return !countPath && call >= failAt;
}

static void killHere(void) {
  if (isFault(Kill))
    raise(SIGKILL);
}

void* malloc(size_t bytes) {
  if (isFault(Malloc)) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_malloc(bytes);
}

void* calloc(size_t count, size_t bytes) {
  if (isFault(Malloc)) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_calloc(count, bytes);
}

void* realloc(void* memory, size_t bytes) {
  if (isFault(Malloc)) {
    errno = ENOMEM;
    return NULL;
  }
  return __libc_realloc(memory, bytes);
}

ssize_t write(int file, const void* bytes, size_t count) {
  killHere();
  if (file > 2 && isFault(Write)) {
    errno = ENOSPC;
    return -1;
  }
  return realWrite(file, bytes, count);
}

int fsync(int file) {
  killHere();
  if (isFault(Write)) {
    errno = EIO;
    return -1;
  }
  return realFsync(file);
}

int open(const char* path, int flags, ...) {
  killHere();
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  return realOpen(path, flags, mode);
}

int close(int file) {
  killHere();
  return realClose(file);
}

int rename(const char* from, const char* to) {
  killHere();
  return realRename(from, to);
}
