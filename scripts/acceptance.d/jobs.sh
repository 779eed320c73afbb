# shellcheck shell=bash
# Types of job beside trainings, each as three TLS processes.
# Read by scripts/acceptance, from the project's top, with `work` (a folder), `measured` and `skip`.

CHECKS=(
  "histogram: exact where noise is surely zero, and every documented outcome"
  "pate: winners as in the clear, and every documented outcome"
  "pate-training: teachers and student that the job trains: plain least squares, and every documented outcome"
  "average: averages of plain fits, and every documented outcome"
  "transfer: plain minimisers, and every documented outcome"
  "sum: shortened vectors as in the clear, the law of the noise, and every documented outcome"
  "least-squares: the plain solution, sensitivity searched, the law of the noise, and every documented outcome"
  "statistics: plain ones given the same noise, sensitivity searched, and every documented outcome"
  "tune: the law of the secret choice, its bound searched, and every documented outcome"
  "standardise: means, scales and ranges of columns from noisy sums, all mechanisms charged, also where a party is lost"
  "every-type: each type planned, checked, run, reported, and no result before all three have charged it"
)

check_histogram() { program_test histogram; }

check_pate() { gtests ml 'NoisyVotes.*' && program_test pate; }

check_pate_training() {
  gtests ml '*FitClassifier*:*Classify*:*LabelByTeachers*:*TrainStudent*' jobs '*LoadSlices*' && program_test pate_training
}

check_average() { program_test average; }

check_transfer() { program_test transfer; }

check_sum() { gtests ml 'NoisySum*:EncodeBounded.*:SensitivityOfOwnersSum.*' jobs 'OwnSums*:SumSettings.*:ProgramSums.*' api 'VectorProgram.*' &&
    program_test sum; }

check_least_squares() {
  gtests ml 'SquaresSensitivity.*:SumOfSquares.*:SolveSquares.*:LeastSquares.*:ClassTargets.*' && program_test least_squares
}

check_tune() { gtests dp '*BestOfTrials*:TrialLaw.*' ml 'DrawCompeting.*:ChooseCompeting.*:BestTrial.*' jobs 'TuneSettings.*' && program_test tune; }

check_statistics() { gtests jobs 'Statistics*:EstimatesOf.*:SumStatistics.*' && program_test statistics; }

check_standardise() {
  gtests ml 'Train.StandardisesRecords*:Train.OpensNothing*' \
    jobs 'Standardis*:SumOfMoments.*:OpenMoments.*:*OpenMomentsFault*:ScalesOf.*:SumOfRows.*:ScaleExtracted.*:*Range*:GridBorder.*:UnitOfCount.*:CountCells.*:ReadTwiceTest.*' &&
    program_test standardise
}

check_every_type() {
  scripts/setup && scripts/build release stop_at || return
  TREFOIL_STOP_LIBRARY=$PWD/build/lib/libstop_at.so program_test every_type
}
