#include "deposit/read_deposit.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cerrno>
#include <optional>

#include "base/error.h"
#include "base/files/at_position.h"
#include "base/files/regular_file.h"
#include "base/secrets/sha256.h"
#include "deposit/format/bytes.h"
#include "deposit/format/components.h"
#include "deposit/format/sealed_body.h"

namespace trefoil::deposit {
namespace {

namespace fs = std::filesystem;

std::vector<TrustedOwner>::const_iterator OwnerWith(const PublicKey& key,
                                                    const std::vector<TrustedOwner>& owners) {
  return std::find_if(owners.begin(), owners.end(),
                      [&](const TrustedOwner& owner) { return owner.key == key; });
}

/// One file while it is read: refuses it, by its name.
class Reading {
 public:
  Reading(const fs::path& path, const DepositReader& reader) : path_(path), reader_(reader), file_(path) {
    if (!file_) throw ConfigError(fmt::format("{}: {}, expected a deposit", path.string(), file_.cause()));
  }

  OpenedDeposit Open() {
    std::array<std::uint8_t, kPrefixBytes> bytes{};
    const auto prefix = SignedPrefix(bytes);
    const auto encoded = HeaderBytes(prefix);
    OpenedDeposit opened{.id = prefix.id,
                         .header = CheckedHeader(encoded, prefix),
                         .owner = OwnerWith(prefix.owner, reader_.owners)->name,
                         .prefix = bytes};
    const auto sealed = SealedBodyOf(prefix);
    auto body = OpenBody(BytesOf(sealed), reader_.key, encoded);
    if (!body) {
      Refuse(Reason::kSealing, "a body that does not open with this party's key and this header",
             "the one that was sealed with it");
    }
    opened.body = std::move(*body);
    opened.components = CheckedComponents(opened.header, LayoutOf(reader_.study.records), reader_.party,
                                          opened.body.bytes(), path_);
    return opened;
  }

 private:
  [[noreturn]] void Refuse(Reason reason, const std::string& found, const std::string& expected) const {
    throw RefusedDeposit(reason, path_, found, expected);
  }

  /// Pre: they are there, unless somebody cuts the file meanwhile.
  void ReadInto(std::uint64_t first, std::span<std::uint8_t> out) const {
    const auto done = ReadAt(file_.descriptor(), first, out);
    if (done == out.size()) return;
    if (errno != 0)
      throw ConfigError(fmt::format("{}: {}, expected a deposit", path_.string(), DescribeErrno(errno)));
    Refuse(Reason::kSize, fmt::format("{} bytes", first + done), "a whole deposit");
  }

  /// What the file begins with, into `bytes`.
  [[nodiscard]] Prefix SignedPrefix(std::span<std::uint8_t, kPrefixBytes> bytes) const {
    if (file_.size() < bytes.size())
      Refuse(Reason::kSize, fmt::format("{} bytes", file_.size()), fmt::format("at least {}", bytes.size()));
    ReadInto(0, bytes);
    return CheckedPrefix(bytes, file_.size(), reader_.party, reader_.owners, path_);
  }

  [[nodiscard]] std::string HeaderBytes(const Prefix& prefix) const {
    if (prefix.header_bytes != kHeaderBytes) {
      Refuse(Reason::kHeader, fmt::format("a header of {} bytes", prefix.header_bytes),
             fmt::format("one of {}", kHeaderBytes));
    }
    std::string bytes(kHeaderBytes, '\0');
    ReadInto(kPrefixBytes, {reinterpret_cast<std::uint8_t*>(bytes.data()), bytes.size()});
    if (DepositId(bytes) != prefix.id)
      Refuse(Reason::kHeader, "another header", "the one that its owner signed");
    return bytes;
  }

  [[nodiscard]] Header CheckedHeader(const std::string& bytes, const Prefix& prefix) const {
    const auto header = DecodeHeader(bytes);
    if (!header || header->owner != prefix.owner)
      Refuse(Reason::kHeader, "a header that says nothing", "one as trefoil deposit writes it");
    if (header->study != IdOf(reader_.study)) {
      Refuse(Reason::kStudy, "study " + ToHex(header->study),
             fmt::format("{} ({})", ToHex(IdOf(reader_.study)), reader_.study.records.name));
    }
    CheckRecipients(*header);
    const auto layout = LayoutOf(reader_.study.records);
    const auto capacity = header->capacity;
    if (capacity == 0 || capacity > LargestCapacity(layout) ||
        prefix.body_bytes != SealedBytes(BodyBytes(layout, capacity, reader_.party))) {
      Refuse(Reason::kCapacity, fmt::format("{} bytes for {} rows", prefix.body_bytes, capacity),
             "as many bytes as rows of the study take, and a row at least");
    }
    const auto expected = RowsOfBatches(reader_.study.records).value_or(capacity);
    if (capacity != expected)
      Refuse(Reason::kCapacity, fmt::format("batches of {} rows in all", capacity),
             fmt::format("the {} of all steps of the study's job", expected));
    return *header;
  }

