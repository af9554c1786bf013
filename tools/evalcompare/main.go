// Command evalcompare compares two reports of yiku eval and fails where the
// second is worse than the first by more than a tolerance:
//
//	evalcompare [-tolerance .005] [-category .02] before.json after.json
//	evalcompare -sets before.json
//
// The second form prints the names of the sets in a report, comma-separated.
//
// Shares (recall, hit, evidence_within, recalled, abstained, foreign_silent),
// ndcg_10 and mrr must not fall, silent must not rise. The first tolerance is for the mean of
// a set, the second for a category, which has fewer questions. A set that is
// missing in the second report is a failure; a new one is not. Times and token
// counts are not compared.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
)

func main() {
	tolerance := flag.Float64("tolerance", .005, "what the mean of a set may lose")
	category := flag.Float64("category", .02, "what a category may lose")
	names := flag.Bool("sets", false, "print the names of the sets in a report")
	flag.Parse()
	if flag.NArg() != 2 && (!*names || flag.NArg() != 1) {
		flag.Usage()
		os.Exit(2)
	}
	before, err := read(flag.Arg(0))
	if err != nil {
		fmt.Fprintln(os.Stderr, "evalcompare:", err)
		os.Exit(2)
	}
	if *names {
		fmt.Println(strings.Join(setNames(before), ","))
		return
	}
	after, err := read(flag.Arg(1))
	if err != nil {
		fmt.Fprintln(os.Stderr, "evalcompare:", err)
		os.Exit(2)
	}
	if worse := compare(os.Stdout, before, after, *tolerance, *category); worse > 0 {
		fmt.Printf("%d numbers are worse\n", worse)
		os.Exit(1)
	}
}

type metrics struct {
	Recall    []float64 `json:"recall"`
	Hit       []float64 `json:"hit"`
	NDCG      float64   `json:"ndcg_10"`
	MRR       float64   `json:"mrr"`
	Within    []float64 `json:"evidence_within"`
	Recalled  float64   `json:"recalled"`
	Silent    float64   `json:"silent"`
	Abstained float64   `json:"abstained"`
}

type category struct {
	Name string `json:"name"`
	metrics
}

type set struct {
	Name          string     `json:"name"`
	All           metrics    `json:"all"`
	ForeignSilent float64    `json:"foreign_silent"` // of questions of other conversations
	Categories    []category `json:"categories"`
}

type report struct {
	Sets []set `json:"sets"`
}

func read(name string) (report, error) {
	var r report
	text, err := os.ReadFile(name)
	if err != nil {
		return r, err
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: %w", name, err)
	}
	if len(r.Sets) == 0 {
		return r, fmt.Errorf("%s: holds no sets", name)
	}
	return r, nil
}

func setNames(r report) []string {
	var names []string
	for _, s := range r.Sets {
		names = append(names, s.Name)
	}
	return names
}

// numbers lists what is compared, so that more is better.
func (m metrics) numbers() map[string]float64 {
	n := map[string]float64{
		"ndcg_10": m.NDCG, "mrr": m.MRR, "recalled": m.Recalled, "heard": 1 - m.Silent, "abstained": m.Abstained,
	}
	for name, list := range map[string][]float64{"recall": m.Recall, "hit": m.Hit, "evidence_within": m.Within} {
		for i, v := range list {
			n[fmt.Sprintf("%s[%d]", name, i)] = v
		}
	}
	return n
}

func compare(w io.Writer, before, after report, tolerance, forCategory float64) (worse int) {
	sets := map[string]set{}
	for _, s := range after.Sets {
		sets[s.Name] = s
	}
	for _, was := range before.Sets {
		is, ok := sets[was.Name]
		if !ok {
			fmt.Fprintf(w, "%s: missing\n", was.Name)
			worse++
			continue
		}
		worse += falls(w, was.Name, was.All, is.All, tolerance)
		if is.ForeignSilent < was.ForeignSilent-tolerance {
			fmt.Fprintf(w, "%s: foreign_silent fell from %.4f to %.4f\n", was.Name, was.ForeignSilent, is.ForeignSilent)
			worse++
		}
		categories := map[string]metrics{}
		for _, c := range is.Categories {
			categories[c.Name] = c.metrics
		}
		for _, c := range was.Categories {
			if now, ok := categories[c.Name]; ok {
				worse += falls(w, was.Name+" "+c.Name, c.metrics, now, forCategory)
			} else {
				fmt.Fprintf(w, "%s %s: missing\n", was.Name, c.Name)
				worse++
			}
		}
	}
	return worse
}

func falls(w io.Writer, name string, before, after metrics, tolerance float64) (worse int) {
	now := after.numbers()
	for number, was := range before.numbers() {
		if is := now[number]; is < was-tolerance {
			fmt.Fprintf(w, "%s: %s fell from %.4f to %.4f\n", name, number, was, is)
			worse++
		}
	}
	return worse
}
