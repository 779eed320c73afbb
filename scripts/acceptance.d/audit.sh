# shellcheck shell=bash
# What an audit of 0.1 found, each finding by its number (docs/explanation/audit.md) and by the tests that fail on that version; the
# containers of 24 are run by `scripts/acceptance containers`.
# Read by scripts/acceptance, from the project's top, with `work` (a folder), `measured` and `skip`.

CHECKS=(
  "1: answers behind a threshold are charged by the exact mixture's form"
  "2: several rows of one person by loss distributions, in plan, account and report"
  "3: a selection as published has no epsilon"
  "4: one record changes one owner's slice"
  "5: records carry unit, neighbours and warnings"
  "6: vertical jobs: values of a known record come first"
  "7: a ledger for test records; every printed figure is rounded outwards"
  "8: the ledger is a privacy filter; a batch executed again is one release"
  "9: public sampling: noise and heights are fixed before the coins"
  "10: LNMax is two independent counts, three parts of Laplace noise have their own law"
  "11: analytic Gaussian and loss distributions for every type of job"
  "12: unary reports: added or removed beside replaced"
  "13: Gaussian noise for averages"
  "14: the whole promise: delta(epsilon) and trade-off curves"
  "15: shares of two models are refused"
  "16: one run gives one model, whichever crash"
  "17: no stream can be drawn twice"
  "18: dealing in constant time"
  "19: hash of comparison keys, dummy rows, fingerprints for each other, keys bound to the session, salted hashes"
  "20: a flood of connections does not stop a start"
  "21: a volume that kubelet mounted anew does not refuse its checkpoints"
  "22: a restart loop spends no budget; exit code 6"
  "23: hung storage and silent peers are named, the first SIGTERM ends the wait"
  "24: compose mounts nothing that is made on the host; its containers: scripts/acceptance containers"
  "25: files that grow and files without an end are refused"
  "26: file-size limits, links, protocol violations, descriptors, damaged checkpoints, control characters, named pipes"
  "27: the tables of epsilon in the docs are what the program says"
)

