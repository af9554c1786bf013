//go:build unix

package app

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/check"
)

// costlyRequests are, for each operation, the most expensive requests that it
// takes. Each is built anew for each time that it is sent.
func costlyRequests() []costly {
	return append(append(costlySessions(), costlyMemories()...), costlyRest()...)
}

// fresh gives an id that was not used before.
func (c *costRig) fresh(kind string) string {
	c.n++
	return fmt.Sprintf("%s-%d", kind, c.n)
}

// bulk is a tree of as many values and as much text as one may have.
func bulk(most int) tree {
	list := make([]any, check.MaxTreeSize/2-10)
	for i := range list {
		list[i] = tree{"": strings.Repeat("v", most/len(list))}
	}
	return tree{"list": list}
}

// spaces is text that is costly to count: white space that mixes line ends.
func spaces(n int) string { return strings.Repeat(" \n\t\r\n ", n/6+1)[:n] }

func session(id string) map[string]string { return map[string]string{"session_id": id} }

func withUser(user string) url.Values { return url.Values{"user_id": {user}} }

func costlySessions() []costly {
	return []costly{
		{op: "create_session", name: "the largest metadata", build: func(c *costRig) *http.Request {
			return c.request("create_session", nil, nil, tree{"user_id": "ann", "session_id": c.fresh("s"), "metadata": bulk(check.MaxMetadata - 100)})
		}},
		{op: "list_sessions", name: "500", build: func(c *costRig) *http.Request {
			return c.request("list_sessions", nil, url.Values{"user_id": {"ann"}, "limit": {"500"}}, nil)
		}},
		{op: "get_session", name: "long", build: func(c *costRig) *http.Request { return c.request("get_session", session("long"), ann(), nil) }},
		{op: "append_messages", name: "the largest body in 1,000 messages", most: 400 * time.Millisecond, why: "16 MB are read, checked, sealed and written", build: func(c *costRig) *http.Request {
			return c.request("append_messages", session(c.fresh("s")), nil, tree{"user_id": "bob", "messages": c.messages(*costBytes*9/10, *costBytes/1000)})
		}},
		{op: "append_messages", name: "1,000 short messages with ids and a key", build: func(c *costRig) *http.Request {
			list := c.messages(1000*300, 300)
			for i := range list {
				list[i]["id"] = fmt.Sprint("id-", i)
			}
			r := c.request("append_messages", session(c.fresh("s")), nil, tree{"user_id": "bob", "messages": list})
			r.Header.Set("Idempotency-Key", c.fresh("key"))
			return r
		}},
		{op: "append_messages", name: "the largest messages, of mixed white space", build: func(c *costRig) *http.Request {
			size := *costBytes / 15
			list := make([]tree, 12)
			for i := range list {
				list[i] = tree{"role": "user", "content": spaces(size/2) + "x"}
			}
			return c.request("append_messages", session(c.fresh("s")), nil, tree{"user_id": "bob", "messages": list})
		}},
		{op: "list_messages", name: "500 of the largest", build: func(c *costRig) *http.Request {
			return c.request("list_messages", session("fat"), url.Values{"user_id": {"talk"}, "limit": {"500"}}, nil)
		}},
		{op: "end_session", name: "long", build: func(c *costRig) *http.Request {
			return c.request("end_session", session("long"), nil, tree{"user_id": "ann", "reason": "user_left"})
		}},
		{op: "fork_session", name: "the largest", build: func(c *costRig) *http.Request {
			return c.request("fork_session", session("fat"), nil, tree{"user_id": "talk"})
		}},
		{op: "fork_session", name: "the longest", build: func(c *costRig) *http.Request {
			return c.request("fork_session", session("long"), nil, tree{"user_id": "ann"})
		}},
		{op: "export_session", name: "the largest", build: func(c *costRig) *http.Request {
			return c.request("export_session", session("fat"), withUser("talk"), nil)
		}},
		{op: "get_tools", name: "in Chinese", build: func(c *costRig) *http.Request { return c.request("get_tools", nil, url.Values{"lang": {"zh"}}, nil) }},
		{op: "run_tool", name: "conversation_search", build: func(c *costRig) *http.Request {
			return c.request("run_tool", session("long"), nil, map[string]any{"user_id": "ann", "name": "conversation_search", "arguments": map[string]any{"query": "tea 茶"}})
		}},
		{op: "list_pages", name: "the longest", build: func(c *costRig) *http.Request { return c.request("list_pages", session("long"), ann(), nil) }},
		{op: "get_summary", name: "the longest", build: func(c *costRig) *http.Request { return c.request("get_summary", session("long"), ann(), nil) }},
		{op: "export_session", name: "the longest", build: func(c *costRig) *http.Request { return c.request("export_session", session("long"), ann(), nil) }},
		{op: "import_session", name: "the largest body", most: time.Second, why: "16 MB are read, checked and written", build: func(c *costRig) *http.Request {
			return c.request("import_session", nil, nil, tree{"user_id": "imp", "document": c.messages(*costBytes*9/10, *costBytes/1000)})
		}},
		{op: "import_session", name: "the most messages", build: func(c *costRig) *http.Request {
			list := make([]tree, min(*costBytes/60, 5_000))
			for i := range list {
				list[i] = tree{"role": []string{"user", "assistant"}[i%2], "content": fmt.Sprint("hello ", i)}
			}
			return c.request("import_session", nil, nil, tree{"user_id": "imp", "document": list})
		}},
		{op: "delete_session", name: "the longest", most: 400 * time.Millisecond, why: "each message goes with its traces", build: func(c *costRig) *http.Request {
			id := c.fresh("s")
			c.fillSession("gone", id, min(*costBytes/4, 5_000*300), 300)
			return c.request("delete_session", session(id), withUser("gone"), nil)
		}},
	}
}

