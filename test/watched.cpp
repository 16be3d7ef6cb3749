// Preloaded into a process: writes a line to WATCHED_LOG for each name that is looked up, each
// address that is connected or sent to, and each file that is opened to write. Connections and
// look-ups that would leave this machine are refused.
#include <arpa/inet.h>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <string>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

template <typename Function>
Function real(const char * name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

void note(const char * call, const std::string & what) {
  const int kept = errno;
  const char * path = std::getenv("WATCHED_LOG");
  if (path) {
    const long log = syscall(
      SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    const std::string line = std::string(call) + ' ' + what + '\n';
    syscall(SYS_write, log, line.data(), line.size());
    syscall(SYS_close, log);
  }
  errno = kept;
}

bool is_number(const char * host) {
  unsigned char address[sizeof(in6_addr)];
  return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

bool is_loopback(const std::string & host) {
  return host == "localhost" || host == "::1" || host.rfind("127.", 0) == 0;
}

// Notes an internet address; says whether it is this machine's loopback or no internet at all.
bool stays(const char * call, const sockaddr * address) {
  char host[INET6_ADDRSTRLEN] = "";
  int port = 0;
  if (!address) {
    return true;
  } else if (address->sa_family == AF_INET) {
    const auto * in = reinterpret_cast<const sockaddr_in *>(address);
    inet_ntop(AF_INET, &in->sin_addr, host, sizeof host);
    port = ntohs(in->sin_port);
  } else if (address->sa_family == AF_INET6) {
    const auto * in = reinterpret_cast<const sockaddr_in6 *>(address);
    inet_ntop(AF_INET6, &in->sin6_addr, host, sizeof host);
    port = ntohs(in->sin6_port);
  } else {
    return true;
  }
  note(call, std::string(host) + ' ' + std::to_string(port));
  return is_loopback(host);
}

bool writes(int flags) { return (flags & O_ACCMODE) != O_RDONLY || (flags & O_CREAT); }

void note_file(int folder, const char * path) {
  std::string whole = path ? path : "";
  if (!whole.empty() && whole[0] != '/') {
    char base[4096] = "";
    const std::string link =
      folder == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/" + std::to_string(folder);
    if (readlink(link.c_str(), base, sizeof base - 1) > 0) {
      whole = std::string(base) + '/' + whole;
    }
  }
  note("open", whole);
}

}  // namespace

extern "C" {

int connect(int descriptor, const sockaddr * address, socklen_t size) {
  if (!stays("connect", address)) {
    int kind = 0;
    socklen_t length = sizeof kind;
    getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &kind, &length);
    if (kind == SOCK_STREAM) {
      errno = ENETUNREACH;
      return -1;
    }
  }
  return real<decltype(&connect)>("connect")(descriptor, address, size);
}

ssize_t sendto(
  int descriptor, const void * data, size_t size, int flags, const sockaddr * address,
  socklen_t length)
{
  stays("send", address);
  return real<decltype(&sendto)>("sendto")(descriptor, data, size, flags, address, length);
}

ssize_t sendmsg(int descriptor, const msghdr * message, int flags) {
  stays("send", static_cast<const sockaddr *>(message->msg_name));
  return real<decltype(&sendmsg)>("sendmsg")(descriptor, message, flags);
}

int sendmmsg(int descriptor, mmsghdr * messages, unsigned count, int flags) {
  for (unsigned i = 0; i < count; ++i) {
    stays("send", static_cast<const sockaddr *>(messages[i].msg_hdr.msg_name));
  }
  return real<decltype(&sendmmsg)>("sendmmsg")(descriptor, messages, count, flags);
}

int getaddrinfo(
  const char * name, const char * service, const addrinfo * hints, addrinfo ** found)
{
  if (name && !is_number(name) && !is_loopback(name)) {
    note("lookup", name);
    return EAI_FAIL;
  }
  return real<decltype(&getaddrinfo)>("getaddrinfo")(name, service, hints, found);
}

hostent * gethostbyname(const char * name) {
  if (!is_number(name) && !is_loopback(name)) {
    note("lookup", name);
    h_errno = NO_RECOVERY;
    return nullptr;
  }
  return real<decltype(&gethostbyname)>("gethostbyname")(name);
}

#define OPEN(name)                                                        \
  int name(const char * path, int flags, ...) {                           \
    va_list rest;                                                         \
    va_start(rest, flags);                                                \
    const mode_t mode = va_arg(rest, mode_t);                             \
    va_end(rest);                                                         \
    if (writes(flags)) note_file(AT_FDCWD, path);                 \
    return real<int (*)(const char *, int, ...)>(#name)(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                               \
  int name(int folder, const char * path, int flags, ...) {                        \
    va_list rest;                                                                  \
    va_start(rest, flags);                                                         \
    const mode_t mode = va_arg(rest, mode_t);                                      \
    va_end(rest);                                                                  \
    if (writes(flags)) note_file(folder, path);                            \
    return real<int (*)(int, const char *, int, ...)>(#name)(folder, path, flags, mode); \
  }
OPENAT(openat)
OPENAT(openat64)

#define FOPEN(name)                                                         \
  FILE * name(const char * path, const char * mode) {                       \
    if (mode[0] != 'r' || strchr(mode, '+')) note_file(AT_FDCWD, path); \
    return real<FILE * (*)(const char *, const char *)>(#name)(path, mode); \
  }
FOPEN(fopen)
FOPEN(fopen64)

}  // extern "C"
