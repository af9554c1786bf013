package experiment

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestG3_AssignIsSticky: a user's variant never changes, shares are those of
// the weights, and another salt parts users independently of the first.
func TestG3_AssignIsSticky(t *testing.T) {
	t.Parallel()
	const users = 20000
	weights := []int{1, 3}
	var counts [2]int
	var both [2][2]int
	for i := range users {
		user := fmt.Sprintf("用户-%d", i)
		a := Assign("salt", user, weights)
		if a != Assign("salt", user, weights) {
			t.Fatal("not sticky")
		}
		counts[a]++
		both[Assign("one", user, []int{1, 1})][Assign("two", user, []int{1, 1})]++
	}
	if share := float64(counts[1]) / users; math.Abs(share-.75) > .015 { // 5 standard deviations
		t.Errorf("share %.3f, want .75", share)
	}
	for _, row := range both {
		for _, n := range row {
			if share := float64(n) / users; math.Abs(share-.25) > .016 {
				t.Errorf("two salts are not independent: %v", both)
			}
		}
	}
	first := Assign("a", "bc", []int{1, 1 << 20})
	if again := Assign("a", "bc", []int{1, 1 << 20}); again != first || Assign("", "", []int{5}) != 0 {
		t.Error("edges")
	}
}

// users draws users with a few requests each, that resemble one another.
func users(random *rand.Rand, n int, mean float64) []Sum {
	out := make([]Sum, n)
	for i := range out {
		own := mean + random.NormFloat64()
		for range 1 + random.IntN(20) {
			out[i].Total += own + random.NormFloat64()/10
			out[i].N++
		}
	}
	return out
}

// TestG3_NoiseIsNoDifference: two groups of one kind seldom differ, two of
// different kinds do. Control: taking requests for independent, as the same
// test over one sum a request would, calls noise a difference far too often.
func TestG3_NoiseIsNoDifference(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 7))
	const rounds = 40
	wrong, naive, found := 0, 0, 0
	for range rounds {
		a, b := users(random, 40, 3), users(random, 40, 3)
		if Compare(a, b, .05, 1).Significant {
			wrong++
		}
		if Compare(requests(a), requests(b), .05, 1).Significant {
			naive++
		}
		if c := Compare(a, users(random, 40, 5), .05, 1); c.Significant && c.Difference > 0 && c.Low > 0 {
			found++
		}
	}
	if wrong > 8 { // 2 are expected of 40; over 8 has a chance below 1 in 1,000
		t.Errorf("%d of %d pairs of one kind were called different", wrong, rounds)
	}
	if found < rounds-5 {
		t.Errorf("%d of %d differences were found", found, rounds)
	}
	if naive < 2*wrong || naive < 10 {
		t.Errorf("control: taking requests for independent was wrong %d times of %d, by users %d", naive, rounds, wrong)
	}
}

// requests are the users' requests as if each were a user.
func requests(users []Sum) []Sum {
	var out []Sum
	for _, u := range users {
		for range u.N {
			out = append(out, Sum{u.Total / float64(u.N), 1})
		}
	}
	return out
}

// TestG3_FewUsersSayNothing: however large a difference is, few users do not
// make it certain; nobody at all is no difference; several comparisons widen
// the interval; the order of users does not matter.
func TestG3_FewUsersSayNothing(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(8, 8))
	a, b := users(random, 40, 3), users(random, 40, 4)
	if c := Compare(a[:5], b[:5], .05, 1); c.Significant || !c.Few {
		t.Errorf("five users: %+v", c)
	}
	if c := Compare(a, nil, .05, 1); c.Significant || c.Low != 0 || c.High != 0 {
		t.Errorf("nobody: %+v", c)
	}
	one, many := Compare(a, b, .05, 1), Compare(a, b, .05, 20)
	if many.High-many.Low <= one.High-one.Low {
		t.Errorf("20 comparisons: %+v, one: %+v", many, one)
	}
	turned := append(append([]Sum{}, a[20:]...), a[:20]...)
	if Compare(turned, b, .05, 1) != one {
		t.Error("the order of users matters")
	}
}
