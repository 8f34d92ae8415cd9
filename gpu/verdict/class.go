package verdict

// Class groups instructions for counting.
type Class uint8

// The classes.
const (
	Integer Class = iota
	Float16
	Float32
	Float64
	SpecialFunction
	Conversion
	Comparison
	Movement
	Control
	GlobalAccess
	SharedAccess
	LocalAccess
	ParamAccess
	AtomicAccess
	Synchronisation
	WarpWide
	Matrix
	Asynchronous
	Classes int = iota
)

var classNames = [Classes]string{"integer", "fp16", "fp32", "fp64", "special-function", "conversion",
	"comparison", "move", "control", "global", "shared", "local", "param", "atomic", "synchronisation", "warp-wide",
	"matrix", "async"}

func (c Class) String() string { return classNames[c] }
