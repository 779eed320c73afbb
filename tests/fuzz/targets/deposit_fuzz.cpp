// What owners send: a withdrawal; a deposit as it is; a header that its owner signed, with a body that is
// right for none; and what is sealed in a body, with header, commitments, seal and signature that are right,
// so that what is behind them is read, too.
#include <algorithm>
#include <vector>

#include "base/error.h"
#include "deposit/format/bytes.h"
#include "deposit/format/components.h"
#include "deposit/format/sealed_body.h"
#include "deposit/make_deposit.h"
#include "deposit/read_deposit.h"
#include "deposit/withdrawal.h"
#include "jobs/job.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz::deposit_target {
namespace {

using deposit::KeyKind;
using deposit::KeyPair;

constexpr const char* kJob = R"(version = 1
type = "dpsgd"
name = "tiny"
[data]
name = "tiny"
format = "idx"
rows = [10, 10, 10]
features = 2
classes = 2
[training]
steps = 4
expected_batch = 3
max_batch_per_owner = 5
learning_rate = 1.0
[privacy]
sigma = 20.0
delta = 1e-5
clip = 1.0
)";
constexpr int kParty = 1;
constexpr std::uint64_t kCapacity = 2;

KeyPair FixedPair(KeyKind kind, std::uint8_t fill) {
  SecretKey secret;
  std::fill(secret.bytes().begin(), secret.bytes().end(), fill);
  return deposit::PairOf(kind, std::move(secret));
}

const KeyPair& Owner() {
  static const auto kOwner = FixedPair(KeyKind::kOwner, 9);
  return kOwner;
}

const deposit::DepositReader& Reader() {
  static const auto kReader = [] {
    std::array<deposit::PublicKey, 3> keys{};
    for (std::size_t i = 0; i < keys.size(); ++i)
      keys[i] = FixedPair(KeyKind::kParty, static_cast<std::uint8_t>(i + 1)).known;
    const InputFile job(kJob);
    return deposit::DepositReader{.study = deposit::MakeStudy(*jobs::ReadJob(job.path())->Records(), keys),
                                  .party = kParty,
                                  .key = FixedPair(KeyKind::kParty, kParty + 1),
                                  .owners = {{.name = "owner", .key = Owner().known}}};
  }();
  return kReader;
}

/// A header that says what is so.
deposit::Header RightHeader() {
  deposit::Header header{.study = IdOf(Reader().study),
                         .capacity = kCapacity,
                         .owner = Owner().known,
                         .population = "people",
                         .purpose = "train"};
  for (std::size_t i = 0; i < header.recipients.size(); ++i)
    header.recipients[i] = Reader().study.parties[i].key;
  return header;
}

/// Reads a file, and uses what it gave as training would.
void ReadFile(std::string_view file) {
  const InputFile input(file);
  ReadAs<deposit::RefusedDeposit>([&] {
    const auto opened = deposit::ReadDeposit(input.path(), Reader());
    const auto layout = deposit::LayoutOf(Reader().study.records);
    for (std::size_t k = 0; k < opened.components.size(); ++k) {
      const auto numbers = deposit::NumbersOf(layout, opened.header.capacity,
                                              (kParty + static_cast<int>(k)) % 3, opened.components[k]);
      Check((numbers.leftCols(layout.features) < mpc::Word{1} << layout.feature_bits).all(),
            "a feature beyond the modulus");
    }
    return opened.header.time;
  });
}

void ReadSigned(std::string_view encoded) {
  deposit::Prefix prefix{.party = kParty,
                         .header_bytes = encoded.size(),
                         .owner = Owner().known,
                         .id = deposit::DepositId(encoded)};
  const auto text = deposit::SignedText(prefix);
  prefix.signature = deposit::Sign(Owner(), {text.data(), text.size()});
  ReadFile(deposit::EncodePrefix(prefix) + std::string(encoded));
}

/// A header of these terms for the study that its reader has.
void ReadTerms(deposit::Header header) {
  const auto right = RightHeader();
  header.study = right.study;
  header.owner = right.owner;
  header.recipients = right.recipients;
  ReadSigned(deposit::EncodeHeader(header));
}

void ReadSealed(std::span<const std::uint8_t> body) {
  auto header = RightHeader();
  const auto layout = deposit::LayoutOf(Reader().study.records);
  // Commitments to what is there, where all of it is: else the lengths are refused before.
  std::size_t at = 0;
  for (const int component : {kParty, (kParty + 1) % 3}) {
    const std::size_t bytes = 32 + deposit::ComponentBytes(layout, kCapacity, component);
    if (body.size() < at + bytes) break;
    header.commitments[static_cast<std::size_t>(component)] = deposit::Commitment(
        header.study, header.nonce, component, body.subspan(at, 32), body.subspan(at + 32, bytes - 32));
    at += bytes;
  }
  const auto encoded = deposit::EncodeHeader(header);
  const std::array<std::string, 3> bodies{"", deposit::SealBody(body, header.recipients[kParty], encoded),
                                          ""};
  ReadFile(deposit::SignDeposit(header, bodies, Owner()).files[kParty]);
}

}  // namespace

void Read(std::span<const std::uint8_t> input) {
  ReadAs<deposit::RefusedDeposit>([&] { return deposit::ParseWithdrawal(Text(input), "input"); });
  ReadFile(Text(input));
  ReadSigned(Text(input));
  if (!input.empty()) ReadSealed(input);
  if (const auto header = deposit::DecodeHeader(Text(input))) {
    Check(deposit::EncodeHeader(*header) == Text(input), "a header that is not what it was");
    ReadTerms(*header);
  }
}

const Target kTarget("deposit", Read);

}  // namespace trefoil::fuzz::deposit_target
