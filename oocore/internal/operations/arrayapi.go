package main

import (
	"fmt"
	"os"
	"strings"
)

// standard are the functions of Python's array API standard: category, name, how an
// expression says it, and what keeps it from conforming.
func standard() ([][4]string, error) {
	text, err := os.ReadFile("../arrayapi/functions.tsv")
	if err != nil {
		return nil, err
	}
	var rows [][4]string
	for line := range strings.Lines(string(text)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 4 {
			return nil, fmt.Errorf("functions.tsv: %q has %d fields, not 4", line, len(fields))
		}
		rows = append(rows, [4]string(fields))
	}
	return rows, nil
}

func arrayAPI() (string, error) {
	rows, err := standard()
	if err != nil {
		return "", err
	}
	differ, without := 0, 0
	for _, r := range rows {
		switch {
		case strings.HasPrefix(r[3], "differs: "):
			differ++
		case strings.HasPrefix(r[3], "not applicable: "):
			without++
		case r[3] != "":
			return "", fmt.Errorf("functions.tsv: %s: %q says neither how it differs nor why it does not apply", r[1], r[3])
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# Python's array API standard

There is no Python API here: this says how far the functions of an expression behave as the
[standard](https://data-apis.org/array-api/2024.12/) of 2024.12 demands of those in Python.
Of its %d functions, linalg and fft included, %d apply here. %d pass its
[test-suite](https://github.com/data-apis/array-api-tests); %d have a test that fails, for the reason given.

The suite runs by hand, over `+"`oocore/internal/arrayapi`"+`:

    go build -o /tmp/evaluator ./oocore/internal/arrayapi
    GONBEXT_EVALUATOR=/tmp/evaluator PYTHONPATH=$PWD/oocore/internal/arrayapi ARRAY_API_TESTS_MODULE=namespace \
        pytest --disable-deadline PATH/TO/array-api-tests/array_api_tests

What its text fixes is also part of the cases against NumPy, oocore/internal/oracle/ops/arrayapi.py.
This page is generated: run `+"`go generate ./...`"+` after a change of functions.tsv there.

| function | in an expression | suite |
|---|---|---|
`, len(rows), len(rows)-without, len(rows)-without-differ, differ)
	for _, r := range rows {
		name, how := r[1], "`"+r[2]+"`"
		if r[0] == "linalg" || r[0] == "fft" {
			name = r[0] + "." + name
		}
		if r[2] == "" {
			how = ""
		}
		state := r[3]
		if state == "" {
			state = "passes"
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, how, state)
	}
	return b.String(), nil
}
