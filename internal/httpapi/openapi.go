package httpapi

import (
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/yiku-ai/yiku/internal/wire"
)

// object is a JSON object of the document; it is written with sorted names, so
// that the document is the same on every run.
type object = map[string]any

// openapi serves the document, which is made when it is asked for first.
func (s *server) openapi() http.HandlerFunc {
	doc := sync.OnceValues(func() ([]byte, error) { return Document(s.Version) })
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := doc()
		if err != nil {
			s.fail(w, r, err)
			return
		}
		s.write(w, http.StatusOK, "application/json", body)
	}
}

// Document returns the OpenAPI 3.1 document of the operation table.
func Document(version string) ([]byte, error) {
	if version == "" {
		version = "0"
	}
	c := &components{schemas: object{}, names: map[reflect.Type]string{}}
	paths := object{}
	for _, op := range wire.Operations() {
		item, ok := paths[op.Path].(object)
		if !ok {
			item = object{}
			paths[op.Path] = item
		}
		item[strings.ToLower(op.Method)] = operationObject(c, op)
	}
	c.schemas["Problem"] = problemSchema(c)
	doc := object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Yiku", "version": version,
			"description": "A memory service for AI agents. Times are RFC 3339, lengths count Unicode code points, scores are 0 to 1. " +
				"Unknown and repeated fields and parameters are refused by name.",
		},
		"paths": paths,
		"components": object{
			"schemas":         c.schemas,
			"responses":       object{"Problem": problemResponse()},
			"securitySchemes": object{"key": object{"type": "http", "scheme": "bearer"}},
		},
		"security": []any{object{"key": []any{}}, object{}},
	}
	return json.Marshal(doc, json.Deterministic(true), jsontext.WithIndent("  "))
}

func operationObject(c *components, op wire.Operation) object {
	o := object{
		"operationId": op.ID, "summary": op.Summary, "tags": []string{op.Tag},
		"description": "Needs the role " + string(op.Access) + ".",
		"responses":   responses(c, op),
	}
	params, body := []any{}, []wire.Param{}
	for _, p := range wire.Params(op.Request, op.Method) {
		if p.In == wire.InBody {
			body = append(body, p)
			continue
		}
		params = append(params, parameter(c, p))
	}
	if len(params) > 0 {
		o["parameters"] = params
	}
	if op.Method != http.MethodGet && op.Method != http.MethodDelete {
		name := op.Request.Name()
		schema := c.object(body)
		schema["additionalProperties"] = false
		c.schemas[name] = schema
		content := object{"application/json": object{"schema": ref(name)}}
		if op.Method == http.MethodPatch {
			content["application/merge-patch+json"] = object{"schema": ref(name)}
		}
		o["requestBody"] = object{"required": true, "content": content}
	}
	return o
}

func parameter(c *components, p wire.Param) object {
	name := p.Name
	if p.In == wire.InHeader {
		name = p.Header
	}
	o := object{"name": name, "in": string(p.In), "schema": c.field(p)}
	if p.Required {
		o["required"] = true
	}
	if p.Doc != "" {
		o["description"] = p.Doc
	}
	return o
}

func responses(c *components, op wire.Operation) object {
	headers := object{"X-Request-ID": object{"schema": object{"type": "string"}}}
	if op.Response.Implements(reflect.TypeFor[tagged]()) {
		headers["ETag"] = object{"schema": object{"type": "string"}}
	}
	success := object{"description": http.StatusText(op.Status), "headers": headers}
	if op.Status != http.StatusNoContent {
		success["content"] = object{"application/json": object{"schema": c.schema(op.Response)}}
	}
	responses := object{
		strconv.Itoa(op.Status): success,
		"default":               object{"$ref": "#/components/responses/Problem"},
	}
	if op.Settles() {
		responses["200"] = object{"description": "The work that was waited for: its report.", "headers": headers,
			"content": object{"application/json": object{"schema": c.schema(op.Response)}}}
	}
	return responses
}

func problemResponse() object {
	return object{
		"description": "The request failed; code says what can be done about it.",
		"content":     object{"application/problem+json": object{"schema": ref("Problem")}},
		"headers": object{
			"X-Request-ID": object{"schema": object{"type": "string"}},
			"Retry-After":  object{"schema": object{"type": "integer"}, "description": "Seconds to wait, where it is known."},
		},
	}
}

func problemSchema(c *components) object {
	o := c.object(wire.Fields(reflect.TypeFor[wire.Problem]()))
	properties := o["properties"].(object)
	properties["code"] = object{"type": "string", "enum": wire.Codes()}
	return o
}

func ref(name string) object { return object{"$ref": "#/components/schemas/" + name} }
