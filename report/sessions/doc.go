// Package sessions draws what the history holds: tables of sessions, of the
// kernels of one session, and a kernel's time over sessions, as text and as SVG.
//
// It must not open the history, and pools nothing: rows of different sessions
// and instruments stand beside each other.
package sessions
