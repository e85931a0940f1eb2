#include "tests/paths.hpp"

namespace gradus_test {

std::string source_dir() { return GRADUS_SOURCE_DIR; }
std::string test_dir() { return GRADUS_SOURCE_DIR "/tests"; }
std::string bin_dir() { return GRADUS_BIN_DIR; }

}  // namespace gradus_test