func costlyMemories() []costly {
	search := func(user string, body tree, cold bool) func(*costRig) *http.Request {
		return func(c *costRig) *http.Request {
			if cold {
				c.drop(user)
			}
			body["user_id"] = user
			return c.request("search_memory", nil, nil, body)
		}
	}
	ofMemory := func(op string) func(*costRig) *http.Request {
		return func(c *costRig) *http.Request { return c.request(op, map[string]string{"id": c.memory}, ann(), nil) }
	}
	change := func(op string) func(*costRig) *http.Request {
		return func(c *costRig) *http.Request {
			return c.request(op, map[string]string{"id": c.memory}, nil, tree{"user_id": "ann"})
		}
	}
	return []costly{
		{op: "save_memory", name: "the largest, derived from 256", build: func(c *costRig) *http.Request {
			from := make([]string, min(256, *costDocs-100))
			for i := range from {
				from[i] = fmt.Sprint("m", i)
			}
			return c.request("save_memory", nil, nil, tree{"user_id": "ann", "content": c.prose(20_000), "derived_from": from, "metadata": tree{"n": 1}})
		}},
		{op: "save_memory", name: "the largest metadata", build: func(c *costRig) *http.Request {
			return c.request("save_memory", nil, nil, tree{"user_id": "bob", "content": c.prose(100), "metadata": bulk(check.MaxMetadata - 100)})
		}},
		{op: "search_memory", name: "cold, all memories", most: 4 * time.Second, why: "the owner's index is read in, 2,000 documents at a time", build: search("ann", tree{"query": "w1 w2"}, true)},
		{op: "search_memory", name: "996 bytes of OR-like words", most: costLimit / 4, build: search("ann", tree{"query": manyWords()}, false)},
		{op: "search_memory", name: "the longest query", build: func(c *costRig) *http.Request {
			return c.request("search_memory", nil, nil, tree{"user_id": "ann", "query": c.prose(20_000), "limit": 200, "min_relevance": 0, "explain": true, "include_messages": true})
		}},
		{op: "search_memory", name: "the widest filter, which nothing matches", build: search("ann", tree{"query": manyWords(), "limit": 200, "min_relevance": 0, "include_messages": true, "filter": widest()}, false)},
		{op: "search_memory", name: "cold, all messages of the largest session", most: 4 * time.Second, why: "the same", build: search("talk", tree{"query": manyWords(), "include_messages": true, "limit": 200, "min_relevance": 0}, true)},
		{op: "search_memory", name: "all messages of the largest session", build: search("talk", tree{"query": manyWords(), "include_messages": true, "limit": 200, "min_relevance": 0, "explain": true}, false)},
		{op: "list_memories", name: "500 of a topic", most: 500 * time.Millisecond, why: "topics are sealed: every row is opened", build: func(c *costRig) *http.Request {
			return c.request("list_memories", nil, url.Values{"user_id": {"ann"}, "limit": {"500"}, "topic": {"t"}}, nil)
		}},
		{op: "list_memories", name: "a topic that nothing has", most: 500 * time.Millisecond, why: "the same", build: func(c *costRig) *http.Request {
			return c.request("list_memories", nil, url.Values{"user_id": {"ann"}, "topic": {"nothing"}}, nil)
		}},
		{op: "list_memories", name: "a status, type and level that nothing has", build: func(c *costRig) *http.Request {
			return c.request("list_memories", nil, url.Values{"user_id": {"ann"}, "status": {"active"}, "type": {"fact"}, "level": {"project"}, "subject": {"user"}}, nil)
		}},
		{op: "get_memory", name: "one", build: ofMemory("get_memory")},
		{op: "patch_memory", name: "the longest content", build: func(c *costRig) *http.Request {
			return c.request("patch_memory", map[string]string{"id": c.memory}, ann(), tree{"content": c.prose(20_000)})
		}},
		{op: "memory_history", name: "one", build: ofMemory("memory_history")},
		{op: "memory_sources", name: "one", build: ofMemory("memory_sources")},
		{op: "confirm_memory", name: "one", build: change("confirm_memory")},
		{op: "restore_memory", name: "one", build: change("restore_memory")},
		{op: "delete_memory", name: "one", build: func(c *costRig) *http.Request {
			res := must[yiku.SaveMemoryResponse](c.world)(c.as("acme").SaveMemory(c.t.Context(), yiku.SaveMemoryRequest{UserID: "ann", Content: c.prose(300)}))
			return c.request("delete_memory", map[string]string{"id": res.ID}, ann(), nil)
		}},
	}
}

