#pragma once
/// All public headers of Trefoil.
#include "trefoil/error.h"
#include "trefoil/job.h"
#include "trefoil/privacy.h"
#include "trefoil/protocols.h"
#include "trefoil/run.h"
#include "trefoil/session.h"
#include "trefoil/share.h"
#include "trefoil/training.h"
#include "trefoil/version.h"
