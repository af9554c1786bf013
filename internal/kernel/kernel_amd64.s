#include "textflag.h"

// The loops below take four rows of the left matrix (R8 to R11 walk along
// them) and go through the rows of the right one (SI), so that each right
// value is read once for four products. DI is where the first of the four
// results goes, and R12 the bytes from one of them to the next.
//
// AX: right rows left. BX: values of a row. CX: values left in this row.
// R13: bytes of a left row, to walk back to its beginning.

// func mulInt8AVX2(dst *int32, a *int16, w *int8, outs, k int)
TEXT ·mulInt8AVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), R8
	MOVQ w+16(FP), SI
	MOVQ outs+24(FP), AX
	MOVQ k+32(FP), BX
	LEAQ (AX*4), R12
	LEAQ (R12)(R12*2), R14
	LEAQ (BX*2), R13
	LEAQ (R8)(R13*1), R9
	LEAQ (R9)(R13*1), R10
	LEAQ (R10)(R13*1), R11

int8row:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	VPXOR Y2, Y2, Y2
	VPXOR Y3, Y3, Y3
	MOVQ  BX, CX
	XORQ  DX, DX

int8step:
	VPMOVSXBW (SI), Y4
	VPMOVSXBW 16(SI), Y5
	VPMADDWD  (R8)(DX*1), Y4, Y6
	VPMADDWD  (R9)(DX*1), Y4, Y7
	VPMADDWD  (R10)(DX*1), Y4, Y8
	VPMADDWD  (R11)(DX*1), Y4, Y9
	VPADDD    Y6, Y0, Y0
	VPADDD    Y7, Y1, Y1
	VPADDD    Y8, Y2, Y2
	VPADDD    Y9, Y3, Y3
	VPMADDWD  32(R8)(DX*1), Y5, Y6
	VPMADDWD  32(R9)(DX*1), Y5, Y7
	VPMADDWD  32(R10)(DX*1), Y5, Y8
	VPMADDWD  32(R11)(DX*1), Y5, Y9
	VPADDD    Y6, Y0, Y0
	VPADDD    Y7, Y1, Y1
	VPADDD    Y8, Y2, Y2
	VPADDD    Y9, Y3, Y3
	ADDQ      $32, SI
	ADDQ      $64, DX
	SUBQ      $32, CX
	JNZ       int8step

	// The four sums, side by side in X0.
	VPHADDD      Y1, Y0, Y0
	VPHADDD      Y3, Y2, Y2
	VPHADDD      Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VMOVD        X0, (DI)
	VPEXTRD      $1, X0, (DI)(R12*1)
	VPEXTRD      $2, X0, (DI)(R12*2)
	VPEXTRD      $3, X0, (DI)(R14*1)
	ADDQ         $4, DI
	DECQ         AX
	JNZ          int8row
	VZEROUPPER
	RET

// func mulInt8AVX512(dst *int32, a *int16, w *int8, outs, k int)
TEXT ·mulInt8AVX512(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), R8
	MOVQ w+16(FP), SI
	MOVQ outs+24(FP), AX
	MOVQ k+32(FP), BX
	LEAQ (AX*4), R12
	LEAQ (R12)(R12*2), R14
	LEAQ (BX*2), R13
	LEAQ (R8)(R13*1), R9
	LEAQ (R9)(R13*1), R10
	LEAQ (R10)(R13*1), R11

vnnirow:
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	MOVQ   BX, CX
	XORQ   DX, DX

