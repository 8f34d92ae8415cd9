package tensor

import (
	"crypto/sha256"
	"encoding/hex"
)

// SHA256 returns the hash of the data in lower-case hexadecimal.
func (t Tensor) SHA256() string {
	sum := sha256.Sum256(t.Data)
	return hex.EncodeToString(sum[:])
}
