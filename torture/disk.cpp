// Preloaded into a process: counts its calls on files below one folder, and at the n-th of them
// ends the process, fails, or finds the disk full. Each call can be written to a journal, from
// which power cuts are replayed. The memory-mapped -shm is left out: it is made anew anyway.
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <string>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

enum Mode { PASS, KILL, KILL_HALFWAY, FAIL, FULL };

std::string folder;
int journal = -1;
int mode = PASS;
int error_number = 0;
bool with_reads = false;
long place = 0;
long count = 0;
pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

struct Held {
  Held() {pthread_mutex_lock(&lock);}
  ~Held() {pthread_mutex_unlock(&lock);}
};

std::string link_of(int fd) {
  char found[PATH_MAX];
  const int kept = errno;
  const std::string name = "/proc/self/fd/" + std::to_string(fd);
  const ssize_t size = readlink(name.c_str(), found, sizeof found);
  errno = kept;
  return size < 0 ? std::string() : std::string(found, size);
}

std::string path_of(int directory, const char * name) {
  if (name[0] == '/') {
    return name;
  }
  if (directory != AT_FDCWD) {
    return link_of(directory) + '/' + name;
  }
  char here[PATH_MAX];
  return std::string(getcwd(here, sizeof here) ? here : "") + '/' + name;
}

bool is_ours(const std::string & path) {
  const size_t end = path.size();
  return !folder.empty() && path.compare(0, folder.size(), folder) == 0 &&
         !(end > 4 && path.compare(end - 4, 4, "-shm") == 0);
}

void put(const void * data, size_t size) {
  const char * from = static_cast<const char *>(data);
  while (size) {
    const long done = syscall(SYS_write, journal, from, size);
    if (done <= 0) {
      std::abort();
    }
    from += done;
    size -= done;
  }
}

void note(
  char kind, const std::string & path, const std::string & other, int64_t offset,
  const void * data, int64_t size)
{
  if (journal < 0) {
    return;
  }
  const int kept = errno;
  const int32_t lengths[2] = {
    static_cast<int32_t>(path.size()), static_cast<int32_t>(other.size())};
  put(&kind, 1);
  put(lengths, sizeof lengths);
  put(&offset, sizeof offset);
  put(&size, sizeof size);
  put(path.data(), path.size());
  put(other.data(), other.size());
  put(data, size);
  errno = kept;
}

[[noreturn]] void die() {
  syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
  for (;;) {
    pause();
  }
}

// Counts a call; says whether it is to fail, with errno set. `grows`: a full disk refuses it.
bool strikes(bool grows) {
  ++count;
  if (mode == FULL && count >= place && grows) {
    errno = ENOSPC;
    return true;
  }
  if (count != place) {
    return false;
  }
  if (mode == KILL || mode == KILL_HALFWAY) {
    die();
  }
  if (mode == FAIL) {
    errno = error_number;
    return true;
  }
  return false;
}

ssize_t put_at(int fd, const void * data, size_t size, off_t offset) {
  return syscall(SYS_pwrite64, fd, data, size, offset);
}

ssize_t do_write(int fd, const void * data, size_t size, off_t offset, bool is_placed) {
  const std::string path = link_of(fd);
  if (!is_ours(path)) {
    return is_placed ? put_at(fd, data, size, offset) : syscall(SYS_write, fd, data, size);
  }
  Held held;
  off_t at = offset;
  if (!is_placed) {
    const bool appends = fcntl(fd, F_GETFL) & O_APPEND;
    struct stat found;
    at = appends && !fstat(fd, &found) ? found.st_size : lseek(fd, 0, SEEK_CUR);
  }
  if (mode == KILL_HALFWAY && count + 1 == place && size > 1) {
    put_at(fd, data, size / 2, at);
  }
  if (strikes(true)) {
    return -1;
  }
  const ssize_t done =
    is_placed ? put_at(fd, data, size, offset) : syscall(SYS_write, fd, data, size);
  if (done > 0) {
    note('W', path, "", at, data, done);
  }
  return done;
}

int do_sync(int fd, long number) {
  const std::string path = link_of(fd);
  if (!is_ours(path) && path + '/' != folder) {
    return syscall(number, fd);
  }
  Held held;
  if (strikes(false)) {
    return -1;
  }
  // What the journal says of a power cut needs no real one.
  note('S', path, "", 0, nullptr, 0);
  return 0;
}

int do_truncate(int fd, off_t size) {
  const std::string path = link_of(fd);
  if (!is_ours(path)) {
    return syscall(SYS_ftruncate, fd, size);
  }
  Held held;
  struct stat found;
  const bool grows = !fstat(fd, &found) && found.st_size < size;
  if (strikes(grows)) {
    return -1;
  }
  const int done = syscall(SYS_ftruncate, fd, size);
  if (!done) {
    note('T', path, "", size, nullptr, 0);
  }
  return done;
}

int do_open(int directory, const char * name, int flags, mode_t rights) {
  const auto go = [&] {
      return static_cast<int>(syscall(SYS_openat, directory, name, flags, rights));
    };
  const std::string path = path_of(directory, name);
  if (!is_ours(path) || !(flags & (O_CREAT | O_TRUNC))) {
    return go();
  }
  Held held;
  struct stat found;
  const bool is_there = syscall(SYS_newfstatat, directory, name, &found, 0) == 0;
  const bool changes = !is_there || (flags & O_TRUNC);
  if (changes && strikes(!is_there)) {
    return -1;
  }
  const int fd = go();
  if (fd >= 0 && changes) {
    note(is_there ? 'T' : 'C', path, "", 0, nullptr, 0);
  }
  return fd;
}

