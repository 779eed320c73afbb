#include "deposit/make_deposit.h"

#include <spdlog/fmt/fmt.h>

#include <cstdio>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/files/sync_to_disk.h"
#include "base/secrets/sha256.h"
#include "base/threads/blocking_call.h"
#include "deposit/format/bytes.h"
#include "deposit/format/components.h"
#include "deposit/format/sealed_body.h"
#include "deposit/format/slots.h"

namespace trefoil::deposit {
namespace {

namespace fs = std::filesystem;

Hash DrawNonce(RandomStream& coins) {
  Hash nonce{};
  for (std::size_t at = 0; at < nonce.size(); at += sizeof(std::uint64_t))
    PutNumber(std::span(nonce).subspan(at, sizeof(std::uint64_t)), coins.NextWord());
  return nonce;
}

/// What party `party` gets: its two components behind their salts.
jobs::SecretBytes BodyOf(const std::array<SaltedComponent, 3>& components, std::size_t party) {
  std::vector<std::uint8_t> body;
  const auto& next = components.at((party + 1) % 3);
  // So that it is never moved to another place, which would leave a copy.
  body.reserve(components.at(party).content.bytes().size() + next.content.bytes().size() +
               2 * SecretKey::kBytes);
  for (const auto* component : {&components.at(party), &next}) {
    for (const auto& part : {component->salt.bytes(), component->content.bytes()})
      body.insert(body.end(), part.begin(), part.end());
  }
  return jobs::SecretBytes(std::move(body));
}

}  // namespace

MadeDeposit SignDeposit(const Header& header, const std::array<std::string, 3>& bodies,
                        const KeyPair& owner) {
  const auto encoded = EncodeHeader(header);
  Prefix prefix{.header_bytes = encoded.size(), .owner = owner.known, .id = DepositId(encoded)};
  for (std::size_t party = 0; party < bodies.size(); ++party) {
    Sha256 hash;
    hash.Update(bodies[party]);
    prefix.bodies[party] = hash.Digest();
  }
  const auto text = SignedText(prefix);
  prefix.signature = Sign(owner, {text.data(), text.size()});
  MadeDeposit made{.id = prefix.id, .files = {}};
  for (std::size_t party = 0; party < bodies.size(); ++party) {
    prefix.party = party;
    prefix.body_bytes = bodies[party].size();
    made.files[party] = EncodePrefix(prefix) + encoded + bodies[party];
  }
  return made;
}

MadeDeposit MakeDeposit(const Study& study, const data::Table& table, const DepositTerms& terms,
                        const KeyPair& owner, RandomStream& coins) {
  Header header{.study = IdOf(study),
                .capacity = terms.capacity,
                .owner = owner.known,
                .population = terms.population,
                .purpose = terms.purpose,
                .adds = terms.adds,
                .nonce = DrawNonce(coins),
                .time = terms.time};
  std::vector<std::int64_t> slots;
  const auto components = ShareRows(study.records, table, terms.capacity, coins, &slots);
  for (std::size_t i = 0; i < components.size(); ++i) {
    header.recipients[i] = study.parties[i].key;
    header.commitments[i] = Commitment(header.study, header.nonce, static_cast<int>(i),
                                       components[i].salt.bytes(), components[i].content.bytes());
  }
  const auto encoded = EncodeHeader(header);
  std::array<std::string, 3> bodies;
  for (std::size_t party = 0; party < bodies.size(); ++party)
    bodies[party] = SealBody(BodyOf(components, party).bytes(), header.recipients[party], encoded);
  auto made = SignDeposit(header, bodies, owner);
  if (jobs::IsToPredict(terms.purpose)) made.slots = SlotsText(made.id, SlotsOfRecords(slots));
  return made;
}

std::array<std::uint64_t, 3> FileBytes(const RowLayout& layout, std::uint64_t capacity) {
  std::array<std::uint64_t, 3> bytes{};
  for (int party = 0; party < 3; ++party)
    bytes.at(static_cast<std::size_t>(party)) =
        kPrefixBytes + kHeaderBytes + SealedBytes(BodyBytes(layout, capacity, party));
  return bytes;
}

std::string FileNameOf(int party) { return fmt::format("party-{}.deposit", party); }

void WriteDeposit(const fs::path& place, const MadeDeposit& deposit) {
  const auto folder = place.has_filename() ? place : place.parent_path();  // "new/" is "new"
  if (fs::exists(folder))
    throw ConfigError(folder.string() + ": exists already, and is not overwritten; choose another --out");
  auto draft = folder;
  draft += ".part";
  const auto clear = [&] {  // of what an interrupted attempt left, or this one
    for (int party = 0; party < 3; ++party) fs::remove(draft / FileNameOf(party));
    fs::remove(draft / kSlotsFile);
  };
  if (folder.has_parent_path()) fs::create_directories(folder.parent_path());
  fs::create_directory(draft);
  clear();
  if (!fs::is_empty(draft))
    throw ConfigError(draft.string() + ": found a folder with other files, expected none of this name");
  try {
    for (int party = 0; party < 3; ++party)
      WriteSecretFile(draft / FileNameOf(party), deposit.files.at(static_cast<std::size_t>(party)));
    if (!deposit.slots.empty()) WriteSecretFile(draft / kSlotsFile, deposit.slots);
    const BlockingCall call("writing", folder);
    if (std::rename(draft.c_str(), folder.c_str()) != 0) throw CannotWrite(folder);
  } catch (...) {
    clear();
    fs::remove(draft);
    throw;
  }
  SyncFolderOf(folder);
}

}  // namespace trefoil::deposit
