package engine

import (
	"context"
	"errors"
	"time"

	"github.com/yiku-ai/yiku"
	"github.com/yiku-ai/yiku/internal/credential"
	"github.com/yiku-ai/yiku/store"
)

// createKey makes an API key of the caller's tenant (F3). Its secret is in the
// answer and nowhere else.
func (c *call) createKey(ctx context.Context, req yiku.CreateKeyRequest) (yiku.CreateKeyResponse, error) {
	if !req.ExpiresAt.IsZero() && !req.ExpiresAt.After(c.now) {
		return yiku.CreateKeyResponse{}, yiku.Invalid("expires_at", "must lie in the future")
	}
	shared, err := yiku.SharedOwner(c.principal.Tenant)
	if err != nil {
		return yiku.CreateKeyResponse{}, err
	}
	id, secret, hash := c.mint.NewKey()
	key := store.Key{Hash: hash, Key: yiku.Key{
		ID: id, Name: req.Name, Access: req.Access, UserID: req.UserID, CreatedAt: c.now, ExpiresAt: req.ExpiresAt.UTC(),
	}}
	err = c.store.Update(ctx, shared, store.Request, func(tx store.Tx) error {
		if err := tx.PutKey(&key); err != nil {
			return err
		}
		return c.auditKey(tx, shared, "create_key", id)
	})
	if err != nil {
		return yiku.CreateKeyResponse{}, err
	}
	return yiku.CreateKeyResponse{Key: key.Key, Secret: secret}, nil
}

// listKeys lists the tenant's keys, oldest first, without their secrets.
func (c *call) listKeys(ctx context.Context, req yiku.ListKeysRequest) (yiku.Page[yiku.Key], error) {
	var after string
	if req.Cursor != "" {
		if err := c.openCursor(req.Cursor, &after, nil); err != nil {
			return yiku.Page[yiku.Key]{}, err
		}
	}
	limit := limitOf(req.Paging)
	var keys []store.Key
	var page yiku.Page[yiku.Key]
	err := c.store.View(ctx, func(r store.Reader) (err error) {
		if keys, err = r.Keys(c.principal.Tenant, after, limit+1); err != nil || req.Cursor != "" {
			return err
		}
		total, err := r.CountKeys(c.principal.Tenant)
		page.Total = &total
		return err
	})
	if err != nil {
		return yiku.Page[yiku.Key]{}, err
	}
	for _, k := range keys[:min(limit, len(keys))] {
		page.Items = append(page.Items, k.Key)
	}
	if len(keys) > limit {
		page.NextCursor, err = c.cursorOf(keys[limit-1].ID, nil)
	}
	return page, err
}

// revokeKey revokes a key of the caller's tenant; no request after it is
// answered with it or with a token made with it.
func (c *call) revokeKey(ctx context.Context, req yiku.RevokeKeyRequest) (yiku.Empty, error) {
	shared, err := yiku.SharedOwner(c.principal.Tenant)
	if err != nil {
		return yiku.Empty{}, err
	}
	err = c.store.Update(ctx, shared, store.Request, func(tx store.Tx) error {
		if err := tx.RevokeKey(req.ID, c.now); err != nil {
			return err
		}
		return c.auditKey(tx, shared, "revoke_key", req.ID)
	})
	if errors.Is(err, yiku.ErrNotFound) {
		err = yiku.ErrNotFound
	}
	return yiku.Empty{}, err
}

// createToken makes a token that speaks for one user. It dies with the key
// that it was made with, at the latest when its time is over. The audit log
// says who made one, and with which key, not for whom.
func (c *call) createToken(ctx context.Context, req yiku.CreateTokenRequest) (yiku.CreateTokenResponse, error) {
	owner, err := c.owner(req.UserID)
	if err != nil {
		return yiku.CreateTokenResponse{}, err
	}
	access, seconds := req.Access, req.TTLSeconds
	if access == "" {
		access = yiku.AccessRead
	}
	if seconds == 0 {
		seconds = yiku.DefaultTokenSeconds
	}
	expires := c.now.Truncate(time.Second).Add(time.Duration(seconds) * time.Second)
	token, err := c.mint.Sign(credential.Token{
		Tenant: owner.Tenant(), User: owner.User(), Access: access, Key: c.principal.Key, Expires: expires.Unix(),
	})
	if err != nil {
		return yiku.CreateTokenResponse{}, err
	}
	shared, err := yiku.SharedOwner(c.principal.Tenant)
	if err == nil {
		err = c.store.Update(ctx, shared, store.Request, func(tx store.Tx) error {
			return c.auditKey(tx, shared, "create_token", c.principal.Key)
		})
	}
	if err != nil {
		return yiku.CreateTokenResponse{}, err
	}
	return yiku.CreateTokenResponse{Token: token, ExpiresAt: expires}, nil
}

// forgetAs is forget for whoever asks: a receipt proves who wanted it, so a
// credential that speaks for one user says that this user did.
func (c *call) forgetAs(ctx context.Context, req yiku.ForgetRequest) (yiku.ForgetResponse, error) {
	if c.principal.User != "" && req.Trigger != "" && req.Trigger != yiku.TriggerUser {
		return yiku.ForgetResponse{}, &yiku.Error{Sentinel: yiku.ErrForbidden, Detail: "this credential speaks for one user",
			Fields: []yiku.FieldError{{Field: "trigger", Message: "must be user"}}}
	}
	return c.forget(ctx, req)
}

// auditKey writes into the audit log that a key or a token was made, or a key revoked (E8).
func (c *call) auditKey(tx store.Tx, shared yiku.Owner, action, id string) error {
	entry := store.AuditEntry{At: c.now, Subject: c.chain.Subject(shared), Actor: c.actor(), Action: action, Ref: id}
	return tx.Audit(&entry, c.chain.Seal)
}

// actor is who asks, as the audit log has it: the role, and the key's id where
// there is one.
func (c *call) actor() string {
	if c.principal.Key == "" {
		return string(c.principal.Access)
	}
	return string(c.principal.Access) + " " + c.principal.Key
}
