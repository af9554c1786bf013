package yiku

import "time"

// Key is an API key as it can be shown: its secret is given once, when it is
// made, and is nowhere afterwards.
type Key struct {
	ID        string    `json:"id"`
	Name      string    `json:"name,omitempty"`
	Access    Access    `json:"access"`
	UserID    string    `json:"user_id,omitempty" doc:"The only user that it may speak for."`
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	RevokedAt time.Time `json:"revoked_at,omitzero"`
}

// MaxLiveKeys is how many keys that are not revoked a tenant may have. End
// users get tokens, which are not counted.
const MaxLiveKeys = 1000

// CreateKeyRequest makes a key of the caller's tenant. It is not idempotent:
// the secret cannot be given twice. Revoke a key whose answer was lost.
type CreateKeyRequest struct {
	Name      string    `json:"name,omitempty" maxLength:"200" doc:"For people: what uses it."`
	Access    Access    `json:"access" enum:"read,write,admin"`
	UserID    string    `json:"user_id,omitempty" maxLength:"256" doc:"The only user that it may speak for; not with admin."`
	ExpiresAt time.Time `json:"expires_at,omitzero" doc:"From then on it is refused; never where absent."`
}

// Check refuses an admin key that is bound to a user: managing keys is not
// for users.
func (r CreateKeyRequest) Check(string) []FieldError {
	if r.UserID != "" && r.Access == AccessAdmin {
		return []FieldError{{Field: "user_id", Message: "must be absent with access admin"}}
	}
	return nil
}

// CreateKeyResponse is the new key with its secret.
type CreateKeyResponse struct {
	Key    Key    `json:"key"`
	Secret string `json:"secret" doc:"The bearer token to send. It is shown this once and cannot be read again."`
}

// ListKeysRequest lists the keys of the caller's tenant in the order in which
// they were made, those that are expired or revoked among them.
type ListKeysRequest struct {
	Paging
}

// RevokeKeyRequest revokes a key, with every token that was made with it. A
// key that is revoked already stays as it is.
type RevokeKeyRequest struct {
	ID string `json:"id" in:"path" maxLength:"256"`
}

// The lifetime of tokens, in seconds.
const (
	DefaultTokenSeconds = 15 * 60
	MaxTokenSeconds     = 24 * 60 * 60
)

// CreateTokenRequest makes a token for one end user's device: it speaks for
// that user only, and is over soon. It is kept nowhere.
type CreateTokenRequest struct {
	UserID     string `json:"user_id" maxLength:"256"`
	Access     Access `json:"access,omitempty" enum:"read,write" doc:"read where absent."`
	TTLSeconds int    `json:"ttl_seconds,omitempty" minimum:"1" maximum:"86400" doc:"How long it lives; 900 where absent."`
}

// CreateTokenResponse is the new token.
type CreateTokenResponse struct {
	Token     string    `json:"token" doc:"The bearer token to send."`
	ExpiresAt time.Time `json:"expires_at"`
}
