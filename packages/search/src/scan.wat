;; Compares one vector with many, 16 numbers of one byte at a time. `npm run wasm` writes scan-bytes.ts from this text.
(module
  (import "m" "memory" (memory 1))

  ;; Compares the vector at 0 with $count vectors from $at on, each $stride bytes long, a multiple of 16, and writes the
  ;; products' sums as 32-bit numbers from $out on.
  (func (export "scan") (param $at i32) (param $count i32) (param $stride i32) (param $out i32)
    (local $step i32)
    (local $sum v128)
    (local $a v128)
    (local $b v128)
    (loop $vectors
      (local.set $sum (v128.const i32x4 0 0 0 0))
      (local.set $step (i32.const 0))
      (loop $steps
        (local.set $a (v128.load align=1 (local.get $step)))
        (local.set $b (v128.load align=1 (i32.add (local.get $at) (local.get $step))))
        ;; Eight products of two bytes each, added up in pairs to four sums: the lower half, then the upper one.
        (local.set $sum
          (i32x4.add
            (i32x4.add
              (local.get $sum)
              (i32x4.extadd_pairwise_i16x8_s (i16x8.extmul_low_i8x16_s (local.get $a) (local.get $b))))
            (i32x4.extadd_pairwise_i16x8_s (i16x8.extmul_high_i8x16_s (local.get $a) (local.get $b)))))
        (br_if $steps
          (i32.lt_u (local.tee $step (i32.add (local.get $step) (i32.const 16))) (local.get $stride))))
      (i32.store
        (local.get $out)
        (i32.add
          (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
            (i32x4.extract_lane 2 (local.get $sum)))
          (i32x4.extract_lane 3 (local.get $sum))))
      (local.set $out (i32.add (local.get $out) (i32.const 4)))
      (local.set $at (i32.add (local.get $at) (local.get $stride)))
      (br_if $vectors (local.tee $count (i32.sub (local.get $count) (i32.const 1)))))))