  void CheckRecipients(const Header& header) const {
    for (std::size_t i = 0; i < header.recipients.size(); ++i) {
      if (header.recipients.at(i) != reader_.study.parties.at(i).key)
        Refuse(Reason::kRecipients, fmt::format("another deposit key for party {}", i), "the study's");
    }
    if (header.recipients.at(static_cast<std::size_t>(reader_.party)) != reader_.key.known) {
      Refuse(Reason::kRecipients, "the study's deposit key for this party",
             "this party's own, " + Fingerprint(KeyKind::kParty, reader_.key.known));
    }
  }

  /// The sealed part. Pre: its length was checked.
  [[nodiscard]] std::string SealedBodyOf(const Prefix& prefix) const {
    std::string sealed(prefix.body_bytes, '\0');
    ReadInto(kPrefixBytes + kHeaderBytes, {reinterpret_cast<std::uint8_t*>(sealed.data()), sealed.size()});
    Sha256 hash;
    hash.Update(sealed);
    if (hash.Digest() != prefix.bodies.at(static_cast<std::size_t>(reader_.party)))
      Refuse(Reason::kBody, "another body", "the one that its owner signed");
    return sealed;
  }

  const fs::path& path_;
  const DepositReader& reader_;
  RegularFile file_;
};

void CheckComponent(const Header& header, const RowLayout& layout, int component,
                    std::span<const std::uint8_t> salt, std::span<const std::uint8_t> content,
                    const fs::path& file) {
  if (Commitment(header.study, header.nonce, component, salt, content) !=
      header.commitments.at(static_cast<std::size_t>(component))) {
    throw RefusedDeposit(Reason::kCommitment, file, fmt::format("another component {}", component),
                         "the one that the header commits to");
  }
  if (!IsInRange(layout, component, content))
    throw RefusedDeposit(Reason::kContent, file, "a number beyond the study's modulus", "numbers below it");
}

}  // namespace

std::array<std::span<const std::uint8_t>, 2> CheckedComponents(const Header& header, const RowLayout& layout,
                                                               int party, std::span<const std::uint8_t> body,
                                                               const fs::path& file) {
  FieldReader in(body);
  std::array<std::span<const std::uint8_t>, 2> components{};
  for (std::size_t k = 0; k < components.size(); ++k) {
    const int component = (party + static_cast<int>(k)) % 3;
    const auto salt = in.Bytes(sizeof(Hash));
    components.at(k) = in.Bytes(ComponentBytes(layout, header.capacity, component));
    CheckComponent(header, layout, component, salt, components.at(k), file);
  }
  return components;
}

std::optional<std::array<std::uint8_t, kPrefixBytes>> PrefixIn(const RegularFile& file) {
  std::array<std::uint8_t, kPrefixBytes> prefix{};
  if (!file || file.size() < prefix.size() || ReadAt(file.descriptor(), 0, prefix) < prefix.size()) return {};
  return prefix;
}

Prefix CheckedPrefix(std::span<const std::uint8_t, kPrefixBytes> bytes,
                     std::optional<std::uint64_t> file_bytes, int party,
                     const std::vector<TrustedOwner>& owners, const fs::path& file) {
  const auto refuse = [&](Reason reason, const std::string& found, const std::string& expected) {
    throw RefusedDeposit(reason, file, found, expected);
  };
  if (TextOf(bytes).substr(0, kMagic.size()) != kMagic)
    refuse(Reason::kMagic, "another kind of file", "a deposit, as trefoil deposit writes it");
  const auto version = TakeNumber(bytes.subspan(kMagic.size(), 4));
  if (version != kVersion)
    refuse(Reason::kVersion, fmt::format("version {}", version), fmt::format("version {}", kVersion));
  const auto prefix = DecodePrefix(bytes);
  if (file_bytes) {
    // No sum of these leaves 64 bits.
    const auto limit = *file_bytes;
    if (prefix.header_bytes > limit || prefix.body_bytes > limit ||
        kPrefixBytes + prefix.header_bytes + prefix.body_bytes != limit)
      refuse(Reason::kSize, fmt::format("{} bytes", limit), "as many as its first ones say");
  }
  if (prefix.party != static_cast<std::uint64_t>(party)) {
    refuse(Reason::kParty, fmt::format("the file of party {}", prefix.party),
           fmt::format("that of party {}", party));
  }
  // Before the list is looked at: owners' keys are public, and nobody is to learn by a prefix of his own whose
  // are listed, neither from the answer nor from how long it takes.
  const auto text = SignedText(prefix);
  if (!Verify(prefix.owner, {text.data(), text.size()}, prefix.signature))
    refuse(Reason::kSignature, "another signature", "its owner's");
  if (OwnerWith(prefix.owner, owners) == owners.end()) {
    refuse(Reason::kOwner, "the owner's key " + Fingerprint(KeyKind::kOwner, prefix.owner),
           "one that this party lists: trefoil trust-owner");
  }
  return prefix;
}

OpenedDeposit ReadDeposit(const fs::path& file, const DepositReader& reader) {
  return Reading(file, reader).Open();
}

}  // namespace trefoil::deposit
