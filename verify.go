package yiku

// VerifyIndexRequest compares what the index holds in memory with the store.
type VerifyIndexRequest struct {
	UserID  string `json:"user_id,omitempty" maxLength:"256" doc:"One user; absent: everybody of the tenant, and what is shared."`
	Rebuild bool   `json:"rebuild,omitempty" doc:"Where something differs, put what was built anew from the store in its place; reads go on meanwhile."`
}

// VerifyIndexResponse says how what the index holds differs from the store.
// What it does not hold cannot differ: it is read from the store when it is
// asked for next.
type VerifyIndexResponse struct {
	Clean     bool         `json:"clean" doc:"Nothing differed."`
	Users     int          `json:"users" doc:"Users who were compared; what is shared counts as one."`
	Unloaded  int          `json:"unloaded" doc:"Users whom the index does not hold now."`
	Documents int          `json:"documents" doc:"Memories and messages that the index held of them."`
	Vectors   int          `json:"vectors" doc:"Of these, with a vector."`
	Faults    IndexFaults  `json:"faults"`
	Items     []IndexFault `json:"items" doc:"What differed; at most the first 1,000."`
	Rebuilt   int          `json:"rebuilt" doc:"Users whose part of the index was replaced."`
}

// IndexFaults counts what differed, by fault.
type IndexFaults struct {
	Missing  int `json:"missing,omitempty" doc:"In the store, not in the index."`
	Extra    int `json:"extra,omitempty" doc:"In the index, not in the store."`
	Stale    int `json:"stale,omitempty" doc:"With other words, times or fields than the store has."`
	Vector   int `json:"vector,omitempty" doc:"With another vector than the store has, or only one of the two has any."`
	Position int `json:"position,omitempty" doc:"Users of whom the index has followed more changes than the store holds."`
	Sums     int `json:"sums,omitempty" doc:"Users of whom each item is right, but not what is counted over them."`
}

// IndexFault is one thing that differed.
type IndexFault struct {
	UserID    string `json:"user_id,omitempty" doc:"Absent for what is shared."`
	Fault     string `json:"fault" enum:"missing,extra,stale,vector,position,sums"`
	Kind      string `json:"kind,omitempty" enum:"memory,message"`
	ID        string `json:"id,omitempty" doc:"Absent where the store does not have it."`
	SessionID string `json:"session_id,omitempty" doc:"Of a message."`
	Row       int64  `json:"row,omitempty" doc:"Its number in the store."`
}