int do_unlink(int directory, const char * name, int flags) {
  const std::string path = path_of(directory, name);
  if (!is_ours(path) || flags) {
    return syscall(SYS_unlinkat, directory, name, flags);
  }
  Held held;
  if (strikes(false)) {
    return -1;
  }
  const int done = syscall(SYS_unlinkat, directory, name, flags);
  if (!done) {
    note('U', path, "", 0, nullptr, 0);
  }
  return done;
}

int do_move(char kind, int from, const char * old, int to, const char * made, int flags) {
  const std::string path = path_of(from, old), other = path_of(to, made);
  const auto go = [&] {
      return static_cast<int>(
        kind == 'R' ? syscall(SYS_renameat2, from, old, to, made, flags) :
        syscall(SYS_linkat, from, old, to, made, flags));
    };
  if (!is_ours(other)) {
    return go();
  }
  Held held;
  if (strikes(kind == 'L')) {
    return -1;
  }
  const int done = go();
  if (!done) {
    note(kind, path, other, 0, nullptr, 0);
  }
  return done;
}

bool read_strikes(int fd) {
  if (!with_reads || folder.empty() || !is_ours(link_of(fd))) {
    return false;
  }
  Held held;
  return strikes(false);
}

mode_t rights_of(int flags, va_list given) {
  return flags & (O_CREAT | O_TMPFILE) ? va_arg(given, mode_t) : 0;
}

}  // namespace

extern "C" {

// Watches what lies below a folder (its real path, with a slash at the end).
void torture_watch(const char * below, int journal_fd) {
  Held held;
  folder = below;
  journal = journal_fd;
  count = 0;
  mode = PASS;
}

// Strikes at the n-th call from now on, reads counted as well where `reads` is not 0.
void torture_arm(int how, long n, int number, int reads) {
  Held held;
  count = 0;
  place = n;
  error_number = number;
  with_reads = reads;
  mode = how;
}

long torture_count() {return count;}

void torture_mark(int64_t number) {
  Held held;
  note('A', "", "", number, nullptr, 0);
}

ssize_t write(int fd, const void * data, size_t size) {return do_write(fd, data, size, 0, false);}
ssize_t pwrite(int fd, const void * data, size_t size, off_t at) {
  return do_write(fd, data, size, at, true);
}
ssize_t pwrite64(int fd, const void * data, size_t size, off_t at) {
  return do_write(fd, data, size, at, true);
}
ssize_t read(int fd, void * data, size_t size) {
  return read_strikes(fd) ? -1 : syscall(SYS_read, fd, data, size);
}
ssize_t pread(int fd, void * data, size_t size, off_t at) {
  return read_strikes(fd) ? -1 : syscall(SYS_pread64, fd, data, size, at);
}
ssize_t pread64(int fd, void * data, size_t size, off_t at) {
  return read_strikes(fd) ? -1 : syscall(SYS_pread64, fd, data, size, at);
}
int fsync(int fd) {return do_sync(fd, SYS_fsync);}
int fdatasync(int fd) {return do_sync(fd, SYS_fdatasync);}
int ftruncate(int fd, off_t size) noexcept {return do_truncate(fd, size);}
int ftruncate64(int fd, off_t size) noexcept {return do_truncate(fd, size);}
int unlink(const char * name) noexcept {return do_unlink(AT_FDCWD, name, 0);}
int unlinkat(int directory, const char * name, int flags) noexcept {
  return do_unlink(directory, name, flags);
}
int rename(const char * old, const char * made) noexcept {
  return do_move('R', AT_FDCWD, old, AT_FDCWD, made, 0);
}
int renameat(int from, const char * old, int to, const char * made) noexcept {
  return do_move('R', from, old, to, made, 0);
}
int link(const char * old, const char * made) noexcept {
  return do_move('L', AT_FDCWD, old, AT_FDCWD, made, 0);
}
int linkat(int from, const char * old, int to, const char * made, int flags) noexcept {
  return do_move('L', from, old, to, made, flags);
}
int open(const char * name, int flags, ...) {
  va_list given;
  va_start(given, flags);
  const mode_t rights = rights_of(flags, given);
  va_end(given);
  return do_open(AT_FDCWD, name, flags, rights);
}
int open64(const char * name, int flags, ...) {
  va_list given;
  va_start(given, flags);
  const mode_t rights = rights_of(flags, given);
  va_end(given);
  return do_open(AT_FDCWD, name, flags, rights);
}
int openat(int directory, const char * name, int flags, ...) {
  va_list given;
  va_start(given, flags);
  const mode_t rights = rights_of(flags, given);
  va_end(given);
  return do_open(directory, name, flags, rights);
}
int openat64(int directory, const char * name, int flags, ...) {
  va_list given;
  va_start(given, flags);
  const mode_t rights = rights_of(flags, given);
  va_end(given);
  return do_open(directory, name, flags, rights);
}

}  // extern "C"
