package history

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// timeForm is how times are written: RFC 3339 in UTC with a numeric offset, which
// sorts as text and which Python's datetime.fromisoformat has always read.
const timeForm = "2006-01-02T15:04:05.000000+00:00"

func writeTime(t time.Time) string { return t.UTC().Format(timeForm) }

// timeForms are those found in databases. Times without an offset were written
// by programs that took the local time of the same machine.
var timeForms = [...]string{
	"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999Z07:00",
	"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02T15:04", "2006-01-02",
}

// readTime reads a time of the database; zero when it is missing or unreadable.
// A bare number counts seconds, milliseconds, microseconds or nanoseconds since
// 1970, whichever puts it into this age.
func readTime(text string) time.Time {
	text = strings.TrimSpace(text)
	for _, form := range timeForms {
		if t, err := time.ParseInLocation(form, text, time.Local); err == nil {
			return t.UTC()
		}
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || !(x > 0) || x > 1e19 {
		return time.Time{}
	}
	for x >= 1e11 { // in seconds that is after the year 5000
		x /= 1000
	}
	whole, part := math.Modf(x)
	return time.Unix(int64(whole), int64(math.Round(part*1e6))*1000).UTC()
}
