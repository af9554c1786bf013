package servicetest

import (
	"context"

	"github.com/yiku-ai/yiku"
)

// ListEntities calls Handle.
func (s Stub) ListEntities(ctx context.Context, req yiku.ListEntitiesRequest) (yiku.Page[yiku.Entity], error) {
	return answer[yiku.Page[yiku.Entity]](s.Handle(ctx, "list_entities", req))
}

// ListRelations calls Handle.
func (s Stub) ListRelations(ctx context.Context, req yiku.ListRelationsRequest) (yiku.Page[yiku.Relation], error) {
	return answer[yiku.Page[yiku.Relation]](s.Handle(ctx, "list_relations", req))
}

// QueryGraph calls Handle.
func (s Stub) QueryGraph(ctx context.Context, req yiku.QueryGraphRequest) (yiku.QueryGraphResponse, error) {
	return answer[yiku.QueryGraphResponse](s.Handle(ctx, "query_graph", req))
}
