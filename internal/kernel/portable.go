package kernel

func mulInt8Portable(dst []int32, a []int16, w []int8, rows, outs, k int) {
	for r := range rows {
		left := a[r*k : (r+1)*k]
		for o := range outs {
			right := w[o*k:][:len(left)]
			var sum int32
			for i, v := range left {
				sum += int32(v) * int32(right[i])
			}
			dst[r*outs+o] = sum
		}
	}
}

func mulFloatPortable(dst, a, b []float32, rows, outs, k int) {
	for r := range rows {
		left := a[r*k : (r+1)*k]
		for o := range outs {
			right := b[o*k : (o+1)*k : (o+1)*k]
			var s0, s1, s2, s3 float32
			for i := 0; i+3 < len(left); i += 4 {
				s0 += left[i] * right[i]
				s1 += left[i+1] * right[i+1]
				s2 += left[i+2] * right[i+2]
				s3 += left[i+3] * right[i+3]
			}
			dst[r*outs+o] = (s0 + s1) + (s2 + s3)
		}
	}
}

func dotsInt8Portable(dst []int32, q, rows []int8) {
	for i := range dst {
		row := rows[i*len(q) : (i+1)*len(q)]
		var s0, s1 int32
		for j := 0; j+1 < len(row); j += 2 {
			s0 += int32(q[j]) * int32(row[j])
			s1 += int32(q[j+1]) * int32(row[j+1])
		}
		dst[i] = s0 + s1
	}
}
