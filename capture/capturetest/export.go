// Package capturetest makes what profilers make, for tests on machines without
// them: SQLite exports of Nsight Systems in the documented schemas, and programs
// that behave on the command line as nsys, ncu and compute-sanitizer do.
package capturetest

import (
	"database/sql"
	"fmt"
	"testing"

	_ "modernc.org/sqlite" // the driver
)

// Export is a SQLite export of nsys to build.
type Export struct {
	// Version is EXPORT_SCHEMA_VERSION; empty leaves the metadata out, as before 2021.
	Version string
	// InlineNames writes names where later versions write numbers of StringIds.
	InlineNames bool
	// Minimal leaves out every column that came later or may be missing.
	Minimal bool
	// Script is run last: rows of the test's own.
	Script string
}

// Names of the kernels that a built export holds, each of one launch but the first,
// which has two.
const (
	Gelu   = "void gelu<128>(float const*, float const*, float*, int)"
	Reduce = "reduce_kernel"
)

// current are the tables as the user guide of 2025 lists them.
// https://docs.nvidia.com/nsight-systems/UserGuide/index.html#sqlite-schema-reference
const current = `
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
 greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, demangledName INTEGER NOT NULL,
 shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER, registersPerThread INTEGER NOT NULL,
 gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL, blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL,
 staticSharedMemory INTEGER NOT NULL, dynamicSharedMemory INTEGER NOT NULL, localMemoryPerThread INTEGER NOT NULL, localMemoryTotal INTEGER NOT NULL,
 gridId INTEGER NOT NULL, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
 greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL,
 deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER, srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER,
 migrationCause INTEGER, graphNodeId INTEGER, virtualAddress INTEGER, copyCount INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
 greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, value INTEGER NOT NULL, bytes INTEGER NOT NULL,
 graphNodeId INTEGER, memKind INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
 correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT);
CREATE TABLE DIAGNOSTIC_EVENT (timestamp INTEGER NOT NULL, timestampType INTEGER NOT NULL, source INTEGER NOT NULL, severity INTEGER NOT NULL,
 text TEXT NOT NULL, globalPid INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES
 (2000, 5500, 0, 1, NULL, 7, 11, 9, 1, 2, 3, NULL, 0, 28, 3072, 1, 1, 128, 1, 1, 0, 4096, 0, 0, 1, NULL, NULL, NULL),
 (9000, 13000, 0, 1, NULL, 7, 12, 9, 1, 2, 3, NULL, 0, 28, 3072, 1, 1, 128, 1, 1, 0, 4096, 0, 0, 2, NULL, NULL, NULL),
 (7000, 8250, 0, 1, NULL, 13, 13, 9, 4, 4, 4, NULL, 0, 40, 4, 5, 6, 8, 4, 2, 512, 0, 16, 0, 3, NULL, 77, NULL);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (500, 1500, 0, 1, NULL, 7, 10, 9, 4096, 1, NULL, 1, 2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (100, 300, 0, 1, NULL, 7, 9, 9, 255, 1024, NULL, 2);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1000, 1900, 0, 0x1000042000123, 11, 5, 0, NULL), (100, 130, 0, 0x1000042000123, 9, 6, 700, NULL);
INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'NVIDIA H200', '0000:00:06.0');
INSERT INTO DIAGNOSTIC_EVENT VALUES (1, 1, 1, 1, 'Profiling has started.', NULL), (2, 1, 1, 2, 'Not all events might have been collected.', NULL);
`

// minimal are the columns that every version had.
const minimal = `
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER NOT NULL, end INTEGER NOT NULL, shortName INTEGER,
 gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (2000, 5500, 1, 3072, 1, 1, 128, 1, 1), (9000, 13000, 1, 3072, 1, 1, 128, 1, 1), (7000, 8250, 4, 4, 5, 6, 8, 4, 2);
`

// WriteExport builds the export at path.
func WriteExport(t testing.TB, path string, e Export) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	script := current
	if e.Minimal {
		script = minimal
	}
	if e.Version != "" {
		var major, minor, micro int
		if _, err := fmt.Sscanf(e.Version, "%d.%d.%d", &major, &minor, &micro); err != nil {
			t.Fatal(err)
		}
		script += fmt.Sprintf(`CREATE TABLE META_DATA_EXPORT (name TEXT NOT NULL, value TEXT);
			INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION', '%s'), ('EXPORT_SCHEMA_VERSION_MAJOR', '%d'),
			('EXPORT_SCHEMA_VERSION_MINOR', '%d'), ('EXPORT_SCHEMA_VERSION_MICRO', '%d');`, e.Version, major, minor, micro)
	}
	names := map[int]string{1: Gelu, 2: "gelu", 3: "_Z4geluILi128EEvPKfS1_Pfi", 4: Reduce, 5: "cudaLaunchKernel_v7000", 6: "cuMemsetD8Async"}
	if !e.InlineNames {
		script += "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);"
		for id := range len(names) {
			script += fmt.Sprintf("INSERT INTO StringIds VALUES (%d, '%s');", id+1, names[id+1])
		}
	} else {
		for id := range len(names) {
			for table, columns := range map[string][]string{"CUPTI_ACTIVITY_KIND_KERNEL": {"demangledName", "shortName", "mangledName"}, "CUPTI_ACTIVITY_KIND_RUNTIME": {"nameId"}} {
				for _, c := range columns {
					if !e.Minimal || c == "shortName" {
						script += fmt.Sprintf("UPDATE %s SET %s = '%s' WHERE %s = %d;", table, c, names[id+1], c, id+1)
					}
				}
			}
		}
	}
	if _, err := db.Exec("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;" + script + e.Script + "; COMMIT"); err != nil {
		t.Fatal(err)
	}
}
