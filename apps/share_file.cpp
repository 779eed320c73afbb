#include "apps/share_file.h"

#include <spdlog/fmt/fmt.h>

#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "apps/files.h"
#include "apps/training_settings.h"
#include "base/error.h"
#include "base/sealed_box.h"
#include "ml/step_plan.h"

namespace trefoil::apps {
namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<std::uint8_t>;

constexpr std::string_view kMagic = "trefoil model share 1\n";
constexpr std::string_view kPurpose = "trefoil model share";
constexpr std::size_t kLengthBytes = 8;
constexpr std::size_t kLargestHeader = std::size_t{1} << 24;

std::span<const std::uint8_t> BytesOf(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

/// Eight bytes, the least significant first.
std::string LengthText(std::size_t length) {
  std::string text;
  for (std::size_t k = 0; k < kLengthBytes; ++k) text.push_back(static_cast<char>(length >> (8 * k) & 0xFF));
  return text;
}

std::size_t LengthIn(std::string_view text) {
  std::size_t length = 0;
  for (std::size_t k = 0; k < kLengthBytes; ++k)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(text[k])) << (8 * k);
  return length;
}

[[noreturn]] void Refuse(const fs::path& file, const std::string& found, const std::string& expected) {
  throw DataError(fmt::format("{}: found {}, expected {}", file.string(), found, expected));
}

ml::LayerShape ShapeOf(const Job& job) { return ml::ShapeOfWeights(ml::MakeStepPlan(SettingsOf(job))); }

/// Both components, wiped when they die.
class Words {
 public:
  explicit Words(Bytes bytes) : bytes_(std::move(bytes)) {}
  explicit Words(const mpc::ArithShare& share) : bytes_(2 * Size(share)) {
    std::memcpy(bytes_.data(), share.own().data(), Size(share));
    std::memcpy(bytes_.data() + Size(share), share.next().data(), Size(share));
  }
  Words(const Words&) = delete;
  Words& operator=(const Words&) = delete;
  ~Words() { Wipe(std::span(bytes_)); }

  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return bytes_; }
  /// Pre: as many bytes as two matrices of the shape have.
  [[nodiscard]] mpc::ArithShare ToShare(const ml::LayerShape& shape) const {
    mpc::RingMatrix own(shape.inputs, shape.outputs);
    mpc::RingMatrix next(shape.inputs, shape.outputs);
    std::memcpy(own.data(), bytes_.data(), bytes_.size() / 2);
    std::memcpy(next.data(), bytes_.data() + bytes_.size() / 2, bytes_.size() / 2);
    return {std::move(own), std::move(next)};
  }

 private:
  static std::size_t Size(const mpc::ArithShare& share) {
    return static_cast<std::size_t>(share.size()) * sizeof(mpc::Word);
  }

  Bytes bytes_;
};

/// What stands before the sealed part, and is sealed with it.
std::string HeaderOf(const ShareFile& share) {
  const nlohmann::json json{
      {"party", share.party}, {"job", JobJson(share.job)}, {"record", dp::ToJson(share.record)}};
  const auto text = json.dump();
  return std::string(kMagic) + LengthText(text.size()) + text;
}

/// The length of the header at the beginning of `text`.
std::size_t HeaderLength(const fs::path& file, const std::string& text) {
  const std::size_t begin = kMagic.size() + kLengthBytes;
  if (text.size() < begin || !text.starts_with(kMagic))
    Refuse(file, "another file", "a model's share of this version, model.share of a run");
  const std::size_t length = LengthIn(std::string_view(text).substr(kMagic.size()));
  if (length > kLargestHeader || length > text.size() - begin)
    Refuse(file, "an incomplete file", "a model's share");
  return begin + length;
}

ShareFile ParseHeader(const fs::path& file, std::string_view header) {
  const auto json = nlohmann::json::parse(header.substr(kMagic.size() + kLengthBytes), nullptr, false);
  try {
    if (json.is_discarded()) Refuse(file, "a damaged header", "a model's share");
    ShareFile share;
    share.party = json.at("party").get<int>();
    share.job = ParseJobJson(json.at("job").get<std::string>(), file.string());
    share.record = dp::FromJson(json.at("record"));
    return share;
  } catch (const std::exception&) {
    Refuse(file, "a damaged header", "a model's share");
  }
}

}  // namespace

SecretKey StorageKey(const PartyFile& party) {
  const auto& file = party.storage_key.empty() ? party.private_key : party.storage_key;
  CheckSecretMode(file, "the key that shares are sealed with");
  auto text = ReadTextFile(file, "the key that shares are sealed with");
  if (text.size() < SecretKey::kBytes) {
    throw ConfigError(fmt::format("{}: found {} bytes, expected a secret of at least {}", file.string(),
                                  text.size(), SecretKey::kBytes));
  }
  auto key = DeriveKey(BytesOf(text), kPurpose);
  Wipe(std::span(reinterpret_cast<std::uint8_t*>(text.data()), text.size()));
  return key;
}

void SaveShare(const fs::path& file, const ShareFile& share, const SecretKey& key) {
  const auto header = HeaderOf(share);
  const Words words(share.weights.ring());
  const auto sealed = Seal(key, header, words.bytes());
  WriteSecretFile(file, header + std::string(sealed.begin(), sealed.end()));
}

ShareFile LoadShare(const fs::path& file, int party, const SecretKey& key) {
  CheckSecretMode(file, "a model's share, model.share of a run");
  const auto text = ReadTextFile(file, "a model's share, model.share of a run");
  const auto header = std::string_view(text).substr(0, HeaderLength(file, text));
  auto share = ParseHeader(file, header);
  if (share.party != party)
    Refuse(file, fmt::format("party {}'s share", share.party), fmt::format("party {}'s", party));
  auto secret = Unseal(key, header, BytesOf(std::string_view(text).substr(header.size())));
  if (!secret) {
    throw DataError(
        file.string() +
        ": cannot be opened: it was changed, or this party's storage key is not the one that sealed it");
  }
  const Words words(std::move(*secret));
  const auto shape = ShapeOf(share.job);
  if (words.bytes().size() != 2 * sizeof(mpc::Word) * static_cast<std::size_t>(shape.weights()) ||
      share.record.job_hash != JobHash(share.job))
    Refuse(file, "a share that does not fit its job", "a model's share");
  share.weights = {words.ToShare(shape), share.job.fraction_bits};
  return share;
}

}  // namespace trefoil::apps
