#include "deposit/format/row_layout.h"

#include <spdlog/fmt/fmt.h>

#include "base/error.h"
#include "jobs/records/record_fields.h"
#include "ml/batches/deposited_rows.h"

namespace trefoil::deposit {

RowLayout LayoutOf(const jobs::RecordSchema& records) {
  RowLayout layout{
      .features = jobs::TrainedFeatures(records),
      .label_words = records.data.target || records.data.classes == 2 ? 1 : records.data.classes};
  layout.feature_bits = ml::DepositedFeatureBits(records.features.row_norm, records.fraction_bits);
  if (!ml::DepositedNormsFit(layout.features, records.features.row_norm, records.fraction_bits))
    throw ConfigError(fmt::format(
        "fraction_bits: found {} with features.row_norm {} and {} features, expected fewer of them: "
        "squared norms of deposited rows could leave the ring",
        records.fraction_bits, records.features.row_norm, layout.features));
  return layout;
}

}  // namespace trefoil::deposit
