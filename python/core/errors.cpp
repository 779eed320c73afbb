#include <exception>
#include <string>
#include <system_error>

#include "python/core/core.h"
#include "trefoil/error.h"

namespace trefoil::python {
namespace {

namespace py = pybind11;

/// Raises the class of this name of trefoil.errors.
py::object Made(const char* name, const std::string& text) {
  const auto cls = py::module_::import("trefoil.errors").attr(name);
  auto error = cls(text);
  PyErr_SetObject(cls.ptr(), error.ptr());
  return error;
}

void Translate(std::exception_ptr thrown) {
  if (!thrown) return;
  try {
    std::rethrow_exception(thrown);
  } catch (const ConfigError& error) {
    Made("ConfigError", error.what());
  } catch (const DataError& error) {
    Made("DataError", error.what());
  } catch (const NetworkError& error) {
    Made("NetworkError", error.what()).attr("peer") = error.peer();
  } catch (const ProtocolError& error) {
    Made("ProtocolError", error.what()).attr("peer") = error.peer();
  } catch (const BudgetError& error) {
    Made("BudgetError", error.what());
  } catch (const ContractError& error) {
    Made("ContractError", error.what());
  } catch (const StoppedError& error) {
    Made("StoppedError", error.what());
  } catch (const std::system_error& error) {
    PyErr_SetString(PyExc_OSError, error.what());
  }
}

}  // namespace

void AddErrors(py::module_& /*m*/) { py::register_exception_translator(&Translate); }

}  // namespace trefoil::python
