// Package experiment turns a declaration into a record: a spec is decoded
// strictly, laid out as a plan (cases × arms × modes × rounds), and run, round by
// round in rotating order, with gates before and after every timed region.
//
// It must not know which devices exist or how they are opened (implementations
// are passed in), how records are stored, or how tables are drawn.
package experiment
