package main

import (
	"strings"
	"testing"
)

func TestReport(t *testing.T) {
	t.Parallel()
	r := newReport()
	for _, stream := range []string{
		`{"Action":"start","Package":"a"}
{"Action":"output","Package":"a","Test":"TestBad","Output":"it is bad\n"}
{"Action":"pass","Package":"a","Test":"TestGood"}
{"Action":"pass","Package":"a","Test":"TestRace"}
{"Action":"fail","Package":"a","Test":"TestBad"}
{"Action":"skip","Package":"a","Test":"TestSkipped"}
{"Action":"fail","Package":"a"}
{"Action":"start","Package":"b"}
`,
		`go: downloading something
{"Action":"start","Package":"a"}
{"Action":"pass","Package":"a","Test":"TestGood"}
{"Action":"fail","Package":"a","Test":"TestRace"}
{"Action":"fail","Package":"a"}
{"ImportPath":"c","Action":"build-output","Output":"c.go:1: no\n"}
{"ImportPath":"c","Action":"build-fail"}
{"Action":"fail","Package":"c","FailedBuild":"c"}
`,
	} {
		if err := r.read(strings.NewReader(stream)); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	r.write(&out)
	want := "=== a TestBad\nit is bad\n=== a TestRace\n=== b \n=== c \nc.go:1: no\n1 passed, 4 failed\n"
	if out.String() != want {
		t.Errorf("report:\n%s\nwant:\n%s", out.String(), want)
	}
}
