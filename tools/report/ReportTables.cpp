#include "tools/report/ReportTables.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"

namespace tenon::tools {

using nlohmann::ordered_json;

namespace {

std::string megabytes(const ordered_json& bytes) {
  return bytes.is_null() ? "-" : absl::StrFormat("%.2f", bytes.get<double>() / 1e6);
}

std::string milliseconds(const ordered_json& ns) {
  return ns.is_null() ? "-" : absl::StrFormat("%.4f", ns.get<double>() / 1e6);
}

std::string ratio(double over, double under) {
  return under > 0 ? absl::StrFormat("%.2f", over / under) : "-";
}

double medianNs(const ordered_json& plan) {
  return std::max(plan["steps_ns"]["median"].get<double>(), 1.0);
}

/// What the plan takes less than the first, in percent of the first.
std::string saved(const ordered_json& first, const ordered_json& plan) {
  auto most = first["memory"]["total_bytes"].get<double>();
  auto taken = plan["memory"]["total_bytes"].get<double>();
  return most > 0 ? absl::StrFormat("%.1f", 100 * (most - taken) / most) : "-";
}

ReportTable comparePlans(const ordered_json& document) {
  const ordered_json& plans = document["plans"];
  const ordered_json& first = plans.front();
  ReportTable table;
  table.title = "Plans: times are medians of a call's steps; memory in MB, counted by the "
                "device, peak as a GPU allocated it; differs: the largest "
                "difference of a result from the first plan's over its largest value";
  table.columns = {"plan",   "ms",      "speed-up", "predicted", document["unit"], "launches",
                   "fused",  "planned", "counted",  "weights",   "caches",         "workspace",
                   "memory", "peak",    "saved %",  "differs"};
  for (const ordered_json& plan : plans) {
    const ordered_json& memory = plan["memory"];
    const ordered_json& difference = plan["difference"];
    table.rows.push_back(
        {plan["plan"], milliseconds(plan["steps_ns"]["median"]),
         ratio(medianNs(first), medianNs(plan)),
         milliseconds(plan.value("predicted_ns", ordered_json())),
         absl::StrFormat("%.1f", plan["tokens_per_second"].get<double>()),
         absl::StrFormat("%d", plan["launches"].get<int64_t>()),
         absl::StrFormat("%d", plan["fused_launches"].get<int64_t>()),
         megabytes(plan["planned_bytes"]), megabytes(plan["counted_bytes"]),
         megabytes(memory["weight_bytes"]), megabytes(memory["cache_bytes"]),
         megabytes(memory["workspace_bytes"]), megabytes(memory["total_bytes"]),
         megabytes(memory["device_bytes"]), saved(first, plan),
         difference.is_null() ? "-" : absl::StrFormat("%.1e", difference.get<double>())});
  }
  return table;
}

/// Times of each group of steps run alone, and how the plans compare there.
ReportTable compareGroups(const ordered_json& document) {
  const ordered_json& plans = document["plans"];
  ReportTable table;
  table.title = "Groups of steps, each run alone";
  table.columns = {"group",    "plan",    "ms",      "speed-up",
                   "launches", "planned", "counted", "% of read"};
  table.textColumns = 2;
  std::vector<std::string> names;
  for (const ordered_json& plan : plans)
    for (const ordered_json& group : plan["groups"])
      if (std::ranges::find(names, group["name"].get<std::string>()) == names.end())
        names.push_back(group["name"]);
  for (const std::string& name : names) {
    double firstNs = 0; // of the first plan that has the group
    for (const ordered_json& plan : plans)
      for (const ordered_json& group : plan["groups"]) {
        if (group["name"] != name)
          continue;
        auto ns = group["ns"].get<double>();
        firstNs = firstNs > 0 ? firstNs : ns;
        table.rows.push_back({name, plan["plan"], milliseconds(group["ns"]), ratio(firstNs, ns),
                              absl::StrFormat("%d", group["steps"].get<int64_t>()),
                              megabytes(group["bytes"]), megabytes(group["counted_bytes"]),
                              absl::StrFormat("%.1f", group["read_limit_percent"].get<double>())});
      }
  }
  return table;
}

ReportTable listFusedKernels(const ordered_json& document) {
  ReportTable table;
  table.title = "Kernels of several operations";
  table.columns = {"plan",    "kernel",    "operations",   "calls",
                   "us each", "predicted", "% of the step"};
  table.textColumns = 3;
  for (const ordered_json& plan : document["plans"])
    for (const ordered_json& kernel : plan["kernels"]) {
      if (kernel["operation_count"].get<int64_t>() < 2)
        continue;
      auto calls = kernel["steps"].get<double>(), ns = kernel["net_ns"].get<double>();
      table.rows.push_back(
          {plan["plan"], kernel["symbol"], kernel["operations"],
           absl::StrFormat("%d", kernel["steps"].get<int64_t>()),
           absl::StrFormat("%.2f", ns / 1e3 / calls),
           absl::StrFormat("%.2f", kernel["predicted_ns"].get<double>() / 1e3 / calls),
           absl::StrFormat("%.1f", 100 * ns / medianNs(plan))});
    }
  return table;
}

/// Signs of `text`, which is UTF-8.
size_t widthOf(const std::string& text) {
  return std::ranges::count_if(text, [](char c) { return (c & 0xC0) != 0x80; });
}

std::string pad(const std::string& text, size_t width, bool toTheRight) {
  std::string blanks(width - std::min(width, widthOf(text)), ' ');
  return toTheRight ? blanks + text : text + blanks;
}

std::string formatText(const ReportTable& table) {
  std::vector<size_t> widths;
  for (size_t column = 0; column < table.columns.size(); ++column) {
    size_t width = widthOf(table.columns[column]);
    for (const std::vector<std::string>& row : table.rows)
      width = std::max(width, widthOf(row[column]));
    widths.push_back(width);
  }
  auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (size_t column = 0; column < cells.size(); ++column)
      text += (column == 0 ? "" : "  ") +
              pad(cells[column], widths[column], column >= table.textColumns);
    return text.erase(text.find_last_not_of(' ') + 1) + "\n";
  };
  std::string text = table.title + "\n" + line(table.columns);
  for (const std::vector<std::string>& row : table.rows)
    text += line(row);
  return text;
}

std::string markdownCell(const std::string& text) {
  return absl::StrReplaceAll(text, {{"|", "\\|"}, {"<", "&lt;"}});
}

std::string formatMarkdown(const ReportTable& table) {
  auto line = [](const std::vector<std::string>& cells) {
    auto append = [](std::string* out, const std::string& cell) { *out += markdownCell(cell); };
    return "| " + absl::StrJoin(cells, " | ", append) + " |\n";
  };
  std::vector<std::string> rules(table.columns.size(), "---:");
  std::fill_n(rules.begin(), table.textColumns, "---");
  std::string text = "## " + markdownCell(table.title) + "\n\n" + line(table.columns) + line(rules);
  for (const std::vector<std::string>& row : table.rows)
    text += line(row);
  return text;
}

/// What a reader reads of a value: a text without quotes.
std::string plainText(const ordered_json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

} // namespace

std::vector<ReportTable> makeReportTables(const ordered_json& document) {
  std::vector<ReportTable> tables;
  for (auto make : {comparePlans, compareGroups, listFusedKernels})
    if (ReportTable table = make(document); !table.rows.empty())
      tables.push_back(std::move(table));
  return tables;
}

std::string formatProvenance(const ordered_json& document) {
  std::string text;
  for (const auto& [key, value] : document["provenance"].items())
    text += absl::StrFormat("%-10s %s\n", key, plainText(value));
  return text;
}

std::string formatText(const std::vector<ReportTable>& tables) {
  auto append = [](std::string* out, const ReportTable& table) { *out += formatText(table); };
  return absl::StrJoin(tables, "\n", append);
}

std::string formatMarkdown(const ordered_json& document) {
  std::string text = "# " + markdownCell(document["title"].get<std::string>()) + "\n\n";
  for (const auto& [key, value] : document["provenance"].items())
    text += absl::StrFormat("* %s: %s\n", key, markdownCell(plainText(value)));
  for (const ReportTable& table : makeReportTables(document))
    text += "\n" + formatMarkdown(table);
  return text;
}

} // namespace tenon::tools
