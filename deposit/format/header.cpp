#include "deposit/format/header.h"

#include <algorithm>

#include "base/secrets/sha256.h"
#include "deposit/format/bytes.h"
#include "jobs/config/domains.h"

namespace trefoil::deposit {
namespace {

constexpr std::size_t kNameBytes = 64;
constexpr std::string_view kSignedDomain = "trefoil deposit 1\n";

/// The text before its padding; nothing where the padding is something else than zero bytes, or the text no
/// name.
std::optional<std::string> TakeName(std::span<const std::uint8_t> padded) {
  const auto text = TextOf(padded);
  auto name = std::string(text.substr(0, text.find('\0')));
  const auto rest = text.substr(name.size());
  if (!jobs::IsName(name) || rest.find_first_not_of('\0') != std::string_view::npos) return {};
  return name;
}

}  // namespace

std::string EncodeHeader(const Header& header) {
  FieldWriter out;
  out.Bytes(header.study);
  out.Number(header.capacity, 8);
  out.Bytes(header.owner);
  out.Padded(header.population, kNameBytes);
  out.Padded(header.purpose, kNameBytes);
  out.Number(header.adds ? 1 : 0, 8);
  out.Bytes(header.nonce);
  out.Number(header.time, 8);
  for (const auto& key : header.recipients) out.Bytes(key);
  for (const auto& commitment : header.commitments) out.Bytes(commitment);
  return out.text();
}

std::optional<Header> DecodeHeader(std::string_view bytes) {
  if (bytes.size() != kHeaderBytes) return {};
  FieldReader in(BytesOf(bytes));
  Header header;
  header.study = in.Array<32>();
  header.capacity = in.Number(8);
  header.owner = in.Array<32>();
  const auto population = TakeName(in.Bytes(kNameBytes));
  const auto purpose = TakeName(in.Bytes(kNameBytes));
  const auto adds = in.Number(8);
  if (!population || !purpose || adds > 1) return {};
  header.population = *population;
  header.purpose = *purpose;
  header.adds = adds == 1;
  header.nonce = in.Array<32>();
  header.time = in.Number(8);
  for (auto& key : header.recipients) key = in.Array<32>();
  for (auto& commitment : header.commitments) commitment = in.Array<32>();
  const auto& [first, second, third] = header.commitments;
  if (first == second || first == third || second == third) return {};  // as no deposit that is made has them
  return header;
}

Hash DepositId(std::string_view encoded_header) {
  Sha256 hash;
  hash.Update(encoded_header);
  return hash.Digest();
}

std::string EncodePrefix(const Prefix& prefix) {
  FieldWriter out;
  out.Padded(kMagic, kMagic.size());
  out.Number(kVersion, 4);
  out.Number(prefix.party, 4);
  out.Number(prefix.header_bytes, 8);
  out.Number(prefix.body_bytes, 8);
  out.Bytes(prefix.owner);
  out.Bytes(prefix.id);
  for (const auto& body : prefix.bodies) out.Bytes(body);
  out.Bytes(prefix.signature);
  return out.text();
}

Prefix DecodePrefix(std::span<const std::uint8_t, kPrefixBytes> bytes) {
  FieldReader in(bytes.subspan(kMagic.size() + 4));
  Prefix prefix;
  prefix.party = in.Number(4);
  prefix.header_bytes = in.Number(8);
  prefix.body_bytes = in.Number(8);
  prefix.owner = in.Array<32>();
  prefix.id = in.Array<32>();
  for (auto& body : prefix.bodies) body = in.Array<32>();
  prefix.signature = in.Array<64>();
  return prefix;
}

std::array<char, 146> SignedText(const Prefix& prefix) {
  std::array<char, 146> text{};
  static_assert(kSignedDomain.size() + 4 * sizeof(Hash) == text.size());
  auto* end = std::copy(kSignedDomain.begin(), kSignedDomain.end(), text.begin());
  end = std::copy(prefix.id.begin(), prefix.id.end(), end);
  for (const auto& body : prefix.bodies) end = std::copy(body.begin(), body.end(), end);
  return text;
}

}  // namespace trefoil::deposit
