#pragma once
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "deposit/study.h"

namespace trefoil::deposit {

/// How often a lost connection is made anew, of those in a row that brought nothing, and after which pause,
/// which doubles each time.
struct SendPatience {
  int attempts = 7;
  std::chrono::milliseconds pause{1000};
};

/// How many bytes of the file are at its party, and how many it has.
using SendProgress = std::function<void(std::uint64_t sent, std::uint64_t total)>;

/// Uploads a deposit's file to its party's inbox, which a study names; what is there already is not sent
/// again. Returns the receipt, which is checked. Throws DataError where the inbox refuses it, or what answers
/// is no inbox; ConfigError where the file is no deposit for this party, the study names no inbox, or the
/// server's certificate is another than the study's; NetworkError where it cannot be reached, or the
/// connection is lost too often: then another call goes on.
[[nodiscard]] std::string SendDeposit(const std::filesystem::path& file, const StudyParty& party,
                                      const SendProgress& progress, const SendPatience& patience = {});

/// Makes sure that `receipt`, a file that is kept, is the party's for the deposit that it was to get as
/// `file`; where that is not there any more, for the one that the receipt names. Throws DataError naming the
/// receipt; ConfigError where it cannot be read, or as SendDeposit for the file and the study.
void CheckKeptReceipt(const std::filesystem::path& receipt, const std::filesystem::path& file,
                      const StudyParty& party);

}  // namespace trefoil::deposit
