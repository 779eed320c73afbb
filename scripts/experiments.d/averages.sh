# shellcheck shell=bash
# Averages of five owners' logistic regressions on Adult: test error by epsilon for three splits, 200 draws of the noise each, as
# published and with the noise that suffices; figure 2 of Pathak, Rane, Raj (2010). Plain simulations of the laws, in which classifiers are trained once
# and only the noise differs between draws; and beside them SECURE_RUNS (200) secure runs a point, as published, which must agree.
# lambda 1 is the published one, with rows scaled to norm 1 and as they are; less lets the classifiers say more.

NEEDS=adult

experiment() {
  local lambda rows
  echo "lambda,rows,way,smallest,epsilon,error,standard_error" >"$work/$name.part"
  while read -r lambda rows; do
    LAMBDA=$lambda ROWS=$rows python3 -B "$helpers/average_curves.py" curves "$(data_folder adult)" "${RUNS:-200}" \
      0.05 0.1 0.15 0.2 0.25 0.3 0.35 0.4 >"$work/$name-$lambda-$rows.csv" || return
    tail -n +2 "$work/$name-$lambda-$rows.csv" | sed "s/^/$lambda,$rows,/" >>"$work/$name.part"
  done <<<"1 scaled
1 as-they-are
0.01 scaled"
  mv "$work/$name.part" "$work/$name.csv"
  average_runs as-published "${SECURE_RUNS:-200}" 0.05 0.1 0.2 0.3 0.4 >"$work/$name-secure.part" 2>"$work/$name-secure.log" || return
  python3 -B "$helpers/average_curves.py" means "$work/$name-secure.part" >"$work/$name-secure.csv" || return
  python3 -B "$helpers/average_curves.py" within "$work/$name-0.01-scaled.csv" "${RUNS:-200}" "$work/$name-secure.csv" || return
  plot_averages
}

# The published curves' shape: lambda 0.01, scaled rows, means with two standard errors; lines are plain, dots secure.
plot_averages() {
  local commands="set key top right box
set xlabel 'epsilon'
set ylabel 'test error'
set yrange [0.19:0.5]
plot" way size
  for way in "all data as published:" "as published:6512" "as published:4884" "as published:3256" "sound:6512" "sound:4884" "sound:3256"; do
    size=${way#*:} way=${way%:*}
    commands+=" '< grep \"^0.01,scaled,$way,$size,0\" $work/$name.csv' using 5:6:(2*\$7) with yerrorlines title '$way${size:+, n(1) = $size}',"
  done
  for size in 6512 4884 3256; do
    commands+=" '< grep \"^$size,\" $work/$name-secure.csv' using 2:4:(2*\$5) with yerrorbars pointtype 7 title 'secure runs as published, n(1) = $size',"
  done
  plot "${commands%,}"
}
