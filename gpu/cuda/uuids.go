package cuda

import "fmt"

// UUIDs returns the UUIDs of the GPUs that the driver offers this process, by
// ordinal, without a context on any. CUDA_VISIBLE_DEVICES chooses them, by numbers
// or by names; the UUIDs are what they are called by everybody. Errors are those of
// Count, and one of a driver that does not tell.
func (o Options) UUIDs() ([]string, error) {
	d, err := o.start()
	if err != nil {
		return nil, err
	}
	n, err := d.count()
	if err != nil {
		return nil, err
	}
	if d.cuDeviceGetUuid == nil {
		return nil, d.lacks("the identity of a GPU", "cuDeviceGetUuid")
	}
	out := make([]string, n)
	for i := range out {
		var device int32
		var u [16]byte
		if code := d.cuDeviceGet(&device, int32(i)); code != 0 {
			return nil, d.unusable("cuDeviceGet", code)
		}
		if code := d.cuDeviceGetUuid(&u[0], device); code != 0 {
			return nil, fmt.Errorf("GPU %d: %w", i, d.unusable("cuDeviceGetUuid", code))
		}
		out[i] = formatUUID(u)
	}
	return out, nil
}
