#include <exception>
#include <string_view>
#include <system_error>

#include "python/core/core.h"
#include "trefoil/error.h"

namespace trefoil::python {
namespace {

namespace py = pybind11;

/// An error's text, in which bytes that are no UTF-8, of a file or its name, stand as \xNN.
py::str TextOf(std::string_view text) {
  return py::reinterpret_steal<py::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "backslashreplace"));
}

/// Raises the class of this name of trefoil.errors.
py::object Made(const char* name, const char* text) {
  const auto cls = py::module_::import("trefoil.errors").attr(name);
  auto error = cls(TextOf(text));
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
    PyErr_SetObject(PyExc_OSError, TextOf(error.what()).ptr());
  }
}

}  // namespace

void AddErrors(py::module_& /*m*/) { py::register_exception_translator(&Translate); }

}  // namespace trefoil::python
