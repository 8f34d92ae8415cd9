package python

// cubinLaunch is a compiled kernel for the worker to launch through the driver.
type cubinLaunch struct {
	Path     string             `json:"path"` // of the cubin or PTX, and a zero byte
	SHA256   string             `json:"sha256"`
	Launches []cubinStep        `json:"launches"`
	Scratch  []cubinScratch     `json:"scratch"`
	Params   map[string]float64 `json:"params"`
}

// cubinStep is one launch: buffers to zero before it, then the kernel, unless
// its grid is empty.
type cubinStep struct {
	Entry  string     `json:"entry"`
	Zero   []string   `json:"zero"`
	Empty  bool       `json:"empty"`
	Grid   [3]uint32  `json:"grid"`
	Block  [3]uint32  `json:"block"`
	Shared uint32     `json:"shared"`
	Args   []cubinArg `json:"args"`
}

// cubinArg is a buffer by name, or a value: its bits as a decimal number, which
// JSON would round, and its size in bytes.
type cubinArg struct {
	Buffer string `json:"buffer,omitempty"`
	Bits   string `json:"bits,omitempty"`
	Size   uint8  `json:"size"`
}

type cubinScratch struct {
	Name  string `json:"name"`
	Bytes int64  `json:"bytes"`
}
