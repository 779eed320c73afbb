# shellcheck shell=bash
# A fresh clone: the demo, all tests, the library and the package.
# Read by scripts/acceptance, from the project's top, with `work` (a folder), `measured` and `skip`.

CHECKS=(
  "demo: scripts/demo on a fresh clone, in under 5 minutes"
  "tests: scripts/test on a fresh clone, also under asan and tsan"
  "library: examples/embed against an installed tree, its clone renamed away; every public header by itself"
  "package: a Debian package without an error of lintian; on a bare Debian 12 it installs, and trefoil local runs"
)

check_demo() {
  local clone_dir=$work/demo-clone start seconds run
  clone "$clone_dir" || return
  scripts/setup || return
  start=$SECONDS
  (cd "$clone_dir" && env -u CMAKE_CXX_COMPILER_LAUNCHER scripts/demo) || return
  seconds=$((SECONDS - start))
  run=$(echo "$clone_dir"/runs/demo-*)
  has_summary_keys "$run/summary.json" || return
  measured "$seconds s with the build, accuracy $(value "$run/summary.json" accuracy)," \
    "epsilon $(value "$run/summary.json" epsilon_outsider) outsider $(value "$run/summary.json" epsilon_insider) insider"
  for i in 0 1 2; do [ -s "$run/party-$i/out/model.npz" ] || return; done
  holds "$seconds < 300 and $(value "$run/summary.json" accuracy) > 0.85"
}

check_tests() { test_in_clone release asan tsan; }

check_library() {
  local clone_dir=$work/library-clone
  clone "$clone_dir" || return
  scripts/setup || return
  (cd "$clone_dir" && cmake --preset release -DTREFOIL_TESTS=OFF && cmake --build --preset release) || return
  python3 -B "$clone_dir/tests/install/install_test.py" "$clone_dir/build" --hide-sources || return
  measured "$(find "$clone_dir/include" -name '*.h' | wc -l) public headers," \
    "$(cat "$clone_dir"/examples/embed/*.cpp | wc -l) lines of examples"
}

check_package() {
  local root=$work/bare package tool
  for tool in debootstrap lintian dpkg-shlibdeps; do
    command -v "$tool" >/dev/null || skip "found no $tool here"
  done
  package=$(scripts/package --out "$work" --lint) || return
  rm -rf "$root"
  debootstrap --variant=minbase bookworm "$root" || return
  cp "$package" "$root/tmp/trefoil.deb" || return
  # dpkg says what is missing, apt brings it.
  unshare --mount sh -c "mount -t proc proc '$root/proc' && chroot '$root' sh -c '
    dpkg -i /tmp/trefoil.deb
    apt-get update -q && apt-get --fix-broken install -y -q --no-install-recommends && cd /tmp &&
    trefoil local --job /usr/share/doc/trefoil/examples/demo.toml --out /tmp/run'" || return
  [ -s "$root/tmp/run/model.npz" ] || return
  measured "$(basename "$package"), $(stat -c %s "$package") bytes"
}
