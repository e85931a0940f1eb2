#include "core/zip.hpp"

#include "core/elements.hpp"

#include <zlib.h>

#include <algorithm>
#include <limits>
#include <optional>

// The format: PKWARE's APPNOTE.TXT 6.3. Local header + content per member, then the central directory, then its end
// record. A 32-bit field full of ones means that the value stands in a zip64 record.

namespace gradus {
namespace {

constexpr std::uint32_t local_magic = 0x04034b50, central_magic = 0x02014b50, end_magic = 0x06054b50;
constexpr std::uint32_t end64_magic = 0x06064b50, locator64_magic = 0x07064b50;
constexpr std::uint64_t full16 = 0xffff, full32 = 0xffffffff;

/// Reads little-endian numbers off the front of a piece of an archive. Error rather than a read beyond it.
class Reader {
 public:
  Reader(const std::string& where, std::string_view archive, std::uint64_t position) : where_(where) {
    if (position > archive.size()) truncated();
    rest_ = archive.substr(position);
  }
  std::uint64_t number(std::size_t bytes) {
    const std::string_view raw = take(bytes);
    std::uint64_t value = 0;
    for (std::size_t i = bytes; i-- > 0;) value = value << 8 | static_cast<unsigned char>(raw[i]);
    return value;
  }
  std::string_view take(std::uint64_t bytes) {
    if (bytes > rest_.size()) truncated();
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  void expect(std::uint32_t magic, const char* what) {
    if (number(4) != magic) fail("{}: no {} where one should be; the file is damaged", where_, what);
  }
  bool empty() const { return rest_.empty(); }

 private:
  [[noreturn]] void truncated() const {
    fail("{}: the zip archive is truncated or damaged: a record reaches beyond its end", where_);
  }
  const std::string& where_;
  std::string_view rest_;
};

struct Directory {
  std::uint64_t entries = 0, bytes = 0, position = 0;
};

/// The position of the end record: the last one whose comment ends exactly with the file.
std::uint64_t find_end(const std::string& where, std::string_view archive) {
  constexpr std::uint64_t record = 22;
  if (archive.size() >= record) {
    const std::uint64_t last = archive.size() - record, first = last > full16 ? last - full16 : 0;
    for (std::uint64_t at = last + 1; at-- > first;) {
      if (archive.substr(at, 2) != "PK") continue;
      Reader reader(where, archive, at);
      if (reader.number(4) != end_magic) continue;
      reader.take(16);
      if (reader.number(2) == last - at) return at;
    }
  }
  fail("{}: no end-of-directory record in {} bytes; the file is truncated, or not a zip archive", where,
       archive.size());
}

Directory find_directory(const std::string& where, std::string_view archive) {
  const std::uint64_t end = find_end(where, archive);
  Reader reader(where, archive, end + 4);
  const std::uint64_t disk = reader.number(2), first_disk = reader.number(2);
  Directory directory;
  reader.take(2);
  directory.entries = reader.number(2);
  directory.bytes = reader.number(4);
  directory.position = reader.number(4);
  constexpr std::uint64_t locator = 20;
  if (end >= locator && Reader(where, archive, end - locator).number(4) == locator64_magic) {
    Reader found(where, archive, end - locator + 8);
    Reader wide(where, archive, found.number(8));
    wide.expect(end64_magic, "zip64 end record");
    wide.take(8 + 2 + 2 + 4 + 4 + 8);  // its size, versions, disks, entries on this disk
    directory.entries = wide.number(8);
    directory.bytes = wide.number(8);
    directory.position = wide.number(8);
  } else if (disk != 0 || first_disk != 0) {
    fail("{}: the archive is in several parts; join them first", where);
  }
  return directory;
}

/// Replaces the fields that are all ones by those of the zip64 extra field, which come in this order.
void read_zip64(const std::string& where, std::string_view extra, ZipEntry& entry) {
  Reader reader(where, extra, 0);
  while (!reader.empty()) {
    const std::uint64_t id = reader.number(2);
    const std::string_view body = reader.take(reader.number(2));
    if (id != 1) continue;
    Reader wide(where, body, 0);
    for (std::uint64_t* field : {&entry.size, &entry.stored_size, &entry.header_position})
      if (*field == full32) *field = wide.number(8);
    return;
  }
}

/// What can be said against an entry before its content is touched. Deflate shrinks by 1032 at most, so that a larger
/// claim is false.
void check_entry(const std::string& where, std::string_view archive, const ZipEntry& entry, std::uint64_t flags,
                 std::uint64_t method) {
  constexpr std::uint64_t best_ratio = 1032;
  const std::string name = printable(entry.name);
  if (flags & 1) fail("{}: member {} is encrypted; decrypt it first", where, name);
  if (method != 0 && method != 8)
    fail("{}: member {} uses compression method {}; use stored or deflated", where, name, method);
  if (entry.stored_size > archive.size() || entry.header_position > archive.size())
    fail("{}: member {} of {} bytes at {} does not fit into {} bytes; the archive is truncated or damaged", where, name,
         entry.stored_size, entry.header_position, archive.size());
  if (method == 0 && entry.size != entry.stored_size)
    fail("{}: stored member {} has two sizes, {} and {}; the archive is damaged", where, name, entry.size,
         entry.stored_size);
  if (entry.size / best_ratio > entry.stored_size)
    fail("{}: member {} claims to grow from {} to {} bytes; the archive is damaged", where, name, entry.stored_size,
         entry.size);
}

ZipEntry read_entry(const std::string& where, std::string_view archive, Reader& reader) {
  ZipEntry entry;
  reader.expect(central_magic, "directory entry");
  reader.take(4);  // versions
  const std::uint64_t flags = reader.number(2), method = reader.number(2);
  reader.take(4);  // time, date
  entry.checksum = static_cast<std::uint32_t>(reader.number(4));
  entry.stored_size = reader.number(4);
  entry.size = reader.number(4);
  const std::uint64_t name = reader.number(2), extra = reader.number(2), comment = reader.number(2);
  reader.take(2 + 2 + 4);  // disk, attributes
  entry.header_position = reader.number(4);
  entry.name = reader.take(name);
  entry.deflated = method == 8;
  read_zip64(where, reader.take(extra), entry);
  reader.take(comment);
  check_entry(where, archive, entry, flags, method);
  return entry;
}

/// A zlib inflate stream that ends itself.
struct Inflater {
  z_stream stream{};
  Inflater() {
    if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
      fail("zip: zlib does not start: out of memory");  // negative: no zlib header
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream); }
};

/// zlib counts in 32 bits: gives it the next piece.
template <class Pointer>
void feed(Pointer*& next, uInt& available, Pointer* at, std::uint64_t left) {
  next = at;
  available = static_cast<uInt>(std::min<std::uint64_t>(left, std::numeric_limits<uInt>::max()));
}

/// Inflates `packed` into exactly `size` bytes; nothing if it is damaged or of another size.
std::optional<std::string> inflated(std::string_view packed, std::uint64_t size) {
  std::string content(size + 1, '\0');  // one more, so that content that is too long shows
  Inflater inflater;
  z_stream& z = inflater.stream;
  std::uint64_t in = 0, out = 0;
  for (int state = Z_OK; state == Z_OK;) {
    feed(z.next_in, z.avail_in, reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + in)), packed.size() - in);
    feed(z.next_out, z.avail_out, reinterpret_cast<Bytef*>(content.data() + out), content.size() - out);
    const uInt in_before = z.avail_in, out_before = z.avail_out;
    state = inflate(&z, Z_NO_FLUSH);
    in += in_before - z.avail_in;
    out += out_before - z.avail_out;
    if (state == Z_STREAM_END && out == size) return content.resize(size), content;
  }
  return std::nullopt;
}

