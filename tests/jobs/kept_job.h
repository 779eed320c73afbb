#pragma once

namespace trefoil::jobs {

/// A training of three classes whose model stays in shares.
inline constexpr const char* kKeptJob = R"(version = 1
type = "dpsgd"
name = "kept"
[data]
name = "kept"
format = "idx"
rows = [20, 20, 20]
features = 4
classes = 3
[training]
steps = 3
expected_batch = 12
max_batch_per_owner = 20
learning_rate = 1
[privacy]
sigma = 1.5
delta = 1e-5
clip = 0.5
[release]
to = []
)";

}  // namespace trefoil::jobs
