# shellcheck shell=bash
# The Python package, as pip makes it of a fresh clone. What the tests use comes from the Python registry.
# Read by scripts/acceptance, from the project's top, with `work` (a folder), `measured` and `skip`.

CHECKS=(
  "install: pip install . in a fresh venv from a clean clone, in at most 5 minutes; then a training on generated digits, apart from the clone"
  "wheel: a wheel and an sdist; the wheel in another venv, the clone renamed away: all tests of the package, with notebooks and types"
  "torch: the tests that want PyTorch, Opacus, PyArrow or a sentence encoder, and the notebooks of these, none skipped"
  "cnn: a convolutional network of PyTorch on MNIST by noisy sums (examples/notebooks/cnn_on_mnist.ipynb): at least 97.5 % at epsilon 3"
)

# data_root: the folder of the data sets, if there is one.
data_root() {
  local data
  data=$(data_folder mnist) && realpath "$data/.."
}

# trains VENV: the digits that the program makes, among threads and among processes, with a report. Prints the accuracy and
# how long the latter took.
trains() {
  local digits=$work/digits
  rm -rf "$digits"
  "$1/bin/trefoil" local --job "$PWD/configs/demo.toml" --prepare --out "$digits" >"$digits.log" || return
  (cd "$work" && "$1/bin/python" -c '
import gzip, pathlib, sys, time
import numpy as np, trefoil
digits = pathlib.Path(sys.argv[1])
def records(folder):
    images, labels = sorted(folder.iterdir())
    X = np.frombuffer(gzip.decompress(images.read_bytes()), np.uint8, offset=16)
    y = np.frombuffer(gzip.decompress(labels.read_bytes()), np.uint8, offset=8)
    return X.reshape(len(y), -1), y
job = trefoil.Job.from_toml(digits / "job.toml")
parties = [records(digits / f"party-{party}" / "data") for party in range(3)]
trefoil.simulate(job, parties)
start = time.monotonic()
result = trefoil.simulate(job, parties, processes=True)
seconds = time.monotonic() - start
assert result.report("report.html").stat().st_size > 10_000
print(result.model.score(*records(digits / "test")), round(seconds, 1))' "$digits")
}

check_install() {
  local clone_dir=$work/install-clone venv=$work/install-venv start seconds told
  clone "$clone_dir" && scripts/setup && python3 -m venv "$venv" || return
  start=$SECONDS
  (cd "$clone_dir" && env -u CMAKE_CXX_COMPILER_LAUNCHER "$venv/bin/pip" install .) || return
  seconds=$((SECONDS - start))
  told=$(trains "$venv") && "$venv/bin/trefoil" --version || return
  measured "installed in $seconds s on $(nproc) processors; digits: accuracy ${told% *}, trained in ${told#* } s"
  holds "$seconds <= 300 and ${told% *} > 0.7"
}

check_wheel() {
  local clone_dir=$work/wheel-clone venv=$work/wheel-venv start=$SECONDS wheel tests data
  clone "$clone_dir" && scripts/setup && python3 -m venv "$work/build-venv" && python3 -m venv "$venv" || return
  "$work/build-venv/bin/pip" install build && "$work/build-venv/bin/python" -m build --outdir "$work/dist" "$clone_dir" || return
  mv "$clone_dir" "$clone_dir-away" || return
  wheel=$(echo "$work"/dist/trefoil-*.whl)
  "$venv/bin/pip" install "$wheel[sklearn,notebook,test]" && trains "$venv" || return
  if data=$(data_root); then export TREFOIL_DATA=$data; fi
  tests=$(cd "$work" && "$venv/bin/python" -B -m pytest -q -rs -p no:cacheprovider "$clone_dir-away/tests/python") || { echo "$tests"; return 1; }
  echo "$tests"
  measured "$(basename "$wheel"), $(stat -c %s "$wheel") bytes; $(tail -n 1 <<<"$tests"); $((SECONDS - start)) s in all"
}

# torch_venv VENV: the package, and all that its tests and notebooks can use.
torch_venv() {
  [ -x "$1/bin/python" ] || python3 -m venv "$1" || return
  "$1/bin/pip" install ".[sklearn,notebook,test,test-torch,encoder]"
}

check_torch() {
  local venv=$work/torch-venv data tests
  data=$(data_root) && has_data imdb || skip "no MNIST or IMDb: TREFOIL_DATA"
  scripts/setup && torch_venv "$venv" || return
  tests=$(TREFOIL_DATA=$data "$venv/bin/python" -B -m pytest -q -rs -p no:cacheprovider \
    tests/python/test_{torch,example_gradients,accounting,tables,notebooks}.py) || { echo "$tests"; return 1; }
  echo "$tests"
  measured "$(tail -n 1 <<<"$tests")"
  ! grep -q SKIPPED <<<"$tests"
}

check_cnn() {
  local venv=$work/torch-venv data figures
  data=$(data_root) || skip "no MNIST: scripts/fetch_mnist, and TREFOIL_DATA"
  scripts/setup && torch_venv "$venv" || return
  figures=$(TREFOIL_DATA=$data "$venv/bin/python" "$helpers/run_notebook.py" examples/notebooks/cnn_on_mnist.ipynb 7200) || { echo "$figures"; return 1; }
  echo "$figures"
  measured "$(grep '^accuracy' <<<"$figures")"
  holds "$(sed -n 's/^accuracy \([0-9.]*\), epsilon \([0-9.]*\) .*/\1 >= 0.975 and \2 <= 3.0/p' <<<"$figures")"
}