void put(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

std::uint32_t checksum_of(std::string_view content) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()));
}

}  // namespace

std::vector<ZipEntry> zip_entries(const std::string& where, std::string_view archive) {
  const Directory directory = find_directory(where, archive);
  Reader whole(where, archive, directory.position);
  Reader reader(where, whole.take(directory.bytes), 0);
  std::vector<ZipEntry> entries;
  std::uint64_t stored = 0;  // members that share bytes are a way to make a small file huge
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    entries.push_back(read_entry(where, archive, reader));
    stored += entries.back().stored_size;
    if (stored > archive.size()) fail("{}: the members overlap; the archive is damaged", where);
  }
  return entries;
}

std::string zip_content(const std::string& where, std::string_view archive, const ZipEntry& entry) {
  Reader reader(where, archive, entry.header_position);
  reader.expect(local_magic, "member header");
  reader.take(22);  // what the directory has already said
  const std::uint64_t name = reader.number(2), extra = reader.number(2);
  reader.take(name + extra);
  const std::string_view packed = reader.take(entry.stored_size);
  std::optional<std::string> content = entry.deflated ? inflated(packed, entry.size) : std::string(packed);
  if (!content)
    fail("{}: member {} does not inflate to {} bytes; the archive is damaged", where, printable(entry.name),
         entry.size);
  if (checksum_of(*content) != entry.checksum)
    fail("{}: member {} has a wrong checksum; the archive is damaged", where, printable(entry.name));
  return std::move(*content);
}

