#pragma once
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deposit/inbox/part_file.h"
#include "deposit/read_deposit.h"
#include "deposit/store/store.h"
#include "net/http/https_server.h"
#include "net/start/listener.h"

namespace trefoil::deposit {

struct InboxSettings {
  DepositReader reader;          ///< its owners are read anew when a file of theirs has changed
  std::filesystem::path owners;  ///< that folder
  std::filesystem::path parts;   ///< where what is not whole yet is kept
  net::Identity identity;        ///< what receipts are signed with
  std::uint64_t most_bytes = 0;  ///< of a deposit's file
  std::function<void(const std::string& line)> log;  ///< called in two threads, also at the same time
};

/// What a party's inbox answers (docs/reference/deposits.md, "The inbox"): it takes deposits of owners that
/// the party lists, in parts, into its store, and says so by receipts. Until a signature holds, it reads a
/// prefix of fixed length, allocates nothing for it, and says nothing of what is there.
class Inbox {
 public:
  /// Two openings of one store: End() of an upload runs beside the other functions (net/http/https_server.h).
  Inbox(InboxSettings settings, Store taking, Store looking);

  /// For a server's `open`.
  [[nodiscard]] std::unique_ptr<net::Upload> Open(const net::UploadHead& head);

 private:
  class Request;
  class StatusRequest;
  class DepositRequest;

  /// Who is at work on a part: the last one that asked, unless the deposit is being taken.
  enum class Turn { kOpen, kTaking, kOver };
  /// By the deposit's id and who signed it.
  using Turns = std::map<std::pair<Hash, PublicKey>, std::weak_ptr<std::atomic<Turn>>>;

  [[nodiscard]] const std::vector<TrustedOwner>& Owners();
  [[nodiscard]] bool MayAsk(const PublicKey& owner);
  /// A place for one more upload of the owner, kept as long as the object lives; empty where it has all that
  /// it may have.
  [[nodiscard]] std::shared_ptr<void> PlaceOf(const Prefix& prefix);
  [[nodiscard]] bool IsWithdrawn(const Prefix& prefix);
  [[nodiscard]] bool IsBeingTaken(const Prefix& prefix) const;
  [[nodiscard]] std::shared_ptr<std::atomic<Turn>> TakeTurn(const Prefix& prefix);
  [[nodiscard]] net::HttpAnswer Accept(const Prefix& prefix, const std::vector<TrustedOwner>& owners,
                                       bool continued);
  [[nodiscard]] net::HttpAnswer AnswerWithReceipt(const Hash& id);

  InboxSettings settings_;
  Store taking_;
  Store looking_;
  PartFolder parts_;
  std::vector<TrustedOwner> owners_;
  std::optional<std::string> owners_of_;  ///< the state of their folder that those are of
  Turns turns_;
  struct Asked {
    std::chrono::steady_clock::time_point since{};
    int count = 0;
  };
  std::map<PublicKey, Asked> asked_;
  /// Each shared by the owner's uploads that are under way.
  std::map<PublicKey, std::shared_ptr<void>> places_;
  net::LogLimiter limiter_;
};

}  // namespace trefoil::deposit
