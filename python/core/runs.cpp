#include <pybind11/functional.h>
#include <pybind11/numpy.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>

#include "python/core/core.h"
#include "python/core/vector_program.h"
#include "trefoil/run.h"

namespace trefoil::python {
namespace {

namespace py = pybind11;
using Numbers = py::array_t<double, py::array::c_style | py::array::forcecast>;

/// What a thread of Python may set while another one runs something.
class Stop {
 public:
  void Request() { source_.request_stop(); }
  [[nodiscard]] std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
};

Numbers ArrayOf(const std::vector<double>& values, const std::vector<py::ssize_t>& shape) {
  Numbers array(shape);
  std::copy(values.begin(), values.end(), array.mutable_data());
  return array;
}

py::dict ToPython(const ReleasedModel& released) {
  py::list layers;
  for (const auto& layer : released.model.layers) {
    layers.append(py::make_tuple(ArrayOf(layer.weights, {layer.inputs, layer.outputs}),
                                 ArrayOf(layer.bias, {layer.outputs})));
  }
  py::dict dict;
  dict["layers"] = layers;
  dict["activation_bound"] = released.model.activation_bound;
  dict["row_norm"] = released.model.row_norm;
  dict["schema"] = released.schema;
  return dict;
}

ReleasedModel ToModel(const py::dict& dict) {
  ReleasedModel released{.model = {.layers = {},
                                   .activation_bound = dict["activation_bound"].cast<double>(),
                                   .row_norm = dict["row_norm"].cast<double>()},
                         .schema = dict["schema"].cast<std::string>()};
  for (const auto& layer : dict["layers"]) {
    const auto [weights, bias] = layer.cast<std::pair<Numbers, Numbers>>();
    released.model.layers.push_back({.inputs = weights.shape(0),
                                     .outputs = weights.shape(1),
                                     .weights = {weights.data(), weights.data() + weights.size()},
                                     .bias = {bias.data(), bias.data() + bias.size()}});
  }
  return released;
}

py::dict ToPython(const JobResult& result) {
  py::dict dict;
  dict["epsilons"] = std::pair(result.epsilons.outsider, result.epsilons.insider);
  dict["record"] = result.record;
  dict["summary"] = result.summary;
  dict["lines"] = result.lines;
  py::dict files;
  for (const auto& [name, content] : result.files) files[py::str(name)] = py::bytes(content);
  dict["files"] = files;
  dict["model"] = result.model ? py::object(ToPython(*result.model)) : py::object(py::none());
  return dict;
}

/// `on_step(step, steps, seconds, outsider, insider)`. Called without the interpreter's lock.
using OnStep = std::function<void(int, int, double, double, double)>;

py::list SimulateJob(const Job& job, const std::array<InputFiles, 3>& inputs, const OnStep& on_step,
                     const Stop& stop, const std::array<py::object, 3>& programs) {
  SimulationOptions options{.stop = stop.token()};
  std::array<std::unique_ptr<PythonProgram>, 3> made;
  for (std::size_t party = 0; party < programs.size(); ++party) {
    made.at(party) = ProgramOf(programs.at(party));
    options.programs.at(party) = made.at(party).get();
  }
  if (on_step) {
    options.on_step = [&](const StepReport& report) {
      on_step(report.step, report.steps, report.seconds, report.epsilons.outsider, report.epsilons.insider);
    };
  }
  const auto run = [&] {
    const py::gil_scoped_release unlocked;
    return Simulate(job, inputs, options);
  };
  py::list results;
  for (const auto& result : run()) results.append(ToPython(result));
  return results;
}

py::object Logits(const py::dict& model, const InputFiles& records) {
  const auto released = ToModel(model);
  const auto run = [&] {
    const py::gil_scoped_release unlocked;
    return LogitsOf(released, records);
  };
  const auto logits = run();
  Numbers array({static_cast<py::ssize_t>(logits.size()),
                 static_cast<py::ssize_t>(released.model.layers.back().outputs)});
  auto* out = array.mutable_data();
  for (const auto& row : logits) out = std::copy(row.begin(), row.end(), out);
  return array;
}

std::string EvaluationJson(const py::dict& model, const InputFiles& records) {
  const auto released = ToModel(model);
  const py::gil_scoped_release unlocked;
  return EvaluationOf(released, records);
}

}  // namespace

void AddRuns(py::module_& m) {
  // Looks NumPy's functions up. pybind11 does so at the first array, and two threads that came to that at a
  // time would wait for each other for ever. Not when the module is loaded: a party's process goes without
  // NumPy.
  m.def("load_numpy", [] { (void)py::dtype::of<double>(); });
  py::class_<Stop>(m, "Stop").def(py::init<>()).def("request", &Stop::Request);
  m.def("simulate", &SimulateJob, py::arg("job"), py::arg("inputs"), py::arg("on_step").none(true),
        py::arg("stop"), py::arg("programs") = std::array<py::object, 3>{py::none(), py::none(), py::none()});
  m.def("logits", &Logits, py::arg("model"), py::arg("records"));
  m.def("evaluation", &EvaluationJson, py::arg("model"), py::arg("records"));
  m.def(
      "read_model", [](const std::filesystem::path& file) { return ToPython(ReadModel(file)); },
      py::arg("file"));
  m.def(
      "run_party",
      [](const std::filesystem::path& party_file, const std::filesystem::path& job_file,
         const std::filesystem::path& out, std::size_t threads, bool resume, bool again,
         const InputFiles& inputs, const py::object& program) {
        const auto made = ProgramOf(program);
        const py::gil_scoped_release unlocked;
        return RunParty(party_file, job_file,
                        {.out = out,
                         .threads = threads,
                         .resume = resume,
                         .again = again,
                         .inputs = inputs,
                         .program = made.get()});
      },
      py::arg("party_file"), py::arg("job_file"), py::arg("out"), py::arg("threads"), py::arg("resume"),
      py::arg("again"), py::arg("inputs"), py::arg("program") = py::none());
}

}  // namespace trefoil::python
