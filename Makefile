# What each target does: make help.

SHELL       := bash
.SHELLFLAGS := -eu -o pipefail -c

GO      ?= go
BIN     := bin/yiku
VCS     := $(shell git status >/dev/null 2>&1 && echo auto || echo false)
TOOL    := $(GO) tool -modfile=tools/go.mod

# No cgo anywhere but under the race detector, which needs it.
export CGO_ENABLED := 0

# One set of flags for building and testing, so that they share what is compiled.
export GOFLAGS := $(filter-out -trimpath,$(GOFLAGS)) -trimpath

# The evaluation sets, where they are; they are not part of this repository.
YIKU_EVAL_DATA ?= $(abspath ../shared/data)

# The binary is stripped; more than this many bytes needs a reason.
MAX_BINARY := 45000000

# How long each fuzz target runs.
FUZZTIME ?= 10s

# Runs a command on the last core, where there is taskset: timings are quieter there.
ONE_CORE := $(if $(shell command -v taskset),taskset -c $(shell echo $$(($$(nproc) - 1))))

.PHONY: help
help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | awk -F'\t' '{printf "  %-10s %s\n", $$1, $$2}'

.PHONY: build
build: ## build the static, stripped binary at bin/yiku; its version is the commit
	$(GO) build -buildvcs=$(VCS) -ldflags '-s -w' -o $(BIN) ./cmd/yiku

.PHONY: model
model: build ## fetch the model that embeds texts, where that can be done; words alone find without it
	@$(BIN) model pull || echo "no model: the vectors' part of the tests is skipped, and words alone find"

.PHONY: run
run: model ## build, then start a demonstration with sample memories
	$(BIN) demo

.PHONY: test
test: model ## run every test, as the README says (TESTFLAGS adds flags)
	$(GO) test $(TESTFLAGS) ./...

.PHONY: race
race: ## run every test under the race detector (needs gcc)
	CGO_ENABLED=1 $(GO) test -race $(TESTFLAGS) ./...

.PHONY: check
check: format vet lint house tidy drift size eval-check ## what CI checks beyond tests, and retrieval quality against the parent commit

.PHONY: format
format: ## fail where gofmt would change a file
	@out=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$out" ] || { echo "not formatted:"; echo "$$out"; exit 1; }

.PHONY: vet
vet: ## go vet, on the project and its tools
	$(GO) vet ./...
	cd tools && $(GO) vet ./...

.PHONY: lint
lint: ## staticcheck and nilness
	$(TOOL) staticcheck ./...
	$(TOOL) nilness ./...

.PHONY: house
house: ## the house rules (internal/archtest), the guards of internal/mutant in their places, and the tools' own tests
	$(GO) test ./internal/archtest
	$(GO) test ./internal/mutant -mutants no-such-guard
	cd tools && $(GO) test ./...

.PHONY: tidy
tidy: ## fail where go.mod is not what the imports say, or a module is not what go.sum says
	$(GO) mod tidy -diff
	$(GO) mod verify

.PHONY: generate
generate: ## write the generated files anew: the requirements, the table of configuration keys, the reliability board, openapi.json, the table of commands
	$(GO) test ./internal/archtest -run 'TestRequirements|TestOperationsPage|TestReliabilityPage' -update
	$(GO) test ./internal/httpapi -run OpenAPI -update
	$(GO) test ./internal/cli -run TestF6_CommandLinePage -update

GENERATED := docs/requirements.md docs/lessons.md docs/operations.md docs/openapi.json docs/reliability.md docs/cli.md

.PHONY: drift
drift: ## fail where a generated file is not what generate would write
	@before=$$(cat $(GENERATED) | sha256sum); \
	$(MAKE) --no-print-directory generate; \
	[ "$$before" = "$$(cat $(GENERATED) | sha256sum)" ] || { echo "generated files were stale; see git diff docs"; exit 1; }

# Where a test of the reliability board leaves its figures: internal/boardtest.
BOARD := $(abspath docs/reliability)

# The rows that make reliability runs: those of the board, and a requirement of another section.
ROW   := R[0-9]+|C6|C7|C8|I4

.PHONY: reliability
reliability: ## run the tests of the reliability board, or of one ROW, and write docs/reliability.md from what they report
	RELIABILITY_DIR=$(BOARD) $(GO) test -count=1 -timeout=30m -run '($(ROW))_|Service/($(ROW))_' ./...
	RELIABILITY_DIR=$(BOARD) $(ONE_CORE) $(GO) test -count=1 -timeout=30m -run '($(ROW))_Timing' ./internal/app -timings 20000
	$(MAKE) --no-print-directory generate

.PHONY: size
size: build ## fail where the binary is larger than its limit or not static
	@bytes=$$(stat -c %s $(BIN)); echo "$(BIN): $$bytes bytes, at most $(MAX_BINARY)"; [ $$bytes -le $(MAX_BINARY) ]
	@$(GO) version -m $(BIN) | grep -q 'CGO_ENABLED=0' || { echo "$(BIN) was built with cgo"; exit 1; }

