package llm_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/llm"
	"github.com/yiku-ai/yiku/llm/anthropic"
	"github.com/yiku-ai/yiku/llm/ollama"
	"github.com/yiku-ai/yiku/llm/openai"
)

// sent is the body of a request as a provider reads it.
type sent map[string]any

func (a sent) structured() string {
	f, _ := a["response_format"].(map[string]any)
	s, _ := f["type"].(string)
	return s
}

func (a sent) prompt() string {
	raw, _ := json.Marshal(a["messages"]) //nolint:errcheck,errchkjson // it was read from JSON
	return string(raw)
}

// provider is a local server that takes requests as one provider does.
type provider struct {
	url   string
	mu    sync.Mutex
	asked []sent
}

func serve(t *testing.T, answer func(sent) (status int, body string)) *provider {
	p := &provider{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		raw, _ := io.ReadAll(r.Body) //nolint:errcheck // what is lacking is no JSON
		var a sent
		if err := json.Unmarshal(raw, &a); err != nil {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		p.mu.Lock()
		p.asked = append(p.asked, a)
		p.mu.Unlock()
		status, body := answer(a)
		w.WriteHeader(status)
		io.WriteString(w, body) //nolint:errcheck // the client may be gone
	}))
	t.Cleanup(s.Close)
	p.url = s.URL
	return p
}

func (p *provider) requests() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.asked)
}

// wish is a request that asks for all that an endpoint may refuse.
func wish() llm.Request {
	return llm.Request{System: "Judge. 判断。", Messages: []llm.Message{{Role: llm.User, Content: "我住在杭州。secret"}}, MaxTokens: 500,
		Schema: &llm.Schema{Name: "ops", JSON: json.RawMessage(`{"type":"object","properties":{}}`)}}
}

func chat(content string) string {
	raw, _ := json.Marshal(content) //nolint:errcheck,errchkjson // a string
	return `{"model":"m-1","choices":[{"index":0,"message":{"role":"assistant","content":` + string(raw) + `},"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}`
}

const ops = `{"operations":[]}`

