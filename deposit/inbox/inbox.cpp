#include "deposit/inbox/inbox.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/secrets/sha256.h"
#include "deposit/format/bytes.h"
#include "deposit/inbox/receipt.h"
#include "net/http/problem.h"

namespace trefoil::deposit {
namespace {

namespace fs = std::filesystem;

using net::HttpAnswer;
using net::Problem;

constexpr int kRequestsAMinute = 120;
/// Of the server's places (net::HttpsLimits), so that one owner's slow uploads leave some to the others.
constexpr long kUploadsOfOwner = 4;

HttpAnswer JsonAnswer(unsigned status, const std::string& json) {
  return {.status = status, .body = json, .type = "application/json"};
}

unsigned StatusOf(Reason reason) {
  switch (reason) {
    case Reason::kSize:
    case Reason::kMagic:
    case Reason::kVersion:
    case Reason::kParty:
      return 400;
    case Reason::kOwner:
    case Reason::kSignature:
      return 403;
    case Reason::kRepeated:
    case Reason::kLive:
      return 409;
    case Reason::kWithdrawn:
      return 410;
    default:
      return 422;
  }
}

/// Without the name of the file, which is this party's.
HttpAnswer AnswerTo(const RefusedDeposit& refused) {
  const std::string text = refused.what();
  const auto begin = text.find("refused (");
  return Problem(StatusOf(refused.reason()), begin == std::string::npos ? text : text.substr(begin),
                 {.code = CodeOf(refused.reason())});
}

HttpAnswer Withdrawn() {
  return Problem(410, "found a deposit that its owner withdrew", {.code = CodeOf(Reason::kWithdrawn)});
}

HttpAnswer AnotherFile() {
  return Problem(409, "found another file of the same deposit, expected that of before",
                 {.code = CodeOf(Reason::kRepeated)});
}

}  // namespace

/// What all begin with: the prefix of a deposit, whose owner is listed and signed it.
class Inbox::Request : public net::Upload {
 public:
  Request(Inbox& inbox, net::UploadHead head) : inbox_(inbox), head_(std::move(head)) {}

  [[nodiscard]] std::size_t PrefixBytes() const final { return kPrefixBytes; }

  [[nodiscard]] std::optional<HttpAnswer> Begin(std::span<const std::uint8_t> bytes) final {
    const auto most = inbox_.settings_.most_bytes;
    const auto too_large = [&] {
      return Problem(413, fmt::format("expected at most {} bytes", most), {.code = "size"});
    };
    if (head_.offset > most || head_.body_bytes > most) return too_large();
    static const fs::path kPlace = "upload";
    try {
      std::copy(bytes.begin(), bytes.end(), bytes_.begin());
      prefix_ = CheckedPrefix(bytes_, FileBytes(), inbox_.settings_.reader.party, inbox_.Owners(), kPlace);
    } catch (const RefusedDeposit& refused) {
      return AnswerTo(refused);
    }
    if (prefix_.header_bytes > most || prefix_.body_bytes > most - prefix_.header_bytes) return too_large();
    if (!inbox_.MayAsk(prefix_.owner)) {
      return Problem(429, fmt::format("found more than {} requests in a minute; try again in a minute",
                                      kRequestsAMinute));
    }
    const auto taken = inbox_.looking_.Find(prefix_.id);
    if (!taken && !inbox_.IsWithdrawn(prefix_)) return BeginNew();
    std::error_code ignored;
    fs::remove(inbox_.parts_.FileOf(prefix_), ignored);  // which a killed inbox left
    if (!taken || taken->withdrawn) return Withdrawn();
    if (taken->prefix != TextOf(bytes_)) return AnotherFile();
    return BeginTaken(*taken);
  }

 protected:
  /// Of the deposit's file, where the request says it.
  [[nodiscard]] virtual std::optional<std::uint64_t> FileBytes() const = 0;
  [[nodiscard]] virtual std::optional<HttpAnswer> BeginNew() = 0;
  [[nodiscard]] virtual std::optional<HttpAnswer> BeginTaken(const TakenFile& taken) = 0;

  [[nodiscard]] PrefixSpan bytes() const { return bytes_; }
  [[nodiscard]] const Prefix& prefix() const { return prefix_; }
  [[nodiscard]] const net::UploadHead& head() const { return head_; }
  [[nodiscard]] Inbox& inbox() const { return inbox_; }

 private:
  Inbox& inbox_;
  net::UploadHead head_;
  std::array<std::uint8_t, kPrefixBytes> bytes_{};
  Prefix prefix_;
};

/// How much of a deposit is here.
class Inbox::StatusRequest final : public Inbox::Request {
 public:
  using Request::Request;

  [[nodiscard]] std::optional<HttpAnswer> Take(std::span<const std::uint8_t> /*piece*/) override {
    return Problem(400, "found more than a prefix");
  }
  [[nodiscard]] HttpAnswer End() override { return Problem(400, "found more than a prefix"); }

 private:
  [[nodiscard]] std::optional<std::uint64_t> FileBytes() const override { return {}; }

