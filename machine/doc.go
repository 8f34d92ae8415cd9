// Package machine opens what this computer offers: its CPU, its GPU, and the
// implementations that live on them, as the laboratory that an experiment runs
// in. It is the one place that knows every kind of device and implementation.
package machine
