#pragma once
#include <filesystem>
#include <string>

#include "base/secrets/secure_memory.h"
#include "dp/record/record.h"
#include "jobs/files/sealed_file.h"
#include "jobs/records/model_schema.h"
#include "mpc/fixed_point.h"

namespace trefoil::jobs {

/// This party's share of a model that was released to nobody, with what applying it takes.
struct ShareFile {
  int party = 0;
  ModelSchema schema;
  std::string task{};         ///< the job that made it as JSON, where that is not the schema's; else empty
  dp::TrainingRecord record;  ///< of the run; its run_id names the model
  std::string session{};      ///< the one that made the shares; empty: not stated (version 1)
  mpc::FixedShare weights;    ///< of ml::ShapeOfWeights of the schema

  /// At which the epsilons of what made the model are said.
  [[nodiscard]] double delta() const;
  /// By which they are computed.
  [[nodiscard]] dp::AccountantKind accountant() const;
};

inline constexpr SealedKind kModelShare{.magic = "trefoil model share 2\n",
                                        .purpose = "trefoil model share",
                                        .what = "a model's share, model.share of a run",
                                        .older = "trefoil model share 1\n"};

/// Writes a share, sealed (base/secrets/sealed_box.h); mode 0600. The header, in the clear but part of the
/// seal, has all but the weights. On disk when it returns. Pre:
/// there is a session. Throws ConfigError if the file is there; std::runtime_error.
void SaveShare(const std::filesystem::path& file, const ShareFile& share, const SecretKey& key);

/// Reads party `party`'s share. Throws ConfigError if it is not there or others can read it; DataError naming
/// the file if it is no share, another party's, changed, sealed with another key, or of a job of none of
/// `types`.
[[nodiscard]] ShareFile LoadShare(const std::filesystem::path& file, int party, const SecretKey& key,
                                  JobTypes types = ShippedTypes());

}  // namespace trefoil::jobs