  [[nodiscard]] std::optional<HttpAnswer> BeginTaken(const TakenFile& taken) override {
    // trefoil accept took it, or the certificate was renewed since: a receipt wants the same bytes.
    if (!IsSignedAs(taken.receipt, inbox().settings_.identity)) return Offset(0);
    return JsonAnswer(201, taken.receipt);
  }

  [[nodiscard]] std::optional<HttpAnswer> BeginNew() override {
    if (inbox().IsBeingTaken(prefix())) return Problem(503, "found a deposit that is being taken; ask again");
    return Offset(inbox().parts_.Received(bytes()));
  }

  static HttpAnswer Offset(std::uint64_t offset) {
    return JsonAnswer(200, nlohmann::json{{"offset", offset}}.dump() + "\n");
  }
};

/// A deposit, or the rest of it.
class Inbox::DepositRequest final : public Inbox::Request {
 public:
  using Request::Request;

  /// Takes the deposit from an upload of before, and drops what of its part comes again.
  [[nodiscard]] std::optional<HttpAnswer> Admitted() override {
    auto& inbox = this->inbox();
    place_ = inbox.PlaceOf(prefix());
    if (!place_) {
      return Problem(503, fmt::format("found {} uploads of this owner under way, expected fewer; try again",
                                      kUploadsOfOwner));
    }
    if (taken_before_) return {};
    const auto file = inbox.parts_.FileOf(prefix());
    owners_ = inbox.owners_;
    turn_ = inbox.TakeTurn(prefix());
    writer_.emplace(file, bytes(), head().offset);
    // Whoever withdraws it from now on sees this part, and deletes it.
    if (!inbox.IsWithdrawn(prefix())) return {};
    writer_.reset();
    fs::remove(file);
    return Withdrawn();
  }

  [[nodiscard]] std::optional<HttpAnswer> Take(std::span<const std::uint8_t> piece) override {
    if (!turn_) {
      Compare(piece);
      return {};
    }
    if (turn_->load() == Turn::kOver) return Overtaken();
    writer_->Write(piece);
    return {};
  }

  [[nodiscard]] HttpAnswer End() override {
    if (!turn_) {
      const auto party = static_cast<std::size_t>(prefix().party);
      if (header_.Digest() != prefix().id || body_.Digest() != prefix().bodies.at(party))
        return AnotherFile();
      return inbox().AnswerWithReceipt(prefix().id);
    }
    auto open = Turn::kOpen;
    if (!turn_->compare_exchange_strong(open, Turn::kTaking)) return Overtaken();
    writer_.reset();
    try {
      auto answer = inbox().Accept(prefix(), owners_, head().offset > 0);
      turn_->store(Turn::kOver);
      return answer;
    } catch (...) {
      turn_->store(Turn::kOver);
      throw;
    }
  }

 private:
  [[nodiscard]] std::optional<std::uint64_t> FileBytes() const override {
    return head().offset + head().body_bytes;
  }

  [[nodiscard]] std::optional<HttpAnswer> BeginTaken(const TakenFile& /*taken*/) override {
    if (head().offset == 0) return {};
    return Problem(409, "found the rest of a deposit that was taken, expected all of it", {.offset = 0});
  }

  [[nodiscard]] std::optional<HttpAnswer> BeginNew() override {
    auto& inbox = this->inbox();
    if (inbox.IsBeingTaken(prefix())) return Problem(503, "found a deposit that is being taken; ask again");
    const auto received = inbox.parts_.Received(bytes());
    if (head().offset > received)
      return Problem(409, "found an offset beyond what is here, expected at most that", {.offset = received});
    if (!fs::exists(inbox.parts_.FileOf(prefix())) && !inbox.parts_.MayBegin(prefix().owner)) {
      return Problem(429, fmt::format("found {} deposits of this owner that are not whole, expected fewer",
                                      PartFolder::kPerOwner));
    }
    taken_before_ = false;
    return {};
  }

  static HttpAnswer Overtaken() {
    return Problem(409, "found another upload of the same deposit that began later");
  }

  void Compare(std::span<const std::uint8_t> piece) {
    const auto in_header =
        static_cast<std::size_t>(std::min<std::uint64_t>(prefix().header_bytes - compared_, piece.size()));
    header_.Update(TextOf(piece.first(in_header)));
    body_.Update(TextOf(piece.subspan(in_header)));
    compared_ += in_header;
  }

