#!/bin/sh
# A stand-in for ncu: "ncu --NAME VALUE… PROGRAM ARGS" and "ncu --import REPORT …".
hang() {
	sleep 300 &
	echo $$ $! >"$MAGE_STANDIN_PIDS.new" && mv "$MAGE_STANDIN_PIDS.new" "$MAGE_STANDIN_PIDS"
	wait
}
[ "$1" = --version ] && { echo "NVIDIA (R) Nsight Compute Command Line Profiler"; echo "Version 2025.3.1.0 (build 36398880) (public-release)"; exit; }
while case "$1" in --*) true ;; *) false ;; esac; do
	case "$1" in
	--export) output=$2 ;;
	--import) import=$2 ;;
	--force-overwrite | --csv) shift; continue ;;
	esac
	shift 2
done
if [ -n "$import" ]; then
	[ "$MAGE_STANDIN" = export ] && { echo "==ERROR== Failed to open the report" >&2; exit 1; }
	exec cat "$MAGE_STANDIN_REPORT"
fi
echo "==PROF== Connected to process $$ ($1)"
"$@"
code=$?
case "$MAGE_STANDIN" in
killed) kill -KILL $$ ;;
hang) hang ;;
empty) echo "==WARNING== No kernels were profiled."; exit 0 ;;
permission) echo "==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters on the target device 0."; exit 1 ;;
esac
[ $code = 0 ] || { echo "==ERROR== The application returned an error code ($code)."; exit $code; }
echo native >"$output"
echo "==PROF== Report: $output"
