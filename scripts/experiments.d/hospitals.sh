# shellcheck shell=bash
# Heart disease at four hospitals: trainings on what they deposited, beside each hospital alone and central training, by epsilon;
# medians over eleven splits (scripts/acceptance.d/heart_owners.py says what is compared).

NEEDS=heart

experiment() {
  /usr/bin/python3 -B scripts/acceptance.d/heart_owners.py "$(data_folder heart)" "$work/$name.part" || return
  mv "$work/$name.part" "$work/$name.csv"
  plot_hospitals
}

plot_hospitals() {
  local way data=
  for way in deposits alone central; do
    data+="\$$way << EOD
$(awk -F , -v way="$way" '$3 == way && $1 == 3 { printf "%s,%s,%s,%s\n", $2, 100 * $4, 100 * $5, 100 * $6 }' "$work/$name.csv")
EOD
"
  done
  plot "$data
set title 'Heart disease at four hospitals, epsilon 3: median of eleven splits, least to largest'
set key top right
set ylabel 'accuracy on records held back, %'
set yrange [50:100]
set style data histograms
set style histogram errorbars gap 2 linewidth 1
set style fill solid 0.6
plot \$deposits using 2:3:4:xtic(1) title 'on deposits', \$alone using 2:3:4 title 'each alone', \$central using 2:3:4 title 'central'"
}
