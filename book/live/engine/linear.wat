;; The matrix product of a linear layer, four numbers at once.
;;
;; y (n, out) = x (n, width) W^T + b, where W is (out, width). Each argument is an
;; address in bytes or a size in numbers; `width` and `out` are multiples of 4.
;; Four rows of W meet all rows of x before the next four are fetched.
(module
  (memory (export "memory") 1)

  (func $sum (param $v v128) (result f32)
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $v)) (f32x4.extract_lane 1 (local.get $v)))
      (f32.add (f32x4.extract_lane 2 (local.get $v)) (f32x4.extract_lane 3 (local.get $v)))))

  (func (export "linear")
    (param $x i32) (param $n i32) (param $width i32)
    (param $w i32) (param $out i32) (param $b i32) (param $y i32)
    (local $o i32) (local $r i32) (local $i i32) (local $row i32)
    (local $px i32) (local $py i32) (local $w1 i32) (local $w2 i32) (local $w3 i32)
    (local $v v128) (local $s0 v128) (local $s1 v128) (local $s2 v128) (local $s3 v128)
    (local.set $row (i32.shl (local.get $width) (i32.const 2)))
    (loop $outs
      (local.set $w1 (i32.add (local.get $w) (local.get $row)))
      (local.set $w2 (i32.add (local.get $w1) (local.get $row)))
      (local.set $w3 (i32.add (local.get $w2) (local.get $row)))
      (local.set $px (local.get $x))
      (local.set $py (i32.add (local.get $y) (i32.shl (local.get $o) (i32.const 2))))
      (local.set $r (i32.const 0))
      (loop $rows
        (local.set $s0 (v128.const f32x4 0 0 0 0))
        (local.set $s1 (local.get $s0))
        (local.set $s2 (local.get $s0))
        (local.set $s3 (local.get $s0))
        (local.set $i (i32.const 0))
        (loop $columns
          (local.set $v (v128.load (i32.add (local.get $px) (local.get $i))))
          (local.set $s0 (f32x4.add (local.get $s0)
            (f32x4.mul (local.get $v) (v128.load (i32.add (local.get $w) (local.get $i))))))
          (local.set $s1 (f32x4.add (local.get $s1)
            (f32x4.mul (local.get $v) (v128.load (i32.add (local.get $w1) (local.get $i))))))
          (local.set $s2 (f32x4.add (local.get $s2)
            (f32x4.mul (local.get $v) (v128.load (i32.add (local.get $w2) (local.get $i))))))
          (local.set $s3 (f32x4.add (local.get $s3)
            (f32x4.mul (local.get $v) (v128.load (i32.add (local.get $w3) (local.get $i))))))
          (local.set $i (i32.add (local.get $i) (i32.const 16)))
          (br_if $columns (i32.lt_u (local.get $i) (local.get $row))))
        (f32.store (local.get $py)
          (f32.add (f32.load (local.get $b)) (call $sum (local.get $s0))))
        (f32.store offset=4 (local.get $py)
          (f32.add (f32.load offset=4 (local.get $b)) (call $sum (local.get $s1))))
        (f32.store offset=8 (local.get $py)
          (f32.add (f32.load offset=8 (local.get $b)) (call $sum (local.get $s2))))
        (f32.store offset=12 (local.get $py)
          (f32.add (f32.load offset=12 (local.get $b)) (call $sum (local.get $s3))))
        (local.set $px (i32.add (local.get $px) (local.get $row)))
        (local.set $py (i32.add (local.get $py) (i32.shl (local.get $out) (i32.const 2))))
        (local.set $r (i32.add (local.get $r) (i32.const 1)))
        (br_if $rows (i32.lt_u (local.get $r) (local.get $n))))
      (local.set $w (i32.add (local.get $w3) (local.get $row)))
      (local.set $b (i32.add (local.get $b) (i32.const 16)))
      (local.set $o (i32.add (local.get $o) (i32.const 4)))
      (br_if $outs (i32.lt_u (local.get $o) (local.get $out))))))
