#!/bin/sh
# A stand-in for compute-sanitizer: "compute-sanitizer --NAME VALUE… PROGRAM ARGS".
[ "$1" = --version ] && { echo "NVIDIA (R) Compute Sanitizer"; echo "Version 2025.3.1.0 (build 36400806) (public-release)"; exit; }
while case "$1" in --*) true ;; *) false ;; esac; do
	case "$1" in
	--log-file) log=$2 ;;
	--error-exitcode) findings=$2 ;;
	esac
	shift 2
done
"$@"
code=$?
case "$MAGE_STANDIN" in
killed) kill -KILL $$ ;;
empty) echo "no device" >&2; exit 1 ;;
esac
cat "$MAGE_STANDIN_REPORT" >"$log"
grep -q "SUMMARY: [1-9]" "$log" && exit "$findings"
exit $code
