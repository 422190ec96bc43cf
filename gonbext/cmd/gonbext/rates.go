package main

import (
	"bufio"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gonbext/gonbext/oocore/host"
	"github.com/gonbext/gonbext/oocore/record"
)

// rateCard is what a store charges.
type rateCard struct {
	currency string
	prices   map[string]float64 // of one request of a kind, or of one byte in or out; of a second of a worker
}

// cost is what a plan comes to.
type cost struct {
	Currency string  `json:"currency"`
	Amount   float64 `json:"amount"`
}

func (c cost) String() string {
	return "cost: " + strconv.FormatFloat(c.Amount, 'g', 4, 64) + " " + c.Currency
}

// ratesHelp is the part of a command's help about --rates.
const ratesHelp = `

--plan counts what object stores and web servers are asked for, from a cold start: requests by kind, bytes by place. With --rates FILE
it says what that costs. FILE has a price a line:

    GET 0.0004 per 1000
    PUT 0.005 per 1000
    read 0.09 per GB

Kinds are GET, ranged GET, PUT, part, POST, LIST, HEAD and DELETE, read and written bytes (per GB or GiB), and worker (per hour),
for a cluster. Without a price of their own ranged GET and HEAD cost as GET does, part, POST and LIST as PUT, and all
else nothing. "currency EUR" names another currency than USD. OPERATING.md has the prices of three clouds.`

// pricedAs is by which other price a request goes that has none.
var pricedAs = map[string]string{"ranged GET": "GET", "HEAD": "GET", "part": "PUT", "POST": "PUT", "LIST": "PUT"}

// units of prices, by the word behind "per"; a plain number is of requests.
var pricedUnits = map[string]float64{"GB": 1e9, "GiB": 1 << 30, "hour": 3600}

// readRates reads a rate card.
func readRates(path string) (*rateCard, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usagef("--rates: %w", err)
	}
	defer f.Close()
	card := &rateCard{currency: "USD", prices: map[string]float64{}}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if err := card.add(strings.Fields(text)); err != nil {
			return nil, usagef("--rates %s, line %d: %w", path, n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, usagef("--rates %s: %w", path, err)
	}
	if len(card.prices) == 0 {
		return nil, usagef("--rates %s: it has no price: write lines such as GET 0.0004 per 1000", path)
	}
	return card, nil
}

// add takes in the words of a line.
func (r *rateCard) add(words []string) error {
	switch n := len(words); {
	case n == 0:
		return nil
	case n == 2 && words[0] == "currency":
		r.currency = words[1]
		return nil
	case n < 4 || words[n-2] != "per":
		return fmt.Errorf("%.80q is not a price: write as in GET 0.0004 per 1000, or read 0.09 per GB", strings.Join(words, " "))
	}
	n := len(words)
	kind := strings.Join(words[:n-3], " ")
	price, err := strconv.ParseFloat(words[n-3], 64)
	if err != nil || price < 0 || math.IsInf(price, 0) || math.IsNaN(price) {
		return fmt.Errorf("%.80q is not an amount of money", words[n-3])
	}
	per, unit := pricedUnits[words[n-1]]
	if !unit {
		if per, err = strconv.ParseFloat(words[n-1], 64); err != nil || !(per > 0) || math.IsInf(per, 0) {
			return fmt.Errorf("per %.80q: give a number of requests, GB, GiB or hour", words[n-1])
		}
	}
	switch kind {
	case "read", "written":
		unit = words[n-1] == "GB" || words[n-1] == "GiB"
	case "worker":
		unit = words[n-1] == "hour"
	case "GET", "ranged GET", "PUT", "part", "POST", "LIST", "HEAD", "DELETE":
		unit = !unit
	default:
		return fmt.Errorf("%.80q is no kind of request: GET, ranged GET, PUT, part, POST, LIST, HEAD, DELETE, read, written and worker are", kind)
	}
	if !unit {
		return fmt.Errorf("%s has no price per %s: requests are per a number of them, read and written per GB or GiB, worker per hour", kind, words[n-1])
	}
	if _, twice := r.prices[kind]; twice {
		return fmt.Errorf("%s has a price already", kind)
	}
	r.prices[kind] = price / per
	return nil
}

// cost is what requests cost, and workers for so many seconds together.
func (r *rateCard) cost(all []record.Traffic, workerSeconds float64) *cost {
	amount := workerSeconds * r.prices["worker"]
	for _, t := range all {
		amount += float64(t.Read)*r.prices["read"] + float64(t.Written)*r.prices["written"]
		for kind, n := range t.Requests {
			price, ok := r.prices[kind]
			if !ok {
				price = r.prices[pricedAs[kind]]
			}
			amount += float64(n) * price
		}
	}
	return &cost{r.currency, amount}
}

// bill is what the runs of a command ask for: as planned, or as its own process has asked.
func (j *job) bill(f *figures, runs []*record.Run) {
	f.Requests = map[string]int64{}
	workerSeconds := 0.0
	for _, r := range runs {
		h := &r.Header
		if h.PlanOnly {
			f.Traffic = record.AddTraffic(f.Traffic, h.Traffic)
			f.RequestsAbout = h.About
			if h.Cluster != nil && h.Seconds.Known() {
				workerSeconds += h.Seconds.Likely * float64(h.Cluster.Workers)
			}
		}
	}
	switch {
	case j.plan:
		f.WorkerSeconds = workerSeconds
	case j.on != "" || j.processes > 0 || j.asked == nil:
		f.Requests = nil // by other processes
		return
	default:
		f.Traffic = j.asked()
	}
	for _, t := range f.Traffic {
		for kind, n := range t.Requests {
			f.Requests[kind] += n
		}
	}
	if j.card != nil {
		f.Cost = j.card.cost(f.Traffic, workerSeconds)
	}
}

// count begins to count what the command asks object stores for, and reads the rate card.
func (j *job) count(c *cobra.Command) (err error) {
	ctx, asked := host.CountRequests(c.Context())
	c.SetContext(ctx)
	j.asked = asked
	if j.rates == "" {
		return nil
	}
	if !j.plan {
		return usagef("--rates is for --plan: it says what a run would cost")
	}
	j.card, err = readRates(j.rates)
	return err
}
