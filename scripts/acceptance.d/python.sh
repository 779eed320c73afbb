# shellcheck shell=bash
# The Python package, as pip makes it of a fresh clone. What the tests use comes from the Python registry.
# Read by scripts/acceptance, from the project's top, with `work` (a folder), `measured` and `skip`.

CHECKS=(
  "install: pip install . in a fresh venv from a clean clone, in at most 5 minutes; then a training, apart from the clone"
  "wheel: a wheel and an sdist; the wheel in another venv, the clone renamed away: all tests of the package, with notebooks and types"
  "cnn: a convolutional network of PyTorch on MNIST by noisy sums (examples/notebooks/cnn_on_mnist.ipynb): at least 97.5 % at epsilon 3"
)

# trains PYTHON: generated records, among threads and among processes, with a report.
trains() {
  (cd "$work" && "$1" -c '
import numpy as np, trefoil
generator = np.random.default_rng(1)
def records():
    y = generator.integers(0, 3, 300)
    X = generator.normal(0, 0.1, (300, 6))
    X[np.arange(300), y] += 0.6
    return X, y
job = trefoil.Job.dpsgd(
    name="acceptance",
    data=dict(name="generated", format="npy", rows=[300] * 3, features=6, classes=3),
    training=dict(steps=20, expected_batch=180, max_batch_per_owner=120, learning_rate=3.0),
    privacy=dict(epsilon=3.0, delta=1e-6, clip=1.0),
)
parties = [records() for _ in range(3)]
trefoil.simulate(job, parties)
result = trefoil.simulate(job, parties, processes=True)
assert result.report("report.html").stat().st_size > 10_000
print(result.model.score(*records()))')
}

check_install() {
  local clone_dir=$work/install-clone venv=$work/install-venv start seconds accuracy
  clone "$clone_dir" && scripts/setup && python3 -m venv "$venv" || return
  start=$SECONDS
  (cd "$clone_dir" && env -u CMAKE_CXX_COMPILER_LAUNCHER "$venv/bin/pip" install .) || return
  seconds=$((SECONDS - start))
  accuracy=$(trains "$venv/bin/python") && "$venv/bin/trefoil" --version || return
  measured "installed in $seconds s on $(nproc) processors, accuracy $accuracy"
  holds "$seconds <= 300 and $accuracy > 0.7"
}

check_wheel() {
  local clone_dir=$work/wheel-clone venv=$work/wheel-venv start=$SECONDS wheel tests
  clone "$clone_dir" && scripts/setup && python3 -m venv "$work/build-venv" && python3 -m venv "$venv" || return
  "$work/build-venv/bin/pip" install build && "$work/build-venv/bin/python" -m build --outdir "$work/dist" "$clone_dir" || return
  mv "$clone_dir" "$clone_dir-away" || return
  wheel=$(echo "$work"/dist/trefoil-*.whl)
  "$venv/bin/pip" install "$wheel[sklearn,notebook,test]" && trains "$venv/bin/python" || return
  tests=$(cd "$work" && "$venv/bin/python" -B -m pytest -q -rs -p no:cacheprovider "$clone_dir-away/tests/python") || { echo "$tests"; return 1; }
  echo "$tests"
  measured "$(basename "$wheel"), $(stat -c %s "$wheel") bytes; $(tail -n 1 <<<"$tests"); $((SECONDS - start)) s in all"
}

check_cnn() {
  local venv=$work/cnn-venv data figures
  data=$(data_folder mnist) || skip "no MNIST: scripts/fetch_mnist, and TREFOIL_DATA"
  scripts/setup && python3 -m venv "$venv" && "$venv/bin/pip" install ".[notebook,torch]" ipykernel nbclient || return
  figures=$(TREFOIL_DATA=$(dirname "$(realpath "$data")") \
    "$venv/bin/python" "$helpers/run_notebook.py" examples/notebooks/cnn_on_mnist.ipynb 7200) || { echo "$figures"; return 1; }
  echo "$figures"
  measured "$(grep '^accuracy' <<<"$figures")"
  holds "$(sed -n 's/^accuracy \([0-9.]*\), epsilon \([0-9.]*\) .*/\1 >= 0.975 and \2 <= 3.0/p' <<<"$figures")"
}
