#include <array>
#include <iomanip>
#include <sstream>

#include "bench/entries.h"

namespace trefoil::bench {
namespace {

using mpc::Index;
using protocols::Entry;
using protocols::Form;
using protocols::Size;

std::string PerUnit(const std::array<std::uint64_t, 3>& bytes, Index units) {
  std::ostringstream out;
  out << std::setprecision(10);
  for (std::size_t party = 0; party < bytes.size(); ++party) {
    out << (party == 0 ? "" : " / ") << static_cast<double>(bytes[party]) / static_cast<double>(units);
  }
  return out.str();
}

/// What the entry's lines say of each party's view in that form.
std::string SeenIn(Form form, const Entry& entry) {
  const bool own = form == Form::kLatency && !entry.seen_in_latency.empty();
  std::string text = own ? entry.seen_in_latency : entry.row.sees;
  const std::string name = "{form}";
  for (auto at = text.find(name); at != std::string::npos; at = text.find(name))
    text.replace(at, name.size(), NameOf(form));
  return text;
}

std::string TitleIn(Form form, const Entry& entry) {
  if (entry.forms.size() > 1 && form == Form::kLatency)
    return (entry.row.what.starts_with("the same") ? entry.row.what : "the same") + ", latency";
  const std::string functions = entry.row.functions.empty() ? "" : " (" + entry.row.functions + ")";
  return entry.row.what + (entry.forms.size() > 1 ? ", bulk" : "") + functions;
}

std::string LineOf(const Entry& entry, const std::string& title, const std::string& unit, const Size& size) {
  const mpc::Cost cost = entry.cost(size);
  const Index units = entry.row.units != 0 ? entry.row.units : size.count;
  return "| " + title + " | " + unit + " | " + std::to_string(cost.rounds()) + " | " +
         PerUnit(cost.bytes_sent(), units) + " | " + PerUnit(cost.bytes_offline(), units) + " | " +
         entry.row.error + " | " + entry.row.source + " | " + SeenIn(size.form, entry) + " |\n";
}

}  // namespace

std::string ProtocolTable() {
  std::string table =
      "| protocol | unit | rounds | online bytes a unit, P0 / P1 / P2 | offline | error | source | what a "
      "party sees |\n"
      "|---|---|---|---|---|---|---|---|\n";
  for (const Entry& entry : AllEntries()) {
    for (const Form form : entry.forms) {
      Size size = entry.size;
      size.form = form;
      table += LineOf(entry, TitleIn(form, entry), entry.row.unit, size);
    }
    for (const auto& further : entry.further) {
      Size size = further.size;
      size.form = entry.forms.front();
      table += LineOf(entry, further.what, further.unit, size);
    }
  }
  return table;
}

}  // namespace trefoil::bench
