#include "core/error.hpp"

namespace gradus {

void fail_with(fmt::string_view text, fmt::format_args args) { throw Error(fmt::vformat(text, args)); }

}  // namespace gradus
