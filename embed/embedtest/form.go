package embedtest

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
)

// OpenAI is the protocol as OpenAI's reference describes it. The vectors are not
// of the length 1 and stand in another order than their texts.
func OpenAI() Form {
	return Form{Path: "/embeddings",
		Read: func(body []byte) (Asked, error) {
			var in struct {
				Model      string   `json:"model"`
				Input      []string `json:"input"`
				Encoding   string   `json:"encoding_format"`
				Dimensions int      `json:"dimensions"`
			}
			err := json.Unmarshal(body, &in)
			return Asked{Model: in.Model, Texts: in.Input, Encoding: in.Encoding, Dimensions: in.Dimensions}, err
		},
		Write: func(vectors [][]float32, asked Asked) any {
			data := make([]map[string]any, len(vectors))
			for i, v := range vectors {
				if asked.Dimensions > 0 {
					v = v[:asked.Dimensions]
				}
				raw := []byte{}
				for j := range v {
					v[j] *= 3
					raw = binary.LittleEndian.AppendUint32(raw, math.Float32bits(v[j]))
				}
				entry := map[string]any{"object": "embedding", "index": i, "embedding": v}
				if asked.Encoding == "base64" {
					entry["embedding"] = base64.StdEncoding.EncodeToString(raw)
				}
				data[len(data)-1-i] = entry
			}
			return map[string]any{"object": "list", "model": asked.Model, "data": data, "usage": map[string]int{"prompt_tokens": 7, "total_tokens": 7}}
		},
	}
}

// Ollama is the protocol as Ollama's reference describes it.
func Ollama() Form {
	return Form{Path: "/api/embed",
		Read: func(body []byte) (Asked, error) {
			var in struct {
				Model    string
				Input    []string
				Truncate bool
			}
			err := json.Unmarshal(body, &in)
			if err == nil && !in.Truncate {
				err = errors.New("texts would not be cut to the window")
			}
			return Asked{Model: in.Model, Texts: in.Input}, err
		},
		Write: func(vectors [][]float32, asked Asked) any {
			return map[string]any{"model": asked.Model, "embeddings": vectors, "total_duration": 1, "prompt_eval_count": 3}
		},
	}
}
