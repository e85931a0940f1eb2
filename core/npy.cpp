#include "core/elements.hpp"
#include "core/files.hpp"

#include <charconv>
#include <optional>

namespace gradus {
namespace {

/// What the header of a .npy file says.
struct Header {
  std::optional<Element> element;
  std::optional<bool> fortran_order;
  std::optional<Shape> shape;
};

/// The dtype of `<f4`, `>i8`, `|b1`, ...
Element element_from_descr(const std::string& where, std::string_view descr) {
  using Kind = Element::Kind;
  Element element;
  std::string_view rest = descr;
  if (!rest.empty() && std::string_view("<>|=").find(rest[0]) != std::string_view::npos) {
    element.big_endian = rest[0] == '>';
    rest.remove_prefix(1);
  }
  if (rest == "b1") element.kind = Kind::truth;
  else if (rest == "f2" || rest == "f4" || rest == "f8") element.kind = Kind::real;
  else if (rest == "i1" || rest == "i2" || rest == "i4" || rest == "i8") element.kind = Kind::integer;
  else if (rest == "u1" || rest == "u2" || rest == "u4" || rest == "u8") element.kind = Kind::natural;
  else fail("{}: dtype {} is not supported; save it as a float, an integer or a bool array", where, printable(descr));
  element.bytes = rest[1] - '0';
  return element;
}

/// Reads the Python dictionary `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`.
class HeaderParser {
 public:
  HeaderParser(const std::string& where, std::string_view text) : where_(where), text_(text) {}

  Header parse() {
    Header header;
    expect('{');
    while (!accept('}')) {
      entry(header);
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_space();
    if (at_ != text_.size()) damaged("the end");
    if (!header.element || !header.fortran_order || !header.shape)
      fail("{}: the header lacks one of descr, fortran_order and shape; the file is damaged", where_);
    return header;
  }

 private:
  void entry(Header& header) {
    const std::string_view key = string();
    expect(':');
    if (key == "descr" && !header.element) {
      if (peek() == '[')
        fail("{}: structured dtypes are not supported; save each field as an array of its own", where_);
      header.element = element_from_descr(where_, string());
    } else if (key == "fortran_order" && !header.fortran_order) {
      header.fortran_order = truth();
    } else if (key == "shape" && !header.shape) {
      header.shape = tuple();
    } else {
      fail("{}: the header has an unknown or repeated key {}; the file is damaged", where_, printable(key));
    }
  }
  std::string_view string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') damaged("a string");
    const std::size_t end = text_.find(quote, ++at_);
    if (end == std::string_view::npos) damaged("a closing quote");
    const std::string_view value = text_.substr(at_, end - at_);
    at_ = end + 1;
    return value;
  }
  bool truth() {
    skip_space();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(at_, word.size()) == word) return at_ += word.size(), word == "True";
    damaged("True or False");
  }
  Shape tuple() {
    Shape shape;
    expect('(');
    while (!accept(')')) {
      if (shape.rank() == Shape::max_rank)
        fail("{}: more than {} axes; reshape before saving", where_, Shape::max_rank);
      shape.push_back(extent());
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return shape;
  }
  std::int64_t extent() {
    skip_space();
    std::int64_t n = -1;
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), n);
    if (error == std::errc::result_out_of_range)
      fail("{}: an extent in the header exceeds 2^63; the file is damaged", where_);
    if (error != std::errc() || n < 0) damaged("an extent of 0 or more");
    at_ = static_cast<std::size_t>(end - text_.data());
    accept('L');  // Python 2 wrote (3L, 4L)
    return n;
  }
  void skip_space() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos) ++at_;
  }
  char peek() {
    skip_space();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) damaged(std::string_view(&c, 1));
  }
  [[noreturn]] void damaged(std::string_view expected) {
    fail("{}: the header is damaged at byte {}: expected {}", where_, at_, expected);
  }

  const std::string& where_;
  std::string_view text_;
  std::size_t at_ = 0;
};

constexpr std::string_view magic = "\x93NUMPY";

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// The header's text; `file` is left at the first element.
std::string_view take_header(const std::string& where, std::string_view& file) {
  if (file.substr(0, magic.size()) != magic.substr(0, file.size()))
    fail("{}: not a .npy file; it starts otherwise", where);
  if (file.size() < 12) fail("{}: the file is truncated: {} bytes, before the header", where, file.size());
  const int version = static_cast<unsigned char>(file[6]);
  if (version < 1 || version > 3)
    fail("{}: .npy format version {} is unknown; save it as version 1, 2 or 3", where, version);
  const std::size_t width = version == 1 ? 2 : 4;
  const std::size_t length = little_endian(file.substr(8, width));
  file.remove_prefix(8 + width);
  if (length > file.size())
    fail("{}: the file is truncated: a header of {} bytes, {} are there", where, length, file.size());
  const std::string_view header = file.substr(0, length);
  file.remove_prefix(length);
  return header;
}

/// The same elements in reversed axis order, as Fortran order stores them.
Tensor from_fortran(const std::string& where, std::string_view data, const Shape& shape, Element element) {
  Shape reversed;
  for (int i = shape.rank() - 1; i >= 0; --i) reversed.push_back(shape[i]);
  const Tensor columns = decode_elements(where, data, reversed, element);
  Layout layout{shape, shape, 0};
  for (int i = 0; i < shape.rank(); ++i) layout.strides[i] = columns.strides()[shape.rank() - 1 - i];
  return packed(Tensor(columns.storage(), layout, columns.dtype()));
}

}  // namespace

Tensor decode_npy(const std::string& where, std::string_view file) {
  const Header header = HeaderParser(where, take_header(where, file)).parse();
  const auto bytes = static_cast<std::size_t>(checked_bytes(where, *header.shape, header.element->bytes));
  if (bytes > file.size())
    fail("{}: the file is truncated: shape {} takes {} bytes, {} are there", where, *header.shape, bytes, file.size());
  if (bytes < file.size())
    fail("{}: {} bytes too many after shape {}; one array per file", where, file.size() - bytes, *header.shape);
  if (*header.fortran_order && header.shape->rank() > 1)
    return from_fortran(where, file, *header.shape, *header.element);
  return decode_elements(where, file, *header.shape, *header.element);
}

std::string encode_npy(const Tensor& x) {
  constexpr const char* descr[] = {"<f4", "<f8", "<i8", "|b1"};  // in the order of DType
  const std::string_view comma = x.rank() == 1 ? "," : "";       // Python's tuple of one
  std::string header =
      fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr[static_cast<int>(x.dtype())],
                  fmt::join(x.shape().begin(), x.shape().end(), ", "), comma);
  const std::size_t before = magic.size() + 4;
  header.append(63 - (before + header.size()) % 64, ' ');  // elements start at a multiple of 64
  header += '\n';
  std::string file(magic);
  file += {'\1', '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  const std::string_view elements = raw_bytes(x);
  file.reserve(file.size() + header.size() + elements.size());
  return file.append(header).append(elements);
}

Tensor load_npy(const std::filesystem::path& path) { return decode_npy("load_npy: " + path.string(), read_file(path)); }

void save_npy(const std::filesystem::path& path, const Tensor& x) {
  write_file(path, encode_npy(packed_for_saving("save_npy", path.filename().string(), x)));
}

}  // namespace gradus
