#include "python/core/core.h"

#include "trefoil/version.h"

PYBIND11_MODULE(_core, m) {
  m.doc() = "The C++ library behind the package trefoil: use that.";
  m.def("version", &trefoil::Version);
  trefoil::python::AddErrors(m);
  trefoil::python::AddJobs(m);
  trefoil::python::AddRuns(m);
  trefoil::python::AddAccounting(m);
}
