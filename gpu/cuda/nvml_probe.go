package cuda

// ProbeNVML loads NVML and returns its version and path and the version of the
// NVIDIA driver ("580.159.04"), or an *unavailable.Error.
func ProbeNVML() (lib Library, driver string, err error) {
	d, err := startNVML(nvmlNames())
	if err != nil {
		return Library{}, "", err
	}
	defer d.close()
	return Library{Version: d.systemText(d.symbol.version), Path: d.path}, d.driverVersion(), nil
}