// TestC4_ProvidersAsTheyAre: each provider's way of taking requests and of
// answering, as its reference and its users describe it. What one refuses is
// asked for once, and no second time; the answer is what the model answered, not
// what it thought.
func TestC4_ProvidersAsTheyAre(t *testing.T) {
	t.Parallel()
	refuse := func(message, code string) (int, string) {
		raw, _ := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": "invalid_request_error", "param": nil, "code": code}}) //nolint:errcheck,errchkjson // plain
		return 400, string(raw)
	}
	type open = func(string, *llm.Options) *llm.Driver
	for _, c := range []struct {
		name   string
		open   open
		answer func(sent) (int, string)
		want   llm.Response
		first  int // requests until the first answer; each one after takes one
	}{
		{"OpenAI", openai.New, func(a sent) (int, string) {
			if a.structured() != "json_schema" || a["max_tokens"] == nil || a["temperature"] == nil || a["stream"] != nil {
				return 500, ""
			}
			return 200, `{"model":"m-1","choices":[{"message":{"content":"{\"operations\":[]}","refusal":null},"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18,"prompt_tokens_details":{"cached_tokens":8},"completion_tokens_details":{"reasoning_tokens":3}}}`
		}, llm.Response{Text: ops, Model: "m-1", Usage: llm.Usage{In: 11, Out: 7}}, 1},
		{"OpenAI, a model that thinks", openai.New, func(a sent) (int, string) {
			switch {
			case a["max_tokens"] != nil:
				return refuse("Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "unsupported_parameter")
			case a["temperature"] != nil:
				return refuse("Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.", "unsupported_value")
			case a["max_completion_tokens"] != float64(500) || a.structured() != "json_schema":
				return 500, ""
			}
			return 200, chat(ops)
		}, llm.Response{Text: ops, Model: "m-1", Usage: llm.Usage{In: 11, Out: 7}}, 3},
		{"DeepSeek", openai.New, func(a sent) (int, string) {
			switch {
			case a.structured() == "json_schema":
				return refuse("This response_format type is unavailable now", "invalid_request_error")
			case !strings.Contains(strings.ToLower(a.prompt()), "json"):
				return refuse("Prompt must contain the word 'json' in some form to use 'response_format' of type 'json_object'.", "invalid_request_error")
			}
			return 200, `{"model":"m-1","choices":[{"message":{"content":"{\"operations\":[]}","reasoning_content":"The user lives in 杭州."},"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18,"prompt_cache_hit_tokens":8,"prompt_cache_miss_tokens":3}}`
		}, llm.Response{Text: ops, Model: "m-1", Usage: llm.Usage{In: 11, Out: 7}}, 2},
		{"DeepSeek, a limit out of range", openai.New, func(a sent) (int, string) {
			if a["max_tokens"] != nil {
				return refuse("Invalid max_tokens value, the valid range of max_tokens is [1, 400]", "invalid_request_error")
			}
			return 200, chat(ops)
		}, llm.Response{Text: ops, Model: "m-1", Usage: llm.Usage{In: 11, Out: 7}}, 2},
		{"Qwen on DashScope, thinking, in a stream only", openai.New, func(a sent) (int, string) {
			if a["stream"] != true {
				return 400, `{"error":{"code":"invalid_parameter_error","param":null,"message":"parameter.enable_thinking must be set to false for non-streaming calls","type":"invalid_request_error"},"request_id":"r"}`
			}
			if o, _ := a["stream_options"].(map[string]any); o["include_usage"] != true {
				return 500, ""
			}
			return 200, "data: {\"model\":\"m-1\",\"choices\":[{\"delta\":{\"role\":\"assistant\",\"content\":null,\"reasoning_content\":\"想一想\"},\"finish_reason\":null}],\"usage\":null}\n\n" +
				"data: {\"model\":\"m-1\",\"choices\":[{\"delta\":{\"content\":\"{\\\"operations\\\"\",\"reasoning_content\":null},\"finish_reason\":null}]}\n\n" +
				"data: {\"choices\":[{\"delta\":{\"content\":\":[]}\"},\"finish_reason\":\"stop\"}]}\n\n" +
				"data: {\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"completion_tokens\":7,\"total_tokens\":18}}\n\ndata: [DONE]\n\n"
		}, llm.Response{Text: ops, Model: "m-1", Usage: llm.Usage{In: 11, Out: 7}}, 2},
		{"QwQ on DashScope", openai.New, func(a sent) (int, string) {
			switch {
			case a["stream"] != true:
				return 400, `{"error":{"code":"invalid_parameter_error","message":"This model only support stream mode, please enable the stream parameter to access the model. ","type":"invalid_request_error"}}`
			case a.structured() != "":
				return 400, `{"error":{"code":"invalid_parameter_error","message":"Json mode response is not supported when enable_thinking is true","type":"invalid_request_error"}}`
			}
			return 200, "\n: keep-alive\n\ndata: {\"model\":\"m-1\",\"choices\":[{\"delta\":{\"content\":\"好\"},\"finish_reason\":\"length\"}],\"usage\":{\"prompt_tokens\":2,\"completion_tokens\":1,\"total_tokens\":3}}\n\ndata: [DONE]\n"
		}, llm.Response{Text: "好", Model: "m-1", Truncated: true, Usage: llm.Usage{In: 2, Out: 1}}, 4},
		{"Kimi, with a temperature of its own", openai.New, func(a sent) (int, string) {
			if a["temperature"] != nil {
				return refuse("invalid temperature: only 1 is allowed for this model", "invalid_request_error")
			}
			return 200, chat(ops)
		}, llm.Response{Text: ops, Model: "m-1", Usage: llm.Usage{In: 11, Out: 7}}, 2},
		{"vLLM without a parser of thoughts", openai.New, func(sent) (int, string) {
			return 200, `{"model":"m-1","choices":[{"message":{"content":"Okay, <b>the user</b>…\n</think>\n\n{\"operations\":[]}","tool_calls":[]},"finish_reason":"stop","stop_reason":null}],"usage":{"prompt_tokens":11,"total_tokens":18,"completion_tokens":7,"prompt_tokens_details":null}}`
		}, llm.Response{Text: ops, Model: "m-1", Usage: llm.Usage{In: 11, Out: 7}}, 1},
		{"vLLM, a schema that its grammar does not know", openai.New, func(a sent) (int, string) {
			if a.structured() == "json_schema" {
				return 400, `{"object":"error","message":"The provided JSON schema contains features not supported by xgrammar.","type":"BadRequestError","param":null,"code":400}`
			}
			return 200, chat(ops)
		}, llm.Response{Text: ops, Model: "m-1", Usage: llm.Usage{In: 11, Out: 7}}, 2},
		{"llama.cpp, no usage, thoughts in the text", openai.New, func(sent) (int, string) {
			return 200, `{"model":"m-1","choices":[{"message":{"role":"assistant","content":"<think>\nLet me see. {\"a\":1}\n</think>\n{\"operations\":[]}"},"finish_reason":"stop"}]}`
		}, llm.Response{Text: ops, Model: "m-1"}, 1},
		{"Mistral, contents in parts", openai.New, func(sent) (int, string) {
			return 200, `{"model":"m-1","choices":[{"message":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"{\"operations\":[]}"}]},"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":7,"total_tokens":18}}`
		}, llm.Response{Text: ops, Model: "m-1", Usage: llm.Usage{In: 11, Out: 7}}, 1},
		{"a server that knows fields strictly", openai.New, func(a sent) (int, string) {
			if a.structured() != "" {
				return 422, `{"detail":[{"loc":["body","response_format"],"msg":"extra fields not permitted","type":"value_error.extra"}]}`
			}
			return 200, chat("```json\n" + ops + "\n```")
		}, llm.Response{Text: "```json\n" + ops + "\n```", Model: "m-1", Usage: llm.Usage{In: 11, Out: 7}}, 3},
		{"thoughts counted in the total only", openai.New, func(sent) (int, string) {
			return 200, `{"model":"m-1","choices":[{"message":{"content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":11,"completion_tokens":1,"total_tokens":40}}`
		}, llm.Response{Text: "ok", Model: "m-1", Usage: llm.Usage{In: 11, Out: 29}}, 1},
		{"cut while it thought", openai.New, func(sent) (int, string) {
			return 200, `{"model":"m-1","choices":[{"message":{"content":"<think>and then and then"},"finish_reason":"length"}],"usage":{"prompt_tokens":11,"completion_tokens":7}}`
		}, llm.Response{Model: "m-1", Truncated: true, Usage: llm.Usage{In: 11, Out: 7}}, 1},
		{"JSON that speaks of thoughts", openai.New, func(sent) (int, string) {
			return 200, chat(`{"content":"the tags <think> and </think>"}`)
		}, llm.Response{Text: `{"content":"the tags <think> and </think>"}`, Model: "m-1", Usage: llm.Usage{In: 11, Out: 7}}, 1},
		{"Anthropic, cached and thinking", anthropic.New, func(a sent) (int, string) {
			if c, _ := a["tool_choice"].(map[string]any); c["name"] != "ops" {
				return 500, ""
			}
			return 200, `{"type":"message","model":"m-1","content":[{"type":"thinking","thinking":"hm","signature":"s"},{"type":"tool_use","id":"t","name":"ops","input":{"operations":[]}}],"stop_reason":"tool_use","usage":{"input_tokens":3,"cache_creation_input_tokens":2,"cache_read_input_tokens":6,"output_tokens":7}}`
		}, llm.Response{Text: ops, Model: "m-1", Usage: llm.Usage{In: 11, Out: 7}}, 1},
		{"Anthropic, a model that takes no temperature", anthropic.New, func(a sent) (int, string) {
			if a["temperature"] != nil {
				return 400, `{"type":"error","error":{"type":"invalid_request_error","message":"temperature is deprecated for this model."}}`
			}
			return 200, `{"model":"m-1","content":[{"type":"text","text":"ok"}],"stop_reason":"max_tokens","usage":{"input_tokens":11,"output_tokens":7}}`
		}, llm.Response{Text: "ok", Model: "m-1", Truncated: true, Usage: llm.Usage{In: 11, Out: 7}}, 2},
		{"a thinking model behind Anthropic's protocol", anthropic.New, func(a sent) (int, string) {
			if c, _ := a["tool_choice"].(map[string]any); c["type"] == "tool" {
				return 400, `{"error":{"message":"Thinking mode does not support this tool_choice","type":"invalid_request_error"}}`
			}
			return 200, `{"model":"m-1","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"{\"operations\":[]}"}],"stop_reason":"end_turn","usage":{"input_tokens":11,"output_tokens":7}}`
		}, llm.Response{Text: ops, Model: "m-1", Usage: llm.Usage{In: 11, Out: 7}}, 2},
		{"Ollama, thinking", ollama.New, func(a sent) (int, string) {
			o, _ := a["options"].(map[string]any)
			if a["stream"] != false || o["num_ctx"] != float64(8192) || o["num_predict"] != float64(500) {
				return 500, ""
			}
			return 200, `{"model":"m-1","message":{"role":"assistant","content":"{\"operations\":[]}","thinking":"hm"},"done":true,"done_reason":"stop","prompt_eval_count":11,"eval_count":7}`
		}, llm.Response{Text: ops, Model: "m-1", Usage: llm.Usage{In: 11, Out: 7}}, 1},
		{"an old Ollama", ollama.New, func(a sent) (int, string) {
			if _, schema := a["format"].(map[string]any); schema {
				return 400, `{"error":"json: cannot unmarshal object into Go struct field ChatRequest.format of type string"}`
			}
			return 200, `{"model":"m-1","message":{"content":"{\"operations\":[]}"},"done":true}`
		}, llm.Response{Text: ops, Model: "m-1"}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, c.answer)
			m := c.open("m", &llm.Options{URL: p.url, Key: "key-1"})
			for i := range 3 {
				got, err := m.Complete(t.Context(), wish())
				if err != nil || got != c.want {
					t.Fatalf("%+v, %v; want %+v", got, err, c.want)
				}
				if want := c.first + i; p.requests() != want {
					t.Fatalf("%d requests after answer %d, want %d", p.requests(), i+1, want)
				}
			}
		})
	}
}

