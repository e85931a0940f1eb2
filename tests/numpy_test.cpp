// Derivations as NumPy programs: what they compute is what Gradus computed.
#include "study/numpy.hpp"

#include <doctest/doctest.h>

#include <cstdio>

#include "core/files.hpp"
#include "file_helpers.hpp"
#include "tests/op_derivations.hpp"

using namespace gradus;
using gradus::test::Folder;

namespace {

// Runs every program of a folder and prints those that fail.
constexpr const char* run_all = R"(
import contextlib, io, pathlib, runpy, sys, traceback
import numpy as np
np.seterr(all="ignore")
bad = 0
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.py")):
    if path.name == "run_all.py":
        continue
    sys.argv = [str(path)]
    out, why = io.StringIO(), None
    with contextlib.redirect_stdout(out):
        try:
            runpy.run_path(str(path))
        except SystemExit as end:
            why = None if end.code == 0 else f"status {end.code}"
        except Exception:
            why = traceback.format_exc(limit=-1)
    if why:
        bad += 1
        print("==", path.read_text().splitlines()[0], why.strip().splitlines()[-1])
        print(out.getvalue()[-300:])
print("programs that fail:", bad)
)";

std::string output_of(const std::string& command) {
  FILE* const pipe = popen(command.c_str(), "r");
  REQUIRE(pipe);
  std::string text;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) text += static_cast<char>(c);
  pclose(pipe);
  return text;
}

std::string python_with_numpy() {
  for (const char* const python : {"python3", "/usr/bin/python3"})
    if (output_of(fmt::format("{} -c 'import numpy; print(1)' 2>&1", python)) == "1\n") return python;
  FAIL("this test runs NumPy programs; install python3-numpy");
  return {};
}

}  // namespace

TEST_CASE("the NumPy program of every op and sample gives the gradients of Gradus") {
  const std::string python = python_with_numpy();
  const Folder folder;
  int number = 0;
  gradus_test::for_each_derivation(
      {.seed = 5, .verify = false}, [&](const std::string& name, const Sample& sample, const study::Derivation& d) {
        if (sample.kink) return;  // NumPy rounds differently, and the point is no longer the kink
        const std::string stem = fmt::format("{:04}", ++number);
        save_npz(folder.path / (stem + ".npz"), study::numpy_arrays(d));
        write_file(folder.path / (stem + ".py"), study::to_numpy_program(d, name, stem + ".npz"));
      });
  write_file(folder.path / "run_all.py", run_all);
  CHECK(output_of(fmt::format("{0} -W ignore {1}/run_all.py {1} 2>&1", python, folder.path.string())) ==
        "programs that fail: 0\n");
}
