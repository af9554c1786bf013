package sqlite

import (
	"encoding/binary"
	"encoding/json"
	"math"

	"github.com/ncruces/go-sqlite3"
	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/store"
)

const (
	vectorColumns = `item, model, kind, changed, epoch, body`

	sqlVectors   = `SELECT ` + vectorColumns + ` FROM vectors WHERE model = ?2 AND item IN` + goneKeys
	sqlPutVector = `INSERT INTO vectors (` + vectorColumns + `) VALUES (?, ?, ?, ?, ?, ?)
	ON CONFLICT (item, model) DO UPDATE SET changed = excluded.changed, epoch = excluded.epoch, body = excluded.body`
	sqlDropOthers = `DELETE FROM vectors WHERE (item, model) IN (SELECT item, model FROM vectors WHERE item BETWEEN ?1 AND ?2
	AND model NOT IN (SELECT value FROM json_each(?3)) LIMIT ?4)`
)

// Vectors reads vectors of one model; see store.VectorReader.
func (r *reader) Vectors(owner yiku.Owner, model string, keys []int64) (map[int64][]float32, error) {
	o, err := r.find(owner)
	if err != nil || o == nil || len(keys) == 0 {
		return nil, err
	}
	own := make([]int64, 0, len(keys))
	for _, key := range keys {
		if o.has(key) {
			own = append(own, key)
		}
	}
	out := make(map[int64][]float32, len(own))
	err = r.c.each(sqlVectors, func(st *sqlite3.Stmt) error {
		v, err := r.readVector(o, st)
		out[v.Key] = v.Values
		return err
	}, keyList(own), model)
	return out, foreign("read vectors", err)
}

func (r *reader) readVector(o *ownerRef, st *sqlite3.Stmt) (store.Vector, error) {
	v := store.Vector{Item: store.Item{Key: st.ColumnInt64(0), Kind: store.ItemKind(st.ColumnInt(2))}}
	plain, err := r.open(o, r.c.vectorPlace(v.Item, st.ColumnText(1), st.ColumnInt64(3), st.ColumnInt64(4)), st.ColumnRawBlob(5))
	if err != nil || r.reseal != nil {
		return v, err
	}
	v.Values, err = unpackVector(plain)
	return v, err
}

// PutVectors writes vectors; see store.VectorWriter.
func (t *tx) PutVectors(model string, vectors []store.Vector) error {
	return t.atomic("put vectors", func() error {
		for _, v := range vectors {
			sql := map[store.ItemKind]string{store.ItemMemory: sqlHasItem1, store.ItemMessage: sqlHasItem2}[v.Kind]
			if sql == "" || !t.own.has(v.Key) {
				continue
			}
			n, err := t.c.number(sql, v.Key)
			if err != nil {
				return err
			}
			if n == 0 {
				continue
			}
			changed := t.next()
			body, err := t.seal(t.own, t.c.vectorPlace(v.Item, model, changed, t.state.Epoch), packVector(v.Values))
			if err != nil {
				return err
			}
			if err := t.c.run(sqlPutVector, v.Key, model, int(v.Kind), changed, t.state.Epoch, body); err != nil {
				return err
			}
		}
		return nil
	})
}

// SetEmbedded says by which model's vectors the owner is found; see
// store.VectorWriter.
func (t *tx) SetEmbedded(model string) error {
	t.dirty = t.dirty || t.state.Embedded != model
	t.state.Embedded = model
	return nil
}

// DropVectors deletes those of other models; see store.VectorWriter.
func (t *tx) DropVectors(keep []string, most int) (n int, err error) {
	list, err := json.Marshal(keep)
	if err != nil || keep == nil {
		list = []byte("[]")
	}
	err = t.atomic("drop vectors", func() error {
		return t.c.count(&n, sqlDropOthers, t.own.first(), t.own.last(), string(list), limit(most))
	})
	return n, err
}

// packVector is a scale and a signed byte for each value: value = scale × byte.
func packVector(values []float32) []byte {
	var most float32
	for _, x := range values {
		most = max(most, x, -x)
	}
	out := binary.LittleEndian.AppendUint32(make([]byte, 0, 4+len(values)), math.Float32bits(most/127))
	for _, x := range values {
		n := int8(0)
		if most > 0 {
			n = int8(math.RoundToEven(float64(x / most * 127)))
		}
		out = append(out, byte(n))
	}
	return out
}

func unpackVector(b []byte) ([]float32, error) {
	if len(b) < 4 {
		return nil, unreadable()
	}
	scale := math.Float32frombits(binary.LittleEndian.Uint32(b))
	out := make([]float32, len(b)-4)
	for i, n := range b[4:] {
		out[i] = scale * float32(int8(n))
	}
	return out, nil
}
