package nsys

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"

	"mage/capture"
)

const (
	kernels  = "CUPTI_ACTIVITY_KIND_KERNEL"
	copies   = "CUPTI_ACTIVITY_KIND_MEMCPY"
	fills    = "CUPTI_ACTIVITY_KIND_MEMSET"
	calls    = "CUPTI_ACTIVITY_KIND_RUNTIME" // of the driver as well
	graphs   = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"
	diagnose = "DIAGNOSTIC_EVENT"
)

// Parse reads a SQLite export. Kernels, copies and calls are in order of start,
// which is in nanoseconds since the session began.
func Parse(ctx context.Context, path string) (capture.Result, error) {
	var r capture.Result
	d, err := open(ctx, path)
	if err != nil {
		return r, err
	}
	defer d.db.Close()
	for _, read := range []func(context.Context, *capture.Result) error{d.readKernels, d.readCopies, d.readFills, d.readCalls, d.readDevice, d.readWarnings} {
		if err := read(ctx, &r); err != nil {
			return r, err
		}
	}
	slices.SortStableFunc(r.Copies, func(a, b capture.Copy) int { return cmp.Compare(a.StartNS, b.StartNS) })
	if len(r.Kernels) == 0 && d.columns[graphs] != nil {
		return r, unsupported("it holds whole graphs instead of their kernels (--cuda-graph-trace=graph)")
	}
	return r, nil
}

func (d *database) readKernels(ctx context.Context, r *capture.Result) error {
	wanted := []string{"demangledName", "shortName", "mangledName", "deviceId", "contextId", "streamId", "correlationId",
		"registersPerThread", "staticSharedMemory", "dynamicSharedMemory", "localMemoryPerThread", "graphNodeId"}
	return d.each(ctx, kernels, []string{"start", "end", "gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"}, wanted, func(row row) error {
		start, us, err := row.span()
		if err != nil {
			return err
		}
		k := capture.Kernel{
			StartNS: &start, DurationUS: &us,
			Device: row.small("deviceId"), Context: row.small("contextId"), Stream: row.small("streamId"),
			Registers: row.small("registersPerThread"), StaticShared: row.small("staticSharedMemory"),
			DynamicShared: row.small("dynamicSharedMemory"), Local: row.small("localMemoryPerThread"),
			Correlation: row.integer("correlationId"), Mangled: row.text("mangledName"),
		}
		k.Name = row.text("demangledName")
		for _, other := range []string{row.text("shortName"), k.Mangled} {
			if k.Name == "" {
				k.Name = other
			}
		}
		if k.Mangled == k.Name {
			k.Mangled = ""
		}
		if n := row.integer("graphNodeId"); n != nil && *n != 0 {
			node := uint64(*n)
			k.GraphNode = &node
		}
		for _, dim := range []struct {
			into    *capture.Dim
			columns [3]string
		}{{&k.Grid, [3]string{"gridX", "gridY", "gridZ"}}, {&k.Block, [3]string{"blockX", "blockY", "blockZ"}}} {
			for i, column := range dim.columns {
				v := row.integer(column)
				if v == nil || *v < 0 || *v > 1<<31-1 {
					return invalid("kernel %d (%s) has no %s", len(r.Kernels)+1, k.Name, column)
				}
				dim.into[i] = uint32(*v)
			}
		}
		r.Kernels = append(r.Kernels, k)
		return nil
	})
}

// named is empty for what the export does not say.
func named(v *int64, name func(int64) string) string {
	if v == nil {
		return ""
	}
	return name(*v)
}

func (d *database) readCopies(ctx context.Context, r *capture.Result) error {
	return d.memory(ctx, r, copies, []string{"copyKind", "srcKind", "dstKind"}, func(row row, c *capture.Copy) {
		c.Kind = named(row.integer("copyKind"), capture.CopyKind)
		c.Source, c.Target = named(row.integer("srcKind"), capture.MemoryKind), named(row.integer("dstKind"), capture.MemoryKind)
	})
}

func (d *database) readFills(ctx context.Context, r *capture.Result) error {
	return d.memory(ctx, r, fills, []string{"memKind"}, func(row row, c *capture.Copy) {
		c.Kind, c.Target = "fill", named(row.integer("memKind"), capture.MemoryKind)
	})
}

// memory reads what copies and fills have in common.
func (d *database) memory(ctx context.Context, r *capture.Result, table string, own []string, f func(row, *capture.Copy)) error {
	wanted := append([]string{"deviceId", "streamId", "correlationId", "graphNodeId"}, own...)
	return d.each(ctx, table, []string{"start", "end", "bytes"}, wanted, func(row row) error {
		start, us, err := row.span()
		if err != nil {
			return err
		}
		c := capture.Copy{StartNS: start, DurationUS: us, Device: row.small("deviceId"), Stream: row.small("streamId"),
			Correlation: row.integer("correlationId")}
		bytes := row.integer("bytes")
		if bytes == nil || *bytes < 0 {
			return invalid("copy or fill %d of %s has no bytes", len(r.Copies)+1, table)
		}
		c.Bytes = *bytes
		if n := row.integer("graphNodeId"); n != nil && *n != 0 {
			node := uint64(*n)
			c.GraphNode = &node
		}
		f(row, &c)
		r.Copies = append(r.Copies, c)
		return nil
	})
}

func (d *database) readCalls(ctx context.Context, r *capture.Result) error {
	return d.each(ctx, calls, []string{"start", "end"}, []string{"nameId", "cbid", "globalTid", "correlationId", "returnValue"}, func(row row) error {
		start, us, err := row.span()
		if err != nil {
			return err
		}
		c := capture.APICall{Name: row.text("nameId"), StartNS: start, DurationUS: us,
			Correlation: row.integer("correlationId"), Result: row.small("returnValue")}
		if c.Name == "" {
			c.Name = fmt.Sprintf("callback %v", row.value("cbid")) // of exports before 2020
		}
		if tid := row.integer("globalTid"); tid != nil {
			thread := *tid & 0xFFFFFF // the lowest 24 bits of the serialized identifier
			c.Thread = &thread
		}
		r.Calls = append(r.Calls, c)
		return nil
	})
}

// readDevice names the device of the first kernel, where the export says so.
func (d *database) readDevice(ctx context.Context, r *capture.Result) error {
	const table = "TARGET_INFO_GPU"
	if !d.has(table, "name") || !d.has(table, "id") {
		return nil
	}
	id := 0
	if len(r.Kernels) > 0 && r.Kernels[0].Device != nil {
		id = *r.Kernels[0].Device
	}
	var name sql.NullString
	err := d.db.QueryRowContext(ctx, "SELECT name FROM "+table+" WHERE id = ?", id).Scan(&name)
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return unsupported("%s: %v", table, err)
	}
	r.Device = name.String
	return nil
}

// readWarnings takes over what nsys itself found wrong, from severity 2 (warning).
func (d *database) readWarnings(ctx context.Context, r *capture.Result) error {
	if !d.has(diagnose, "severity") || !d.has(diagnose, "text") {
		return nil
	}
	rows, err := d.db.QueryContext(ctx, "SELECT DISTINCT text FROM "+diagnose+" WHERE severity >= 2")
	if err != nil {
		return unsupported("%s: %v", diagnose, err)
	}
	defer rows.Close()
	for rows.Next() {
		var text sql.NullString
		if err := rows.Scan(&text); err != nil {
			return unsupported("%s: %v", diagnose, err)
		}
		if text.String != "" {
			r.Warnings = append(r.Warnings, "nsys: "+text.String)
		}
	}
	return rows.Err()
}
