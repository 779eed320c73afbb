# shellcheck shell=bash
# PATE on MNIST (seed 001): how often noisy answers are right, by gamma, for 10, 100 and 250 teachers (its figure 1, left; LNMax, 1,000
# queries, one run each: the average is over queries), in pate.csv; and students of 250 teachers by mechanism and number of queries
# (its tables 1 and 2), in pate-students.csv: medians of RUNS runs (default 3). Three processes of `trefoil local` for each figure;
# every epsilon is data-independent.

NEEDS=mnist

# lnmax_job: configs/mnist-pate.toml by LNMax, gamma 0.05; without_student: a job less its student.
lnmax_job() {
  sed -e '/^\(sigma\|threshold\|threshold_sigma\|answers\) /d' -e 's/^mechanism .*/mechanism = "lnmax"\nscale = 20.0/' configs/mnist-pate.toml
}
without_student() { sed '/^\[student\]/,/^$/d'; }

labels() { echo "$(data_folder mnist)"/t10k-labels-idx1-ubyte*; }

# teachers_of COUNT: at each party, and the images that they share.
teachers_of() {
  case $1 in
    10) echo "pate.teachers=[4,3,3]" ;;
    100) echo "pate.teachers=[34,33,33]" ;;
    250) echo "pate.teachers=[84,83,83]" ;;
  esac
}

noisy_answers() {
  local teachers gamma run found
  echo "teachers,gamma,accuracy" >"$work/$name.part"
  lnmax_job | without_student >"$work/pate-lnmax.toml" || return
  for teachers in 10 100 250; do
    for gamma in 0.02 0.05 0.2 1; do
      run=$work/pate-answers-$teachers-$gamma
      train "$run" "$work/pate-lnmax.toml" "$(teachers_of $teachers)" pate.queries=1000 \
        "pate.scale=$(awk -v g=$gamma 'BEGIN { printf "%.4f", 1 / g }')" >>"$work/$name.log" 2>&1 || return
      found=$(python3 -B "$helpers/answer_accuracy.py" "$run/answers.csv" "$(labels)") || return
      echo "$teachers,$gamma,${found% *}" >>"$work/$name.part"
    done
  done
}

# student NAME KEY=VALUE ...: a line of the table of students.
student() {
  local run=$1 i found accuracies
  shift
  for ((i = 1; i <= ${RUNS:-3}; ++i)); do
    train "$work/pate-$run-$i" "${JOB:-configs/mnist-pate.toml}" "release.to=[0]" "$@" >>"$work/$name.log" 2>&1 || return
  done
  found=$(python3 -B "$helpers/answer_accuracy.py" "$work/pate-$run-1/answers.csv" "$(labels)") || return
  accuracies=$(for ((i = 1; i <= ${RUNS:-3}; ++i)); do value "$work/pate-$run-$i/summary.json" accuracy; done | sort -n) || return
  echo "$run,${found#* },${found% *},$(value "$work/pate-$run-1/summary.json" epsilon_outsider),$(
    value "$work/pate-$run-1/summary.json" epsilon_insider),$(sed -n "$(((${RUNS:-3} + 1) / 2))p" <<<"$accuracies"),$(
    head -n 1 <<<"$accuracies"),$(tail -n 1 <<<"$accuracies")" >>"$work/pate-students.part"
}

students() {
  local queries
  echo "run,answers,answers_right,epsilon_outsider,epsilon_insider,median,least,largest" >"$work/pate-students.part"
  student confident-286 || return
  student confident-286-alone student.rounds=0 || return
  student confident-100 pate.queries=250 pate.answers=100 || return
  lnmax_job >"$work/pate-lnmax-student.toml" || return
  for queries in 100 500 1000; do
    JOB=$work/pate-lnmax-student.toml student "lnmax-$queries" "pate.queries=$queries" || return
  done
  mv "$work/pate-students.part" "$work/pate-students.csv"
  echo "$work/pate-students.csv"
}

experiment() {
  noisy_answers || return
  students || return
  mv "$work/$name.part" "$work/$name.csv"
  plot "
set logscale x
set xlabel 'gamma of each answer (1 / scale of the Laplace noise)'
set ylabel 'noisy answers that are right, %'
plot for [n in '10 100 250'] '$work/$name.csv' using 2:(\$1 == n + 0 ? \$3 : 1/0) with linespoints title n.' teachers'"
}
