// Package local embeds texts in this process: a tokenizer, the forward pass of
// a BERT encoder and nothing else; no key, no network, no cgo.
//
// # The file
//
// A model is one file in the safetensors format (eight bytes of length, a JSON
// header with the name, type, shape and place of each tensor, then the
// tensors), which many tools can look into. The header's __metadata__ says
//
//	format     "yiku-encoder/1"
//	name       the model's name, for records
//	source     where the weights came from, and their sha256
//	license    what they may be used for
//	config     JSON: see [Config]
//
// and the tensors are, with H hidden values, F between the two layers of the
// feed-forward part, V words, P positions, and i the layer, from 0:
//
//	word                               V × H, a row for each piece
//	position                           P × H
//	type                               H
//	norm.weight, norm.bias             H
//	i.query, i.key, i.value, i.output  H × H, a row for each output
//	i.up                               F × H
//	i.down                             H × F
//	i.<matrix>.bias                    as many as rows
//	i.attention_norm.weight, .bias     H
//	i.output_norm.weight, .bias        H
//	pieces, offsets, scores            the vocabulary: the pieces' bytes one
//	                                   after another (U8), where each begins
//	                                   (U32, V+1) and its score (F32, V)
//
// word and the matrices are F32, or I8 with a scale for each row beside them
// (<name>.scale, F32): value = scale × integer. Everything else is F32.
//
// # The arithmetic
//
// With I8 matrices what goes into each product is rounded to 14 bits for each
// token, and the products are sums of integers, which are the same on every
// machine. The rest is float32.
package local