vnnistep:
	VPMOVSXBW (SI), Z4
	VPDPWSSD  (R8)(DX*1), Z4, Z0
	VPDPWSSD  (R9)(DX*1), Z4, Z1
	VPDPWSSD  (R10)(DX*1), Z4, Z2
	VPDPWSSD  (R11)(DX*1), Z4, Z3
	ADDQ      $32, SI
	ADDQ      $64, DX
	SUBQ      $32, CX
	JNZ       vnnistep

	VEXTRACTI64X4 $1, Z0, Y5
	VEXTRACTI64X4 $1, Z1, Y6
	VEXTRACTI64X4 $1, Z2, Y7
	VEXTRACTI64X4 $1, Z3, Y8
	VPADDD        Y5, Y0, Y0
	VPADDD        Y6, Y1, Y1
	VPADDD        Y7, Y2, Y2
	VPADDD        Y8, Y3, Y3
	VPHADDD       Y1, Y0, Y0
	VPHADDD       Y3, Y2, Y2
	VPHADDD       Y2, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPADDD        X1, X0, X0
	VMOVD         X0, (DI)
	VPEXTRD       $1, X0, (DI)(R12*1)
	VPEXTRD       $2, X0, (DI)(R12*2)
	VPEXTRD       $3, X0, (DI)(R14*1)
	ADDQ          $4, DI
	DECQ          AX
	JNZ           vnnirow
	VZEROUPPER
	RET

// func mulFloatAVX2(dst, a, b *float32, outs, k int)
TEXT ·mulFloatAVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), R8
	MOVQ b+16(FP), SI
	MOVQ outs+24(FP), AX
	MOVQ k+32(FP), BX
	LEAQ (AX*4), R12
	LEAQ (R12)(R12*2), R14
	LEAQ (BX*4), R13
	LEAQ (R8)(R13*1), R9
	LEAQ (R9)(R13*1), R10
	LEAQ (R10)(R13*1), R11

floatrow:
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11
	MOVQ   BX, CX
	XORQ   DX, DX

floatstep:
	VMOVUPS     (SI), Y4
	VMOVUPS     32(SI), Y5
	VFMADD231PS (R8)(DX*1), Y4, Y0
	VFMADD231PS (R9)(DX*1), Y4, Y1
	VFMADD231PS (R10)(DX*1), Y4, Y2
	VFMADD231PS (R11)(DX*1), Y4, Y3
	VFMADD231PS 32(R8)(DX*1), Y5, Y8
	VFMADD231PS 32(R9)(DX*1), Y5, Y9
	VFMADD231PS 32(R10)(DX*1), Y5, Y10
	VFMADD231PS 32(R11)(DX*1), Y5, Y11
	ADDQ        $64, SI
	ADDQ        $64, DX
	SUBQ        $16, CX
	JNZ         floatstep

	VADDPS       Y8, Y0, Y0
	VADDPS       Y9, Y1, Y1
	VADDPS       Y10, Y2, Y2
	VADDPS       Y11, Y3, Y3
	VHADDPS      Y1, Y0, Y0
	VHADDPS      Y3, Y2, Y2
	VHADDPS      Y2, Y0, Y0
	VEXTRACTF128 $1, Y0, X1
	VADDPS       X1, X0, X0
	VMOVD        X0, (DI)
	VPEXTRD      $1, X0, (DI)(R12*1)
	VPEXTRD      $2, X0, (DI)(R12*2)
	VPEXTRD      $3, X0, (DI)(R14*1)
	ADDQ         $4, DI
	DECQ         AX
	JNZ          floatrow
	VZEROUPPER
	RET

