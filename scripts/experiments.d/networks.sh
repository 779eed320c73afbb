# shellcheck shell=bash
# Networks against linear models at the same epsilon, on raw pixels and HOG features of MNIST, words of IMDb reviews and scattering
# features of CIFAR-10, and what forms would reach that jobs refuse: networks from local networks or without clipping, other
# activations, softmax that rounds down. In the clear, measured on training records that are held back (network_training.py);
# networks-SET.csv has a set's runs, networks.csv all. Then the better ones are trained securely on raw pixels, once each, and
# measured on the test images: networks-secure.csv.

NEEDS=mnist

# The job of raw pixels with all fraction bits, as in the clear.
raw_job() { sed '/^fraction_bits = 9 /d' configs/mnist.toml; }

# network_features SET JOB FILE ...: what the job makes of the files, in networks-SET.npz.
network_features() {
  if [ -f "$work/$name-$1.npz" ]; then return; fi
  build/bin/trefoil features --job "$2" --in "${@:3}" --out "$work/part-$1.npz" || return
  mv "$work/part-$1.npz" "$work/$name-$1.npz"
}

# runs_of SET: a line a run, KEY=VALUE as network_training.py reads them. Rates and clips are the best of those tried.
runs_of() {
  case $1 in
    raw)
      cat <<'RUNS'
epsilon=3 rate=10 clip=2
epsilon=3 rate=40 loss=softmax
epsilon=3 rate=40 loss=softmax rounding=stochastic seeds=1
epsilon=3 rate=40 loss=softmax rounding=exact seeds=1
epsilon=3 rate=10 hidden=16 seeds=1
epsilon=3 rate=10 clip=1 hidden=64
epsilon=3 rate=10 hidden=64 loss=softmax seeds=1
epsilon=3 rate=10 clip=1 hidden=128
epsilon=3 rate=20 hidden=64 activation=tanh seeds=1
epsilon=3 rate=20 hidden=64 activation=square seeds=1
epsilon=3 rate=20 hidden=128 activation=square seeds=1
epsilon=3 rate=10 clip=1 hidden=64 local=50 local_share=0.33
epsilon=3 rate=10 clip=1 hidden=64 local=150 local_share=0.5 seeds=1
epsilon=3 rate=10 clip=1 hidden=64 local=150 seeds=1
epsilon=3 rate=10 clip=1 hidden=128 local=150 seeds=1
epsilon=3 rate=0.3 hidden=64 clipping=examples activation_bound=1 delta_bound=0.125 seeds=1
epsilon=3 rate=0.5 hidden=64 loss=softmax clipping=examples activation_bound=1 delta_bound=0.125 seeds=1
epsilon=1 rate=5 clip=2 seeds=1
epsilon=1 rate=20 loss=softmax seeds=1
epsilon=1 rate=5 clip=1 hidden=64 seeds=1
epsilon=1 rate=5 clip=1 hidden=128 seeds=1
RUNS
      ;;
    hog)
      cat <<'RUNS'
epsilon=3 rate=80
epsilon=3 rate=40 loss=softmax
epsilon=3 rate=10 clip=1 hidden=128
epsilon=3 rate=10 clip=1 hidden=64 seeds=1
epsilon=3 rate=20 hidden=64 activation=tanh seeds=1
epsilon=3 rate=10 clip=1 hidden=128 local=150 seeds=1
RUNS
      ;;
    imdb)
      sed 's/^/epsilon=3 steps=100 batch=2000 seeds=1 /' <<'RUNS'
rate=2 clip=1.25
rate=4 clip=1 hidden=16
rate=4 clip=1 hidden=64
rate=4 clip=1 hidden=16 local=100
RUNS
      ;;
    cifar)
      sed 's/^/epsilon=3 steps=100 batch=4096 /' <<'RUNS'
