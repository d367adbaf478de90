#include "absl/strings/str_format.h"
#include "ir/Dialect.h"
#include "tools/calibrate/Calibration.h"
#include "llvm/Support/raw_ostream.h"

namespace tenon::tools {

/// The text in lines of comments of at most 100 columns.
static std::string comment(const std::string& text, const char* indent) {
  constexpr size_t columns = 100;
  std::string lines, line;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find(' ', begin), text.size());
    std::string word = text.substr(begin, end - begin);
    if (!line.empty() && line.size() + word.size() + 1 > columns) {
      lines += line + "\n";
      line.clear();
    }
    line += (line.empty() ? std::string(indent) + "// " : " ") + word;
    begin = end + 1;
  }
  return line.empty() ? lines : lines + line + "\n";
}

static std::string print(mlir::Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

std::string formatTarget(TargetAttr base, const std::vector<MeasuredProperty>& measured,
                         const std::string& where, const std::string& when) {
  std::string text =
      comment(absl::StrFormat("Measured by `tenon calibrate` on %s, %s. 1 MB = 1e6 bytes in rates.",
                              where, when),
              "");
  text += absl::StrFormat("#tenon.target<%s, %s, features = %s, {\n  measured = 1 : i64",
                          print(base.getName()), stringifyDeviceKind(base.getDevice()).str(),
                          print(base.getFeatures()));
  for (const MeasuredProperty& property : measured)
    text += absl::StrFormat(",\n%s  %s = %d : i64", comment(property.note, "  "), property.name,
                            property.value);
  bool isFirst = true;
  for (mlir::NamedAttribute property : base.getProperties()) {
    llvm::StringRef name = property.getName().strref();
    if (name == "measured" ||
        llvm::any_of(measured, [&](const MeasuredProperty& known) { return known.name == name; }))
      continue;
    std::string note =
        isFirst ? comment("Not measured, but as of target " + base.getName().str() + ".", "  ")
                : "";
    isFirst = false;
    text += absl::StrFormat(",\n%s  %s = %s", note, name.str(), print(property.getValue()));
  }
  return text + "\n}>\n";
}

} // namespace tenon::tools
