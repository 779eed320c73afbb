# shellcheck shell=bash
# Privacy that an auditor signs: accountants, noise, ledger, and attacks by canaries.
# Read by scripts/acceptance, from the project's top, with `work` (a folder), `measured` and `skip`.

CHECKS=(
  "reference-values: every one of accounting is matched within its tolerance"
  "canaries: trefoil audit, 1000 canaries at 99.7 %: 20 of 20 runs below the claimed epsilon, 19 of 20 above it for each planted bug"
  "noise-laws: exact noise in parts and reports by their laws, reference values, OpenNoisyCounts over 1000 inputs"
  "votes: account --votes has the reference values, bounds above the mechanisms' exact divergences, smooth sensitivity against all neighbours"
  "averages: sums with chosen noise equal to plain ones over 2000 random inputs, sensitivities, the solver"
  "transfer: steps on shares equal to plain ones over 1000 random inputs, gap and sensitivity bounds"
  "radial-noise: ensemble transfer's published noise: two parts have the density exp(-|x| / s), norm and direction, and the charge for rounding"
)

AUDITS=20
# The bugs of scripts/acceptance.d/planted, each a patch of what trains.
PLANTED=(noise-off noise-tenth clip-off canary-times-ten)

# audits PROGRAM NAME: runs `trefoil audit` AUDITS times and prints how many refuted the claim. Finished ones are not repeated.
audits() {
  local program=$1 name=$2 i status refuted=0
  mkdir -p "$work/audits"
  for ((i = 1; i <= AUDITS; i++)); do
    local kept=$work/audits/$name-$i.json folder=$work/audits/$name-$i
    if [ ! -f "$kept" ]; then
      rm -rf "$folder"
      status=0
      "$program" audit --job configs/audit.toml --out "$folder" >>"$work/audits/$name.log" 2>&1 || status=$?
      if [ "$status" -ne 0 ] && [ "$status" -ne 5 ]; then return 1; fi
      mv "$folder/audit.json" "$kept" && rm -r "$folder" || return
    fi
    if [ "$(value "$kept" refuted)" = True ]; then refuted=$((refuted + 1)); fi
    holds "$(value "$kept" claim) <= 3 and $(value "$kept" canaries) >= 1000 and $(value "$kept" confidence) >= 0.997" || return
  done
  echo "$refuted"
}

# mean_auc NAME: of membership inference on the canaries of those audits.
mean_auc() {
  python3 -c 'import json, sys
print("%.3f" % (sum(json.load(open(file))["membership"]["canaries"]["auc"] for file in sys.argv[1:]) / (len(sys.argv) - 1)))' \
    "$work/audits/$1"-*.json
}

check_reference_values() { gtests dp '*Vector*'; }

check_canaries() {
  scripts/setup && scripts/build release trefoil || return
  local bug refuted clone_dir=$work/planted-clone results good=true
  refuted=$(audits build/bin/trefoil as-it-is) || return
  results="as it is: $refuted of $AUDITS refuted"
  measured "$results"
  if [ "$refuted" -ne 0 ]; then good=false; fi
  if [ ! -d "$clone_dir" ]; then clone "$clone_dir" || return; fi
  for bug in "${PLANTED[@]}"; do
    git -C "$clone_dir" checkout -q . || return
    git -C "$clone_dir" apply "scripts/acceptance.d/planted/$bug.patch" || return
    "$clone_dir/scripts/build" release trefoil || return
    refuted=$(audits "$clone_dir/build/bin/trefoil" "$bug") || return
    results+="; $bug: $refuted"
    measured "$results"
    if [ "$refuted" -lt $((AUDITS - 1)) ]; then good=false; fi
  done
  measured "$results; membership inference, mean AUC: as it is $(mean_auc as-it-is), noise-off $(mean_auc noise-off)"
  $good && holds "$(mean_auc as-it-is) < 0.7 and $(mean_auc noise-off) > 0.9"
}

check_noise_laws() { gtests dp '*LaplacePart*:*HalfGeometric*:*LocalRandomiser*' ml '*NoisyCounts*:*LaplaceParts*'; }

check_votes() { gtests dp 'Pate.*:SmoothCostOfVotes.*:SmoothNoiseRdp.*:OffsetOfSmoothBound.*' && program_test account_votes; }

check_averages() {
  gtests dp 'LaplacePartsMargin.*:Events.ChargeApproximate*' \
    ml '*ClassifierSum.*:ClassifierSums*:*AveragePlan*:SumSensitivity*:FitLogistic*:AverageOfSum*'
}

check_transfer() { gtests ml '*Transfer*'; }

check_radial_noise() { gtests dp 'RadialLaplacePart.*' ml 'RadialLaplaceParts.*:AverageOfSum.*'; }
