# shellcheck shell=bash
# PATE on MNIST (Papernot et al. 2017, 2018): how often noisy answers are right, by gamma, for 10, 100 and 250 teachers (figure 1 of 2017, left; LNMax, 1,000
# queries, one run each: the average is over queries), in pate.csv; and students of 250 teachers by mechanism and number of queries
# (tables 1 and 2 of 2018), in pate-students.csv: medians of RUNS runs (default 3). Three processes of `trefoil local` for each figure;
# every epsilon is data-independent. How far the two largest counts are apart (figure 1, right), in pate-gaps.csv, and epsilons of the
# votes as they are, in pate-epsilons.txt, no job opens: they come of the same votes in the clear.

NEEDS=mnist

# lnmax_job: configs/mnist-pate.toml by LNMax, gamma 0.05; without_student: a job less its student.
lnmax_job() {
  sed -e '/^\(sigma\|threshold\|threshold_sigma\|answers\) /d' -e 's/^mechanism .*/mechanism = "lnmax"\nscale = 20.0/' configs/mnist-pate.toml
}
without_student() { sed '/^\[student\]/,/^$/d'; }

# clear_votes_of TEACHERS: the counts of 1,000 queries, in pate-votes-TEACHERS.csv.
clear_votes_of() {
  local folder=$work/pate-prepared-$1
  if [ -f "$work/pate-votes-$1.csv" ]; then return; fi
  rm -rf "$folder"
  build/bin/trefoil local --job "$work/pate-lnmax.toml" --prepare --out "$folder" --set "$(teachers_of "$1")" --set pate.queries=1000 \
    >>"$work/$name.log" 2>&1 || return
  build/bin/clear_votes "$folder" >"$work/pate-votes.part" || return
  mv "$work/pate-votes.part" "$work/pate-votes-$1.csv"
}

gaps() {
  local teachers
  echo "teachers,gap" >"$work/pate-gaps.part"
  for teachers in 10 25 50 100 250; do
    clear_votes_of $teachers || return
    awk -F, -v n=$teachers '
      { most = second = 0; for (i = 1; i <= NF; ++i) if ($i > most) { second = most; most = $i } else if ($i > second) second = $i
        sum += most - second }
      END { printf "%d,%.1f\n", n, 100 * sum / NR / n }' "$work/pate-votes-$teachers.csv" >>"$work/pate-gaps.part"
  done
  mv "$work/pate-gaps.part" "$work/pate-gaps.csv"
}

epsilons() {
  local queries account=(build/bin/trefoil account --votes "$work/pate-votes-250.csv" --delta 1e-5)
  for queries in 100 500 1000; do "${account[@]}" --mechanism lnmax --scale 20 --queries "$queries" || return; done
  for queries in 250 640; do
    "${account[@]}" --mechanism confident-gnmax --sigma 40 --threshold 200 --threshold-sigma 150 --queries "$queries" || return
  done
}

labels() { echo "$(data_folder mnist)"/t10k-labels-idx1-ubyte*; }

# teachers_of COUNT: at each party, and the images that they share.
teachers_of() {
  case $1 in
    10) echo "pate.teachers=[4,3,3]" ;;
    25) echo "pate.teachers=[9,8,8]" ;;
    50) echo "pate.teachers=[17,17,16]" ;;
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
  gaps || return
  epsilons >"$work/pate-epsilons.txt" 2>&1 || return
  students || return
  mv "$work/$name.part" "$work/$name.csv"
  plot "
set logscale x
set xlabel 'gamma of each answer (1 / scale of the Laplace noise)'
set ylabel 'noisy answers that are right, %'
plot for [n in '10 100 250'] '$work/$name.csv' using 2:(\$1 == n + 0 ? \$3 : 1/0) with linespoints title n.' teachers'"
}