func costlyRest() []costly {
	context := func(body tree) func(*costRig) *http.Request {
		return func(c *costRig) *http.Request { return c.request("get_context", nil, nil, body) }
	}
	forget := func(selector tree, more ...any) func(*costRig) *http.Request {
		return func(c *costRig) *http.Request {
			body := tree{"user_id": "ann", "reason": "cost", "selector": selector}
			for i := 0; i < len(more); i += 2 {
				body[more[i].(string)] = more[i+1]
			}
			return c.request("forget", nil, nil, body)
		}
	}
	working := func(op string, n int) func(*costRig) *http.Request {
		return func(c *costRig) *http.Request {
			return c.request(op, session("long"), ann(), tree{"data_slots": tree{"a": c.prose(n)}, "task_state": bulk(n)})
		}
	}
	receipt := ""
	return []costly{
		{op: "put_working", name: "as large as it may be", build: working("put_working", yiku.MaxWorkingBytes/3)},
		{op: "patch_working", name: "as large as it may be", build: working("patch_working", yiku.MaxWorkingBytes/3)},
		{op: "get_working", name: "as large as it may be", build: func(c *costRig) *http.Request { return c.request("get_working", session("long"), ann(), nil) }},
		{op: "get_context", name: "a long session, all memories and a long query", build: context(tree{"user_id": "ann", "session_id": "long", "query": manyWords(), "window_tokens": 1_000_000, "turns": 1000})},
		{op: "get_context", name: "the largest session, in a large window", build: context(tree{"user_id": "talk", "session_id": "fat", "query": manyWords(), "window_tokens": 100_000_000, "turns": 1000})},
		{op: "get_context", name: "the largest session, in a small window", build: context(tree{"user_id": "talk", "session_id": "fat", "window_tokens": 8000})},
		{op: "get_context", name: "the largest session for the first time, in a window that takes it all", most: 6 * time.Second,
			why: "every message is counted exactly, once", build: func(c *costRig) *http.Request {
				user := c.fresh("talk")
				c.fillSession(user, "fat", *costBytes, min(*costBytes/15, 1_000_000))
				return c.request("get_context", nil, nil, tree{"user_id": user, "session_id": "fat", "query": "nothing", "window_tokens": 100_000_000, "options": tree{"layers": tree{"longterm": false}}})
			}},
		{op: "get_context", name: "the largest session for the first time, in a small window", build: func(c *costRig) *http.Request {
			user := c.fresh("talk")
			c.fillSession(user, "fat", *costBytes, min(*costBytes/15, 1_000_000))
			return c.request("get_context", nil, nil, tree{"user_id": user, "session_id": "fat", "query": "nothing", "window_tokens": 8000, "options": tree{"layers": tree{"longterm": false}}})
		}},
		{op: "get_context", name: "the longest system text", build: func(c *costRig) *http.Request {
			return c.request("get_context", nil, nil, tree{"user_id": "ann", "query": "w1", "system": c.prose(180_000), "window_tokens": 1_000_000})
		}},
		{op: "get_context", name: "the longest system text, of ideographs, and a model whose count is a bound", build: func(c *costRig) *http.Request {
			return c.request("get_context", nil, nil, tree{"user_id": "ann", "query": "w1", "system": strings.Repeat("忆库记住重要的事。", 22_000), "model": "claude-4", "window_tokens": 2_000_000})
		}},
		{op: "get_context", name: "the longest system text, of mixed white space", build: func(c *costRig) *http.Request {
			return c.request("get_context", nil, nil, tree{"user_id": "ann", "query": "w1", "system": spaces(180_000), "window_tokens": 1_000_000})
		}},
		{op: "get_context", name: "the widest filter", build: context(tree{"user_id": "ann", "query": manyWords(), "filter": widest()})},
		{op: "get_snapshot", name: "of the largest session", build: func(c *costRig) *http.Request {
			res := must[yiku.GetContextResponse](c.world)(c.as("acme").GetContext(c.t.Context(), yiku.GetContextRequest{UserID: "talk", SessionID: "fat", WindowTokens: 100_000_000}))
			return c.request("get_snapshot", map[string]string{"id": res.SnapshotID}, withUser("talk"), nil)
		}},
		{op: "replay_snapshot", name: "of the largest session", build: func(c *costRig) *http.Request {
			res := must[yiku.GetContextResponse](c.world)(c.as("acme").GetContext(c.t.Context(), yiku.GetContextRequest{UserID: "talk", SessionID: "fat", WindowTokens: 100_000_000}))
			return c.request("replay_snapshot", map[string]string{"id": res.SnapshotID}, nil, tree{"user_id": "talk"})
		}},
		{op: "complete_task", name: "the longest result", build: func(c *costRig) *http.Request {
			return c.request("complete_task", map[string]string{"task_id": c.seed("task")}, nil, tree{"user_id": "ann", "outcome": "success", "result": c.prose(20_000)})
		}},
		{op: "forget", name: "preview by a keyword that nothing says", most: 3 * time.Second, why: "every row of the owner is looked at, 1,000 at a time", build: forget(tree{"keyword": "nothing says this"}, "dry_run", true)},
		{op: "forget", name: "preview by a keyword that much says", most: 3 * time.Second, why: "every row of the owner is looked at, 1,000 at a time", build: forget(tree{"keyword": "w1"}, "dry_run", true)},
		{op: "forget", name: "preview by the widest filter", most: 3 * time.Second, why: "every row of the owner is looked at, 1,000 at a time", build: forget(tree{"filter": widest()}, "dry_run", true)},
		{op: "forget", name: "preview of everything", most: 3 * time.Second, why: "every row of the owner is looked at, 1,000 at a time", build: forget(tree{"all": true}, "dry_run", true)},
		{op: "forget", name: "by a keyword that nothing says", most: 3 * time.Second, why: "every row of the owner is looked at, 64 at a time, with a rest after each", build: forget(tree{"keyword": "nothing says this"})},
		{op: "forget", name: "archive everything, by filter", most: 3 * time.Second, why: "every row of the owner is looked at, 1,000 at a time", build: forget(tree{"filter": tree{"field": "id", "op": "ne", "value": "x"}}, "mode", "archive", "dry_run", true)},
		{op: "forget", name: "everything", most: 8 * time.Second, why: "50,000 memories are deleted, 64 at a time, with a rest after each", build: func(c *costRig) *http.Request {
			c.fillMemories(c.fresh("m"), *costDocs) // what the last forget took
			return forget(tree{"all": true})(c)
		}},
		{op: "get_receipt", name: "of everything", build: func(c *costRig) *http.Request {
			page := must[yiku.Page[yiku.Receipt]](c.world)(c.as("acme").ForgetLog(c.t.Context(), yiku.ForgetLogRequest{UserID: "ann"}))
			receipt = page.Items[0].ID
			return c.request("get_receipt", map[string]string{"id": receipt}, ann(), nil)
		}},
		{op: "verify_receipt", name: "of everything", most: 2 * time.Second, why: "21 places are searched for 50,000 keys", build: func(c *costRig) *http.Request {
			return c.request("verify_receipt", map[string]string{"id": receipt}, nil, tree{"user_id": "ann"})
		}},
		{op: "save_skill", name: "64 of the longest steps", build: func(c *costRig) *http.Request {
			steps := make([]string, 64)
			for i := range steps {
				steps[i] = strings.Repeat("步", 250) + fmt.Sprint(i)
			}
			return c.request("save_skill", nil, nil, tree{"user_id": "ann", "name": c.fresh("skill"), "situation": strings.Repeat("时", 1000), "steps": steps})
		}},
		{op: "list_skills", name: "500", build: func(c *costRig) *http.Request {
			return c.request("list_skills", nil, url.Values{"user_id": {"ann"}, "limit": {"500"}}, nil)
		}},
		{op: "skill_outcome", name: "one", build: func(c *costRig) *http.Request {
			return c.request("skill_outcome", map[string]string{"id": c.seed("skill")}, nil, tree{"user_id": "ann", "success": true})
		}},
		{op: "demote_memory", name: "one", build: func(c *costRig) *http.Request {
			return c.request("demote_memory", map[string]string{"id": c.seed("promoted")}, nil, tree{"user_id": "ann"})
		}},
		{op: "extract", name: "1,000 messages", most: 2 * time.Second, why: "all are sealed and written before they are read", build: func(c *costRig) *http.Request {
			return c.request("extract", nil, nil, tree{"user_id": c.fresh("given"), "messages": c.messages(1000*300, 300)})
		}},
		{op: "extract_session", name: "a session of 500 messages", most: 10 * time.Second, why: "all that is unread is read, a window at a time", build: func(c *costRig) *http.Request {
			user := c.fresh("talk")
			c.fillSession(user, "unread", min(*costBytes, 1_000_000), 2000)
			return c.request("extract_session", session("unread"), nil, tree{"user_id": user, "dry_run": true})
		}},
		{op: "list_entities", name: "500", build: func(c *costRig) *http.Request {
			return c.request("list_entities", nil, url.Values{"user_id": {"ann"}, "limit": {"500"}}, nil)
		}},
		{op: "list_relations", name: "500", build: func(c *costRig) *http.Request {
			return c.request("list_relations", nil, url.Values{"user_id": {"ann"}, "limit": {"500"}}, nil)
		}},
		{op: "query_graph", name: "all that lies four hops around", build: func(c *costRig) *http.Request {
			return c.request("query_graph", nil, nil, tree{"user_id": "ann", "hops": 4, "limit": 100})
		}},
		{op: "list_extractions", name: "500", build: func(c *costRig) *http.Request {
			return c.request("list_extractions", nil, url.Values{"user_id": {"ann"}, "limit": {"500"}}, nil)
		}},
		{op: "list_review", name: "500", build: func(c *costRig) *http.Request {
			return c.request("list_review", nil, url.Values{"user_id": {"ann"}, "limit": {"500"}}, nil)
		}},
		{op: "review", name: "the longest content", build: func(c *costRig) *http.Request {
			return c.request("review", map[string]string{"id": c.seed("waiting")}, nil, tree{"user_id": "ann", "decision": "approve", "content": c.prose(20_000)})
		}},
		{op: "instructions", name: "in Chinese", build: func(c *costRig) *http.Request {
			return c.request("instructions", nil, url.Values{"lang": {"zh"}}, nil)
		}},
		{op: "list_jobs", name: "500", build: func(c *costRig) *http.Request {
			return c.request("list_jobs", nil, url.Values{"limit": {"500"}}, nil)
		}},
		{op: "replay_job", name: "one", build: func(c *costRig) *http.Request {
			return c.request("replay_job", map[string]string{"id": c.seed("job")}, nil, tree{})
		}},
		{op: "forget_log", name: "500", build: func(c *costRig) *http.Request {
			return c.request("forget_log", nil, url.Values{"user_id": {"ann"}, "limit": {"500"}}, nil)
		}},
		{op: "delete_working", name: "as large as it may be", build: func(c *costRig) *http.Request { return c.request("delete_working", session("long"), ann(), nil) }},
		{op: "verify_audit", name: "all of it", build: func(c *costRig) *http.Request { return c.request("verify_audit", nil, nil, nil) }},
		{op: "verify_index", name: "all of it", most: 8 * time.Second, why: "each owner's index is read in again and compared", build: func(c *costRig) *http.Request { return c.request("verify_index", nil, nil, tree{"rebuild": true}) }},
		{op: "get_settings", name: "all", build: func(c *costRig) *http.Request { return c.request("get_settings", nil, nil, nil) }},
		{op: "patch_settings", name: "one", build: func(c *costRig) *http.Request {
			return c.request("patch_settings", nil, nil, tree{"budgets": tree{"day_calls": 5}})
		}},
		{op: "get_stats", name: "a hundred years", build: func(c *costRig) *http.Request {
			return c.request("get_stats", nil, url.Values{"user_id": {"ann"}, "from": {"1990-01-01T00:00:00Z"}, "to": {"2090-01-01T00:00:00Z"}}, nil)
		}},
		{op: "create_key", name: "one", build: func(c *costRig) *http.Request { return c.request("create_key", nil, nil, tree{"access": "read"}) }},
		{op: "list_keys", name: "500", build: func(c *costRig) *http.Request { return c.request("list_keys", nil, url.Values{"limit": {"500"}}, nil) }},
		{op: "revoke_key", name: "one", build: func(c *costRig) *http.Request {
			return c.request("revoke_key", map[string]string{"id": c.seed("key")}, nil, nil)
		}},
		{op: "create_token", name: "one", build: func(c *costRig) *http.Request { return c.request("create_token", nil, nil, tree{"user_id": "ann"}) }},
	}
}
