module attributes {
  tenon.phase = #tenon.phase<planned>,
  tenon.target = #tenon.target<"c", cpu, features = ["avx2"], {vector_bits = 256 : i64}>,
  tenon.model = #tenon.model<architecture = "llama", name = "tiny", file = @model, vocabulary = 512, contextLength = 128, sequences = 1>
} {
  func.func @decode(%x: tensor<1xi32> {tenon.name = "token"}) -> (tensor<1xi32> {tenon.name = "next"}) attributes {tenon.entry = #tenon.entry<decode, rows = 1>, tenon.workspace = 4096 : i64} {
    return %x : tensor<1xi32>
  }
  func.func @any() attributes {tenon.entry = #tenon.entry<other, rows = 0>} {
    return
  }
}
