#pragma once
#include <string>

#include <nlohmann/json.hpp>

#include "dp/record/record.h"

namespace trefoil::dp {

/// An event of a record as JSON, with its kind; as ToJson of a record (dp/record/record.h) describes it.
/// ContractError on inf or NaN.
[[nodiscard]] nlohmann::json EventToJson(RecordedEvent event);

/// The inverse. `place` is its path in the record, for texts. Throws DataError naming the key that is
/// missing, unknown, of the wrong type or outside its domain.
[[nodiscard]] RecordedEvent ParseEvent(const nlohmann::json& json, const std::string& place);

}  // namespace trefoil::dp
