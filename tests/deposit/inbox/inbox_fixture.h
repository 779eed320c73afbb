#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "deposit/format/bytes.h"
#include "deposit/inbox/inbox.h"
#include "deposit/trusted_owners.h"
#include "tests/deposit/store/store_fixture.h"

namespace trefoil::deposit {

inline std::uint64_t OffsetIn(const net::HttpAnswer& answer) {
  return nlohmann::json::parse(answer.body).value("offset", std::uint64_t{999'999});
}

/// An inbox of party 1, which lists owner 10, without a network.
class InboxTest : public StoreTest {
 protected:
  InboxTest() { Trust("hospital", 10); }

  void Trust(const std::string& name, int number) const {
    WriteTrustedOwner(folder_.path() / "o", {.name = name, .key = SamplePair(KeyKind::kOwner, number).known});
  }
  static const net::Identity& SampleIdentity() {
    static const auto kIdentity = net::MakeIdentity("party-1");
    return kIdentity;
  }
  [[nodiscard]] static std::string SampleFingerprint() {
    return net::Fingerprint(SampleIdentity().certificate_pem);
  }
  Inbox& OpenInbox(std::uint64_t most_bytes = 1 << 20, const net::Identity& identity = SampleIdentity()) {
    inbox_.reset();
    auto taking = Open();
    InboxSettings settings{.reader = SampleReader(study_, 1),
                           .owners = folder_.path() / "o",
                           .parts = folder_.path() / "s/parts",
                           .identity = identity,
                           .most_bytes = most_bytes,
                           .log = [](const std::string&) {}};
    settings.reader.owners.clear();  // it reads them itself
    inbox_.emplace(std::move(settings), std::move(taking), Open());
    return *inbox_;
  }
  /// Party 1's file of another deposit.
  [[nodiscard]] std::string FileOfAnother(std::uint8_t coins, bool adds, int owner = 10) const {
    RandomStream stream(testing_support::FixedKey(coins));
    auto terms = SampleTerms();
    terms.adds = adds;
    return MakeDeposit(study_, SampleTable(), terms, SamplePair(KeyKind::kOwner, owner), stream).files[1];
  }

  struct Asked {
    std::unique_ptr<net::Upload> upload;
    std::optional<net::HttpAnswer> answer;  ///< where there is one already
  };
  /// A request with `file` from `offset` behind its prefix on, of which all before `until` has come.
  Asked Begin(const std::string& target, const std::string& file, std::uint64_t offset, std::size_t until) {
    const auto rest = file.size() - std::min<std::size_t>(file.size(), kPrefixBytes + offset);
    const bool status = target == "/status";
    Asked asked{.upload = inbox_->Open({.target = target,
                                        .body_bytes = kPrefixBytes + (status ? 0 : rest),
                                        .offset = offset,
                                        .address = "127.0.0.1"}),
                .answer = {}};
    const auto bytes = BytesOf(file);
    asked.answer = asked.upload->Begin(bytes.first(kPrefixBytes));
    if (!asked.answer) asked.answer = asked.upload->Admitted();
    for (auto at = static_cast<std::size_t>(kPrefixBytes + offset); !status && !asked.answer && at < until;) {
      const auto piece = bytes.subspan(at, std::min<std::size_t>(100, until - at));
      asked.answer = asked.upload->Take(piece);
      at += piece.size();
    }
    return asked;
  }
  net::HttpAnswer Post(const std::string& file, std::uint64_t offset = 0) {
    auto asked = Begin("/deposits", file, offset, file.size());
    return asked.answer ? *asked.answer : asked.upload->End();
  }
  net::HttpAnswer Status(const std::string& file) { return *Begin("/status", file, 0, 0).answer; }
  [[nodiscard]] std::vector<std::filesystem::path> Parts() const {
    std::vector<std::filesystem::path> parts;
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path() / "s/parts"))
      parts.push_back(entry.path());
    return parts;
  }

  /// Makes zeros of some bytes of the only part, as a machine may that lost its power.
  void Damage(std::size_t first) const {
    ASSERT_EQ(Parts().size(), 1U);
    std::fstream part(Parts()[0], std::ios::binary | std::ios::in | std::ios::out);
    part.seekp(static_cast<std::streamoff>(first));
    part << std::string(100, '\0');
  }

  std::optional<Inbox> inbox_;
};

}  // namespace trefoil::deposit