void ZipWriter::add(std::string_view name, std::string_view content) {
  if (name.size() > full16) fail("zip: a name of {} bytes is too long; 65535 is the most", name.size());
  const bool big = content.size() >= full32, far = archive_.size() >= full32;
  const std::uint64_t size = big ? full32 : content.size(), position = far ? full32 : archive_.size();
  const int local_extra = big ? 20 : 0, central_extra = big || far ? 4 + (big ? 16 : 0) + (far ? 8 : 0) : 0;
  constexpr std::uint64_t version = 45, utf8 = 1 << 11, midnight = 0, first_of_1980 = 0x21;
  std::string common;
  for (const std::uint64_t field : {version, utf8, std::uint64_t{0}, midnight, first_of_1980}) put(common, field, 2);
  for (const std::uint64_t field : {std::uint64_t{checksum_of(content)}, size, size}) put(common, field, 4);
  put(common, name.size(), 2);

  put(directory_, central_magic, 4), put(directory_, version, 2), directory_ += common;
  put(directory_, static_cast<std::uint64_t>(central_extra), 2);
  put(directory_, 0, 2 + 2 + 2), put(directory_, 0, 4);  // no comment, disk 0, no attributes
  put(directory_, position, 4), directory_ += name;
  if (central_extra) put(directory_, 1, 2), put(directory_, static_cast<std::uint64_t>(central_extra - 4), 2);
  if (big) put(directory_, content.size(), 8), put(directory_, content.size(), 8);
  if (far) put(directory_, archive_.size(), 8);

  put(archive_, local_magic, 4), archive_ += common;
  put(archive_, static_cast<std::uint64_t>(local_extra), 2), archive_ += name;
  if (big)
    put(archive_, 1, 2), put(archive_, 16, 2), put(archive_, content.size(), 8), put(archive_, content.size(), 8);
  archive_ += content;
  ++count_;
}

std::string ZipWriter::finish() {
  const std::uint64_t position = archive_.size(), bytes = directory_.size();
  archive_ += directory_;
  if (count_ >= full16 || position >= full32 || bytes >= full32) {
    const std::uint64_t record = archive_.size();
    put(archive_, end64_magic, 4), put(archive_, 44, 8), put(archive_, 45, 2), put(archive_, 45, 2),
        put(archive_, 0, 8);
    for (const std::uint64_t field : {count_, count_, bytes, position}) put(archive_, field, 8);
    put(archive_, locator64_magic, 4), put(archive_, 0, 4), put(archive_, record, 8), put(archive_, 1, 4);
  }
  put(archive_, end_magic, 4), put(archive_, 0, 4);
  for (int i = 0; i < 2; ++i) put(archive_, std::min(count_, full16), 2);
  put(archive_, std::min(bytes, full32), 4), put(archive_, std::min(position, full32), 4), put(archive_, 0, 2);
  return std::move(archive_);
}

}  // namespace gradus
