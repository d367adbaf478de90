#include "tools/report/HtmlReport.h"

#include "absl/strings/str_replace.h"
#include "tools/report/ReportTables.h"

namespace tenon::tools {

using nlohmann::ordered_json;

static constexpr char pageTemplate[] =
#include "tools/report/report.html.inc"
    ;

std::string formatHtml(const ordered_json& document) {
  ordered_json page = document;
  page["tables"] = ordered_json::array();
  for (const ReportTable& table : makeReportTables(document))
    page["tables"].push_back({{"title", table.title},
                              {"columns", table.columns},
                              {"rows", table.rows},
                              {"text_columns", table.textColumns}});
  std::string data =
      page.dump(/*indent=*/-1, ' ', /*ensure_ascii=*/true, ordered_json::error_handler_t::replace);
  // Names are anybody's: within a script no text may close it, and no comment may open.
  data = absl::StrReplaceAll(data, {{"<", "\\u003c"}});
  return absl::StrReplaceAll(pageTemplate, {{"\"#document#\"", data}});
}

} // namespace tenon::tools
