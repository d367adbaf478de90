"""lit's view of the tests: every .mlir and .test file below this folder but the data."""
import os
import sys

import lit.formats

config.name = "tenon"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["corpus", "reproducers", "data"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.build_folder, "tests", "lit")
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%root", os.path.dirname(config.test_source_root)))
config.substitutions.append(("%data", os.path.join(config.test_source_root, "data")))
config.substitutions.append(("%cc", config.c_compiler))
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.build_folder, "bin"), config.llvm_tools, config.environment["PATH"]]
)
config.environment["CUDA_VISIBLE_DEVICES"] = ""  # auto and native mean the CPU
config.environment["ASAN_OPTIONS"] = "allow_user_poisoning=0"
