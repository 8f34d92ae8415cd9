// Package history is the index of what was profiled: a SQLite database of
// sessions and of the kernels that each launched, ~/.mage/profiles.db unless
// another is named. docs/history.md describes it.
//
// Open creates a database, or opens one and adds the columns that an earlier
// version lacked; no row is ever changed by that. Several processes may write
// at the same time. Add appends a session with its metrics as a whole or not at
// all. What an instrument did not report is missing (NULL, nil), never zero.
//
// The index is for finding things again. It must not judge: kernel times of
// different sessions or instruments are listed beside each other, never pooled.
package history
