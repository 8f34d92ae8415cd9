/* Prints the layout of the CUPTI kernel activity record as the header defines it,
 * one "field offset size" a line, for comparison with the tables in Go.
 * Compile with -DRECORD=CUpti_ActivityKernel10 and the header's directory. */
#include <stddef.h>
#include <stdio.h>

#include <cupti_activity.h>
#include <cupti_version.h>

#define FIELD(name) \
  printf(#name " %zu %zu\n", offsetof(RECORD, name), sizeof(((RECORD *)0)->name))

int main(void) {
  printf("version %d 4\n", CUPTI_API_VERSION);
  printf("record 0 %zu\n", sizeof(RECORD));
  FIELD(kind);
  FIELD(registersPerThread);
  FIELD(start);
  FIELD(end);
  FIELD(deviceId);
  FIELD(contextId);
  FIELD(gridX);
  FIELD(gridY);
  FIELD(gridZ);
  FIELD(blockX);
  FIELD(blockY);
  FIELD(blockZ);
  FIELD(staticSharedMemory);
  FIELD(dynamicSharedMemory);
  FIELD(localMemoryPerThread);
  FIELD(correlationId);
  FIELD(name);
  FIELD(graphNodeId);
  return 0;
}
