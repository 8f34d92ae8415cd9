package sessions

import (
	"errors"

	"mage/history"
)

// Draw is below.
func Draw(path, kernel string, series []history.Series) error { return errors.New("later") }
