package stats

import "fmt"

// maxLooks bounds the time that the level of the looks takes to compute. More
// would hardly stop earlier.
const maxLooks = 200

// SequentialOptions declare a stopping rule before the first round.
type SequentialOptions struct {
	MinRounds int     // of the first look, at least VerdictRounds
	MaxRounds int     // of the last look: the budget
	LookEvery int     // rounds between looks; 0 means as few as 200 looks allow
	Alpha     float64 // error over all looks and rows; 0 means 0.05
	Rows      int     // comparisons watched at once; 0 means 1
}

// Sequential decides when enough rounds were run. It looks at fixed rounds,
// each time at intervals of one constant level (Pocock, Biometrika 64, 1977),
// chosen such that all the intervals of all looks hold the truth together with
// probability 1−Alpha: repeated confidence intervals (Jennison and Turnbull,
// Journal of the Royal Statistical Society B 51, 1989). So it may stop for any
// reason, at any look, without spoiling the verdicts.
type Sequential struct {
	o    SequentialOptions
	each float64 // error of one row at one look
}

// Look is the state at one round.
type Look struct {
	Stop   bool
	Reason string // one line, for a log
	Open   int    // rows that are undecided
	// Rows are judged at the level of the rule. Between the planned looks there
	// are none: an unplanned look would cost error that was not set aside.
	Rows []Row
}

// NewSequential computes the level of the looks.
func NewSequential(o SequentialOptions) (*Sequential, error) {
	if o.LookEvery == 0 {
		o.LookEvery = max(1, (o.MaxRounds-o.MinRounds+maxLooks-2)/(maxLooks-1))
	}
	if o.Alpha == 0 {
		o.Alpha = 0.05
	}
	if o.Rows == 0 {
		o.Rows = 1
	}
	if err := checkFraction("alpha", o.Alpha); err != nil {
		return nil, err
	}
	switch {
	case o.MinRounds < VerdictRounds:
		return nil, fmt.Errorf("%w: the first look at %d rounds, a verdict needs %d", ErrInput, o.MinRounds, VerdictRounds)
	case o.MaxRounds < o.MinRounds || o.MaxRounds > MaxRounds:
		return nil, fmt.Errorf("%w: rounds from %d to %d, at most %d", ErrInput, o.MinRounds, o.MaxRounds, MaxRounds)
	case o.LookEvery < 1 || o.Rows < 1:
		return nil, fmt.Errorf("%w: a look every %d rounds at %d rows", ErrInput, o.LookEvery, o.Rows)
	}
	s := &Sequential{o: o}
	if n := len(s.looks()); n > maxLooks {
		return nil, fmt.Errorf("%w: %d looks, at most %d: look less often", ErrInput, n, maxLooks)
	}
	s.each = pocockLevel(s.looks(), o.Alpha/float64(o.Rows))
	return s, nil
}

// looks lists the planned rounds, the last one always among them.
func (s *Sequential) looks() []int {
	var at []int
	for r := s.o.MinRounds; r < s.o.MaxRounds; r += s.o.LookEvery {
		at = append(at, r)
	}
	return append(at, s.o.MaxRounds)
}

// Planned reports whether the rule looks at that round.
func (s *Sequential) Planned(round int) bool {
	return round == s.o.MaxRounds ||
		round >= s.o.MinRounds && round < s.o.MaxRounds && (round-s.o.MinRounds)%s.o.LookEvery == 0
}

// Confidence is that of the interval of one row at one look.
func (s *Sequential) Confidence() float64 { return 1 - s.each }

// Look judges all rows after that many rounds. No row may be compared over more
// rounds than those (over fewer it may be: a disturbed round is lost to it), and
// there must not be more rows than declared.
func (s *Sequential) Look(round int, rows ...Comparison) (Look, error) {
	if len(rows) == 0 || len(rows) > s.o.Rows {
		return Look{}, fmt.Errorf("%w: %d rows, the rule was declared for %d", ErrInput, len(rows), s.o.Rows)
	}
	for i, c := range rows {
		if c.Rounds > round {
			return Look{}, fmt.Errorf("%w: row %d compares %d rounds at the look of round %d", ErrInput, i, c.Rounds, round)
		}
	}
	if !s.Planned(round) {
		return Look{Open: len(rows), Reason: fmt.Sprintf("no look is planned at round %d", round)}, nil
	}
	judged, err := decide(rows, s.each, s.o.Alpha)
	if err != nil {
		return Look{}, err
	}
	l := Look{Rows: judged}
	for _, r := range judged {
		if r.Verdict == Undecided {
			l.Open++
		}
	}
	switch {
	case l.Open == 0:
		l.Stop, l.Reason = true, fmt.Sprintf("every comparison is decided after %d rounds", round)
	case round >= s.o.MaxRounds:
		l.Stop, l.Reason = true, fmt.Sprintf("the budget of %d rounds is spent, %d of %d comparisons undecided", round, l.Open, len(rows))
	default:
		l.Reason = fmt.Sprintf("%d of %d comparisons undecided after %d rounds", l.Open, len(rows), round)
	}
	return l, nil
}
