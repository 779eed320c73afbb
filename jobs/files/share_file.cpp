#include "jobs/files/share_file.h"

#include <spdlog/fmt/fmt.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "base/files/files.h"
#include "base/secrets/sha256.h"
#include "jobs/config/json_number.h"
#include "jobs/files/share_codec.h"

namespace trefoil::jobs {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

ml::LayerShape ShapeOf(const ModelSchema& schema) {
  return ml::ShapeOfWeights(ml::MakeStepPlan(schema.classifier));
}

/// Of what made the model.
std::string HashOf(const ShareFile& share) {
  return Sha256Hex(share.task.empty() ? share.schema.json : share.task);
}

ShareFile ParseHeader(const fs::path& file, const Json& json, JobTypes types) {
  try {
    ShareFile share;
    share.party = NumberOf(json.at("party"));
    share.schema = ParseModelSchema(json.at("job").get<std::string>(), file.string(), types);
    if (json.contains("task")) share.task = json.at("task").get<std::string>();
    share.record = dp::FromJson(json.at("record"));
    if (json.contains("session")) share.session = json.at("session").get<std::string>();
    (void)share.delta();
    (void)share.accountant();
    (void)ShapeOf(share.schema);  // a job whose settings do not go together is damage, too
    return share;
  } catch (const std::exception&) {
    RefuseSealed(file, "a damaged header, or a type of job that is not known here", "a model's share");
  }
}

}  // namespace

double ShareFile::delta() const {
  return task.empty() ? schema.classifier.delta : Json::parse(task).at("privacy").at("delta").get<double>();
}

dp::AccountantKind ShareFile::accountant() const {
  if (task.empty()) return schema.classifier.accountant;
  // A job of before there was such a key is accounted for by the key's default.
  return dp::AccountantNamed(Json::parse(task).at("privacy").value("accountant", "pld"));
}

void SaveShare(const fs::path& file, const ShareFile& share, const SecretKey& key) {
  Require(!share.session.empty(), "SaveShare: the session that made the shares");
  Json header{{"party", share.party},
              {"job", share.schema.json},
              {"record", dp::ToJson(share.record)},
              {"session", share.session}};
  if (!share.task.empty()) header["task"] = share.task;
  std::vector<std::uint8_t> words(
      ShareBytes({.inputs = share.weights.rows(), .outputs = share.weights.cols()}));
  (void)PutShare(words, share.weights.ring());
  const SecretBytes secret(std::move(words));
  WriteSecretFile(file, SealFile(kModelShare, header, secret.bytes(), key));
}

ShareFile LoadShare(const fs::path& file, int party, const SecretKey& key, JobTypes types) {
  ShareFile share;
  const auto secret = OpenSealed(file, kModelShare, key, [&](const Json& header) {
    share = ParseHeader(file, header, types);
    if (share.party != party)
      RefuseSealed(file, fmt::format("party {}'s share", share.party), fmt::format("party {}'s", party));
  });
  const auto shape = ShapeOf(share.schema);
  if (secret.bytes().size() != ShareBytes(shape) || share.record.job_hash != HashOf(share))
    RefuseSealed(file, "a share that does not fit its job", "a model's share");
  share.weights = {TakeShare(secret.bytes(), shape), share.schema.records.fraction_bits};
  return share;
}

}  // namespace trefoil::jobs
