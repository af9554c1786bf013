package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/check"
	"github.com/yiku-ai/yiku/internal/wire"
)

func (t *tool) callCommand() *cobra.Command {
	var fields bool
	cmd := &cobra.Command{
		Use:   "call [OPERATION [JSON | -]]",
		Short: t.say(phrase{"Run any operation of the API; without arguments list them", "执行任意 API 操作；不带参数则列出全部操作"}),
		Long: t.say(phrase{
			"Run any operation of the API. The request is one flat JSON object: path, query, header and body fields alike (- reads it from standard input). The answer is JSON.",
			"执行任意 API 操作。请求是一个扁平的 JSON 对象，路径、查询、请求头和正文的字段都写在里面（- 表示从标准输入读取）。结果是 JSON。",
		}),
		Example: `  yiku call list_memories '{"user_id": "me"}'`,
		Args:    cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return t.listOperations()
			}
			all := wire.Operations()
			i := slices.IndexFunc(all, func(o wire.Operation) bool { return o.ID == args[0] })
			if i < 0 {
				return usagef("%s", t.say(phrase{"there is no operation %q; `yiku call` lists them", "没有操作 %q；yiku call 会列出全部操作"}, args[0]))
			}
			if fields {
				t.listFields(all[i])
				return nil
			}
			return t.call(cmd.Context(), all[i], args[1:])
		},
	}
	cmd.Flags().BoolVar(&fields, "fields", false, t.say(phrase{"list the fields of the request", "列出请求的字段"}))
	return cmd
}

func (t *tool) listOperations() error {
	type entry struct {
		ID      string `json:"id"`
		Method  string `json:"method"`
		Path    string `json:"path"`
		Summary string `json:"summary"`
	}
	var entries []entry
	for _, op := range wire.Operations() {
		entries = append(entries, entry{op.ID, op.Method, op.Path, op.Summary})
	}
	if t.flags.json {
		return writeJSON(t.env.Stdout, entries)
	}
	for _, e := range entries {
		t.println(pad(e.ID, 18) + cut(e.Summary, columns-18))
	}
	return nil
}

func (t *tool) listFields(op wire.Operation) {
	t.println(op.Method+" "+op.Path, op.Summary, "")
	for _, p := range wire.Params(op.Request, op.Method) {
		if p.ReadOnly {
			continue
		}
		need := ""
		if p.Required {
			need = "*"
		}
		doc := wire.Describe(p.Type)
		if p.Doc != "" {
			doc += "; " + p.Doc
		}
		if len(p.Enum) > 0 {
			doc += " [" + strings.Join(p.Enum, " ") + "]"
		}
		for i, line := range wrap(doc, columns-20) {
			name := ""
			if i == 0 {
				name = p.Name + need
			}
			t.println(pad(name, 20) + line)
		}
	}
}

// call decodes the request strictly, runs the operation and writes its answer.
func (t *tool) call(ctx context.Context, op wire.Operation, args []string) error {
	document := []byte("{}")
	if len(args) == 1 {
		text, err := t.argument(args[0])
		if err != nil {
			return err
		}
		document = text
	}
	req := reflect.New(op.Request)
	if err := decodeRequest(op, document, req); err != nil {
		return err
	}
	if err := check.New().Request(req.Interface()); err != nil {
		return err
	}
	return t.with(ctx, op.Status == http.StatusCreated, func(ctx context.Context, s yiku.Service) error {
		res, err := op.Call(ctx, s, req.Interface())
		if err != nil {
			return err
		}
		return writeJSON(t.env.Stdout, res)
	})
}

// argument is an argument's text, or standard input for "-".
func (t *tool) argument(arg string) ([]byte, error) {
	if arg != "-" {
		return []byte(arg), nil
	}
	text, err := io.ReadAll(t.env.Stdin)
	if err != nil {
		return nil, yiku.Errorf(yiku.ErrUnavailable, "cannot read standard input")
	}
	return text, nil
}

// decodeRequest reads a request, as the server does; its error names every
// field at fault.
func decodeRequest(op wire.Operation, document []byte, into reflect.Value) error {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(document, &members); err != nil || members == nil {
		return yiku.Invalid("body", "must be a JSON object")
	}
	known := map[string]yiku.FieldError{}
	for _, p := range wire.Params(op.Request, op.Method) {
		known[p.Name] = yiku.FieldError{Field: p.Name, Message: "must be " + wire.Describe(p.Type)}
	}
	var faults []yiku.FieldError
	for _, name := range slices.Sorted(maps.Keys(members)) {
		fault, ok := known[name]
		if !ok {
			faults = append(faults, yiku.FieldError{Field: clean(name), Message: "is not a known field"})
			continue
		}
		one, err := json.Marshal(map[string]json.RawMessage{name: members[name]})
		if err != nil {
			return err
		}
		if err := decode(one, reflect.New(op.Request).Interface()); err != nil {
			var wrong *yiku.Error
			if errors.As(err, &wrong) && wrong.Fields[0].Field != name {
				fault = wrong.Fields[0]
			}
			faults = append(faults, fault)
		}
	}
	if len(faults) > 0 {
		return &yiku.Error{Sentinel: yiku.ErrInvalid, Fields: faults}
	}
	return decode(document, into.Interface())
}

// decode reads one JSON object; unknown fields are errors.
func decode(document []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(document))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return yiku.Invalid(wrong.Field, "has the wrong type")
		}
		if name, unknown := strings.CutPrefix(err.Error(), "json: unknown field "); unknown {
			return yiku.Invalid(strings.Trim(clean(name), `"`), "is not a known field")
		}
		return yiku.Invalid("body", "is not valid JSON")
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return yiku.Invalid("body", "is not valid JSON")
	}
	return nil
}

// everyPage lists the items of all pages; next asks for the one that paging,
// which is the request's own, stands at. The list is never nil.
func everyPage[T any](paging *yiku.Paging, next func() (yiku.Page[T], error)) ([]T, error) {
	all := []T{}
	for {
		page, err := next()
		if err != nil {
			return nil, err
		}
		all = append(all, page.Items...)
		if paging.Cursor = page.NextCursor; paging.Cursor == "" {
			return all, nil
		}
	}
}
