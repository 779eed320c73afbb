#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "python/core/core.h"
#include "trefoil/job.h"

namespace trefoil::python {

namespace py = pybind11;

void AddJobs(py::module_& m) {
  m.def("job_types", &Job::Types);
  m.def("job_schema", &Job::Schema, py::arg("type"));
  py::class_<Job>(m, "Job")
      .def_static("read", &Job::Read, py::arg("file"), py::arg("assignments"))
      .def_static("parse", &Job::Parse, py::arg("json"), py::arg("source"))
      .def_property_readonly("name", &Job::name)
      .def_property_readonly("type", &Job::type)
      .def_property_readonly("delta", &Job::delta)
      .def_property_readonly("release_to", &Job::release_to)
      .def("json", &Job::Json)
      .def("hash", &Job::Hash)
      .def("toml", &Job::Toml)
      .def("warnings", &Job::Warnings)
      .def("planned_epsilons",
           [](const Job& job) {
             const py::gil_scoped_release unlocked;  // calibration takes its time
             const auto epsilons = job.PlannedEpsilons();
             return std::pair(epsilons.outsider, epsilons.insider);
           })
      .def("planned_costs",
           [](const Job& job) {
             py::list costs;
             for (const auto& cost : job.PlannedCosts())
               costs.append(py::make_tuple(cost.form, cost.rounds, cost.bytes_sent));
             return costs;
           })
      .def("calls_of_program",
           [](const Job& job) {
             const auto calls = job.CallsOfProgram();
             return std::tuple(calls.count, calls.dimension, calls.sampling_rate, calls.owners_sum);
           })
      .def("counted", [](const Job& job) -> std::optional<std::pair<std::string, std::vector<std::string>>> {
        auto counted = job.Counted();
        if (!counted) return {};
        return std::pair(std::move(counted->name), std::move(counted->values));
      });
}

}  // namespace trefoil::python
