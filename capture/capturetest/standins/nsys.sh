#!/bin/sh
# A stand-in for nsys: "nsys profile --NAME VALUE… PROGRAM ARGS" and "nsys export …".
hang() {
	sleep 300 &
	echo $$ $! >"$MAGE_STANDIN_PIDS.new" && mv "$MAGE_STANDIN_PIDS.new" "$MAGE_STANDIN_PIDS"
	wait
}
[ "$1" = --version ] && { echo "NVIDIA Nsight Systems version 2025.5.1.121-255136380782v0"; exit; }
command=$1
shift
while case "$1" in --*) true ;; *) false ;; esac; do
	[ "$1" = --output ] && output=$2
	shift 2
done
if [ "$command" = export ]; then
	[ "$MAGE_STANDIN" = export ] && { echo "Failed to export: the report is damaged" >&2; exit 1; }
	[ -f "$1" ] || { echo "no file $1" >&2; exit 1; }
	exec cp "$MAGE_STANDIN_REPORT" "$output"
fi
"$@"
code=$?
case "$MAGE_STANDIN" in
killed) kill -KILL $$ ;;
hang) hang ;;
empty) echo "No reports were generated"; exit 0 ;;
esac
echo native >"$output"
exit $code