.PHONY: fuzz
fuzz: ## run every fuzz target for FUZZTIME
	@# The go command may report its own deadline as a failure: without a failing input it is none.
	@failed=; out=$$(mktemp); \
	while read -r pkg target; do \
	  echo "fuzz $$pkg $$target"; \
	  $(GO) test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$pkg </dev/null >$$out 2>&1 || \
	    { grep -q 'context deadline exceeded' $$out && ! grep -q 'panic\|Failing input' $$out; } || failed="$$failed $$target"; \
	  cat $$out; \
	done < <($(GO) test -list '^Fuzz' ./... | awk '/^Fuzz/ {t[n++]=$$1} /^ok/ {for (i=0;i<n;i++) print $$2, t[i]; n=0}'); \
	rm -f $$out; \
	[ -z "$$failed" ] || { echo "fuzz targets that failed:$$failed"; exit 1; }

.PHONY: bench
bench: ## run every benchmark (BENCHTIME says for how long)
	$(GO) test -run '^$$' -bench . -benchmem -benchtime $(or $(BENCHTIME),1s) ./...

.PHONY: eval
eval: build ## measure retrieval on the sets in YIKU_EVAL_DATA and write eval/results
	@[ -d "$(YIKU_EVAL_DATA)" ] || { echo "no evaluation sets at $(YIKU_EVAL_DATA): set YIKU_EVAL_DATA"; exit 1; }
	mkdir -p eval/results
	YIKU_EMBED_DRIVER=none $(BIN) eval --from $(YIKU_EVAL_DATA) --report eval/results/retrieval.json

.PHONY: eval-dense
eval-dense: build ## the same with vectors: fetches the model, embeds some 30,000 texts, and takes a quarter of an hour
	@[ -d "$(YIKU_EVAL_DATA)" ] || { echo "no evaluation sets at $(YIKU_EVAL_DATA): set YIKU_EVAL_DATA"; exit 1; }
	$(BIN) model pull
	YIKU_EMBED_DRIVER=local YIKU_EMBED_WORKERS=2 $(BIN) eval --from $(YIKU_EVAL_DATA) --report eval/results/retrieval-dense.json

.PHONY: peers
peers: ## run other systems on the same data beside Yiku and write eval/results/peers.json (PEERFLAGS: see eval/peers/README.md)
	GO="$(GO)" eval/peers/install.sh
	cd eval/peers && $(GO) build -o .cache/peers . && \
	  .cache/peers -data "$(YIKU_EVAL_DATA)" -commit "$$(git rev-parse --short HEAD)" -report ../results/peers.json $(PEERFLAGS)

.PHONY: eval-check
eval-check: build ## measure again and fail where a number is worse than in the parent commit
	@YIKU_EVAL_DATA="$(YIKU_EVAL_DATA)" BIN=$(BIN) bash tools/eval-check

# What the long versions measure is what docs/reliability.md shows afterwards.
nightly: export RELIABILITY_DIR := $(BOARD)

.PHONY: nightly
nightly: ## the long versions: race detector three times, what every request costs, more random cases, 1,000 kills, 10,000 power cuts and races of forgetting, 20,000 flipped bits, guards removed, three minutes a fuzz target
	@mkdir -p bin
	$(MAKE) --no-print-directory race TESTFLAGS='-json -count=3 -timeout=60m' >bin/race.json || { (cd tools && $(GO) run ./testreport ../bin/race.json); exit 1; }
	$(GO) test ./internal/app -run R25_ -cost.docs 50000 -cost.bytes 15000000 -cost.assert -timeout=60m
	$(GO) test ./internal/app -run R6_Drill -drill 1024 -timeout=60m -v
	$(GO) test -timeout=60m -rapid.checks=2000 $$($(GO) list -f '{{range .TestImports}}{{if eq . "pgregory.net/rapid"}}{{$$.ImportPath}} {{end}}{{end}}{{range .XTestImports}}{{if eq . "pgregory.net/rapid"}}{{$$.ImportPath}} {{end}}{{end}}' ./...)
	$(GO) test ./cmd/yiku -run 'R2_|R19_' -kills 1000 -stops 100 -timeout=60m
	$(GO) test ./cmd/yiku -run R3_ -faults 400 -timeout=60m
	$(GO) test ./store/sqlite -run R1_ -powercuts 10000 -timeout=60m
	$(GO) test ./store/sqlite -run R7_ -bitflips 20000 -timeout=60m
	$(GO) test ./engine -run R13_ -interleavings 10000 -timeout=60m
	$(GO) test ./engine -run R12_EffectsExactlyOnce -deliveries 3000 -timeout=60m
	$(GO) test ./engine -run 'C7_DistinctFacts|L124_' -distinct 10000 -turns 5000 -timeout=60m
	$(GO) test ./engine -run C6_NoTurnIsLost -answers 10000 -timeout=60m
	$(GO) test ./internal/app -run R24_ -injections 1 -timeout=60m
	$(GO) test ./internal/mutant -run R32_ -mutants . -timeout=180m
	$(GO) test ./engine -run R10_ -histories 200 -operations 5000 -timeout=60m
	$(GO) test ./internal/app -run R23_CanarySoak -soak 1000000 -timeout=120m
	$(GO) test ./internal/bench -run '^$$' -bench 'Overload|Refusal|Neighbour' -benchtime 1x -overload.time 60s -timeout=60m
	$(ONE_CORE) $(GO) test ./internal/app -run R30_ -timings 100000 -timeout=60m -v
	$(MAKE) --no-print-directory fuzz FUZZTIME=3m | tee bin/fuzz.txt
	$(GO) test ./internal/boardtest -count=1 -run 'R14_Race|R15_Fuzz' -race.stream $(abspath bin/race.json) -fuzz.output $(abspath bin/fuzz.txt)
	$(MAKE) generate
