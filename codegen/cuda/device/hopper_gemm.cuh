// y = x * W^T on Hopper's tensor cores: wgmma fed by the copy engine through a ring of stages
// (sm_90a).
#pragma once
#include "hopper_epilogue.cuh"

namespace tenon {

/// What a block does (HopperTile). Each sum starts from zero and takes the elements of K in
/// ascending order, 16 an instruction, so that it is the same for every tile. Where `split` > 1,
/// that is so of each of so many parts of K, whose sums are added in ascending order: a cluster has
/// the same tile, a block a part of K, and a warp's rows are summed, and stored, by the warp of the
/// same number in one of the blocks. Such a tile is all that a block has.
template <typename Config> struct HopperGemm : HopperEpilogue<Config> {
  using Base = HopperEpilogue<Config>;
  using Base::Base;
  using Base::blocks, Base::columns, Base::tileWidth, Base::firstWidth, Base::stages, Base::gemms,
      Base::groups, Base::consumers, Base::movesRegisters, Base::pingPong, Base::quantised,
      Base::ringPieces, Base::mapped, Base::split, Base::weightRows;
  using Base::firstStep, Base::steps, Base::ahead;
  using Base::isProducer, Base::bringsPieces, Base::open, Base::close;
  using Base::ownsSums, Base::addParts, Base::firstOfA;
  using Base::selectWeights, Base::bringW, Base::produce, Base::producePieces, Base::multiply,
      Base::multiplyPieces;
  using Base::units, Base::firstUnit, Base::workers, Base::place, Base::enterGroup;
  using typename Base::Weight, typename Base::Weights;

  /// What the warpgroups do: multiply and give every run of 8 elements of y to `epilogue`.
  template <typename Epilogue> __device__ __forceinline__ void consume(Epilogue& epilogue) {
    const int group = warpOfBlock() / 4, warp = warpOfBlock() % 4;
    unsigned count = 0;
    bool own = !pingPong || group == 0;
    // A warpgroup may wait for a stage's phase only when the one before is over: in turn.
    auto takeTurn = [&](int unit) {
      if (pingPong && unit != firstUnit())
        asm volatile("bar.sync %0, %1;" ::"r"(2 + group), "n"(256) : "memory");
    };
    auto passTurn = [&](int unit) {
      if (pingPong && unit + workers() < units())
        asm volatile("bar.arrive %0, %1;" ::"r"(2 + 1 - group), "n"(256) : "memory");
    };
    for (int unit = firstUnit(); unit < units(); unit += workers()) {
      if (own) {
        int rowTile, columnTile;
        place(unit, rowTile, columnTile);
        const int ofGemms = enterGroup(rowTile, columnTile);
        const int firstRow = Base::firstOfX(rowTile, columnTile);
        const int firstLine = Base::firstOfW(rowTile, columnTile, ofGemms);
        const int a = firstOfA(weightRows ? firstLine : firstRow, group, warp);
        const int b = weightRows ? firstRow : firstLine;
        float sums[blocks][columns / 2];
        typename Base::template Operands<firstWidth, Epilogue> operands;
        takeTurn(unit);
        auto loadOperands = [&] {
          if (ownsSums())
            operands.load(epilogue, ofGemms, a, b);
        };
        auto arrived = [&] {
          passTurn(unit);
          loadOperands();
        };
        if constexpr (quantised)
          multiplyPieces(sums, group, count, arrived);
        else
          multiply(sums, group, count, loadOperands, [&] { passTurn(unit); });
        if constexpr (split > 1)
          addParts(sums);
        if (ownsSums())
          this->template finish<0, 0>(sums, ofGemms, a, b, operands, epilogue);
      }
      own = !pingPong || !own;
      count += steps;
    }
    if (mapped && threadIdx.x % 32 == 0)
      waitForWrites();
  }

  /// Before x may be read, by all threads: takes `early` stages of W on their way.
  __device__ __forceinline__ void start(const TensorMap& x, const Weights& w, int early,
                                        unsigned long long wPolicy) {
    if (threadIdx.x == 128 * consumers) {
      prefetch(x);
      if constexpr (!quantised) {
#pragma unroll
        for (int i = 0; i < groups; ++i)
#pragma unroll
          for (int j = 0; j < gemms; ++j)
            prefetch(*w[i][j]);
      }
    }
    open();
    if constexpr (quantised) {
      ahead = ringPieces;
      if (bringsPieces())
        producePieces(w, 0, ahead, wPolicy);
    } else {
      ahead = min(min(early, stages), steps);
      if (threadIdx.x == 128 * consumers) {
        int rowTile, columnTile;
        place(firstUnit(), rowTile, columnTile);
        Weight ofGroup[gemms];
        const int group = enterGroup(rowTile, columnTile);
        const int firstLine = Base::firstOfW(rowTile, columnTile, group);
        selectWeights(w, group, ofGroup);
        for (int i = 0; i < ahead; ++i)
          bringW(ofGroup, firstLine, i, firstStep + i, wPolicy);
      }
    }
  }

  /// All that a block does then. For the run of 8 elements of a group's y from row m, column n on,
  /// which may lie outside, `load(group, m, n)` loads what the epilogue takes beside the products,
  /// and `store(group, m, n, results, loaded)` stores them: results[i] is the run of product i;
  /// decltype(group)::value is the group's number. Where results are mapped, `store` returns them
  /// instead, and `y` are each group's maps.
  template <typename Load, typename Store>
  __device__ __forceinline__ void
  run(const TensorMap& x, const Weights& w, const TensorMap* const (&y)[groups],
      unsigned long long xPolicy, unsigned long long wPolicy, Load load, Store store) {
    if (isProducer()) {
      if constexpr (movesRegisters)
        asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
      if (threadIdx.x == 128 * consumers)
        produce(x, w, xPolicy, wPolicy);
      if constexpr (quantised) {
        if (bringsPieces())
          producePieces(w, ahead, 1 << 30, wPolicy);
      }
    } else {
      if constexpr (movesRegisters)
        asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
      typename Base::template Epilogue<Load, Store> epilogue = {load, store, y};
      consume(epilogue);
    }
    close();
  }
};

} // namespace tenon
