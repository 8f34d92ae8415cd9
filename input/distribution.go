package input

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agnivade/levenshtein"
)

// The distributions. docs/inputs.md defines each.
const (
	Normal     = "normal"     // dense: every element normal
	Constant   = "constant"   // dense: every element of a is one value, the others normal
	Wide       = "wide"       // gelu: a with standard deviation 8, far into the saturated tails
	Uniform    = "uniform"    // graph: row and source of every edge uniform
	PowerLaw   = "power-law"  // graph: popularity of the node of rank r proportional to 1/r
	Hub        = "hub"        // graph: one row holds all edges
	EmptyRows  = "empty-rows" // graph: at least 15 of 16 rows are empty
	Duplicates = "duplicates" // graph: the edges of a row share two sources
)

// Distributions lists the input distributions of a contract, the default one
// first. It returns nil for a contract that it does not know.
func Distributions(contractName string) []string {
	switch contractName {
	case "matmul", "layernorm", "triangle":
		return []string{Normal, Constant}
	case "gelu":
		return []string{Normal, Constant, Wide}
	case "neighbor":
		return []string{Uniform, PowerLaw, Hub, EmptyRows, Duplicates}
	}
	return nil
}

// DefaultDistribution is the first of Distributions, "" for an unknown contract.
func DefaultDistribution(contractName string) string {
	if d := Distributions(contractName); len(d) > 0 {
		return d[0]
	}
	return ""
}

// UnknownDistributionError reports a distribution that a contract does not have.
type UnknownDistributionError struct {
	Contract, Distribution string
	Nearest                string   // the known name closest in spelling
	Known                  []string // all of them
}

func (e *UnknownDistributionError) Error() string {
	return fmt.Sprintf("%s has no input distribution %q: did you mean %q? (known: %s)",
		e.Contract, e.Distribution, e.Nearest, strings.Join(e.Known, ", "))
}

// CheckDistribution returns an *UnknownDistributionError unless the contract
// has the distribution.
func CheckDistribution(contractName, distribution string) error {
	known := Distributions(contractName)
	if known == nil {
		return fmt.Errorf("no input distributions are defined for contract %q", contractName)
	}
	if slices.Contains(known, distribution) {
		return nil
	}
	nearest := slices.MinFunc(known, func(a, b string) int {
		return levenshtein.ComputeDistance(distribution, a) - levenshtein.ComputeDistance(distribution, b)
	})
	return &UnknownDistributionError{contractName, distribution, nearest, known}
}
