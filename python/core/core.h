#pragma once
#include <pybind11/pybind11.h>

/// The parts of the module trefoil._core, each of which adds what it is named after. They know the public
/// headers alone (include/trefoil); the package in Python makes its own interface of them.
namespace trefoil::python {

void AddErrors(pybind11::module_& m);
void AddJobs(pybind11::module_& m);
void AddRuns(pybind11::module_& m);
void AddAccounting(pybind11::module_& m);

/// Long calls let other threads of Python go on.
using Unlocked = pybind11::call_guard<pybind11::gil_scoped_release>;

}  // namespace trefoil::python