# What ctest runs for each finding.
TESTS=(
  [1]='dp\.(Pate\.(BoundsTheExact|ChargesAnswers|AddsNoMore)|SmoothCostOfVotes)|apps\.account_votes$'
  [2]='dp\..*(SeveralUnits|EpsilonsOfUnits|Overflow|RemainingDelta)|SeveralRows|apps\.(plan|report)$|scripts\.epsilon_tables'
  [3]='dp\.Events\.ChargeWhatHasNoBound|ml\..*SelectionIsAsPublished|ml\..*ASelectionAsPublished|apps\.training$'
  [4]='jobs\.(LoadOwners|DealToOwners|LoadSlices)\.|apps\.average$'
  [5]='dp\.RecordJson\..*Promise|PrivacyStatement\.(SaysWhatTheRecord|SaysThatARecord)|apps\.(average|transfer|pate|histogram|groups|vertical|predict_run)$'
  [6]='dp\.Events\.ChargeAnInsiderOfAVertical|apps\.vertical$'
  [7]='OutwardText|SumAbove|RdpAccountant\.Composes|Record\.TakesTestRecordsOut|apps\.(outward|ledger)$'
  [8]='PrivacyFilter|FilterTerms|FilterCharges|LedgerFile|IsWithin|ChargeABatch|WritesExecutions|WhatVersion1Entered|apps\.ledger$|scripts\.epsilon_tables'
  [9]='ml\..*(PublicSchedule|PublicBounds|ParticipationAfter|ShowsNothingOfCommonCoins)'
  [10]='dp\..*(ThreePartsResponses|ThreeLaplacePartsRdp|LaplaceParts|PureDpRdp|ChargePure)|apps\.pate$|scripts\.epsilon_tables'
  [11]='apps\.Configs\.PateByConfident|dp\.TestSetEpsilons|ClosedTakesAJobThatFillsTheCap|apps\.(pate|histogram)$'
  [12]='dp\..*LocalRandomiser|apps\.histogram$'
  [13]='ml\..*(DrawNoise|SumSensitivityL2|MakeAveragePlan|NoisyClassifierSum)|apps\.(average|plan_job)$'
  [14]='dp\.PrivacyCurve|apps\.(curve|report)$'
  [15]='apps\.(one_model|predict_run)$|OddParty|RequireSharesOfOne|RequireOneCheckpoint|ShareFile'
  [16]='apps\.one_model$|GivesOutNothingBefore|\.Agree\.GoesOn|RunStateTest'
  [17]='mpc\.Preprocessing|protocols\..*MaskedOpening'
  [18]='constant_time|mpc\..*Dcf|protocols\..*SmallTable'
  [19]='MeshStart\.FindsACertificate|Greeting\.NamesTheParty|AgreeOnKeys|ml\.Fingerprint|apps\.log$|mpc\..*(Dcf|SeedHash|Prss)|protocols\.DealDcf|ml\.(EncodeRecords|EncodeBlock)\.'
  [20]='net\.(MeshFlood|HalfOpen|PeerAddresses|AddressText|DropReport|MeshStrangers|MeshHostile)'
  [21]='apps\.(resume|deploy)$'
  [22]='apps\.(resume|deploy)$|\.(LostSteps|RefusalOfLosses|JobHash|Agree|ExitCodeOf)|net\.(TlsContext|HttpEndpoint)'
  [23]='apps\.stuck$|runtime\.(SlowLines|RunWatchTest|NoteStopSignals)|net\.Mailbox\.SaysHowLong|base\.BlockingCall'
  [24]='apps\.deploy$'
  [25]='data\.(ReadFile|ReadHead|BoundedContent|ReadNpz)|base\.(RegularFile|OpenFiles|DescribeErrno)|apps\.hostile_files$'
  [26]='apps\.(hostile_files|resume)$|base\.(OneLine|RegularFile)|net\.TlsContext|runtime\.ReasonFor|RunStateTest\.LeavesADamaged|MeshMisdeed|MeshBreachAtStart|WhoBreaksTheProtocol|ReadNpz\.RefusesTwo|base\.OpenFiles'
  [27]='scripts\.epsilon_tables'
)

# Of the verbose output of ctest, the tests that skipped themselves or some of their cases, and the reason where one was printed.
skipped_tests() {
  awk '
    $1 == "Start" { sub(":", "", $2); name[$2] = $3 }
    /^[0-9]+: skipped: / {
      id = $1
      sub(":", "", id)
      sub("^[0-9]+: skipped", "")
      why[name[id]] = $0
    }
    /^[0-9]+: (OK|FAILED) \(.*skipped=[0-9]+/ {
      sub(":", "", $1)
      match($0, /skipped=[0-9]+/)
      print name[$1] " (" substr($0, RSTART + 8, RLENGTH - 8) " of its cases)"
    }
    /\*\*\*Skipped/ { print $4 why[$4] }'
}

# Runs the tests of finding $1; a test that skips itself proves nothing, so that there is no PASS with one.
run_tests() {
  build || return
  local output skipped status=0
  output=$(ctest --test-dir build --no-tests=error --verbose -R "${TESTS[$1]}" 2>&1) || status=$?
  echo "$output"
  skipped=$(skipped_tests <<<"$output" | paste -sd ';' | sed 's/;/; /g')
  measured "$(grep -c ' Passed ' <<<"$output") tests passed, $(grep -c '\*\*\*Failed' <<<"$output") failed${skipped:+, skipped: $skipped}"
  if [ "$status" -eq 0 ] && [ -n "$skipped" ]; then skip "$(cat "$work/measured")"; fi
  return "$status"
}
for number in "${!TESTS[@]}"; do eval "check_$number() { run_tests $number; }"; done