  std::shared_ptr<void> place_;
  bool taken_before_ = true;  ///< until BeginNew() says that it was not
  std::vector<TrustedOwner> owners_;
  std::shared_ptr<std::atomic<Turn>> turn_;  ///< empty: the deposit was taken, and only compared
  std::optional<PartWriter> writer_;
  std::uint64_t compared_ = 0;  ///< bytes of the header
  Sha256 header_;
  Sha256 body_;
};

Inbox::Inbox(InboxSettings settings, Store taking, Store looking)
    : settings_(std::move(settings)),
      taking_(std::move(taking)),
      looking_(std::move(looking)),
      parts_(settings_.parts),
      owners_(settings_.reader.owners) {}

std::unique_ptr<net::Upload> Inbox::Open(const net::UploadHead& head) {
  if (head.target == "/deposits") return std::make_unique<DepositRequest>(*this, head);
  if (head.target == "/status") return std::make_unique<StatusRequest>(*this, head);
  return {};
}

const std::vector<TrustedOwner>& Inbox::Owners() {
  auto state = StateOfTrustedOwners(settings_.owners, std::time(nullptr));
  if (state && state == owners_of_) return owners_;
  owners_of_ = std::move(state);  // from before they are read: a change meanwhile makes it another one
  owners_.clear();
  try {
    owners_ = ReadTrustedOwners(settings_.owners);
  } catch (const std::runtime_error& error) {
    settings_.log(fmt::format("no owner is known until this is mended: {}", error.what()));
  }
  return owners_;
}

bool Inbox::MayAsk(const PublicKey& owner) {
  auto& asked = asked_[owner];  // of listed owners, whose signatures hold
  const auto now = std::chrono::steady_clock::now();
  if (now - asked.since >= std::chrono::minutes(1)) asked = {.since = now, .count = 0};
  return ++asked.count <= kRequestsAMinute;
}

std::shared_ptr<void> Inbox::PlaceOf(const Prefix& prefix) {
  auto& place = places_[prefix.owner];  // of listed owners, whose signatures hold
  if (!place) place = std::make_shared<char>();
  if (place.use_count() <= kUploadsOfOwner) return place;
  if (limiter_.Allow(ToHex(prefix.owner), net::LogLimiter::Clock::now())) {
    settings_.log(fmt::format("answered 503 to {}, which has {} uploads under way",
                              NameOfOwner(prefix.owner, owners_), kUploadsOfOwner));
  }
  return {};
}

bool Inbox::IsWithdrawn(const Prefix& prefix) {
  return looking_.IsWithdrawn(prefix.id, prefix.owner, NameOfOwner(prefix.owner, owners_));
}

bool Inbox::IsBeingTaken(const Prefix& prefix) const {
  const auto found = turns_.find({prefix.id, prefix.owner});
  const auto turn = found == turns_.end() ? nullptr : found->second.lock();
  return turn && turn->load() == Turn::kTaking;
}

std::shared_ptr<std::atomic<Inbox::Turn>> Inbox::TakeTurn(const Prefix& prefix) {
  std::erase_if(turns_, [](const auto& turn) { return turn.second.expired(); });
  auto& last = turns_[{prefix.id, prefix.owner}];
  if (const auto before = last.lock()) {
    auto open = Turn::kOpen;
    before->compare_exchange_strong(open, Turn::kOver);
  }
  auto turn = std::make_shared<std::atomic<Turn>>(Turn::kOpen);
  last = turn;
  return turn;
}

HttpAnswer Inbox::Accept(const Prefix& prefix, const std::vector<TrustedOwner>& owners, bool continued) {
  const auto file = parts_.FileOf(prefix);
  if (taking_.IsWithdrawn(prefix.id, prefix.owner, NameOfOwner(prefix.owner, owners))) {
    fs::remove(file);
    return Withdrawn();
  }
  auto& reader = settings_.reader;
  reader.owners = owners;
  try {
    const auto opened = ReadDeposit(file, reader);
    const auto now = static_cast<std::uint64_t>(std::time(nullptr));
    const auto receipt = SignReceipt(opened.id, reader.party, now, settings_.identity);
    taking_.Accept(opened, reader.study, file, now, receipt);
    fs::remove(file);
    settings_.log(fmt::format("taken: deposit {} of {}, population {}, purpose {}, {} rows", ToHex(opened.id),
                              opened.owner, opened.header.population, opened.header.purpose,
                              opened.header.capacity));
    return JsonAnswer(201, receipt);
  } catch (const RefusedDeposit& refused) {
    fs::remove(file);
    const auto taken = taking_.Find(prefix.id);
    // Where `trefoil accept` took this very file meanwhile.
    if (refused.reason() == Reason::kRepeated && taken && taken->prefix == EncodePrefix(prefix))
      return AnswerWithReceipt(prefix.id);
    settings_.log(refused.what());
    // The machine may have lost what came before, and kept its length: that is no fault of the owner's file.
    // An upload from the first byte on has no such excuse.
    if (continued && (refused.reason() == Reason::kHeader || refused.reason() == Reason::kBody))
      return Problem(409, "found other bytes than the owner signed, expected all of them anew",
                     {.offset = 0});
    return AnswerTo(refused);
  }
}

HttpAnswer Inbox::AnswerWithReceipt(const Hash& id) {
  const auto taken = taking_.Find(id);
  if (!taken || taken->withdrawn) return Withdrawn();
  if (IsSignedAs(taken->receipt, settings_.identity)) return JsonAnswer(201, taken->receipt);
  const auto receipt = SignReceipt(id, settings_.reader.party, taken->accepted, settings_.identity);
  return JsonAnswer(201, taking_.EnterReceipt(id, receipt, taken->receipt));
}

}  // namespace trefoil::deposit
