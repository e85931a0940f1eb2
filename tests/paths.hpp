#pragma once
#include <string>

namespace gradus_test {

/// The root of the sources.
std::string source_dir();
/// tests/, with the golden values.
std::string test_dir();
/// Where the build put its programs.
std::string bin_dir();

}  // namespace gradus_test
