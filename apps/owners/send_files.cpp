#include "apps/owners/send_files.h"

#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <iostream>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/error_report.h"
#include "base/files/files.h"
#include "deposit/inbox/send_deposit.h"
#include "deposit/make_deposit.h"
#include "jobs/statement/amount_text.h"
#include "runtime/observe/progress.h"

namespace trefoil::apps {
namespace {

/// Says how far one file's upload is.
class UploadDisplay {
 public:
  UploadDisplay(runtime::ProgressDisplay& display, int party) : display_(display), party_(party) {}

  void Show(std::uint64_t sent, std::uint64_t total) {
    const auto now = std::chrono::steady_clock::now();
    if (!first_) {
      first_ = sent;
      since_ = now;
    }
    const std::chrono::duration<double> seconds = now - since_;
    auto line = fmt::format("party {}: {} of {} sent, {}%", party_, jobs::BytesText(sent),
                            jobs::BytesText(total), total == 0 ? 100 : 100 * sent / total);
    if (sent > *first_ && sent < total) {
      const auto left =
          seconds.count() * static_cast<double>(total - sent) / static_cast<double>(sent - *first_);
      line += fmt::format(", {} left", jobs::SecondsText(left));
    }
    display_.ShowLine(line, sent == total);
  }

 private:
  runtime::ProgressDisplay& display_;
  int party_;
  std::optional<std::uint64_t> first_;
  std::chrono::steady_clock::time_point since_{};
};

void SendOne(const std::filesystem::path& folder, const deposit::StudyParty& party) {
  const auto receipt = folder / fmt::format("party-{}.receipt", party.id);
  const auto file = folder / deposit::FileNameOf(party.id);
  if (std::filesystem::exists(receipt)) {
    deposit::CheckKeptReceipt(receipt, file, party);
  } else {
    runtime::ProgressDisplay display(std::cout, runtime::StdoutIsTerminal());
    UploadDisplay upload(display, party.id);
    const auto text = deposit::SendDeposit(
        file, party, [&](std::uint64_t sent, std::uint64_t total) { upload.Show(sent, total); });
    display.Finish();
    WriteTextFile(receipt, text);
  }
  std::cout << fmt::format("party {}: taken, receipt {}\n", party.id, receipt.string()) << std::flush;
}

}  // namespace

void CheckInboxes(const deposit::Study& study) {
  for (const auto& party : study.parties) {
    if (party.inbox.empty())
      throw ConfigError(fmt::format(
          "--send: found no inbox of party {} in the study, expected one of each: trefoil study init "
          "--inboxes --certificates",
          party.id));
  }
}

int SendFiles(const std::filesystem::path& folder, const deposit::Study& study) {
  int code = kDone;
  for (const auto& party : study.parties) {
    try {
      SendOne(folder, party);
    } catch (const std::exception& error) {
      ReportError(CauseOf(error));
      if (code == kDone) code = ExitCodeOf(error);
    }
  }
  if (code != kDone)
    std::cout << fmt::format("To go on: trefoil deposit --study STUDY --out {} --send\n", folder.string());
  return code;
}

}  // namespace trefoil::apps
