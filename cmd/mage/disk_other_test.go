//go:build unix && !linux

package main

import "testing"

func testFullDisk(t *testing.T, driver string)        { needsMount(t) }
func testNoSpaceAtAll(t *testing.T, driver string)    { needsMount(t) }
func testReadOnlyResults(t *testing.T, driver string) { needsMount(t) }

func needsMount(t *testing.T) { t.Skip("small file systems are mounted on Linux only") }
