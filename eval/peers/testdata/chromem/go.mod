module github.com/yiku-ai/yiku/eval/peers/testdata/chromem

go 1.26.0

require (
	github.com/philippgille/chromem-go v0.7.0
	github.com/yiku-ai/yiku v0.0.0
)

replace github.com/yiku-ai/yiku => ../../../..
