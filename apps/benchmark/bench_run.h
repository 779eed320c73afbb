#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "jobs/job_type.h"

namespace trefoil::apps {

struct BenchOptions {
  std::string config;  ///< empty: three local processes over TLS on loopback
  std::vector<std::string> operations;
  std::string form = "auto";
  std::vector<std::int64_t> sizes;
  std::vector<std::string> shapes;
  int reps = 5;
  int sustained = 0;
  std::size_t threads = 0;
  std::string json;  ///< file to write; empty: only the table is printed
  jobs::JobTypes types = jobs::ShippedTypes();
};

/// Measures the protocols and prints a table. Returns the exit code.
/// Throws the errors of base/error.h.
int RunBench(const BenchOptions& options);

}  // namespace trefoil::apps
