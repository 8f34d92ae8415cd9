package refcache

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"runtime"

	"mage/contract"
)

// key identifies a reference by all that it follows from.
type key [sha256.Size]byte

func (k key) String() string { return hex.EncodeToString(k[:]) }

// keyOf hashes the contract, precision, dims, the bytes of every input, and the
// version of the reference algorithm. The architecture is included because
// compilers fuse multiplications and additions on some and not on others.
func keyOf(c contract.Contract, d contract.Dims, in contract.Tensors) key {
	h := sha256.New()
	fmt.Fprintf(h, "reference %d %s\n%s %s %s\n", contract.ReferenceVersion, runtime.GOARCH,
		c.Name(), c.Precision(), d.Format(c.DimNames()))
	for _, s := range c.Inputs(d) {
		fmt.Fprintf(h, "%s %x\n", s, sha256.Sum256(in[s.Name].Data))
	}
	return key(h.Sum(nil))
}
