#pragma once
#include "core/files.hpp"
#include "file_helpers.hpp"

#include <cstdlib>

#include <nlohmann/json.hpp>

// A page in a real browser: Chromium without a window.
namespace gradus::test {

/// The browser on PATH, or an empty string.
inline std::string browser() {
  const char* const path = std::getenv("PATH");
  for (const char* name : {"chromium", "chromium-browser", "google-chrome"}) {
    std::string_view rest = path ? path : "";
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(':'), rest.size());
      const fs::path candidate = fs::path(rest.substr(0, end)) / name;
      if (::access(candidate.c_str(), X_OK) == 0) return candidate.string();
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return {};
}

/// Opens a page at `hash` with a script at its end and gives what the script puts into `report`, an object. Errors of the
/// page, on the console too, and whatever its security policy blocked are in `report.errors`; what it loaded is in
/// `report.loaded`. Error with what to install where there is no browser.
inline nlohmann::json in_browser(const Folder& folder, std::string html, const std::string& hash,
                                 const std::string& script) {
  const std::string program = browser();
  if (program.empty())
    fail("browser: none of chromium, chromium-browser, google-chrome is on PATH; apt-get install chromium");
  const std::string before = R"(<script>
const report = {errors: []};
addEventListener("error", (event) => report.errors.push(String(event.message)));
addEventListener("unhandledrejection", (event) => report.errors.push(String(event.reason)));
document.addEventListener("securitypolicyviolation", (event) => report.errors.push("blocked " + event.blockedURI));
console.error = console.warn = (...text) => report.errors.push(text.join(" "));
</script>
)";
  const std::string after =
      "<script>\n(async () => {\nconst wait = (ms) => new Promise((done) => setTimeout(done, ms));\n" + script + R"(
})().catch((error) => report.errors.push(String(error.stack))).finally(() => {
  report.loaded = performance.getEntriesByType("resource").map((entry) => entry.name);
  const place = document.createElement("template");
  place.id = "report";
  place.dataset.json = encodeURIComponent(JSON.stringify(report));
  document.body.append(place);
});
</script>
)";
  html.insert(html.find("<body>"), before);
  html.insert(html.rfind("</body>"), after);
  put(folder / "page.html", html);
  const std::string command = fmt::format(
      "HOME='{0}' '{1}' --headless=new --no-sandbox --disable-gpu --user-data-dir='{0}/profile' "
      "--virtual-time-budget=20000 --dump-dom 'file://{0}/page.html{2}' >'{0}/dom.html' 2>'{0}/browser.log'",
      folder.path.string(), program, hash);
  if (std::system(command.c_str()) != 0) fail("browser: {} failed: {}", program, read_file(folder / "browser.log"));
  const std::string dom = read_file(folder / "dom.html"), mark = "data-json=\"";
  const std::size_t at = dom.find(mark);
  if (at == std::string::npos) fail("browser: the script did not report; {}", read_file(folder / "browser.log"));
  const std::string coded = dom.substr(at + mark.size(), dom.find('"', at + mark.size()) - at - mark.size());
  std::string text;
  for (std::size_t i = 0; i < coded.size(); ++i)
    if (coded[i] == '%') text += static_cast<char>(std::stoi(coded.substr(i + 1, 2), nullptr, 16)), i += 2;
    else text += coded[i];
  return nlohmann::json::parse(text);
}

}  // namespace gradus::test
