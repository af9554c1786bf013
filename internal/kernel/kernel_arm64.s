#include "textflag.h"

// The assembler has no names for these: SSHLL Vd.8H, Vn.8B, #0; SMLAL and
// SMLAL2 Vd.4S, Vn.4H or 8H, Vm.4H or 8H.
#define SSHLL(d, n) WORD $(0x0F08A400 | (n)<<5 | (d))
#define SMLAL(d, n, m) WORD $(0x0E608000 | (m)<<16 | (n)<<5 | (d))
#define SMLAL2(d, n, m) WORD $(0x4E608000 | (m)<<16 | (n)<<5 | (d))

// As on amd64: R1 to R4 walk along four left rows, R5 through the right ones.
// R0 is where the first of the four results goes, R9 the bytes to the next.
// R6: right rows left. R7: values of a row. R8: values left in this row.
// R10: bytes of a left row.

#define SETUP(size) \
	MOVD dst+0(FP), R0    \
	MOVD a+8(FP), R1      \
	MOVD w+16(FP), R5     \
	MOVD outs+24(FP), R6  \
	MOVD k+32(FP), R7     \
	LSL  $2, R6, R9       \
	LSL  $(size), R7, R10 \
	ADD  R10, R1, R2      \
	ADD  R10, R2, R3      \
	ADD  R10, R3, R4

#define ZERO \
	VEOR V0.B16, V0.B16, V0.B16 \
	VEOR V1.B16, V1.B16, V1.B16 \
	VEOR V2.B16, V2.B16, V2.B16 \
	VEOR V3.B16, V3.B16, V3.B16

#define BACK \
	SUB R10, R1 \
	SUB R10, R2 \
	SUB R10, R3 \
	SUB R10, R4

// func mulInt8NEON(dst *int32, a *int16, w *int8, outs, k int)
TEXT ·mulInt8NEON(SB), NOSPLIT, $0-40
	SETUP(1)

int8row:
	ZERO
	MOVD R7, R8

int8step:
	VLD1.P 8(R5), [V4.B8]
	SSHLL(4, 4)
	VLD1.P 16(R1), [V5.H8]
	VLD1.P 16(R2), [V6.H8]
	VLD1.P 16(R3), [V7.H8]
	VLD1.P 16(R4), [V16.H8]
	SMLAL(0, 4, 5)
	SMLAL(1, 4, 6)
	SMLAL(2, 4, 7)
	SMLAL(3, 4, 16)
	SMLAL2(0, 4, 5)
	SMLAL2(1, 4, 6)
	SMLAL2(2, 4, 7)
	SMLAL2(3, 4, 16)
	SUBS   $8, R8
	BNE    int8step

	BACK
	VADDV V0.S4, V0
	VADDV V1.S4, V1
	VADDV V2.S4, V2
	VADDV V3.S4, V3
	ADD   R9, R0, R11
	ADD   R9, R11, R12
	ADD   R9, R12, R13
	FMOVS F0, (R0)
	FMOVS F1, (R11)
	FMOVS F2, (R12)
	FMOVS F3, (R13)
	ADD   $4, R0
	SUBS  $1, R6
	BNE   int8row
	RET

// func mulFloatNEON(dst, a, b *float32, outs, k int)
TEXT ·mulFloatNEON(SB), NOSPLIT, $0-40
	SETUP(2)

floatrow:
	ZERO
	MOVD R7, R8

floatstep:
	VLD1.P 16(R5), [V4.S4]
	VLD1.P 16(R1), [V5.S4]
	VLD1.P 16(R2), [V6.S4]
	VLD1.P 16(R3), [V7.S4]
	VLD1.P 16(R4), [V16.S4]
	VFMLA  V4.S4, V5.S4, V0.S4
	VFMLA  V4.S4, V6.S4, V1.S4
	VFMLA  V4.S4, V7.S4, V2.S4
	VFMLA  V4.S4, V16.S4, V3.S4
	SUBS   $4, R8
	BNE    floatstep

	BACK
	// The four lanes of each sum, added in pairs.
	VEXT  $8, V0.B16, V0.B16, V20.B16
	VEXT  $8, V1.B16, V1.B16, V21.B16
	VEXT  $8, V2.B16, V2.B16, V22.B16
	VEXT  $8, V3.B16, V3.B16, V23.B16
	VMOV  V0.S[1], V24.S[0]
	VMOV  V1.S[1], V25.S[0]
	VMOV  V2.S[1], V26.S[0]
	VMOV  V3.S[1], V27.S[0]
	VMOV  V20.S[1], V28.S[0]
	VMOV  V21.S[1], V29.S[0]
	VMOV  V22.S[1], V30.S[0]
	VMOV  V23.S[1], V31.S[0]
	FADDS F24, F0
	FADDS F25, F1
	FADDS F26, F2
	FADDS F27, F3
	FADDS F28, F20
	FADDS F29, F21
	FADDS F30, F22
	FADDS F31, F23
	FADDS F20, F0
	FADDS F21, F1
	FADDS F22, F2
	FADDS F23, F3
	ADD   R9, R0, R11
	ADD   R9, R11, R12
	ADD   R9, R12, R13
	FMOVS F0, (R0)
	FMOVS F1, (R11)
	FMOVS F2, (R12)
	FMOVS F3, (R13)
	ADD   $4, R0
	SUBS  $1, R6
	BNE   floatrow
	RET

// func dotsInt8NEON(dst *int32, q, rows *int8, n, k int)
TEXT ·dotsInt8NEON(SB), NOSPLIT, $0-40
	MOVD dst+0(FP), R0
	MOVD q+8(FP), R1
	MOVD rows+16(FP), R5
	MOVD n+24(FP), R6
	MOVD k+32(FP), R7

scanrow:
	VEOR V0.B16, V0.B16, V0.B16
	VEOR V1.B16, V1.B16, V1.B16
	MOVD R7, R8

scanstep:
	VLD1.P 8(R5), [V4.B8]
	VLD1.P 8(R1), [V5.B8]
	SSHLL(4, 4)
	SSHLL(5, 5)
	SMLAL(0, 4, 5)
	SMLAL2(1, 4, 5)
	SUBS   $8, R8
	BNE    scanstep

	SUB   R7, R1
	VADD  V1.S4, V0.S4, V0.S4
	VADDV V0.S4, V0
	FMOVS F0, (R0)
	ADD   $4, R0
	SUBS  $1, R6
	BNE   scanrow
	RET