// func mulFloatAVX512(dst, a, b *float32, outs, k int)
TEXT ·mulFloatAVX512(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ a+8(FP), R8
	MOVQ b+16(FP), SI
	MOVQ outs+24(FP), AX
	MOVQ k+32(FP), BX
	LEAQ (AX*4), R12
	LEAQ (R12)(R12*2), R14
	LEAQ (BX*4), R13
	LEAQ (R8)(R13*1), R9
	LEAQ (R9)(R13*1), R10
	LEAQ (R10)(R13*1), R11

widerow:
	VPXORQ Z0, Z0, Z0
	VPXORQ Z1, Z1, Z1
	VPXORQ Z2, Z2, Z2
	VPXORQ Z3, Z3, Z3
	MOVQ   BX, CX
	XORQ   DX, DX

widestep:
	VMOVUPS     (SI), Z4
	VFMADD231PS (R8)(DX*1), Z4, Z0
	VFMADD231PS (R9)(DX*1), Z4, Z1
	VFMADD231PS (R10)(DX*1), Z4, Z2
	VFMADD231PS (R11)(DX*1), Z4, Z3
	ADDQ        $64, SI
	ADDQ        $64, DX
	SUBQ        $16, CX
	JNZ         widestep

	VEXTRACTF64X4 $1, Z0, Y5
	VEXTRACTF64X4 $1, Z1, Y6
	VEXTRACTF64X4 $1, Z2, Y7
	VEXTRACTF64X4 $1, Z3, Y8
	VADDPS        Y5, Y0, Y0
	VADDPS        Y6, Y1, Y1
	VADDPS        Y7, Y2, Y2
	VADDPS        Y8, Y3, Y3
	VHADDPS       Y1, Y0, Y0
	VHADDPS       Y3, Y2, Y2
	VHADDPS       Y2, Y0, Y0
	VEXTRACTF128  $1, Y0, X1
	VADDPS        X1, X0, X0
	VMOVD         X0, (DI)
	VPEXTRD       $1, X0, (DI)(R12*1)
	VPEXTRD       $2, X0, (DI)(R12*2)
	VPEXTRD       $3, X0, (DI)(R14*1)
	ADDQ          $4, DI
	DECQ          AX
	JNZ           widerow
	VZEROUPPER
	RET

// func dotsInt8AVX2(dst *int32, q, rows *int8, n, k int)
TEXT ·dotsInt8AVX2(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ q+8(FP), R8
	MOVQ rows+16(FP), SI
	MOVQ n+24(FP), AX
	MOVQ k+32(FP), BX

scanrow:
	VPXOR Y0, Y0, Y0
	VPXOR Y1, Y1, Y1
	XORQ  DX, DX

scanstep:
	VPMOVSXBW (SI), Y2
	VPMOVSXBW 16(SI), Y3
	VPMOVSXBW (R8)(DX*1), Y4
	VPMOVSXBW 16(R8)(DX*1), Y5
	VPMADDWD  Y2, Y4, Y2
	VPMADDWD  Y3, Y5, Y3
	VPADDD    Y2, Y0, Y0
	VPADDD    Y3, Y1, Y1
	ADDQ      $32, SI
	ADDQ      $32, DX
	CMPQ      DX, BX
	JLT       scanstep

	VPADDD       Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDD       X1, X0, X0
	VPHADDD      X0, X0, X0
	VPHADDD      X0, X0, X0
	VMOVD        X0, (DI)
	ADDQ         $4, DI
	DECQ         AX
	JNZ          scanrow
	VZEROUPPER
	RET

// func dotsInt8AVX512(dst *int32, q, rows *int8, n, k int)
TEXT ·dotsInt8AVX512(SB), NOSPLIT, $0-40
	MOVQ dst+0(FP), DI
	MOVQ q+8(FP), R8
	MOVQ rows+16(FP), SI
	MOVQ n+24(FP), AX
	MOVQ k+32(FP), BX

wscanrow:
	VPXORQ Z0, Z0, Z0
	XORQ   DX, DX

wscanstep:
	VPMOVSXBW (SI), Z2
	VPMOVSXBW (R8)(DX*1), Z4
	VPDPWSSD  Z2, Z4, Z0
	ADDQ      $32, SI
	ADDQ      $32, DX
	CMPQ      DX, BX
	JLT       wscanstep

	VEXTRACTI64X4 $1, Z0, Y1
	VPADDD        Y1, Y0, Y0
	VEXTRACTI128  $1, Y0, X1
	VPADDD        X1, X0, X0
	VPHADDD       X0, X0, X0
	VPHADDD       X0, X0, X0
	VMOVD         X0, (DI)
	ADDQ          $4, DI
	DECQ          AX
	JNZ           wscanrow
	VZEROUPPER
	RET
