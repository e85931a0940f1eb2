#include "core/files.hpp"

#include "core/error.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <system_error>

namespace gradus {
namespace {

std::string reason(int code) { return std::generic_category().message(code); }

/// An open file that closes itself.
class Descriptor {
 public:
  Descriptor(const std::filesystem::path& path, int flags, mode_t mode = 0666) {
    do number_ = ::open(path.c_str(), flags | O_CLOEXEC, mode);
    while (number_ < 0 && errno == EINTR);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  explicit operator bool() const { return number_ >= 0; }
  int number() const { return number_; }
  /// Closes now and says whether that worked (network file systems report a full disk only here).
  bool close() {
    const int result = ::close(number_);
    number_ = -1;
    return result == 0 || errno == EINTR;
  }

 private:
  int number_ = -1;
};

/// A file that is removed again unless `keep()` was called.
class Temporary {
 public:
  explicit Temporary(std::filesystem::path path) : path_(std::move(path)) {}
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;
  ~Temporary() {
    if (!kept_) ::unlink(path_.c_str());
  }
  void keep() { kept_ = true; }

 private:
  std::filesystem::path path_;
  bool kept_ = false;
};

/// Writes everything; false with errno set otherwise.
bool write_all(int file, std::string_view content) {
  while (!content.empty()) {
    const ssize_t n = ::write(file, content.data(), content.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    content.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

[[noreturn]] void fail_write(const std::filesystem::path& path, int code) {
  fail("write_file: {} cannot be written: {}; what was there before is unchanged", path.string(), reason(code));
}

/// Devices and pipes (`/dev/stdout`) are written to as they are: renaming over them would replace them.
void write_special(const std::filesystem::path& path, std::string_view content) {
  const Descriptor file(path, O_WRONLY);
  if (!file || !write_all(file.number(), content))
    fail("write_file: {} cannot be written: {}", path.string(), reason(errno));
}

/// `folder/.name.tmp-PID-N`: in the same folder, because a rename does not cross file systems.
std::filesystem::path temporary_name(const std::filesystem::path& path) {
  static std::atomic<unsigned> counter{0};
  return path.parent_path() / fmt::format(".{}.tmp-{}-{}", path.filename().string(), ::getpid(), counter++);
}

/// Makes a rename durable. Some file systems refuse to sync folders; the content is already safe then.
void sync_folder(const std::filesystem::path& folder) {
  const Descriptor directory(folder.empty() ? "." : folder, O_RDONLY | O_DIRECTORY);
  if (directory) ::fsync(directory.number());
}

}  // namespace

std::string read_file(const std::filesystem::path& path) {
  const Descriptor file(path, O_RDONLY);
  if (!file) fail("read_file: {} cannot be opened: {}; check the path", path.string(), reason(errno));
  struct stat status {};
  const bool sized = ::fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode);
  std::string content(sized ? static_cast<std::size_t>(status.st_size) + 1 : 65536,
                      '\0');  // one more byte than there is: sees the end
  for (std::size_t size = 0;;) {
    if (size == content.size()) content.resize(size * 2);  // a pipe, or a file that grows
    const ssize_t n = ::read(file.number(), content.data() + size, content.size() - size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("read_file: {} cannot be read: {}", path.string(), reason(errno));
    size += static_cast<std::size_t>(n);
    if (n == 0) return content.resize(size), content;
  }
}

void write_file(const std::filesystem::path& given, std::string_view content) {
  std::error_code ignored;
  std::filesystem::path path = given;
  if (std::filesystem::is_symlink(path, ignored))  // keep the link, replace what it points to
    if (const auto target = std::filesystem::weakly_canonical(path, ignored); !target.empty()) path = target;
  struct stat old {};
  const bool exists = ::stat(path.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) fail_write(path, EISDIR);
  if (exists && !S_ISREG(old.st_mode)) return write_special(path, content);

  const std::filesystem::path name = temporary_name(path);
  Descriptor file(name, O_WRONLY | O_CREAT | O_EXCL);
  if (!file) fail_write(path, errno);
  Temporary temporary(name);
  if (exists && ::fchmod(file.number(), old.st_mode & 07777) != 0) fail_write(path, errno);
  if (!write_all(file.number(), content) || ::fsync(file.number()) != 0 || !file.close()) fail_write(path, errno);
  if (::rename(name.c_str(), path.c_str()) != 0) fail_write(path, errno);
  temporary.keep();
  sync_folder(path.parent_path());
}

}  // namespace gradus
