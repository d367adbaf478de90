module attributes {tenon.target = #tenon.target<"h200", cuda, features = ["sm_90a"], {}>} {}
