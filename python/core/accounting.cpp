#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include "python/core/core.h"
#include "trefoil/privacy.h"

namespace trefoil::python {

namespace py = pybind11;

void AddAccounting(py::module_& m) {
  py::enum_<Accounting>(m, "Accounting").value("rdp", Accounting::kRdp).value("pld", Accounting::kPld);
  py::class_<Accountant>(m, "Accountant")
      .def(py::init<Accounting>(), py::arg("accounting"))
      .def("add_gaussian", &Accountant::AddGaussian, py::arg("sampling_rate"), py::arg("noise_multiplier"),
           py::arg("count"))
      .def("add_laplace", &Accountant::AddLaplace, py::arg("scale"), py::arg("count"))
      .def("add_pure", &Accountant::AddPure, py::arg("epsilon"), py::arg("count"))
      .def("epsilon", &Accountant::Epsilon, py::arg("delta"), Unlocked());
  m.def("gaussian_epsilon", &GaussianEpsilon, py::arg("sampling_rate"), py::arg("noise_multiplier"),
        py::arg("count"), py::arg("delta"), py::arg("accounting"), Unlocked());
  m.def("gaussian_multiplier", &GaussianMultiplier, py::arg("epsilon"), py::arg("delta"),
        py::arg("sampling_rate"), py::arg("count"), py::arg("accounting"), Unlocked());
  m.def(
      "record_epsilons",
      [](const std::filesystem::path& record, double delta, Accounting accounting) {
        const py::gil_scoped_release unlocked;
        const auto epsilons = RecordEpsilons(record, delta, accounting);
        return std::pair(epsilons.outsider, epsilons.insider);
      },
      py::arg("record"), py::arg("delta"), py::arg("accounting"));
  m.def("epsilon_text", &EpsilonText, py::arg("epsilon"));
  m.def("delta_text", &DeltaText, py::arg("delta"));
}

}  // namespace trefoil::python