rate=40
rate=40 loss=softmax
rate=10 clip=1 hidden=64 loss=softmax
rate=10 clip=1 hidden=64 seeds=1
rate=10 clip=1 hidden=128 seeds=1
rate=10 hidden=64 activation=tanh seeds=1
rate=10 clip=1 hidden=64 activation=square seeds=1
rate=10 clip=1 hidden=64 local=100 seeds=1
steps=250 momentum=0.9 rate=20 loss=softmax seeds=1
steps=250 momentum=0.9 rate=4 clip=1 hidden=64 loss=softmax seeds=1
RUNS
      ;;
    cifar-whole)
      sed 's/^/epsilon=3 steps=100 batch=4096 seeds=1 /' <<'RUNS'
rate=40
rate=10 clip=1 hidden=64 loss=softmax
RUNS
      ;;
  esac
}

# in_the_clear SET JOB [COLUMNS]: to networks-SET.csv.
in_the_clear() {
  if [ -f "$work/$name-$1.csv" ]; then return; fi
  runs_of "$1" | TREFOIL=build/bin/trefoil /usr/bin/python3 -B "$helpers/network_training.py" "$work/$name-$1.npz" "${@:2}" \
    >"$work/part-$1.csv" || return
  mv "$work/part-$1.csv" "$work/$name-$1.csv"
}

# all_runs: those of every set that there is, below each other.
all_runs() {
  local set
  sed -n '1s/^/set,/p' "$work/$name-raw.csv"
  for set in raw hog imdb cifar cifar-whole; do
    if [ -f "$work/$name-$set.csv" ]; then sed "1d; s/^/$set,/" "$work/$name-$set.csv"; fi
  done
}

# secure_network HIDDEN: a line of networks-secure.csv.
secure_network() {
  local run="$work/networks-secure-$1" key
  train "$run" "$work/networks-raw.toml" "model.hidden=[$1]" training.steps=150 training.momentum=0.8 training.learning_rate=10.0 \
    privacy.clip=1.0 training.comparison=bulk >>"$work/$name.log" 2>&1 || return
  echo "$1$(for key in accuracy seconds bytes_sent; do echo ",$(value "$run/summary.json" $key)"; done | tr -d '\n')"
}

experiment() {
  local images labels hidden
  raw_job >"$work/networks-raw.toml"
  images=$(echo "$(data_folder mnist)"/train-images-idx3-ubyte*) labels=$(echo "$(data_folder mnist)"/train-labels-idx1-ubyte*)
  network_features raw configs/mnist.toml "$images" "$labels" || return
  network_features hog configs/mnist-hog.toml "$images" "$labels" || return
  in_the_clear raw configs/mnist.toml || return
  in_the_clear hog configs/mnist-hog.toml || return
  if has_data imdb; then
    xz -dc "$(data_folder imdb)/imdb-train.csv.xz" >"$work/imdb-train.csv" || return
    network_features imdb configs/imdb.toml "$work/imdb-train.csv" || return
    in_the_clear imdb configs/imdb.toml || return
  fi
  if has_data cifar10; then
    if ! [ -f "$work/images/cifar10/train.bin" ]; then
      /usr/bin/python3 scripts/prepare_cifar "$(data_folder cifar10)/cifar10.tar.xz" "$work/images/cifar10" || return
    fi
    network_features cifar configs/cifar-scatter.toml "$work/images/cifar10/train.bin" || return
    in_the_clear cifar configs/cifar-scatter.toml 1024 || return
    ln -sf "$name-cifar.npz" "$work/$name-cifar-whole.npz" || return
    in_the_clear cifar-whole configs/cifar-scatter.toml || return
  fi
  all_runs >"$work/$name.csv"
  echo "hidden,accuracy,seconds,bytes_sent" >"$work/networks-secure.part"
  for hidden in 64 128; do secure_network $hidden >>"$work/networks-secure.part" || return; done
  mv "$work/networks-secure.part" "$work/networks-secure.csv"
}
