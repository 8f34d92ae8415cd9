/* Prints where NVIDIA's header has the fields that records.h reads, "kind offset
 * size" a line, in the order in which records.h prints them. */
#include <stddef.h>
#include <stdio.h>

#include <cupti_activity.h>

#define FIELD(type, kind, name) \
  printf(kind " %zu %zu\n", offsetof(type, name), sizeof(((type *)0)->name));
#define K(name) FIELD(RECORD, "K", name)
#define C(name) FIELD(CUpti_ActivityMemcpy5, "C", name)
#define P(name) FIELD(CUpti_ActivityMemcpyPtoP4, "P", name)
#define F(name) FIELD(CUpti_ActivityMemset4, "F", name)
#define A(name) FIELD(CUpti_ActivityAPI, "A", name)
#define M(name) FIELD(CUpti_ActivityMemory3, "M", name)
#define O(name) FIELD(CUpti_ActivityOverhead3, "O", name)
#define V(name) FIELD(CUpti_ActivityDevice5, "V", name)

int main(void) {
  K(name) K(start) K(end) K(deviceId) K(contextId) K(streamId) K(correlationId)
  K(gridX) K(gridY) K(gridZ) K(blockX) K(blockY) K(blockZ)
  K(registersPerThread) K(staticSharedMemory) K(dynamicSharedMemory) K(localMemoryPerThread)
  K(graphId) K(graphNodeId)
  C(copyKind) C(srcKind) C(dstKind) C(bytes) C(start) C(end) C(deviceId) C(contextId) C(streamId) C(correlationId) C(graphId) C(graphNodeId)
  P(copyKind) P(srcKind) P(dstKind) P(bytes) P(start) P(end) P(deviceId) P(contextId) P(streamId) P(correlationId) P(graphId) P(graphNodeId)
  F(memoryKind) F(bytes) F(start) F(end) F(deviceId) F(contextId) F(streamId) F(correlationId) F(graphId) F(graphNodeId)
  A(cbid) A(start) A(end) A(threadId) A(correlationId) A(returnValue)
  M(memoryOperationType) M(memoryKind) M(bytes) M(address) M(timestamp) M(deviceId) M(contextId) M(streamId) M(correlationId)
  O(overheadKind) O(start) O(end)
  V(id) V(computeCapabilityMajor) V(computeCapabilityMinor) V(name)
  printf("kinds %d %d %d %d %d %d %d %d %d %d\n", CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMSET,
         CUPTI_ACTIVITY_KIND_KERNEL, CUPTI_ACTIVITY_KIND_DRIVER, CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DEVICE,
         CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_OVERHEAD, CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMORY2);
  return 0;
}
