#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "jobs/config/common_fields.h"
#include "jobs/records/record_fields.h"
#include "jobs/records/row_norm.h"
#include "ml/plan/settings.h"

namespace trefoil::jobs {
namespace {

using data::FeatureMethod;
using Json = nlohmann::json;

constexpr std::int64_t kMaxColumns = 1'000'000;
// Rows have single precision: the digits of shorter ones would be lost, and in the end all of them.
constexpr Interval kRowNorms{.least = 1e-30};
constexpr double kLargestMean = 1024;  // as row_norm of a training
constexpr WholeInterval kSmallNumber{1, 1000};

const OneOf<FeatureMethod>& Methods() {
  static const OneOf<FeatureMethod> methods{{FeatureMethod::kNone, "none"},
                                            {FeatureMethod::kHog, "hog"},
                                            {FeatureMethod::kScatter, "scatter"},
                                            {FeatureMethod::kHashText, "hash-text"},
                                            {FeatureMethod::kOnnx, "onnx"}};
  return methods;
}

/// features.image: height and width, and channels where there are several: of as many values as a record has
/// features.
struct Image {
  std::int64_t features;

  [[nodiscard]] std::int64_t Side() const { return std::llround(std::sqrt(static_cast<double>(features))); }
  [[nodiscard]] bool IsSquare() const { return Side() * Side() == features; }

  [[nodiscard]] std::string Expected(const toml::node* /*found*/) const {
    return fmt::format(
        "[height, width] or [height, width, channels] of {} values, at most {} channels (data.features)",
        features, kMaxChannels);
  }
  bool Read(const toml::node& node, data::ImageSize& member) const {
    std::vector<std::int64_t> size;
    if (!kSides.Read(node, size) || size.size() < 2 || size.size() > 3) return false;
    size.resize(3, 1);
    if (size[2] > kMaxChannels || size[0] * size[1] * size[2] != features) return false;
    member = {static_cast<int>(size[0]), static_cast<int>(size[1]), static_cast<int>(size[2])};
    return true;
  }
  void Write(const data::ImageSize& member, Json& json) const {
    json = {member.height, member.width};
    if (member.channels != 1) json.push_back(member.channels);
  }
  void Describe(Json& schema) const {
    kSides.Describe(schema);
    schema.update({{"minItems", 2}, {"maxItems", 3}});
  }

  /// An array with channels first is found by it, mostly.
  static constexpr int kMaxChannels = 16;
  static inline const Wholes kSides{{1, kMaxColumns}, ""};
};

/// The lengths of n-grams, least and most.
struct Ngrams {
  [[nodiscard]] std::string Expected(const toml::node* /*found*/) const {
    return "[least, most] from 1 to 16, or []";
  }
  bool Read(const toml::node& node, data::NgramRange& member) const {
    std::vector<std::int64_t> range;
    if (!kLengths.Read(node, range) || (!range.empty() && (range.size() != 2 || range[0] > range[1])))
      return false;
    member = {};
    if (!range.empty()) member = {.least = static_cast<int>(range[0]), .most = static_cast<int>(range[1])};
    return true;
  }
  void Write(const data::NgramRange& member, Json& json) const {
    json = member.most == 0 ? Json::array() : Json{member.least, member.most};
  }
  void Describe(Json& schema) const {
    kLengths.Describe(schema);
    schema["maxItems"] = 2;
  }

