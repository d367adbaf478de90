tenon.file @model "a folder/model.gguf" bytes 8192 fingerprint -7
tenon.weight @blk.0.w : tensor<4x64x!tenon.block<q8_0>> from [#tenon.range<@model, offset = 4096, bytes = 100>, #tenon.range<@model, offset = 0, bytes = 172>]
tenon.state @kv : !tenon.state<1x16x2x8xbf16>
tenon.state @counter : !tenon.state<i32>
func.func @get() -> tensor<2xi32> {
  %w = tenon.get_weight @blk.0.w : tensor<4x64x!tenon.block<q8_0>>
  %s = tenon.get_state @kv : <1x16x2x8xbf16>
  %c = tenon.constant dense<[1, -2]> : tensor<2xi32> : tensor<2xi32>
  return %c : tensor<2xi32>
}