// TestC6_RefusalsOfProviders: what each provider says no with is an error of
// the kind that tells what to do: wait, ask for less, or leave it. Nothing of
// what was said is in a message.
func TestC6_RefusalsOfProviders(t *testing.T) {
	t.Parallel()
	type open = func(string, *llm.Options) *llm.Driver
	for _, c := range []struct {
		name   string
		open   open
		status int
		body   string
		want   error
		after  time.Duration
	}{
		{"OpenAI, rate", openai.New, 429, `{"error":{"message":"Rate limit reached for gpt-4o on tokens per min (TPM): secret","type":"tokens","param":null,"code":"rate_limit_exceeded"}}`, yiku.ErrLimited, 0},
		{"OpenAI, no quota", openai.New, 429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}`, yiku.ErrLimited, time.Hour},
		{"OpenAI, too long", openai.New, 400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","param":"messages","code":"context_length_exceeded"}}`, llm.ErrTooLong, 0},
		{"OpenAI, a key that is none", openai.New, 401, `{"error":{"message":"Incorrect API key provided: key-1.","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, yiku.ErrUnauthorized, 0},
		{"OpenAI, no such model", openai.New, 404, `{"error":{"message":"The model secret does not exist","type":"invalid_request_error","param":null,"code":"model_not_found"}}`, yiku.ErrInvalid, 0},
		{"OpenAI, filtered", openai.New, 200, `{"choices":[{"message":{"content":""},"finish_reason":"content_filter"}]}`, yiku.ErrInvalid, 0},
		{"OpenAI, declined", openai.New, 200, `{"choices":[{"message":{"content":null,"refusal":"I cannot help with secret"},"finish_reason":"stop"}]}`, yiku.ErrInvalid, 0},
		{"Azure, filtered on the way in", openai.New, 400, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400}}`, yiku.ErrInvalid, 0},
		{"no choice", openai.New, 200, `{"choices":[],"usage":{"prompt_tokens":1}}`, yiku.ErrUnavailable, 0},
		{"DeepSeek, no balance", openai.New, 402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, yiku.ErrLimited, time.Hour},
		{"DeepSeek, content", openai.New, 400, `{"error":{"message":"Content Exists Risk","type":"invalid_request_error","param":null,"code":"invalid_request_error"}}`, yiku.ErrInvalid, 0},
		{"DeepSeek, overloaded", openai.New, 503, `{"error":{"message":"Service is too busy.","type":"service_unavailable_error"}}`, yiku.ErrUnavailable, 0},
		{"DeepSeek, cut off", openai.New, 200, `{"choices":[{"message":{"content":"{\"op"},"finish_reason":"insufficient_system_resource"}]}`, yiku.ErrUnavailable, 0},
		{"DashScope, throttled", openai.New, 429, `{"error":{"message":"Requests rate limit exceeded, please try again later.","type":"limit_requests","param":null,"code":"limit_requests"},"request_id":"r"}`, yiku.ErrLimited, 0},
		{"DashScope, in arrears", openai.New, 400, `{"error":{"code":"Arrearage","param":null,"message":"Access denied, please make sure your account is in good standing.","type":"Arrearage"},"request_id":"r"}`, yiku.ErrLimited, time.Hour},
		{"DashScope, too long", openai.New, 400, `{"error":{"code":"invalid_parameter_error","message":"Range of input length should be [1, 30720]","type":"invalid_request_error"}}`, llm.ErrTooLong, 0},
		{"DashScope, inspected", openai.New, 400, `{"error":{"code":"data_inspection_failed","message":"Input data may contain inappropriate content.","type":"data_inspection_failed"}}`, yiku.ErrInvalid, 0},
		{"GLM, in arrears", openai.New, 429, `{"error":{"code":"1113","message":"您的账户已欠费，请充值后重试。"}}`, yiku.ErrLimited, time.Hour},
		{"GLM, rate", openai.New, 429, `{"error":{"code":"1302","message":"您当前使用该API的并发数过高，请降低并发"}}`, yiku.ErrLimited, 0},
		{"GLM, sensitive", openai.New, 200, `{"choices":[{"message":{"content":""},"finish_reason":"sensitive"}]}`, yiku.ErrInvalid, 0},
		{"Kimi, no quota", openai.New, 429, `{"error":{"type":"exceeded_current_quota_error","message":"Your account is not active"}}`, yiku.ErrLimited, time.Hour},
		{"vLLM, too long", openai.New, 400, `{"object":"error","message":"This model's maximum context length is 16384 tokens. However, you requested 122946 tokens (112946 in the messages, 10000 in the completion). Please reduce the length of the messages or completion.","type":"BadRequestError","param":null,"code":400}`, llm.ErrTooLong, 0},
		{"llama.cpp, too long", openai.New, 400, `{"error":{"code":400,"message":"the request exceeds the available context size. try increasing the context size or enable context shift","type":"exceed_context_size_error","n_prompt_tokens":1407,"n_ctx":256}}`, llm.ErrTooLong, 0},
		{"llama.cpp, too long with a good status", openai.New, 200, `{"error":{"code":400,"message":"the request exceeds the available context size, try increasing it","type":"exceed_context_size_error","n_prompt_tokens":14429,"n_ctx":8192}}`, llm.ErrTooLong, 0},
		{"llama.cpp, loading", openai.New, 503, `{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}`, yiku.ErrUnavailable, 0},
		{"a gateway's error with a good status", openai.New, 200, `{"error":{"code":429,"message":"Provider returned error secret"},"user_id":"u"}`, yiku.ErrLimited, 0},
		{"a stream that breaks off", openai.New, 200, "data: {\"choices\":[{\"delta\":{\"content\":\"{\"},\"finish_reason\":null}]}\n\n", yiku.ErrUnavailable, 0},
		{"an error within a stream", openai.New, 200, "data: {\"choices\":[{\"delta\":{\"content\":\"{\"}}]}\n\ndata: {\"error\":{\"code\":429,\"message\":\"slow down\"}}\n\n", yiku.ErrLimited, 0},
		{"refused for no reason that is known", openai.New, 400, `{"error":{"message":"Bad Request secret"}}`, yiku.ErrInvalid, 0},
		{"refused in HTML", openai.New, 413, `<html>secret 413 Request Entity Too Large</html>`, llm.ErrTooLong, 0},
		{"Anthropic, overloaded", anthropic.New, 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, yiku.ErrUnavailable, 0},
		{"Anthropic, rate", anthropic.New, 429, `{"type":"error","error":{"type":"rate_limit_error","message":"secret"}}`, yiku.ErrLimited, 0},
		{"Anthropic, no credit", anthropic.New, 400, `{"type":"error","error":{"type":"invalid_request_error","message":"Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits."}}`, yiku.ErrLimited, time.Hour},
		{"Anthropic, too long", anthropic.New, 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`, llm.ErrTooLong, 0},
		{"Anthropic, refused", anthropic.New, 200, `{"type":"message","content":[],"stop_reason":"refusal"}`, yiku.ErrInvalid, 0},
		{"Ollama, no such model", ollama.New, 404, `{"error":"model 'secret' not found"}`, yiku.ErrInvalid, 0},
		{"Ollama, out of memory", ollama.New, 500, `{"error":"model requires more system memory (9.1 GiB) than is available"}`, yiku.ErrUnavailable, 0},
		{"Ollama, busy", ollama.New, 503, `{"error":"server busy, please try again.  maximum pending requests exceeded"}`, yiku.ErrUnavailable, 0},
		{"Ollama, only loaded", ollama.New, 200, `{"model":"m","message":{"role":"assistant","content":""},"done_reason":"load","done":true}`, yiku.ErrUnavailable, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p := serve(t, func(sent) (int, string) { return c.status, c.body })
			_, err := c.open("m", &llm.Options{URL: p.url, Key: "key-1"}).Complete(t.Context(), wish())
			if !errors.Is(err, c.want) {
				t.Fatalf("error %v, want %v", err, c.want)
			}
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "key-") {
				t.Errorf("the error tells too much: %v", err)
			}
			var e *yiku.Error
			if errors.As(err, &e) && e.RetryAfter != c.after {
				t.Errorf("retry after %s, want %s", e.RetryAfter, c.after)
			}
			if tooLong := errors.Is(err, llm.ErrTooLong); tooLong && !errors.Is(err, yiku.ErrInvalid) {
				t.Error("what is too long is not invalid")
			}
			if n := p.requests(); n > 6 {
				t.Errorf("asked %d times", n)
			}
		})
	}
}

// TestC4_WhatIsLearntIsOfOneModel: what one model refuses is asked for of
// another one behind the same endpoint, and a refusal that nothing helps against
// teaches nothing.
func TestC4_WhatIsLearntIsOfOneModel(t *testing.T) {
	t.Parallel()
	bad := true
	p := serve(t, func(a sent) (int, string) {
		if bad || a["model"] == "plain" && a.structured() != "" {
			return 400, `{"error":{"message":"no"}}`
		}
		return 200, chat(ops)
	})
	rich, plain := openai.New("rich", &llm.Options{URL: p.url}), openai.New("plain", &llm.Options{URL: p.url})
	if _, err := rich.Complete(t.Context(), wish()); !errors.Is(err, yiku.ErrInvalid) {
		t.Fatal(err)
	}
	bad = false
	for _, m := range []*llm.Driver{rich, plain, rich, plain} {
		if _, err := m.Complete(t.Context(), wish()); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, a := range p.asked[3:] {
		got = append(got, a["model"].(string)+" "+a.structured())
	}
	if want := "rich json_schema|plain json_schema|plain json_object|plain |rich json_schema|plain "; strings.Join(got, "|") != want {
		t.Errorf("asked %q, want %q", strings.Join(got, "|"), want)
	}
}

// TestC4_RetryAfterInEveryForm: seconds, milliseconds and a date.
func TestC4_RetryAfterInEveryForm(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "7", 7 * time.Second}, {"Retry-After", "0.5", 500 * time.Millisecond}, {"Retry-After-Ms", "250", 250 * time.Millisecond},
		{"Retry-After", "Mon, 02 Mar 2026 08:00:30 GMT", 30 * time.Second}, {"Retry-After", "Mon, 02 Mar 2026 07:00:00 GMT", 0}, {"Retry-After", "soon", 0}, {"Retry-After", "-1", 0},
		{"Retry-After", "900000", time.Hour}, {"Retry-After", "Fri, 21 Oct 9999 07:28:00 GMT", time.Hour},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Date", "Mon, 02 Mar 2026 08:00:00 GMT")
			w.Header().Set(c.name, c.value)
			w.WriteHeader(http.StatusTooManyRequests)
		}))
		_, err := openai.New("m", &llm.Options{URL: s.URL}).Complete(t.Context(), wish())
		s.Close()
		var e *yiku.Error
		if !errors.As(err, &e) || !errors.Is(err, yiku.ErrLimited) || e.RetryAfter != c.want {
			t.Errorf("%s %q: %v after %s, want %s", c.name, c.value, err, e.RetryAfter, c.want)
		}
	}
}

// TestG6_CountsOfEveryForm: no answer is lost for how its tokens are counted,
// and no count is below zero or beyond reason.
func TestG6_CountsOfEveryForm(t *testing.T) {
	t.Parallel()
	for usage, want := range map[string]llm.Usage{
		`{"prompt_tokens":7,"completion_tokens":2}`:                      {In: 7, Out: 2},
		`{"prompt_tokens":10.0,"completion_tokens":2.9}`:                 {In: 10, Out: 2},
		`{"prompt_tokens":-5,"completion_tokens":9223372036854775807}`:   {In: 0, Out: 1_000_000_000},
		`{"prompt_tokens":"many","completion_tokens":null}`:              {},
		`{"prompt_tokens":{"all":3},"completion_tokens":1e308}`:          {Out: 1_000_000_000},
		`{"prompt_tokens":1,"completion_tokens":1,"total_tokens":-9e99}`: {In: 1, Out: 1},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"choices":[{"message":{"content":"[]"}}],"usage":%s}`, usage)
		}))
		res, err := openai.New("m", &llm.Options{URL: s.URL}).Complete(t.Context(), wish())
		s.Close()
		if err != nil || res.Usage != want {
			t.Errorf("%s: %+v, %v; want %+v", usage, res.Usage, err, want)
		}
	}
}

// TestI3_NoKeyGoesElsewhere: an endpoint that sends on to another host gets
// neither the key nor the text there.
func TestI3_NoKeyGoesElsewhere(t *testing.T) {
	t.Parallel()
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("asked elsewhere: %v", r.Header) }))
	defer elsewhere.Close()
	s := httptest.NewServer(http.RedirectHandler(strings.Replace(elsewhere.URL, "127.0.0.1", "localhost", 1), http.StatusTemporaryRedirect))
	defer s.Close()
	options := &llm.Options{URL: s.URL, Key: "secret"}
	for _, m := range []llm.Model{openai.New("m", options), anthropic.New("m", options), ollama.New("m", options)} {
		if _, err := m.Complete(t.Context(), wish()); err == nil {
			t.Errorf("%s: a redirect is an answer", m.Name())
		}
	}
	var answer any
	if err := (llm.Endpoint{URL: s.URL, Key: "secret"}).Exchange(t.Context(), "", "/x", map[string]string{"text": "secret"}, &answer); err == nil {
		t.Error("an embedder's or a reranker's redirect is an answer")
	}
}
