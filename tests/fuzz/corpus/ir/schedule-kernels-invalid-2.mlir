module attributes {tenon.target = #tenon.target<"mine", cpu, features = [], {vector_bits = 96 : i64}>} {}
