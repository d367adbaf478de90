// Precompiled for every test that includes MLIR; sources still name what they use.
#include "MlirPch.h"
#include "TestPch.h"
