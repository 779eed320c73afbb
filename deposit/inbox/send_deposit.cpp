#include "deposit/inbox/send_deposit.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/error.h"
#include "base/files/at_position.h"
#include "base/files/files.h"
#include "base/files/regular_file.h"
#include "deposit/format/bytes.h"
#include "deposit/format/header.h"
#include "deposit/inbox/receipt.h"
#include "jobs/config/party_file.h"
#include "net/http/https_client.h"

namespace trefoil::deposit {
namespace {

namespace fs = std::filesystem;

/// What will pass: the server is busy, or begins anew.
bool IsPassing(unsigned status) { return status == 429 || status >= 500; }

/// One file on its way to one inbox.
class Sending {
 public:
  Sending(const fs::path& path, const StudyParty& party, const SendProgress& progress)
      : path_(path), party_(party), progress_(progress), file_(path) {
    if (party.inbox.empty())
      throw ConfigError(
          fmt::format("party {}: the study names no inbox, expected inbox and certificate", party.id));
    if (!file_) throw ConfigError(fmt::format("{}: {}, expected a deposit", path.string(), file_.cause()));
    if (file_.size() >= bytes_.size()) Read(0, bytes_);
    prefix_ = DecodePrefix(bytes_);
    if (TextOf(bytes_).substr(0, kMagic.size()) != kMagic ||
        prefix_.party != static_cast<std::uint64_t>(party.id))
      throw ConfigError(
          fmt::format("{}: found something else, expected party {}'s deposit", path.string(), party.id));
    const auto address = jobs::ParseAddress(party.inbox);
    peer_ = {.host = address.host, .port = address.port, .fingerprint = party.certificate};
  }

  /// The receipt; nothing where it is worth trying again, and `cause_` says why it was not got.
  std::optional<std::string> Try() {
    try {
      const auto state = Post("/status", 0, bytes_.size());
      if (state.status == 201) return Checked(state.body);
      if (state.status != 200) return Refused(state);
      return TryFrom(OffsetIn(state.body));
    } catch (const net::HttpsError& error) {
      cause_ = error.what();
      return {};
    } catch (const net::WrongServer& error) {
      throw ConfigError(
          fmt::format("party {}: {}: {}, as the study has it", party_.id, party_.inbox, error.what()));
    }
  }

  [[nodiscard]] const Hash& id() const { return prefix_.id; }
  [[nodiscard]] const std::string& cause() const { return cause_; }
  /// The most that was seen to be at the inbox.
  [[nodiscard]] std::uint64_t reached() const { return reached_; }

 private:
  std::optional<std::string> TryFrom(std::uint64_t offset) {
    if (offset > file_.size() - bytes_.size()) throw NoInbox();
    reached_ = std::max(reached_, offset);
    const auto reply = Post("/deposits", offset, file_.size() - offset);
    if (reply.status == 201) return Checked(reply.body);
    return Refused(reply);
  }

  /// Sends the prefix, and `bytes` less its own of what follows `offset` bytes behind it.
  net::HttpsReply Post(const std::string& target, std::uint64_t offset, std::uint64_t bytes) {
    const auto read = [&](std::uint64_t at, std::span<std::uint8_t> out) {
      // The first piece has the prefix.
      const auto from_prefix = at < bytes_.size() ? bytes_.size() - static_cast<std::size_t>(at) : 0;
      const auto first = out.first(std::min(out.size(), from_prefix));
      if (!first.empty()) Read(at, first);
      const auto rest = out.subspan(first.size());
      if (!rest.empty()) Read(offset + at + first.size(), rest);
    };
    const auto on_sent = [&](std::uint64_t sent) { progress_(offset + sent, file_.size()); };
    net::HttpsBody body{.offset = offset, .bytes = bytes, .read = read};
    if (target == "/deposits") body.on_sent = on_sent;
    return net::Post(peer_, target, body);
  }

  void Read(std::uint64_t first, std::span<std::uint8_t> out) const {
    if (ReadAt(file_.descriptor(), first, out) < out.size())
      throw ConfigError(fmt::format("{}: {}, expected a whole deposit", path_.string(),
                                    errno != 0 ? DescribeErrno(errno) : "it was cut"));
  }

  std::string Checked(const std::string& receipt) const {
    CheckReceipt(receipt, prefix_.id, party_.id, party_.certificate, Place());
    return receipt;
  }

  std::optional<std::string> Refused(const net::HttpsReply& reply) {
    const auto json = nlohmann::json::parse(reply.body, nullptr, false);
    const auto detail = json.is_object() && json.contains("detail") && json["detail"].is_string()
                            ? json["detail"].get<std::string>()
                            : std::string("no reason");
    cause_ = fmt::format("status {}: {}", reply.status, detail);
    const bool moved = json.is_object() && json.contains("offset");  // an offset of before: it is asked again
    if (IsPassing(reply.status) || moved) return {};
    throw DataError(fmt::format("{}: {}", Place(), cause_));
  }

  [[nodiscard]] std::uint64_t OffsetIn(const std::string& text) const {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("offset") || !json["offset"].is_number_unsigned())
      throw NoInbox();
    return json["offset"].get<std::uint64_t>();
  }

  [[nodiscard]] DataError NoInbox() const {
    return DataError(Place() + ": found another answer, expected that of an inbox");
  }
  [[nodiscard]] std::string Place() const { return fmt::format("party {}, {}", party_.id, party_.inbox); }

  const fs::path& path_;
  const StudyParty& party_;
  const SendProgress& progress_;
  RegularFile file_;
  std::array<std::uint8_t, kPrefixBytes> bytes_{};
  Prefix prefix_;
  net::HttpsPeer peer_;
  std::string cause_;
  std::uint64_t reached_ = 0;
};

}  // namespace

std::string SendDeposit(const fs::path& file, const StudyParty& party, const SendProgress& progress,
                        const SendPatience& patience) {
  Sending sending(file, party, progress);
  auto pause = patience.pause;
  std::uint64_t before = 0;
  for (int left = patience.attempts;;) {
    if (auto receipt = sending.Try()) return *receipt;
    if (sending.reached() > before) {
      left = patience.attempts;
      pause = patience.pause;
    }
    before = sending.reached();
    if (--left <= 0) throw NetworkError(party.id, fmt::format("{}: {}", party.inbox, sending.cause()));
    std::this_thread::sleep_for(pause);
    pause *= 2;
  }
}

void CheckKeptReceipt(const fs::path& receipt, const fs::path& file, const StudyParty& party) {
  const auto place = receipt.string();
  try {
    const auto text = ReadTextFile(receipt, "a receipt");
    const SendProgress none;
    const auto id = fs::exists(file) ? Sending(file, party, none).id() : DepositNamedBy(text, place);
    CheckReceipt(text, id, party.id, party.certificate, place);
  } catch (const DataError& error) {
    throw DataError(std::string(error.what()) + "; move it away, and --send asks for another");
  }
}

}  // namespace trefoil::deposit