  static inline const Wholes kLengths{{1, 16}, ""};
};

/// Columns of text are there exactly if there is a method for them.
void CheckTexts(const Section& section, FeatureMethod method, const data::DataSpec& data) {
  const bool texts = data::CountTexts(data) > 0;
  if (method == FeatureMethod::kHashText && !texts)
    section.Refuse("method", "another one, as data.column has none of kind \"text\"");
  if (method != FeatureMethod::kHashText && texts) {
    section.Fail(
        "method",
        "expected \"hash-text\", as data.column has one of kind \"text\" (\"ignore\" leaves it out)");
  }
}

void CheckColumns(const Section& section, const data::FeatureSpec& spec, std::int64_t columns) {
  std::int64_t extracted = 0;
  try {
    extracted = data::ExtractedColumns(spec, columns);
  } catch (const ConfigError& error) {
    throw ConfigError(section.file() + ": " + error.what());
  }
  if (extracted > kMaxColumns)
    section.Refuse("method", fmt::format("at most {} features, and not {}", kMaxColumns, extracted));
}

void ImageFields(FieldVisitor& v, data::FeatureSpec& s, const data::DataSpec& data) {
  const Image image{data.features};
  const auto side = static_cast<int>(image.Side());
  const bool cifar = data.format == data::Format::kCifar;
  const bool images = data.format == data::Format::kImages;
  v("image", s.image, image,
    Default(cifar ? data::kCifarImage : data::ImageSize{.height = side, .width = side})
        .Said("a square of `data.features`; cifar: [32, 32, 3]")
        .Unless(!cifar && !image.IsSquare()),
    "Height and width, and channels (at most 16) where there are several; their product is `data.features`. "
    "The values of a pixel lie side by side: channels come last.");
  v.Check([&](const Section& table) {
    if (cifar && s.image != data::kCifarImage)
      table.Refuse("image", "[32, 32, 3], what data.format \"cifar\" has");
    if (images && s.image.channels != 1 && s.image.channels != 3)
      table.Refuse("image", "[height, width] or [height, width, 3] with data.format \"images\"");
  });
}

void HogFields(FieldVisitor& v, data::HogSpec& s) {
  v("cell", s.cell, kSmallNumber, Default(4), "Side of a cell in pixels.");
  v("orientations", s.orientations, kSmallNumber, Default(9), "Bins over 180°.");
  v("block", s.block, kSmallNumber, Default(2),
    "Side of a block in cells. (h/cell − block + 1)·(w/cell − block + 1)·block²·orientations features, "
    "quotients rounded down, however many channels: a pixel's gradient is that of the channel where it is "
    "longest.");
}

void ScatterFields(FieldVisitor& v, data::ScatterSpec& s) {
  v("scales", s.scales, kSmallNumber, Default(s.scales), "J, at most 8.");
  v("angles", s.angles, kSmallNumber, Default(s.angles), "L, 4 … 64.");
  v("groups", s.groups, kSmallNumber, Default(s.groups),
    "Groups of channels for the normalisation, a divisor of their number: 1 + J·L + L²·J(J − 1)/2 for each "
    "channel of the image. Channels · ⌊h/2^J⌋·⌊w/2^J⌋ features: 15,552 for 32 × 32 × 3. Each colour is "
    "transformed by itself; the channels of all, one colour's behind the other's, are what is cut in "
    "groups.");
}

void HashTextFields(FieldVisitor& v, data::HashTextSpec& s) {
  v("dimension", s.dimension, WholeInterval{1, kMaxColumns}, Default(s.dimension),
    "Columns that n-grams are hashed to with a sign, beside those of the other columns.");
  v("characters", s.characters, Ngrams{}, Default(s.characters),
    "Lengths of n-grams of characters, least and most; `[]` for none.");
  v("words", s.words, Ngrams{}, Default(s.words), "Lengths of n-grams of words, likewise.");
  v("fold_case", s.fold_case, Flag{}, Default(s.fold_case), "A–Z count as a–z.");
  v("binary", s.binary, Flag{}, Default(false).LeftOut(),
    "An n-gram counts once a record, however often it occurs: for long texts.");
}

void OnnxFields(FieldVisitor& v, data::OnnxSpec& s, std::int64_t features) {
  v("input", s.input, Wholes{{1, kMaxColumns}, "the shape of a record"},
    Default(std::vector{static_cast<int>(features)}).Said("`[data.features]`"),
    "Shape of one record at the model's input, without the batch. Of cifar and images [channels, height, "
    "width], for which the values of each channel are put one behind the other, [height, width, channels], "
    "or "
    "`[data.features]`, for which they are as they are.");
  v("model_sha256", s.model_sha256, Text{},
    "SHA-256 of the model file in lower-case hexadecimal, the same model at all three (the party file says "
    "where it is).");
  v("outputs", s.outputs, WholeInterval{1, kMaxColumns},
    "Numbers at the model's output. Needs a build with OpenCV.");
}

/// Means of extracted features that are public.
void MeansField(FieldVisitor& v, FeatureSpec& s, const data::DataSpec& data) {
  v("means", s.means, Numbers{-kLargestMean, kLargestMean, "numbers from -1024 to 1024, one a feature"},
    Default(std::vector<double>{}).LeftOut(),
    "One a feature that is extracted: subtracted from rows of length `row_norm`, which are scaled to it "
    "again. "
    "In a released model what `standardise` found.");
  v.Check([&](const Section& table) {
    if (s.means.empty()) return;
    const auto columns = data::ExtractedColumns(s.extraction, data.features);
    if (std::ssize(s.means) != columns)
      table.Fail("means", fmt::format("found {} numbers, expected {}, one a feature that is extracted",
                                      s.means.size(), columns));
  });
}

/// Of ranges that a training finds out itself.
void RangesFields(FieldVisitor& v, StandardiseSpec& s, const data::DataSpec& data) {
  const bool asked = std::any_of(data.columns.begin(), data.columns.end(),
                                 [](const data::Column& column) { return column.private_range; });
  v.When(
      {asked, "a column of range \"private\"", "found it, expected a column of range \"private\" with it"},
      [&] {
        v("range_sigma", s.range_sigma, kSigmas,
          "The noise multiplier of the counts by which private ranges of columns are found; without it, what "
          "`range_share` asks.");
        v.When({!s.range_sigma, "no range_sigma", "found it, expected only one of it and range_sigma"}, [&] {
          v("range_share", s.range_share, Interval{.above = 0.0, .below = 1.0}, Default(0.2).LeftOut(),
            "Of `privacy.epsilon`: what these counts may take by themselves, beside `standardise_share`.");
        });
      });
}

/// Means and scales that a training finds out itself.
void StandardiseFields(FieldVisitor& v, StandardiseSpec& s, const data::DataSpec& data) {
  v("standardise", s.on, OneOf<bool>{{false, "none"}, {true, "private"}}, Default(false).LeftOut(),
    "`private`: before the training, means and scales of all columns of kind `number`, which have `low` and "
    "`high` or a private `range` then, come from one sum of all records with noise, which opens to the three "
    "parties and is charged (`privacy.md`, \"Standardised features\"). With method `hog`, `scatter` or "
    "`onnx` it is the means of the extracted features, as `means` has them.");
  const auto refusal = [](const char* expected) { return fmt::format("found it, expected {}", expected); };
  v.When({s.on, "features.standardise \"private\"", refusal("features.standardise \"private\" with it")},
         [&] {
           v("standardise_sigma", s.sigma, kSigmas,
             "The noise multiplier of that sum; without it, what `standardise_share` asks.");
           v.When({!s.sigma, "no standardise_sigma", refusal("only one of it and standardise_sigma")}, [&] {
             v("standardise_share", s.share, Interval{.above = 0.0, .below = 1.0}, Default(0.1).LeftOut(),
               "Of `privacy.epsilon`: what the sum may take by itself. The noise of the steps is chosen "
               "behind it, so that all together take `privacy.epsilon`.");
           });
           RangesFields(v, s, data);
         });
}

}  // namespace

void FeatureFields(FieldVisitor& v, FeatureSpec& s, const data::DataSpec& data, RecordUse use) {
  auto& spec = s.extraction;
  v("method", spec.method, Methods(), Default(FeatureMethod::kNone),
    "What each party makes of its own records before it shares them.");
  const auto of = [&](std::initializer_list<FeatureMethod> methods, const char* only) {
    return Condition{std::find(methods.begin(), methods.end(), spec.method) != methods.end(), only,
                     fmt::format("method \"{}\" does not have it", Methods().TextOf(spec.method))};
  };
  const bool used_as_it_is = data.format == data::Format::kCsv && spec.method == FeatureMethod::kNone;
  const bool usual = used_as_it_is && use != RecordUse::kOther;
  v("row_norm", s.row_norm, OrAuto<Interval>{kRowNorms},
    Default(usual ? double{kAuto} : 1.0).Said("1; `auto` of csv without extraction in `dpsgd` and `tune`"),
    "R, at least 1e-30; of trainings at most 1024, and more than a unit of a row's fraction bits; of "
    "averages more than λ units of a weight's. Longer rows are scaled down to it; extracted rows up or down "
    "to it. `auto`, of csv without extraction: about what rows come to, by the declared columns "
    "(`settings.md`, \"row_norm\").");
  v.Check([&](const Section& table) { CheckTexts(table, spec.method, data); });
  auto of_images = of({FeatureMethod::kHog, FeatureMethod::kScatter},
                      "method \"hog\" or \"scatter\", or with data.format \"images\"");
  of_images.holds = of_images.holds || data.format == data::Format::kImages;
  v.When(of_images, [&] { ImageFields(v, spec, data); });
  v.When(of({FeatureMethod::kHog}, "method \"hog\""), [&] { HogFields(v, spec.hog); });
  v.When(of({FeatureMethod::kScatter}, "method \"scatter\""), [&] { ScatterFields(v, spec.scatter); });
  v.When(of({FeatureMethod::kHashText}, "method \"hash-text\""), [&] { HashTextFields(v, spec.hash_text); });
  v.When(of({FeatureMethod::kOnnx}, "method \"onnx\""), [&] {
    OnnxFields(v, spec.onnx, data.features);
    if (data.format == data::Format::kCifar) spec.image = data::kCifarImage;  // no key of this method
  });
  v.Check([&](const Section& table) { CheckColumns(table, spec, data.features); });
  v.When({use == RecordUse::kTrained, "type \"dpsgd\""}, [&] {
    v("fraction_bits", s.fraction_bits, WholeInterval{ml::kMinRowFractionBits, 24},
      "Of rows in the steps of a training, of no vertical partition, no deposits and no published clipping; "
      "at most "
      "`fraction_bits`, which they have without it. With fewer, a number of a row may take fewer bytes "
      "(`row_bits` of `plan`), and is "
      "rounded towards zero to a multiple of 2^(−`fraction_bits`): pixels and counts have few anyway.");
    v.When(of({FeatureMethod::kHog, FeatureMethod::kScatter, FeatureMethod::kOnnx},
              "method \"hog\", \"scatter\" or \"onnx\""),
           [&] { MeansField(v, s, data); });
    StandardiseFields(v, s.standardise, data);
  });
  v.Check([&](const Section& table) {
    if (s.row_norm != kAuto) return;
    if (!used_as_it_is)
      table.Refuse("row_norm",
                   "a number: \"auto\" is of the columns of data.format \"csv\" without extraction");
    s.row_norm = UsualRowNorm(data, s.standardise.on);
  });
}

}  // namespace trefoil::jobs
