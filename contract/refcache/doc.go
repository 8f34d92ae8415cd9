// Package refcache keeps float64 references on disk, because the reference of a
// large case takes longer than every measurement of it.
//
// A file is found by the hash of all that the reference follows from, and
// carries a hash of its own: a damaged file is computed again, never believed.
// The package must not know implementations, gates or records.
package refcache
