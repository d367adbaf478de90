// Precompiled for every test without MLIR; sources still name what they use.
#include "BasePch.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>
