package record

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Card is an array, or a figure of arrays, as a cell shows it.
type Card struct {
	Cell   string     `json:"cell"`  // the notebook cell
	Title  string     `json:"title"` // "" of a text alone, which stands at the cell's end
	Shape  []int      `json:"shape"`
	Chunks []int      `json:"chunks"`
	Dims   []string   `json:"dims,omitempty"`   // names of the axes, where they have some
	Labels []string   `json:"labels,omitempty"` // of the axes that have some, the first and the last
	DType  string     `json:"dtype"`
	Bytes  int64      `json:"bytes"`
	Sample [][]string `json:"sample"`          // elements at the ends of its last two axes, by rows, each padded to its column's decimal point
	Within string     `json:"within"`          // which elements these are of
	Stats  []string   `json:"stats,omitempty"` // minimum, mean and maximum, where they are known, and how many NaN they leave out, if any
	Notes  []string   `json:"notes,omitempty"` // what its numbers stand for, where that is not themselves
	// Receipt says whether a stored array is as it was saved: "verified", "changed since", "no receipt"; "" of others.
	Receipt string     `json:"receipt,omitempty"`
	Arrays  [][]string `json:"arrays,omitempty"` // of a collection, which has no elements here: name, shape, type and bytes of those at its ends
	Text    string     `json:"text"`             // the same for terminals
	Figure  *Figure    `json:"figure,omitempty"`
}

// StatsLine returns the statistics of all elements as one line.
func (c *Card) StatsLine(separator string) string {
	if c == nil || len(c.Stats) < 3 {
		return ""
	}
	line := "minimum " + c.Stats[0] + separator + "mean " + c.Stats[1] + separator + "maximum " + c.Stats[2]
	if len(c.Stats) > 3 {
		line += ", without " + c.Stats[3] + " NaN"
	}
	return line
}

const cardSuffix = ".gonbcard"

// WriteCard leaves a card in dir for the process that shows the cell, and returns its
// path. The file appears whole, and sorts among records by the time of its writing.
func WriteCard(dir string, c *Card) (path string, err error) {
	text, err := json.Marshal(c)
	if err != nil {
		return "", fmt.Errorf("card: %w", err)
	}
	f, name, err := createUnique(dir, time.Now(), cardSuffix+".tmp")
	if err != nil {
		return "", fmt.Errorf("card: %w", err)
	}
	_, err = f.Write(text)
	if closing := f.Close(); err == nil {
		err = closing
	}
	path = filepath.Join(dir, name+cardSuffix)
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return "", fmt.Errorf("card: %w", err)
	}
	return path, nil
}

// IsCard reports whether the file at path is named as a card.
func IsCard(path string) bool { return strings.HasSuffix(path, cardSuffix) }

// ReadCard reads what WriteCard wrote.
func ReadCard(path string) (*Card, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("card: %w", err)
	}
	c := new(Card)
	if err := json.Unmarshal(text, c); err != nil {
		return nil, fmt.Errorf("card %s: %w", path, err)
	}
	return c, nil
}
