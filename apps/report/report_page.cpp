// The page that ReportPage() makes (apps/report/run_report.h).
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>

#include "apps/report/html.h"
#include "apps/report/run_report.h"
#include "apps/report/svg_plot.h"
#include "base/outward_text.h"
#include "jobs/statement/amount_text.h"
#include "jobs/statement/bound_text.h"
#include "jobs/statement/unit_text.h"
#include "jobs/statement/vertical_statement.h"
#include "runtime/observe/page_style.h"
#include "runtime/observe/progress.h"

namespace trefoil::apps {
namespace {

std::string Number(double value) { return HtmlNumber(value, jobs::BoundText(value)); }

/// Of what is at least so much.
std::string Below(double value) { return HtmlNumber(value, DigitsBelow(value, 6)); }

std::string Card(const char* title, const std::string& number) {
  return fmt::format("<li>{}<b>{}</b></li>\n", EscapeHtml(title), number);
}

std::string Epsilon(double epsilon) { return HtmlNumber(epsilon, jobs::EpsilonText(epsilon)); }

/// The summary's epsilons in the statement's order, and what else it has of them.
std::string EpsilonCards(const RunReport& report) {
  std::string out;
  for (const auto& entry : report.statement) {
    if (entry.key == "epsilon_outsider")
      out += Card("epsilon, outsider", Epsilon(report.summary.epsilon_outsider));
    if (entry.key == "epsilon_insider")
      out += Card("epsilon, insider", Epsilon(report.summary.epsilon_insider));
    if (entry.key == "epsilon_insider_presence") out += Card("epsilon, taking part", Epsilon(*entry.number));
  }
  return out;
}

std::string Cards(const RunReport& report) {
  const runtime::Summary& summary = report.summary;
  std::string out = "<ul class=\"cards\">\n" + EpsilonCards(report);
  out += Card("delta", HtmlNumber(summary.delta, jobs::DeltaText(summary.delta)));
  if (summary.results.contains("accuracy")) {
    const auto& accuracy = summary.results.at("accuracy");
    out += Card("accuracy", accuracy.is_number() ? HtmlNumber(accuracy.get<double>(),
                                                              jobs::AccuracyText(accuracy.get<double>()))
                                                 : "unknown");
  }
  const auto r_squared = summary.results.value("r_squared", nlohmann::ordered_json());
  if (r_squared.is_number())
    out += Card("R²", HtmlNumber(r_squared.get<double>(), jobs::AccuracyText(r_squared.get<double>())));
  return out + "</ul>\n";
}

std::string NumberOf(const jobs::StatementEntry& entry) {
  return HtmlNumber(*entry.number, jobs::NumberText(entry));
}

std::string StatementSection(const std::vector<jobs::StatementEntry>& statement) {
  std::string out = HtmlHeading("What is promised, and what it rests on") + "<dl>\n";
  for (const auto& entry : statement) {
    const auto number = entry.number ? ": " + NumberOf(entry) : std::string();
    out += fmt::format("<dt>{}{}</dt>\n<dd>{}</dd>\n", EscapeHtml(entry.title), number,
                       EscapeHtml(entry.sentence));
  }
  return out + "</dl>\n";
}

std::string RowsSection(const RunReport& report) {
  std::vector<std::string> head{"k", "epsilon, outsider", "epsilon, insider", "delta"};
  const bool insider_first = jobs::FirstOf(report.record) == jobs::FirstEpsilon::kInsider;
  if (insider_first) std::swap(head[1], head[2]);
  std::string table;
  for (const auto& one : report.rows) {
    std::vector<std::string> cells{fmt::format("{}", one.rows), Epsilon(one.epsilon_outsider),
                                   Epsilon(one.epsilon_insider),
                                   HtmlNumber(one.delta, jobs::DeltaText(one.delta))};
    if (insider_first) std::swap(cells[1], cells[2]);
    table += HtmlRow(cells);
  }
  const auto said =
      std::find_if(report.statement.begin(), report.statement.end(),
                   [](const jobs::StatementEntry& entry) { return entry.key == "several_rows"; });
  return said == report.statement.end() ? "" : HtmlHeading(said->title.c_str()) + HtmlTable(head, table);
}

std::string CurveSection(const PrivacyCurves& curves) {
  if (curves.outsider.points.empty() && curves.insider.points.empty()) return "";
  return HtmlHeading("The whole promise") + "<div class=\"plots\">\n" + ToSvg(curves) + "</div>\n";
}

/// A value of a record's event or of a result. What is worse the smaller it is bounds from below.
std::string Value(const nlohmann::ordered_json& value, const std::string& key) {
  if (value.is_null()) return key.starts_with("epsilon") ? Epsilon(HUGE_VAL) : "-";
  if (value.is_string()) return EscapeHtml(value.get<std::string>());
  if (value.is_boolean()) return value.get<bool>() ? "true" : "false";
  if (value.is_number_integer()) return HtmlNumber(value.get<double>(), value.dump());
  const bool noise = key == "sigma" || key.ends_with("deviation");
  if (value.is_number() && noise)
    return HtmlNumber(value.get<double>(), jobs::MultiplierText(value.get<double>()));
  if (value.is_number() && (key == "accuracy" || key == "correct" || key == "r_squared"))
    return Below(value.get<double>());
  if (value.is_number()) return Number(value.get<double>());
  std::string out;
  for (const auto& element : value) out += (out.empty() ? "" : ", ") + Value(element, key);
  return out;
}

/// A row for each member that is known, and for each member of one, named "OUTER.INNER". Only epsilons are
/// infinite.
std::string Rows(const nlohmann::ordered_json& members, const std::string& outer = "") {
  std::string rows;
  for (const auto& [key, value] : members.items()) {
    if (value.is_null() && !key.starts_with("epsilon")) continue;
    rows += value.is_object() ? Rows(value, outer + key + ".")
                              : HtmlRow({EscapeHtml(outer + key), Value(value, key)});
  }
  return rows;
}

std::string RecordSection(const dp::TrainingRecord& record) {
  std::string out = HtmlHeading("Record of what was executed");
  const auto json = dp::ToJson(record);
  std::string rows = HtmlRow({"run", EscapeHtml(record.run_id)}) +
                     HtmlRow({"job, SHA-256", EscapeHtml(record.job_hash)}) +
                     HtmlRow({"unit", EscapeHtml(jobs::UnitName(record))}) +
                     HtmlRow({"neighbours", EscapeHtml(jobs::NeighboursName(record))});
  out += HtmlTable({"", ""}, rows);
  int number = 0;
  for (const auto& event : json.at("events")) {
    rows = "";
    for (const auto& [key, value] : event.items()) {
      if (key != "kind") rows += HtmlRow({EscapeHtml(key), Value(value, key)});
    }
    out += fmt::format("<h3>Event {}: {}</h3>\n", ++number, EscapeHtml(event.at("kind").get<std::string>()));
    out += HtmlTable({"key", "value"}, rows);
  }
  return out;
}

std::string ResultsSection(const runtime::Summary& summary) {
  return HtmlHeading("What was computed") + HtmlTable({"", ""}, Rows(summary.results));
}

/// What the job says of its result files.
std::string ShownSection(const jobs::ShownResults& shown) {
  std::string out;
  for (const auto& table : shown.tables) {
    std::string rows;
    for (const auto& row : table.rows) {
      std::vector<std::string> cells;
      for (const auto& cell : row) cells.push_back(EscapeHtml(cell));
      rows += HtmlRow(cells);
    }
    std::vector<std::string> head;
    for (const auto& cell : table.head) head.push_back(EscapeHtml(cell));
    out += HtmlHeading(table.title) + HtmlTable(head, rows);
  }
  if (shown.plots.empty()) return out;
  out += "<div class=\"plots\">\n";
  for (const auto& plot : shown.plots)
    out += ToSvg({.title = plot.title,
                  .x_label = plot.x_label,
                  .y_label = plot.y_label,
                  .lines = {{.name = plot.y_label, .points = plot.points}},
                  .x_range = plot.range});
  return out + "</div>\n";
}

/// A line of the progress: what `value` makes of each step.
template <typename Take>
PlotLine LineOf(const RunReport& report, const char* name, const Take& value) {
  PlotLine line{.name = name, .points = {}};
  for (const auto& step : report.progress)
    line.points.emplace_back(static_cast<double>(step.step), value(step));
  return line;
}

std::string ProgressSection(const RunReport& report) {
  if (report.progress.empty()) return "";
  using Step = ml::StepReport;
  const auto plot = [](const char* title, const char* y, std::vector<PlotLine> lines) {
    return ToSvg({.title = title, .x_label = "step", .y_label = y, .lines = std::move(lines)});
  };
  std::string out = HtmlHeading("Progress") + "<div class=\"plots\">\n";
  out += plot("Epsilon spent", "epsilon",
              {LineOf(report, "insider", [](const Step& step) { return step.epsilon_insider; }),
               LineOf(report, "outsider", [](const Step& step) { return step.epsilon_outsider; })});
  out += plot("Time since the start", "seconds",
              {LineOf(report, "seconds", [](const Step& step) { return step.seconds; })});
  out += plot(
      "Sent by this party", "MB",
      {LineOf(report, "MB", [](const Step& step) { return static_cast<double>(step.bytes_sent) / 1e6; })});
  out += plot("Rounds", "rounds",
              {LineOf(report, "rounds", [](const Step& step) { return static_cast<double>(step.rounds); })});
  return out + "</div>\n";
}

std::string CostRow(const std::string& who, const runtime::Summary& summary) {
  const auto bytes = [](std::uint64_t count) {
    return HtmlNumber(static_cast<double>(count), jobs::BytesText(count));
  };
  return HtmlRow({EscapeHtml(who), HtmlNumber(summary.seconds, jobs::SecondsText(summary.seconds)),
                  HtmlNumber(static_cast<double>(summary.rounds), fmt::format("{}", summary.rounds)),
                  bytes(summary.bytes_sent), bytes(summary.peak_rss_bytes)});
}

std::string CostSection(const RunReport& report) {
  std::string rows;
  for (const auto& cost : report.parties) rows += CostRow(fmt::format("party {}", cost.party), cost.summary);
  rows += CostRow(report.parties.empty() ? "this party" : "summary (largest memory)", report.summary);
  return HtmlHeading("Cost") + HtmlTable({"", "time", "rounds", "sent", "peak memory"}, rows) +
         HtmlElement("p", "Payload bytes, online and offline, without frames and TLS.") + "\n";
}

std::string AttackRow(const char* who, const nlohmann::ordered_json& attack) {
  return HtmlRow({who, Number(attack.at("auc").get<double>()),
                  Number(attack.at("true_positive_rate").get<double>()),
                  Number(attack.at("accuracy").get<double>())});
}

std::string AuditSection(const nlohmann::ordered_json& audit) {
  if (audit.is_null()) return "";
  const auto number = [&](const char* key) { return audit.at(key).get<double>(); };
  const bool refuted = audit.at("refuted").get<bool>();
  std::string out = HtmlHeading("Empirical audit");
  out += fmt::format(
      "<p class=\"{}\">Epsilon is at least {} with confidence {} %, {}: {}.</p>\n", refuted ? "bad" : "good",
      Below(number("epsilon_lower")), Below(100 * number("confidence")),
      audit.at("claim").is_null() ? "no epsilon is claimed" : "claimed is " + Number(number("claim")),
      refuted ? "the claim is refuted" : "the claim is not refuted (nor is it proved)");
  out += fmt::format("<p>{} of {} guesses right, about {} canaries, {} of them in the training.</p>\n",
                     Number(number("right")), Number(number("guesses")), Number(number("canaries")),
                     Number(number("included")));
  const auto& membership = audit.at("membership");
  std::string rows = AttackRow("canaries", membership.at("canaries"));
  if (!membership.at("records").is_null()) rows += AttackRow("records", membership.at("records"));
  rows += AttackRow("the claim allows", membership.at("claim_allows"));
  out += HtmlTable({"membership inference", "AUC", "found at 1 % false alarms", "accuracy"}, rows) + "<ul>\n";
  for (const auto& sentence : audit.at("statement"))
    out += HtmlElement("li", sentence.get<std::string>()) + "\n";
  return out + "</ul>\n";
}

std::string Warnings(const runtime::Summary& summary) {
  std::string out;
  for (const auto& warning : summary.warnings)
    out += "<p class=\"bad\">Warning: " + EscapeHtml(warning) + "</p>\n";
  return out;
}

}  // namespace

std::string ReportPage(const RunReport& report) {
  const auto name = EscapeHtml(report.summary.name);
  std::string out = "<!DOCTYPE html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" lang=\"en\">\n<head>\n";
  out +=
      "<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\"/>\n";
  out += "<title>" + name + ": report</title>\n<style>" + runtime::kPageStyle +
         "</style>\n</head>\n<body>\n<main>\n";
  out += "<h1>Report: " + name + "</h1>\n";
  out += "<p class=\"soft\">Run " + EscapeHtml(report.record.run_id) + "</p>\n";
  out += Cards(report) + Warnings(report.summary) + StatementSection(report.statement) + RowsSection(report) +
         CurveSection(report.curves);
  out += report.evaluation + report.coefficients + AuditSection(report.audit) +
         ResultsSection(report.summary) + ShownSection(report.shown) + ProgressSection(report);
  out += CostSection(report) + RecordSection(report.record);
  out += HtmlHeading("Job") + "<pre>" + EscapeHtml(report.job) + "</pre>\n";
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace trefoil::apps
