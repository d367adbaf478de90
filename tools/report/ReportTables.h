#ifndef TENON_TOOLS_REPORT_REPORTTABLES_H
#define TENON_TOOLS_REPORT_REPORTTABLES_H

#include <string>
#include <vector>

#include "nlohmann/json.hpp"

namespace tenon::tools {

/// A table of texts: every form of a report shows the same ones.
struct ReportTable {
  std::string title;
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows; ///< each as long as `columns`
  size_t textColumns = 1;                     ///< the first ones; the others hold numbers
};

/// The tables of `document` (`makeBenchDocument`): the plans beside each other, the first the measure
/// of the others; their groups; the kernels of several operations that they call. Tables without rows
/// are left out.
std::vector<ReportTable> makeReportTables(const nlohmann::ordered_json& document);

/// Where and of what the document was measured, one fact a line.
std::string formatProvenance(const nlohmann::ordered_json& document);

/// The tables for a terminal, columns aligned.
std::string formatText(const std::vector<ReportTable>& tables);
/// The whole document as Markdown.
std::string formatMarkdown(const nlohmann::ordered_json& document);

} // namespace tenon::tools

#endif // TENON_TOOLS_REPORT_REPORTTABLES_H
