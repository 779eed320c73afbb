// What an owner reads of parties: a file of predictions as it is, and one whose seal is right for whatever
// header and body it has, so that what is behind the seal is read, too. And what the owner kept: slots.csv.
#include <algorithm>
#include <array>

#include "base/error.h"
#include "deposit/format/bytes.h"
#include "deposit/format/sealed_body.h"
#include "deposit/format/slots.h"
#include "deposit/predictions.h"
#include "tests/fuzz/fuzz.h"

namespace trefoil::fuzz::predictions_target {
namespace {

constexpr std::uint64_t kCapacity = 4;

const deposit::KeyPair& Owner() {
  static const auto kOwner = [] {
    SecretKey secret;
    std::fill(secret.bytes().begin(), secret.bytes().end(), std::uint8_t{9});
    return deposit::PairOf(deposit::KeyKind::kOwner, std::move(secret));
  }();
  return kOwner;
}

/// Opens a file, and uses what it gave as `trefoil owner open` would.
void Open(std::string_view content) {
  ReadAs<DataError>([&] {
    auto part = deposit::OpenPredictions(content, Owner(), "input");
    const auto rows = part.header.rows;
    Check(part.components[0].rows() == static_cast<mpc::Index>(rows) && part.components[0].size() > 0,
          "components of another shape");
    Check(16 * rows * part.header.columns < content.size(), "more words than the file has");
    jobs::RecordSchema records;
    const auto last = static_cast<std::int64_t>(rows) - 1;
    return deposit::PredictionsCsvOf(part.header, part.components[0], {0, last}, records);
  });
}

}  // namespace

void Read(std::span<const std::uint8_t> input) {
  const auto text = Text(input);
  Open(text);
  if (input.size() > deposit::kPredictionsHeaderBytes) {
    const auto header = text.substr(0, deposit::kPredictionsHeaderBytes);
    const auto body = input.subspan(deposit::kPredictionsHeaderBytes);
    Open(std::string(header) + deposit::SealBody(body, deposit::SealingKeyOf(Owner().known).value(), header));
  }
  const InputFile file(text);
  ReadAs<DataError>([&] {
    const auto slots = deposit::ReadSlots(file.path(), {}, kCapacity);
    Check(deposit::SlotsText({}, slots) == text, "slots that are not what they were");
    return slots;
  });
}

const Target kTarget("predictions", Read);

}  // namespace trefoil::fuzz::predictions_target
