#ifndef TENON_TOOLS_REPORT_HTMLREPORT_H
#define TENON_TOOLS_REPORT_HTMLREPORT_H

#include <string>

#include "nlohmann/json.hpp"

namespace tenon::tools {

/// The document (`makeBenchDocument`) as one HTML page that needs no network: `report.html`, a file of
/// its own, with the document and its tables in it.
std::string formatHtml(const nlohmann::ordered_json& document);

} // namespace tenon::tools

#endif // TENON_TOOLS_REPORT_HTMLREPORT_H
