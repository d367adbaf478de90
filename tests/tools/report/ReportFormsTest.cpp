// What the forms of a report promise: one document, the same tables, a page that holds it safely.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tools/report/HtmlReport.h"
#include "tools/report/ReportTables.h"

namespace tenon::tools {
namespace {

using nlohmann::ordered_json;
using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

ordered_json makePlan(const std::string& name, int64_t ns, int64_t workspace, int64_t operations) {
  ordered_json kernel = {{"symbol", "k0_matmul"},
                         {"steps", 2},
                         {"net_ns", ns / 2},
                         {"predicted_ns", 400'000},
                         {"operations", "matmul+gelu"},
                         {"operation_count", operations}};
  return {{"plan", name},
          {"steps_ns", {{"median", ns}}},
          {"predicted_ns", 1e6},
          {"tokens_per_second", 500.0},
          {"launches", 4},
          {"fused_launches", operations > 1 ? 2 : 0},
          {"planned_bytes", 3'000'000},
          {"counted_bytes", nullptr},
          {"memory",
           {{"weight_bytes", 1'000'000},
            {"cache_bytes", 0},
            {"workspace_bytes", workspace},
            {"total_bytes", 1'000'000 + workspace},
            {"device_bytes", nullptr}}},
          {"difference", nullptr},
          {"groups",
           {{{"name", "ffn"},
             {"steps", 2},
             {"ns", ns / 4},
             {"bytes", 500'000},
             {"counted_bytes", 600'000},
             {"read_limit_percent", 12.5}}}},
          {"kernels", ordered_json::array({kernel})}};
}

ordered_json makeDocument() {
  ordered_json plans = {makePlan("vanilla", 4'000'000, 3'000'000, 1),
                        makePlan("auto", 2'000'000, 1'000'000, 2)};
  plans[1]["difference"] = 1.5e-6;
  plans[1]["counted_bytes"] = 3'250'000;
  plans[1]["memory"]["device_bytes"] = 5'500'000;
  return {{"title", "m.gguf, decode_1 | <script>"},
          {"unit", "tokens/s"},
          {"provenance", {{"commit", "0123456789"}, {"device", "H200"}}},
          {"plans", std::move(plans)}};
}

TEST(ReportTables, ComparePlansWithTheFirst) {
  std::vector<ReportTable> tables = makeReportTables(makeDocument());
  ASSERT_THAT(tables, SizeIs(3));
  EXPECT_THAT(tables[0].rows[0],
              ElementsAre("vanilla", "4.0000", "1.00", "1.0000", "500.0", "4", "0", "3.00", "-",
                          "1.00", "0.00", "3.00", "4.00", "-", "0.0", "-"));
  EXPECT_THAT(tables[0].rows[1],
              ElementsAre("auto", "2.0000", "2.00", "1.0000", "500.0", "4", "2", "3.00", "3.25",
                          "1.00", "0.00", "1.00", "2.00", "5.50", "50.0", "1.5e-06"));
  EXPECT_THAT(tables[1].rows[1],
              ElementsAre("ffn", "auto", "0.5000", "2.00", "2", "0.50", "0.60", "12.5"));
  // The plan without kernels of several operations lists none.
  EXPECT_THAT(tables[2].rows, ElementsAre(ElementsAre("auto", "k0_matmul", "matmul+gelu", "2",
                                                      "500.00", "200.00", "50.0")));
}

TEST(ReportTables, LeaveOutWhatHasNoRows) {
  ordered_json document = makeDocument();
  document["plans"].erase(1);
  document["plans"][0]["groups"].clear();
  EXPECT_THAT(makeReportTables(document), SizeIs(1));
}

TEST(ReportTables, AlignColumnsOfText) {
  ReportTable table{.title = "Title", .columns = {"a", "µs"}, .rows = {{"long", "1"}, {"x", "22"}}};
  EXPECT_EQ(formatText({table}), "Title\na     µs\nlong   1\nx     22\n");
}

TEST(ReportTables, AreMarkdown) {
  std::string text = formatMarkdown(makeDocument());
  EXPECT_THAT(text, HasSubstr("# m.gguf, decode_1 \\| &lt;script>\n\n* commit: 0123456789\n"));
  EXPECT_THAT(text, HasSubstr("| --- | ---: | ---: |"));
  EXPECT_THAT(text, HasSubstr("| auto | 2.0000 | 2.00 |"));
}

TEST(HtmlReport, HoldsTheDocumentAndItsTables) {
  std::string page = formatHtml(makeDocument());
  std::string begin = "<script type=\"application/json\" id=\"document\">";
  size_t first = page.find(begin);
  ASSERT_NE(first, std::string::npos);
  first += begin.size();
  std::string data = page.substr(first, page.find("</script>", first) - first);
  ordered_json document = ordered_json::parse(data);
  EXPECT_EQ(document["title"], "m.gguf, decode_1 | <script>");
  EXPECT_EQ(document["plans"], makeDocument()["plans"]);
  EXPECT_EQ(document["tables"][0]["columns"][1], "ms");
  EXPECT_EQ(document["tables"][0]["text_columns"], 1);
  EXPECT_EQ(document["tables"][2]["rows"][0][2], "matmul+gelu");
}

TEST(HtmlReport, LetsNoNameCloseItsScript) {
  ordered_json document = makeDocument();
  document["plans"][0]["plan"] = "</script><script>alert(1)</script>\xff";
  std::string page = formatHtml(document);
  EXPECT_THAT(page, Not(HasSubstr("alert(1)</script>")));
  EXPECT_THAT(page, HasSubstr("\\u003c/script>\\u003cscript>alert(1)"));
}

/// Nothing is fetched: the page is read where there is no network.
TEST(HtmlReport, NamesNoOtherFile) {
  std::string page = formatHtml(makeDocument());
  EXPECT_THAT(page, Not(ContainsRegex("(src|href)=")));
  EXPECT_THAT(page, Not(HasSubstr("@import")));
}

} // namespace
} // namespace tenon::tools
