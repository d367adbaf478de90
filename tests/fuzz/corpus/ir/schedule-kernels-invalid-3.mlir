module attributes {tenon.target = #tenon.target<"mine", cpu, features = [], {vector_bits = 256 : i64}>} {}
