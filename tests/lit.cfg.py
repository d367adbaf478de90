"""lit's view of the tests: every .mlir file under tests/ir and tests/passes."""
import os

import lit.formats

config.name = "tenon"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["data", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.build_folder, "tests", "lit")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(config.build_folder, "bin"), config.llvm_tools, config.environment["PATH"]]
)
config.environment["ASAN_OPTIONS"] = "allow_user_poisoning=0"
